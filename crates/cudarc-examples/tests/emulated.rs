//! Each of cudarc's examples in a process of its own, on the emulated device.
//!
//! This program starts itself once for every example, named in an environment variable.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use cudarc_examples::{Example, DIRECTORY, EXAMPLES};
use fusion_device::{Choice, Device};
use fusion_toolchain::Silent;
use libtest_mimic::{Arguments, Failed, Trial};

const CHOSEN: &str = "CUDARC_EXAMPLE";

/// What examples that check little themselves must have printed.
const PRINTED: &[(&str, &str)] = &[
    ("03-launch-kernel", "Found [0.84147"),
    ("04-streams", "Found [0.84147"),
    ("06-threading", "Hello from the cuda kernel in thread 9"),
    ("09-constant-memory", "All results match expected values!"),
    ("10-function-attributes", "Device: Emulated"),
    ("matmul-kernel", "Found [7.0, 10.0, 15.0, 22.0]"),
];

fn main() -> ExitCode {
    if let Ok(name) = env::var(CHOSEN) {
        return match run(&name) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let trials = EXAMPLES.iter().map(|example| Trial::test(example.name, || check(example)));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// In the child: puts the emulated driver, and the compiler where one is needed, where cudarc finds them.
fn run(name: &str) -> Result<(), Box<dyn Error>> {
    let example = EXAMPLES.iter().find(|example| example.name == name).ok_or("no such example")?;
    let device = Device::open(Choice::Emulated)?;
    if example.compiles {
        device.use_toolchain(&fusion_toolchain::find_or_fetch(&mut Silent)?)?;
    }
    // The libraries stay; the example opens its own context.
    drop(device);
    Ok((example.run)()?)
}

fn check(example: &Example) -> Result<(), Failed> {
    let mut child = Command::new(env::current_exe()?);
    child.env(CHOSEN, example.name).current_dir(DIRECTORY);
    if example.compiles {
        static ALIAS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let directory = ALIAS.get_or_init(|| alias_nvrtc().map_err(|error| error.to_string())).clone()?;
        let before = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        child.env("LD_LIBRARY_PATH", env::join_paths([directory].into_iter().chain(env::split_paths(&before)))?);
    }
    let output = child.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let missing = PRINTED.iter().find(|(name, line)| *name == example.name && !text.contains(line));
    match (output.status.success(), missing) {
        (true, None) => Ok(()),
        (false, _) => Err(format!("it ended with {}:\n{text}", output.status).into()),
        (true, Some((_, line))) => Err(format!("it did not print `{line}`, but\n{text}").into()),
    }
}

/// A directory with NVRTC as `libnvrtc.so` and nothing else: cudarc knows the numbered names of the CUDA release that
/// it is built for, and NVRTC may be a later one.
fn alias_nvrtc() -> Result<PathBuf, Box<dyn Error>> {
    let toolchain = fusion_toolchain::find_or_fetch(&mut Silent)?;
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nvrtc");
    fs::create_dir_all(&directory)?;
    let alias = directory.join("libnvrtc.so");
    if fs::read_link(&alias).ok().as_deref() != Some(&toolchain.nvrtc) {
        // It may be left from a run with another NVRTC.
        let _ = fs::remove_file(&alias);
        std::os::unix::fs::symlink(&toolchain.nvrtc, &alias)?;
    }
    Ok(directory)
}
