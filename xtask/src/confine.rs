//! Takes rights away from this process, and becomes another program: what class mode starts everything by.
//!
//! Landlock says which files there are, seccomp which system calls, and limits how much of the machine. All three stay with the
//! program, from its first instruction on, and with all that it starts.

mod calls;
mod files;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};

use crate::output;

/// Whose rights are to be taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Who {
    /// The compiler, which runs programs and writes files.
    Compiler,
    /// The worker, which starts the submission's program.
    Worker,
    /// The submission's own program.
    Submission,
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Who::Compiler => "compiler",
            Who::Worker => "worker",
            Who::Submission => "submission",
        }
    }
}

/// What is left to a program.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(long, value_enum)]
    who: Who,
    /// Files and folders that it may read, and run
    #[arg(long)]
    read: Vec<PathBuf>,
    /// Folders whose names it may see, and nothing of what is in the files
    #[arg(long)]
    list: Vec<PathBuf>,
    /// Folders in which it may do everything
    #[arg(long)]
    write: Vec<PathBuf>,
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

/// What every program needs: the libraries of the system, and devices that are none.
const SYSTEM: &[&str] = &["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/urandom"];

/// What a compiler needs besides: a linker.
const TOOLS: &[&str] = &["/usr", "/bin", "/nix/store"];

/// By what, for the report.
pub(crate) const BY: &str = "landlock, seccomp, rlimit";

/// Seconds of all cores together that a process may take. The time limit usually comes first.
const SECONDS: u64 = 3600;

/// The exit code of a program that could not be confined, and was not started.
pub(crate) const EXIT_CODE: u8 = 125;

/// Where this program is. Asked before anything is built: cargo may put another of the same name in its place, and the system then
/// says that this one was deleted.
pub(crate) fn program() -> io::Result<PathBuf> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    match PROGRAM.get() {
        Some(program) => Ok(program.clone()),
        None => std::env::current_exe().map(|program| PROGRAM.get_or_init(|| program).clone()),
    }
}

/// The files that are left to a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'a> {
    pub(crate) read: &'a [PathBuf],
    pub(crate) list: &'a [PathBuf],
    pub(crate) write: &'a [PathBuf],
}

impl<'a> Files<'a> {
    /// Nothing but to read these.
    pub(crate) fn read(read: &'a [PathBuf]) -> Self {
        Self { read, list: &[], write: &[] }
    }
}

/// A command that runs this one confined.
pub(crate) fn command(who: Who, confined: &Command, files: Files<'_>) -> io::Result<Command> {
    let mut command = Command::new(program()?);
    command.args(["confined", "--who", who.name()]);
    for (option, paths) in [("--read", files.read), ("--list", files.list), ("--write", files.write)] {
        for path in paths {
            command.arg(option).arg(path);
        }
    }
    command.arg("--").arg(confined.get_program()).args(confined.get_args());
    Ok(command)
}

/// Why programs cannot be confined here; nothing if they can.
pub(crate) fn unavailable() -> Option<String> {
    files::unavailable().or_else(calls::unavailable)
}

/// Becomes the program; returns only if that fails.
pub(crate) fn run(options: &Options) -> u8 {
    let error = match confine(options) {
        Ok(()) => {
            let mut program = options.program.iter();
            let mut command = Command::new(program.next().map_or_else(Default::default, Clone::clone));
            format!("cannot run {:?}: {}", options.program[0], command.args(program).exec())
        }
        Err(error) => format!("cannot confine {:?}: {error}", options.program[0]),
    };
    output::note(&error);
    EXIT_CODE
}

fn confine(options: &Options) -> Result<(), String> {
    // Address space is no measure: an allocator reserves much of it for each core.
    let (memory, written, open) = match options.who {
        Who::Compiler => (4 << 30, 1 << 30, 1024),
        Who::Worker => (8 << 30, 0, 1024),
        Who::Submission => (1 << 30, 0, 256),
    };
    let limits = [
        (Resource::Data, memory),
        (Resource::Core, 0),
        (Resource::Cpu, SECONDS),
        (Resource::Fsize, written),
        (Resource::Nofile, open),
    ];
    for (resource, limit) in limits {
        let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
        setrlimit(resource, limit).map_err(|error| format!("{resource:?}: {error}"))?;
    }
    // A program ends when its parent has ended, whatever it does.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    if options.who == Who::Compiler {
        read.extend(TOOLS.iter().map(PathBuf::from));
    }
    read.extend(options.read.iter().cloned());
    keep_to_itself().map_err(|error| format!("open files: {error}"))?;
    files::restrict(&read, &options.list, &options.write)?;
    calls::restrict(options.who).map_err(|error| error.to_string())
}

/// Leaves the program the three standard streams. Landlock has no say over a file that is open already.
#[expect(unsafe_code, reason = "no library has this call")]
fn keep_to_itself() -> io::Result<()> {
    let (first, last, flags) = (3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    // SAFETY: it takes three numbers. What it marks is closed when this process becomes another program.
    match unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
