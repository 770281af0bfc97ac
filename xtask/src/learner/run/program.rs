//! The program's process: its folder of libraries, its surroundings, its end.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::journal::{self, Process};
use super::{NOTHING_JUDGED, Options};
use crate::process::End;

/// How a program's run was.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) processes: Vec<Process>,
}

/// Why there was no run, and the code that says so.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) why: String,
    pub(super) code: u8,
}

/// What programs call the driver and the runtime.
const DRIVER: [&str; 2] = ["libcuda.so.1", "libcuda.so"];
const RUNTIME: [&str; 3] = ["libcudart.so.13", "libcudart.so.12", "libcudart.so"];

pub(super) fn run(options: &Options) -> Result<Ran, Failure> {
    let failed = |why: String| Failure { why, code: NOTHING_JUDGED };
    let folder = tempfile::Builder::new().prefix("fusion-run-").tempdir();
    let folder = folder.map_err(|error| failed(format!("cannot make a temporary folder: {error}")))?;
    let libraries = folder.path().join("lib");
    let journal = folder.path().join("journal");
    let driver = fusion_device::emulated_driver().map_err(|error| failed(error.to_string()))?;
    let runtime = fusion_device::library_beside("libfusion_cudart.so").map_err(|error| failed(error.to_string()))?;
    let prepare = || {
        std::fs::create_dir(&libraries)?;
        std::fs::create_dir(&journal)?;
        let names = DRIVER.map(|name| (name, &driver)).into_iter().chain(RUNTIME.map(|name| (name, &runtime)));
        names.into_iter().try_for_each(|(name, path)| std::os::unix::fs::symlink(path, libraries.join(name)))
    };
    prepare()
        .map_err(|error| failed(format!("cannot fill the temporary folder {}: {error}", folder.path().display())))?;

    let mut command = command(options, &libraries, &journal);
    if options.json {
        let stderr = std::io::stderr().as_fd().try_clone_to_owned();
        command.stdout(Stdio::from(stderr.map_err(|error| failed(format!("no standard error: {error}")))?));
    }
    let signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP]);
    let signals = signals.map_err(|error| failed(format!("cannot listen for signals: {error}")))?;
    let child = command.spawn().map_err(|error| not_started(&options.command, &error))?;
    let status = wait(child, signals).map_err(|error| failed(format!("cannot wait for the program: {error}")))?;
    Ok(Ran { end: end(status), processes: journal::read(&journal) })
}

fn command(options: &Options, libraries: &Path, journal: &Path) -> Command {
    let mut words = options.command.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    command.args(words);
    let mut path = OsString::from(libraries);
    if let Some(more) = std::env::var_os("LD_LIBRARY_PATH").filter(|more| !more.is_empty()) {
        path.push(":");
        path.push(more);
    }
    command.env("LD_LIBRARY_PATH", path).env("FUSION_EMULATOR_JOURNAL", journal);
    command.envs(options.checks.iter().map(|checks| ("FUSION_EMULATOR_CHECKS", checks)));
    command.envs(options.trace.iter().map(|_| ("FUSION_EMULATOR_TRACE", "1")));
    command.envs(options.budget.iter().map(|budget| ("FUSION_EMULATOR_BUDGET", budget.to_string())));
    command.envs(options.emulated.profile.iter().map(|profile| (fusion_profile::CHOICE, profile)));
    command
}

/// Waits for the program. A terminal sends Ctrl-C to it as well as to us, and what it does then is its own affair; what was sent to us alone is
/// passed on.
fn wait(mut child: Child, mut signals: Signals) -> std::io::Result<ExitStatus> {
    let handle = signals.handle();
    let process = rustix::process::Pid::from_child(&child);
    let passing = std::thread::spawn(move || {
        for signal in &mut signals {
            let signal = match signal {
                SIGTERM => rustix::process::Signal::TERM,
                SIGHUP => rustix::process::Signal::HUP,
                _ => continue,
            };
            // It may have ended by itself.
            let _ = rustix::process::kill_process(process, signal);
        }
    });
    let status = child.wait();
    handle.close();
    // The thread does nothing that can panic.
    let _ = passing.join();
    status
}

fn end(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Killed(signal.unwrap_or_default()),
    }
}

/// The codes are those of a shell.
fn not_started(command: &[OsString], error: &std::io::Error) -> Failure {
    let program = command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let path = Path::new(&program);
    let (code, why) = match error.kind() {
        ErrorKind::NotFound if path.is_file() => (
            127,
            "it is there, and what it needs to start is not: the interpreter in its first line, or its loader"
                .to_owned(),
        ),
        ErrorKind::NotFound if program.contains('/') => (127, "there is no such file".to_owned()),
        ErrorKind::NotFound => (127, "no folder in PATH has it; write ./ before a program in this folder".to_owned()),
        ErrorKind::PermissionDenied if path.is_dir() => (126, "it is a folder".to_owned()),
        ErrorKind::PermissionDenied => {
            (126, "it is not executable; for a script, name its interpreter before it".to_owned())
        }
        _ if error.raw_os_error() == Some(8) => (126, "it is no program of this machine, or it is cut off".to_owned()),
        _ => (126, error.to_string()),
    };
    Failure { why: format!("cannot start `{program}`: {why}"), code }
}
