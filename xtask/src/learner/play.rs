//! `cargo xtask play`: a kernel of one's own, on buffers that a comment at the top of its file describes.

mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum as _;
use fusion_course::Source;
use fusion_grader::judgement::{DeviceInfo, DeviceKind, RunError};
use fusion_grader::play::Played;
use fusion_grader::profile::Profiled;
use fusion_grader::protocol::Message;
use fusion_grader::worker::play::{Playing, run};
use serde::Serialize;

use super::Run;
use super::profile;
use crate::command::program;
use crate::device::Device;
use crate::emulated::Emulated;
use crate::interrupt::Interrupt;
use crate::judge::{Stop, cannot_run};
use crate::process::{self, End, Said, Watch};
use crate::progress::Progress;
use crate::{output, toolchain};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 it ran and no error was found, 1 it does not compile or an error was found, 2 it could not be run, \
                  130 interrupted."
)]
pub(crate) struct Options {
    /// A file with kernels, whose comments say what to launch: `// play: x = f32[1000] ramp`, `// play: scale<<<4, 256>>>(x, y, 3.0, 1000)`
    #[arg(value_name = "FILE.cu")]
    file: PathBuf,
    /// Write a first file that works, to begin with
    #[arg(long, conflicts_with_all = ["device", "profile", "trace", "svg", "json"])]
    new: bool,
    /// Where to run: `auto` takes a GPU when there is one
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    device: Device,
    #[command(flatten)]
    emulated: Emulated,
    /// Seed of random buffers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write a Chrome trace into this file too: launches, and what the warps of one multiprocessor do (open it at ui.perfetto.dev)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a picture into this file too: the sectors of each access, the banks, what the warps of one multiprocessor do
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Seconds that it may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
}

/// What the process that plays a file is told.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Worker {
    file: PathBuf,
    #[arg(long, value_enum)]
    device: Device,
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    traced: bool,
}

/// What a first file is.
const FIRST: &str = include_str!("../../../lessons/first-kernel/play/first.cu");

/// Bytes of a source at most.
const LARGEST: u64 = 1 << 20;

/// A file and what came of it.
#[derive(Debug, Serialize)]
struct Report {
    version: u32,
    file: String,
    device: DeviceInfo,
    #[serde(flatten)]
    played: Played,
    /// What the kernels printed, and NVRTC's warnings.
    printed: Vec<String>,
    exit_code: u8,
}

impl Run for Options {
    const LISTENS: bool = true;

    fn run(&self, interrupt: &Interrupt) -> u8 {
        if self.new {
            return super::tell(write_first(&self.file));
        }
        self.emulated.choose();
        match self.play(interrupt) {
            Ok(report) => self.show(report),
            Err(stop) => stop.end(interrupt),
        }
    }
}

impl Options {
    fn play(&self, interrupt: &Interrupt) -> Result<Report, Stop> {
        read(&self.file).map_err(|why| Stop::Error(RunError::new("play", why)))?;
        toolchain::ready().map_err(Stop::Error)?;
        let (mut found, mut unable, mut printed) = (None, None, Vec::new());
        let progress = Progress::new(1);
        let watch = Watch { limit: Duration::from_secs(self.timeout), interrupt };
        let mut command = self.command().map_err(|error| cannot_run(&self.file, &error))?;
        let end = process::run(&mut command, &watch, |said| match said {
            Said::Message(message) => match *message {
                Message::Played { device, played } => found = Some((device, *played)),
                Message::Unable { error } => unable = Some(error),
                Message::Progress { text } => progress.say(text),
                _ => {}
            },
            Said::Printed(line) | Said::Complained(line) => printed.push(line),
        });
        let end = end.map_err(|error| cannot_run(Path::new(command.get_program()), &error))?;
        match (end, unable, found) {
            (End::Interrupted, ..) => Err(Stop::Interrupted),
            (_, Some(error), _) => Err(Stop::Error(error)),
            (_, None, Some((device, played))) => {
                let exit_code = if !played.has_run() { 2 } else { u8::from(!played.is_clean()) };
                let file = self.file.display().to_string();
                Ok(Report { version: 1, file, device, played, printed, exit_code })
            }
            (end, None, None) => Err(Stop::Error(RunError::new("play", self.died(end, &printed)))),
        }
    }

    fn died(&self, end: End, printed: &[String]) -> String {
        let said = if printed.is_empty() { String::new() } else { text::printout(printed) + "\n" };
        let why = match end {
            End::TimedOut => format!("stopped after {} s; --timeout gives it more", self.timeout),
            end => format!("the process ended without an answer: {end:?}"),
        };
        said + &why
    }

    fn command(&self) -> std::io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("playing").args(["--seed", &self.seed.to_string()]);
        if let Some(device) = self.device.to_possible_value() {
            command.args(["--device", device.get_name()]);
        }
        if self.trace.is_some() || self.svg.is_some() {
            command.arg("--traced");
        }
        command.arg("--").arg(&self.file);
        Ok(command)
    }

    /// Writes what was asked for, and returns the exit code.
    fn show(&self, mut report: Report) -> u8 {
        let written = self.write(&report);
        // The files have it.
        let launches = report.played.predicted.iter_mut().flat_map(|predicted| &mut predicted.launches);
        for account in launches.filter_map(|launch| launch.account.as_mut()) {
            account.trace = None;
        }
        let printed = match self.json {
            true => output::json(serde_json::to_string_pretty(&report)),
            false => output::print(&text::text(&report, output::look())),
        };
        if let Err(why) = &written {
            output::note(&format!("error: {why}"));
        }
        if printed && written.is_ok() { report.exit_code } else { 2 }
    }

    fn write(&self, report: &Report) -> Result<(), String> {
        let files = [&self.trace, &self.svg];
        let asked = || files.into_iter().flatten();
        let Some(predicted) = report.played.predicted.clone() else {
            // What was not run says so itself.
            return match (asked().next(), report.exit_code) {
                (Some(_), 0) => {
                    Err("a trace and a picture come from the emulated device: --device emulated".to_owned())
                }
                _ => Ok(()),
            };
        };
        let shape = "its own launches".to_owned();
        let profiled = Profiled { variant: "play".to_owned(), shape, predicted, ..Profiled::default() };
        let profile = profile::Report::of(report.file.clone(), report.device.clone(), profiled, "play");
        profile.write(self.trace.as_deref(), self.svg.as_deref())
    }
}

/// What is in a file that a learner names.
fn read(file: &Path) -> Result<String, String> {
    let cannot = |why: &str| format!("cannot read {}: {why}", file.display());
    let data = fs::metadata(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!(
                "{}; `{} play --new {}` writes a first one",
                cannot("there is no such file"),
                program(),
                file.display()
            )
        }
        _ => cannot(&error.to_string()),
    })?;
    if !data.is_file() {
        return Err(cannot("it is no file"));
    }
    if data.len() > LARGEST {
        return Err(cannot("it has more than 1 MiB"));
    }
    let bytes = fs::read(file).map_err(|error| cannot(&error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        cannot(&format!("line {line} is no UTF-8 text"))
    })
}

fn write_first(file: &Path) -> Result<String, String> {
    use std::io::Write as _;
    let shown = file.display();
    let made = fs::OpenOptions::new().write(true).create_new(true).open(file);
    made.and_then(|mut made| made.write_all(FIRST.as_bytes())).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => format!("{shown} is there already, and stays as it is: name another file"),
        _ => format!("cannot write {shown}: {error}"),
    })?;
    Ok(format!("{shown} has a kernel that works. Run it: {} play {shown}\n", program()))
}

impl Worker {
    /// The main function of the process that plays a file.
    pub(crate) fn run(&self) -> std::process::ExitCode {
        let path = self.file.display().to_string();
        let text = match read(&self.file) {
            Ok(text) => text,
            Err(why) => {
                output::note(&format!("error: {why}"));
                return std::process::ExitCode::from(2);
            }
        };
        let parent = self.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::path::absolute(parent).unwrap_or_else(|_| parent.to_owned()).display().to_string();
        let device = match self.device {
            Device::Auto => None,
            Device::Gpu => Some(DeviceKind::Gpu),
            Device::Emulated => Some(DeviceKind::Emulated),
        };
        let source = Source { path, text };
        run(&Playing { source, folder, device, seed: self.seed, traced: self.traced })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_cannot_be_read_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("latin.cu"), b"// one\n// \xe4\n").unwrap();
        fs::write(path("large.cu"), vec![b' '; (1 << 20) + 1]).unwrap();
        for (name, says) in [
            ("missing.cu", "there is no such file; "),
            ("", "it is no file"),
            ("latin.cu", "line 2 is no UTF-8 text"),
            ("large.cu", "more than 1 MiB"),
        ] {
            assert!(read(&path(name)).unwrap_err().contains(says), "{name}");
        }
    }

    #[test]
    fn a_first_file_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.cu");
        assert!(write_first(&file).unwrap().contains("has a kernel that works"));
        assert_eq!(fs::read_to_string(&file).unwrap(), FIRST);
        fs::write(&file, "mine").unwrap();
        assert!(write_first(&file).unwrap_err().contains("is there already"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }
}
