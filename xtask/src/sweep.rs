//! One worker that times its submission over all sizes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fusion_grader::bench::Size;
use fusion_grader::judgement::{DeviceInfo, DeviceKind, RunError};
use fusion_grader::protocol::Message;

use crate::interrupt::Interrupt;
use crate::judge::{Stop, cannot_run};
use crate::process::{self, End, Said, Watch};
use crate::progress::{Printout, Progress};

/// What a worker is asked to time.
#[derive(Clone, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) program: &'a Path,
    pub(crate) root: Option<&'a Path>,
    pub(crate) exercise: &'a str,
    pub(crate) device: DeviceKind,
    /// As the command line takes them; none means the course's own.
    pub(crate) sizes: &'a [String],
    pub(crate) seed: u64,
    /// The top rung of the ladder as the submission, where there is one.
    pub(crate) top: bool,
    /// The unfused chain and the submission only.
    pub(crate) short: bool,
    /// For one size.
    pub(crate) limit: Duration,
}

/// What it found out.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    pub(crate) device: Option<DeviceInfo>,
    pub(crate) sizes: Vec<Size>,
    /// What was not timed, and why.
    pub(crate) notes: Vec<String>,
}

/// Runs one worker to its end. A worker that dies leaves what it said before, and a note.
pub(crate) fn sweep(ask: &Ask<'_>, interrupt: &Interrupt, progress: &Progress) -> Result<Swept, Stop> {
    let mut command = Command::new(ask.program);
    let device = match ask.device {
        DeviceKind::Emulated => "emulated",
        DeviceKind::Gpu => "gpu",
    };
    command.args(["bench", "--exercise", ask.exercise, "--device", device, "--seed", &ask.seed.to_string()]);
    if !ask.sizes.is_empty() {
        command.args(["--sizes", &ask.sizes.join(",")]);
    }
    if ask.top {
        command.arg("--top");
    }
    if ask.short {
        command.arg("--short");
    }
    if let Some(root) = ask.root {
        command.current_dir(root);
    }
    let (mut swept, mut unable, mut doing) = (Swept::default(), None, String::new());
    let mut printout = Printout::default();
    let end = process::run(&mut command, &Watch { limit: ask.limit, interrupt }, |said| match said {
        Said::Message(message) => match *message {
            Message::Timed { device, size } => {
                swept.device = Some(device);
                swept.sizes.push(*size);
            }
            Message::Untimed { shape, note } => {
                swept.notes.push(shape.map_or_else(|| note.clone(), |shape| format!("{shape}: {note}")));
            }
            Message::Progress { text } => {
                progress.say(format!("{}: {text}", ask.exercise));
                doing = text;
            }
            Message::Unable { error } => unable = Some(error),
            _ => {}
        },
        Said::Printed(line) | Said::Complained(line) => printout.line(ask.exercise, &line, progress),
    });
    printout.end(ask.exercise, progress);
    let after = if doing.is_empty() { String::new() } else { format!(" while {doing}") };
    match end.map_err(|error| cannot_run(ask.program, &error))? {
        End::Interrupted => return Err(Stop::Interrupted),
        End::TimedOut => {
            let seconds = ask.limit.as_secs();
            swept.notes.push(format!("stopped after {seconds} s{after}; --timeout gives it more"));
        }
        End::Stopped(_) => swept.notes.push(format!("the process was stopped{after}")),
        End::Killed(signal) => swept.notes.push(format!("the process died{after}: {}", process::signal_name(signal))),
        End::Exited(_) => {}
    }
    if let Some(error) = unable {
        return Err(Stop::Error(error));
    }
    if swept.sizes.is_empty() && swept.notes.is_empty() {
        return Err(Stop::Error(RunError::new("build", format!("{} timed nothing", ask.program.display()))));
    }
    Ok(swept)
}
