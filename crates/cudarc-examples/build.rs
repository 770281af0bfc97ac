//! Finds the examples in the source of the cudarc that this workspace builds with, and makes a module of each.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// What is compiled. The examples of other libraries (`08-cupti`, `cufile-copy`) are left out, and so is
/// `13-copy-multi-gpu`: the emulated machine has one GPU.
const EXAMPLES: &[&str] = &[
    "01-allocate",
    "02-copy",
    "03-launch-kernel",
    "04-streams",
    "05-device-repr",
    "06-threading",
    "09-constant-memory",
    "10-function-attributes",
    "12-context-config",
    "matmul-kernel",
    "nvrtc-compile",
];

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("Cargo.toml");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", manifest.with_file_name("../../Cargo.lock").display());
    // What is on this machine is enough unless this package alone was downloaded.
    let cudarc = cudarc(&manifest, &["--offline"]).or_else(|_| cudarc(&manifest, &[]))?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("examples.rs"), modules(&cudarc)?)?;
    Ok(())
}

/// The directory of cudarc's source.
fn cudarc(manifest: &Path, more: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
    let mut command = Command::new(env::var_os("CARGO").ok_or("cargo sets CARGO")?);
    command.args(["metadata", "--format-version=1", "--locked"]).args(more);
    command.arg("--filter-platform").arg(env::var("TARGET")?).arg("--manifest-path").arg(manifest);
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let cudarc = packages.find(|package| package["name"] == "cudarc").ok_or("cudarc is not among the packages")?;
    let manifest = cudarc["manifest_path"].as_str().ok_or("cudarc has no manifest path")?;
    Ok(Path::new(manifest).parent().ok_or("cudarc's manifest has no directory")?.to_owned())
}

/// A module for each example, and the table of them.
fn modules(cudarc: &Path) -> Result<String, Box<dyn Error>> {
    let mut modules = String::new();
    let mut table = String::new();
    for name in EXAMPLES {
        let path = cudarc.join("examples").join(name).with_extension("rs");
        let source = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("cargo::rerun-if-changed={}", path.display());
        let module = format!("example_{}", name.replace('-', "_"));
        write!(
            modules,
            "#[allow(warnings, clippy::all, unsafe_code)]
            mod {module} {{
                include!({path:?});
                pub(super) fn run() -> Result<(), String> {{ main().map_err(|error| format!(\"{{error:?}}\")) }}
            }}\n"
        )?;
        let compiles = source.contains("nvrtc::compile") || source.contains("nvrtc::{compile");
        writeln!(table, "    Example {{ name: {name:?}, compiles: {compiles}, run: {module}::run }},")?;
    }
    Ok(format!(
        "{modules}\n/// Every example.\npub const EXAMPLES: &[Example] = &[\n{table}];\n\n\
         /// Where the examples expect to be run: cudarc's own directory.\npub const DIRECTORY: &str = {:?};\n",
        cudarc.display().to_string()
    ))
}
