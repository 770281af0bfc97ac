//! NVRTC, which compiles kernels: whether it is there, or can be fetched, and whether it compiles.

use std::time::Instant;

use fusion_device::{Choice, Device, Options, Source};
use fusion_toolchain::{FetchError, FindError, Origin, Toolchain};

use super::super::check::{Apart, Check, Finding};

const OTHER: &str = "unset FUSION_NVRTC LD_LIBRARY_PATH\nso that the course takes the NVRTC that it fetches";

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "python",
        why: "Where there is no CUDA toolkit, Python's pip fetches NVRTC.",
        apart: None,
        look: |_| python(fusion_toolchain::python(), fusion_toolchain::find().is_ok()),
    },
    Check {
        name: "nvrtc",
        why: "NVRTC is NVIDIA's compiler for CUDA C++. Without it no kernel is compiled.",
        apart: None,
        look: |_| nvrtc(fusion_toolchain::find()),
    },
    Check {
        name: "kernel",
        why: "This is what happens to your kernel: NVRTC compiles it, and the emulated GPU takes the result.",
        apart: Some(Apart { doing: "compiling a small kernel", fix: OTHER }),
        look: |_| kernel(),
    },
];

fn python(python: Result<String, FetchError>, has_nvrtc: bool) -> Finding {
    match python {
        Ok(python) => Finding::ok(format!("`{python}` runs and has pip")),
        Err(error) => {
            let (found, fix) = parted(&error.to_string());
            match has_nvrtc {
                true => Finding::known("no Python 3 with pip runs here, and none is needed: there is an NVRTC"),
                false => Finding::problem(found, fix),
            }
        }
    }
}

fn nvrtc(found: Result<Toolchain, FindError>) -> Finding {
    match found {
        Ok(toolchain) if toolchain.include.is_empty() => Finding::note(
            format!(
                "{toolchain}. It came without CUDA headers: a kernel that includes one, such as cuda_bf16.h, does not compile"
            ),
            OTHER,
        ),
        Ok(toolchain) => {
            let passed: Vec<String> = toolchain
                .passed_over
                .iter()
                .map(|place| format!("Not used: {}: {}.", place.place, place.found))
                .collect();
            let origin = match toolchain.origin {
                Origin::Explicit => " FUSION_NVRTC names it.",
                Origin::System | Origin::Cache => "",
            };
            let found = format!("{} in {}.{origin}", toolchain.version, toolchain.nvrtc.display());
            match passed.is_empty() {
                true => Finding::ok(found),
                false => Finding::known(format!("{found}\n{}", passed.join("\n"))),
            }
        }
        Err(FindError::NotFound { looked_in }) => match looked_in.into_iter().find(|place| place.refused) {
            Some(place) => Finding::note(format!("none that can be used: {}: {}", place.place, place.found), FETCH),
            None => Finding::note("none yet: the course fetches it when it is needed first (about 90 MB)", FETCH),
        },
        Err(error @ FindError::Override { .. }) => {
            let (found, fix) = parted(&error.to_string());
            Finding::problem(found, fix)
        }
    }
}

const FETCH: &str = "cargo xtask grade average --solutions";

const KERNEL: Source = Source {
    name: "doctor.cu",
    text: "extern \"C\" __global__ void twice(float* x, size_t n) {\n    \
           size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;\n    if (i < n) x[i] *= 2.0f;\n}\n",
};

fn kernel() -> Finding {
    match fusion_toolchain::find() {
        Ok(_) => {}
        Err(FindError::NotFound { .. }) => return Finding::known("not tried: there is no NVRTC yet"),
        Err(FindError::Override { .. }) => return Finding::known("not tried: FUSION_NVRTC names no NVRTC"),
    }
    let device = match Device::open(Choice::Emulated) {
        Ok(device) => device,
        Err(error) => return Finding::problem(error.to_string(), "cargo build -p fusion-driver"),
    };
    let began = Instant::now();
    match device.compile(&KERNEL, &[], &Options::default()) {
        Ok(program) => {
            let milliseconds = began.elapsed().as_millis();
            let architecture = program.compiled.architecture;
            Finding::ok(format!(
                "compiled for compute capability {}.{} and loaded on the {} in {milliseconds} ms",
                architecture / 10,
                architecture % 10,
                device.properties.name
            ))
        }
        Err(error) => Finding::problem(error.to_string(), OTHER),
    }
}

/// What happened, and what to do: the toolchain's errors say both, each in lines of its own.
fn parted(error: &str) -> (String, String) {
    let (found, fix) = error.split_once('\n').unwrap_or((error, "cargo xtask grade average --solutions"));
    (found.to_owned(), fix.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::super::check::State;
    use super::*;
    use fusion_toolchain::{LookedIn, Version};

    fn toolchain() -> Toolchain {
        Toolchain {
            nvrtc: "/x/libnvrtc.so.13".into(),
            builtins: "/x/libnvrtc-builtins.so.13.0".into(),
            include: vec!["/x/include".into()],
            origin: Origin::System,
            version: Version { major: 13, minor: 0 },
            passed_over: Vec::new(),
        }
    }

    fn looked(refused: bool) -> LookedIn {
        LookedIn { place: "/old".to_owned(), found: "NVRTC 11.2 is too old".to_owned(), refused }
    }

    #[test]
    fn compilers() {
        let headless = Toolchain { include: Vec::new(), ..toolchain() };
        let shadowed = Toolchain { passed_over: vec![looked(true)], ..toolchain() };
        let wrong = FindError::Override { path: "/y".into(), why: "there is no such file or directory".to_owned() };
        for (found, state, says) in [
            (Ok(toolchain()), State::Ok, "13.0 in /x/libnvrtc.so.13"),
            (Ok(headless), State::Note, "without CUDA headers"),
            (Ok(shadowed), State::Note, "\nNot used: /old: NVRTC 11.2 is too old."),
            (Err(FindError::NotFound { looked_in: vec![looked(false)] }), State::Note, "none yet"),
            (Err(FindError::NotFound { looked_in: vec![looked(true)] }), State::Note, "/old: NVRTC 11.2"),
            (Err(wrong), State::Problem, "FUSION_NVRTC is /y, but there is no such file"),
        ] {
            let finding = nvrtc(found);
            assert!(finding.state == state && finding.found.contains(says), "{finding:?}");
        }
    }

    #[test]
    fn python_is_needed_where_the_compiler_is_to_be_fetched() {
        let none = || Err(FetchError::NoPython { tried: vec!["python3".to_owned()] });
        assert_eq!(python(none(), true).state, State::Note);
        let finding = python(none(), false);
        assert_eq!(finding.state, State::Problem);
        assert!(finding.fix.is_some_and(|fix| fix.starts_with("Install Python 3")), "{}", finding.found);
    }
}
