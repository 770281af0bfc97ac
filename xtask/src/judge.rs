//! Judges one submission in a process of its own, and makes a verdict of whatever becomes of that process.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fusion_grader::judgement::{Code, DeviceInfo, DeviceKind, Failure, Fate, Judgement, Kind, RunError};
use fusion_grader::protocol::{Message, SPENT};

use crate::interrupt::Interrupt;
use crate::process::{self, End, Said, Watch};
use crate::progress::Progress;

/// What a worker is asked to judge.
#[derive(Clone, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) program: &'a Path,
    /// The workspace's root, to which paths of sources are relative.
    pub(crate) root: Option<&'a Path>,
    pub(crate) kind: Kind,
    pub(crate) day: u32,
    pub(crate) exercise: &'a str,
    pub(crate) device: DeviceKind,
    /// Of [`fusion_grader::judgement::Parts::NAMES`].
    pub(crate) parts: Vec<&'static str>,
    pub(crate) seed: u64,
    /// At most so many elements for the timed runs; the device's memory decides otherwise.
    pub(crate) size: Option<usize>,
    pub(crate) limit: Duration,
}

/// A judgement, and the device that made it where that is known.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) judgement: Judgement,
    pub(crate) device: Option<DeviceInfo>,
}

/// Why there is no judgement at all, and there is no point in asking for the next one.
#[derive(Debug)]
pub(crate) enum Stop {
    Interrupted,
    Error(RunError),
}

impl Task<'_> {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.args(["judge", "--exercise", self.exercise, "--parts", &self.parts.join(",")]);
        command.args([
            "--device",
            match self.device {
                DeviceKind::Emulated => "emulated",
                DeviceKind::Gpu => "gpu",
            },
        ]);
        command.args(["--seed", &self.seed.to_string()]);
        if let Some(root) = self.root {
            command.current_dir(root);
        }
        if let Some(size) = self.size {
            command.args(["--size", &size.to_string()]);
        }
        command
    }

    fn blank(&self) -> Judgement {
        Judgement { name: self.exercise.to_owned(), day: self.day, kind: self.kind, ..Judgement::default() }
    }
}

/// Judges one submission.
pub(crate) fn judge(task: &Task<'_>, interrupt: &Interrupt, progress: &Progress) -> Result<Outcome, Stop> {
    let mut told = Told::default();
    let end = process::run(&mut task.command(), &Watch { limit: task.limit, interrupt }, |said| {
        told.hear(said, task.exercise, progress);
    });
    let end = end.map_err(|error| cannot_run(task.program, &error))?;
    if end == End::Interrupted {
        return Err(Stop::Interrupted);
    }
    if let Some(error) = told.unable {
        return Err(Stop::Error(error));
    }
    if let Some((device, mut judgement)) = told.judged.pop() {
        judgement.kind = task.kind;
        return Ok(Outcome { judgement, device: Some(device) });
    }
    let death = death(end, task.limit, &told.doing, &told.complaints);
    Ok(Outcome { judgement: task.blank().refused(death), device: None })
}

pub(crate) fn cannot_run(program: &Path, error: &std::io::Error) -> Stop {
    Stop::Error(RunError::new("build", format!("cannot run {}: {error}", program.display())))
}

/// What one worker said.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) judged: Vec<(DeviceInfo, Judgement)>,
    pub(crate) fates: Vec<(String, Fate)>,
    pub(crate) unable: Option<RunError>,
    /// The last thing it was doing.
    pub(crate) doing: String,
    /// The last lines on its stderr.
    pub(crate) complaints: Vec<String>,
}

impl Told {
    pub(crate) fn hear(&mut self, said: Said, who: &str, progress: &Progress) {
        match said {
            Said::Message(message) => match *message {
                Message::Judged { device, judgement } => self.judged.push((device, *judgement)),
                Message::Progress { text } => {
                    progress.say(format!("{who}: {text}"));
                    self.doing = text;
                }
                Message::Mutant { id, fate } => self.fates.push((id, fate)),
                Message::Unable { error } => self.unable = Some(error),
                Message::Listed { .. } | Message::Probed { .. } | Message::Timed { .. } | Message::Untimed { .. } => {}
            },
            Said::Printed(line) => progress.note(&format!("{who}: {line}")),
            Said::Complained(line) => {
                progress.note(&format!("{who}: {line}"));
                if self.complaints.len() == 8 {
                    self.complaints.remove(0);
                }
                self.complaints.push(line);
            }
        }
    }
}

/// The failure of a submission whose process ended without a judgement.
pub(crate) fn death(end: End, limit: Duration, doing: &str, complaints: &[String]) -> Failure {
    let while_doing = if doing.is_empty() { String::new() } else { format!(" while judging {doing}") };
    let mut failure = match end {
        End::TimedOut => Failure::new(
            Code::Timeout,
            format!("stopped after {} s{while_doing}", limit.as_secs_f64().round().max(1.0)),
        )
        .note("a loop that never ends, in the kernel or in the launch function? --timeout gives it more seconds"),
        End::Killed(signal) => {
            let title = format!("the process died{while_doing}: {}", process::signal_name(signal));
            let failure = Failure::new(Code::Crash, title);
            if process::is_stray_access(signal) {
                failure.note(
                    "a launch with too few arguments, or one of the wrong type, makes the driver read stray memory",
                )
            } else {
                failure.note("does the launch function end the process?")
            }
        }
        End::Exited(code) => {
            Failure::new(Code::Crash, format!("the process ended{while_doing} with exit code {code} and no verdict"))
                .note("does the launch function end the process?")
        }
        End::Interrupted => Failure::new(Code::Timeout, "interrupted"),
    };
    if end == End::Exited(i32::from(SPENT)) {
        failure.title = format!("the device was lost{while_doing}");
        failure.notes.clear();
    }
    if !complaints.is_empty() {
        failure.notes.push(format!("its last words: {}", complaints.join(" / ")));
    }
    failure
}

/// The GPU of this machine, as a worker sees it.
pub(crate) fn probe(program: &Path, interrupt: &Interrupt) -> Result<Result<DeviceInfo, String>, Stop> {
    let mut found = Err("the program that looks for a GPU did not answer".to_owned());
    let watch = Watch { limit: Duration::from_secs(60), interrupt };
    let end = process::run(Command::new(program).arg("probe"), &watch, |said| {
        if let Said::Message(message) = said
            && let Message::Probed { gpu, note } = *message
        {
            found = gpu.ok_or(note.unwrap_or_else(|| "no GPU was found".to_owned()));
        }
    });
    match end {
        Ok(End::Interrupted) => Err(Stop::Interrupted),
        Ok(_) => Ok(found),
        Err(error) => Err(cannot_run(program, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_grader::judgement::Verdict;

    #[test]
    fn every_end_without_a_judgement_fails_with_its_reason() {
        let limit = Duration::from_secs(120);
        for (end, code, words) in [
            (End::TimedOut, Code::Timeout, "stopped after 120 s while judging right: N = 3"),
            (End::Killed(11), Code::Crash, "the process died while judging right: N = 3: SIGSEGV"),
            (End::Exited(0), Code::Crash, "ended while judging right: N = 3 with exit code 0"),
            (End::Exited(3), Code::Crash, "the device was lost"),
        ] {
            let death = death(end, limit, "right: N = 3", &["oops".to_owned()]);
            let judgement = Judgement::default().refused(death);
            let failure = judgement.failure().unwrap();
            assert_eq!((judgement.verdict, failure.code), (Verdict::Fail, code));
            assert!(failure.title.contains(words), "{}", failure.title);
            assert!(failure.notes.iter().any(|note| note.contains("oops")));
        }
    }
}
