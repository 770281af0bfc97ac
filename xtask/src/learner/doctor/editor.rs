//! `cargo xtask doctor --editor`: lets clangd, which most editors can show, read kernels as NVRTC does.
//!
//! clangd is not NVRTC. It gets the flags of CUDA without a toolkit, NVIDIA's headers in the way in which they speak to NVRTC, the headers
//! of `kernels/include`, and the few standard headers that the course has for NVRTC.

use std::fs;
use std::path::Path;

use fusion_toolchain::Toolchain;

use super::packages::install;
use super::programs::says;
use crate::learner::files;

/// What clangd reads, in the checkout's root. It has paths of this machine in it, so git ignores it.
pub(super) const SETTINGS: &str = ".clangd";

/// The headers, beside what else the course keeps in a checkout.
const FOLDER: &str = ".course/editor";

const PRELUDE: &str = include_str!("editor/prelude.cuh");

/// The first line of a file that is ours to write over.
const OURS: &str = "# Written by `cargo xtask doctor --editor`.";

/// Writes everything, and returns what is to be said of it.
pub(super) fn set_up(root: &Path) -> Result<String, String> {
    let toolchain = crate::toolchain::ready().and_then(|()| {
        fusion_toolchain::find()
            .map_err(|error| fusion_grader::judgement::RunError::new("no-compiler", error.to_string()))
    });
    let toolchain = toolchain.map_err(|error| error.message)?;
    if toolchain.include.is_empty() {
        return Err(format!(
            "{toolchain} has no CUDA headers with it, and clangd needs them; unset FUSION_NVRTC, so that the course fetches its own"
        ));
    }
    let settings = root.join(SETTINGS);
    if fs::read_to_string(&settings).is_ok_and(|text| !text.starts_with(OURS)) {
        return Err(format!(
            "there is a {SETTINGS} that the course did not write; move it away, and merge the two afterwards"
        ));
    }
    write(root, &toolchain).map_err(|error| format!("cannot write the set-up: {error}"))?;
    let clangd = match says("clangd", &["--version"]) {
        Some(version) => format!("Found {version}."),
        None => format!("clangd is not installed yet: {}", install(&[super::checks::CLANGD])),
    };
    Ok(format!(
        "Written: {SETTINGS} and {FOLDER}. Git ignores both.\n{clangd}\nVS Code takes the extension \"clangd\"; other editors start clangd by themselves, or by a line of their settings.\n\
         clangd is another compiler than NVRTC: where the two differ, `grade` is right.\n"
    ))
}

fn write(root: &Path, toolchain: &Toolchain) -> std::io::Result<()> {
    let folder = root.join(FOLDER);
    files::write(&folder.join("prelude.cuh"), PRELUDE)?;
    for (name, text) in fusion_device::compiler::standard_headers() {
        files::write(&folder.join("include").join(name), text)?;
    }
    files::write(&root.join(SETTINGS), &settings(root, toolchain))
}

/// Whether clangd is set up: none without the file; of an older course it is wrong.
pub(super) fn is_current(root: &Path) -> Option<bool> {
    fs::read_to_string(root.join(SETTINGS)).ok()?;
    Some(fs::read_to_string(root.join(FOLDER).join("prelude.cuh")).is_ok_and(|prelude| prelude == PRELUDE))
}

/// clangd's settings (clangd.llvm.org/config).
fn settings(root: &Path, toolchain: &Toolchain) -> String {
    let mut flags: Vec<String> = [
        "-xcuda",
        "-std=c++17",
        "--cuda-device-only",
        // An architecture that clangd knows since its release 16.
        "--cuda-gpu-arch=sm_90",
        // No CUDA toolkit is looked for, and nothing of the host's is included.
        "-nocudainc",
        "-nocudalib",
        "-nostdinc",
    ]
    .map(str::to_owned)
    .into();
    let ours = [root.join("kernels/include"), root.join(FOLDER).join("include")];
    flags.extend(ours.iter().chain(&toolchain.include).map(|folder| format!("-I{}", folder.display())));
    flags.extend(["-include".to_owned(), root.join(FOLDER).join("prelude.cuh").display().to_string()]);
    // A string of JSON is one of YAML.
    let flags: Vec<String> =
        flags.into_iter().map(|flag| format!("    - {}\n", serde_json::Value::String(flag))).collect();
    format!(
        "{OURS}\nIf:\n  PathMatch: .*\\.cuh?\n  PathExclude: xtask/.*\nDiagnostics:\n  # A starter includes what its TODO needs.\n  UnusedIncludes: None\nCompileFlags:\n  Add:\n{}",
        flags.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_toolchain::{Origin, Version};

    #[test]
    fn paths_are_quoted_and_folders_are_in_their_order() {
        let toolchain = Toolchain {
            nvrtc: "/x/lib/libnvrtc.so.13".into(),
            builtins: "/x/lib/libnvrtc-builtins.so.13.0".into(),
            include: vec!["/x/include".into(), "/x/include/cccl".into()],
            origin: Origin::Cache,
            version: Version { major: 13, minor: 0 },
            passed_over: Vec::new(),
        };
        let text = settings(Path::new("/my course"), &toolchain);
        let end = "    - \"-nostdinc\"\n    - \"-I/my course/kernels/include\"\n    - \"-I/my course/.course/editor/include\"\n    \
                   - \"-I/x/include\"\n    - \"-I/x/include/cccl\"\n    - \"-include\"\n    - \"/my course/.course/editor/prelude.cuh\"\n";
        assert!(text.starts_with(OURS) && text.ends_with(end), "{text}");
    }
}
