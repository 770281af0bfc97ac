//! Judges one submission in a process of its own, and makes a verdict of whatever becomes of that process.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fusion_grader::judgement::{Code, DeviceInfo, DeviceKind, Failure, Fate, Judgement, Kind, RunError, Verdict};
use fusion_grader::protocol::{Message, OPENING, SPENT};

use crate::interrupt::{self, Interrupt};
use crate::process::{self, End, Said, Watch};
use crate::progress::{Printout, Progress};
use crate::{output, plain};

/// What a worker is asked to judge.
#[derive(Clone, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) program: &'a Path,
    /// The workspace's root, to which paths of sources are relative.
    pub(crate) root: Option<&'a Path>,
    pub(crate) kind: Kind,
    /// Whether the top rung of the ladder is to be judged.
    pub(crate) top: bool,
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

impl Stop {
    /// Says what went wrong, and returns the exit code. What fails because the user interrupts it is no error.
    pub(crate) fn end(&self, interrupt: &Interrupt) -> u8 {
        match self {
            Stop::Interrupted => interrupt::EXIT_CODE,
            Stop::Error(_) if interrupt.requested() => interrupt::EXIT_CODE,
            Stop::Error(error) => {
                output::note(&format!("error: {}", error.message));
                2
            }
        }
    }
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
        if self.top {
            command.arg("--top");
        }
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
    judge_by(task.command(), task, None, interrupt, progress)
}

/// Judges one submission by a worker of another kind, which is told a secret.
pub(crate) fn judge_by(
    mut command: Command,
    task: &Task<'_>,
    secret: Option<&str>,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Outcome, Stop> {
    let mut told = Told::default();
    let end = process::run_telling(&mut command, &Watch { limit: task.limit, interrupt }, secret, |said| {
        told.hear(said, task.exercise, progress);
    });
    progress.ended(task.exercise);
    let end = end.map_err(|error| cannot_run(task.program, &error))?;
    if end == End::Interrupted {
        return Err(Stop::Interrupted);
    }
    told.printed.end(task.exercise, progress);
    if let Some(error) = told.unable.take_if(|_| !told.opened) {
        return Err(Stop::Error(error));
    }
    match told.verdict(task.exercise, end) {
        Ok(Some((device, judgement))) => {
            let mut judgement = plain::text_of(judgement);
            judgement.kind = task.kind;
            Ok(Outcome { judgement, device: Some(device) })
        }
        Ok(None) => {
            let mut death = death(end, task.limit, &told.doing, &told.complaints);
            // A kernel that does not end would have been stopped by its budget long before.
            let stuck = told.since.is_some_and(|since| since.elapsed() >= STUCK);
            if end == End::TimedOut && task.device == DeviceKind::Emulated && stuck {
                let name = task.exercise;
                death.add_note(format!(
                    "one thread's loop that never ends is stopped much earlier here: does the launch function in \
                     {name}.rs have one, or does the kernel in {name}.cu do far more than there are elements, as where \
                     every block does all of them?"
                ));
            }
            let death = told.unable.into_iter().fold(death, |death, error| death.note(error.message));
            Ok(Outcome { judgement: task.blank().refused(death), device: None })
        }
        Err(why) => {
            let forged = Failure::new(Code::Crash, why)
                .note("does the launch function fork, or write to files that it did not open?");
            Ok(Outcome { judgement: task.blank().refused(forged), device: None })
        }
    }
}

/// Has a worker judge samples, mutants or rungs, which may print and complain as they like. What it said, and how it ended.
pub(crate) fn attend(
    command: &mut Command,
    exercise: &str,
    watch: &Watch<'_>,
    progress: &Progress,
) -> Result<(Told, End), Stop> {
    let mut told = Told::default();
    let end = process::run(command, watch, |said| {
        if let Said::Message(_) = said {
            told.hear(said, exercise, progress);
        }
    });
    let end = end.map_err(|error| cannot_run(Path::new(command.get_program()), &error))?;
    match (end, told.unable.take()) {
        (End::Interrupted, _) => Err(Stop::Interrupted),
        (_, Some(error)) => Err(Stop::Error(error)),
        (end, None) => Ok((told, end)),
    }
}

pub(crate) fn cannot_run(program: &Path, error: &std::io::Error) -> Stop {
    Stop::Error(RunError::new("build", format!("cannot run {}: {error}", program.display())))
}

/// For so long no kernel runs on the emulated device that may run at all.
const STUCK: Duration = Duration::from_secs(90);

/// What one worker said.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) judged: Vec<(DeviceInfo, Judgement)>,
    pub(crate) fates: Vec<(String, Fate)>,
    pub(crate) unable: Option<RunError>,
    /// Whether it came to have a device: from then on nothing is wrong but what it judges.
    opened: bool,
    /// Since when it was doing what it did last.
    since: Option<Instant>,
    /// The last thing it was doing.
    pub(crate) doing: String,
    /// The last lines on its stderr.
    pub(crate) complaints: Vec<String>,
    /// Lines that it printed, on both.
    printed: Printout,
}

impl Told {
    /// The one judgement of an exercise, from a process that ended as one that gives it does; none if it gave none.
    ///
    /// # Errors
    /// What shows that a judgement is not the grader's.
    fn verdict(&mut self, exercise: &str, end: End) -> Result<Option<(DeviceInfo, Judgement)>, String> {
        let Some((device, judgement)) = self.judged.pop() else { return Ok(None) };
        if !self.judged.is_empty() {
            return Err(format!("the process gave {} verdicts on one exercise", self.judged.len() + 1));
        }
        if judgement.name != exercise {
            return Err(format!("the process gave a verdict on `{}`", judgement.name));
        }
        if judgement.clone().conclude().verdict != judgement.verdict {
            return Err(format!("the process gave a verdict that its parts contradict: {}", judgement.verdict));
        }
        // A verdict is the last thing that a worker says. One that ends otherwise than it should is in the submission's hands.
        let orderly = matches!(end, End::Exited(0)) || end == End::Exited(i32::from(SPENT));
        Ok((orderly || judgement.verdict != Verdict::Pass).then_some((device, judgement)))
    }

    pub(crate) fn hear(&mut self, said: Said, who: &str, progress: &Progress) {
        match said {
            Said::Message(message) => match *message {
                Message::Judged { device, judgement } => self.judged.push((device, *judgement)),
                Message::Progress { text } => {
                    self.opened |= text != OPENING;
                    progress.worker(who, &text);
                    self.doing = text;
                    self.since = Some(Instant::now());
                }
                Message::Mutant { id, fate } => self.fates.push((id, fate)),
                Message::Unable { error } => self.unable = Some(error),
                // No judge says these.
                Message::Listed { .. }
                | Message::Probed { .. }
                | Message::Timed { .. }
                | Message::Untimed { .. }
                | Message::Profiled { .. }
                | Message::Played { .. }
                | Message::Measured { .. } => {}
            },
            Said::Printed(line) => self.printed.line(who, &line, progress),
            Said::Complained(line) => {
                self.printed.line(who, &line, progress);
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
        End::Stopped(signal) => {
            let name = process::signal_name(signal);
            Failure::new(Code::Crash, format!("the process was stopped{while_doing}: {name}"))
                .note("does the launch function send itself a signal, or read from the terminal?")
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
            (End::Stopped(19), Code::Crash, "was stopped while judging right: N = 3: SIGSTOP"),
        ] {
            let death = death(end, limit, "right: N = 3", &["oops".to_owned()]);
            let judgement = Judgement::default().refused(death);
            let failure = judgement.failure().unwrap();
            assert_eq!((judgement.verdict, failure.code), (Verdict::Fail, code));
            assert!(failure.title.contains(words), "{}", failure.title);
            assert!(failure.notes.iter().any(|note| note.contains("oops")));
        }
    }
    #[test]
    fn only_one_verdict_that_fits_is_believed() {
        let device = DeviceInfo {
            kind: DeviceKind::Emulated,
            name: String::new(),
            compute_capability: String::new(),
            multiprocessors: 0,
            l2_bytes: 0,
            memory_bytes: 0,
            driver: String::new(),
        };
        let verdict = |judged: &[(&str, Verdict, Verdict)], end| {
            let judgement = |&(name, right, verdict): &(&str, Verdict, Verdict)| {
                let mut judgement = Judgement { name: name.to_owned(), verdict, ..Judgement::default() };
                judgement.parts.right.verdict = right;
                (judgement.parts.lean.verdict, judgement.parts.fast.verdict) = (Verdict::Pass, Verdict::Pass);
                (device.clone(), judgement)
            };
            let mut told = Told { judged: judged.iter().map(judgement).collect(), ..Told::default() };
            told.verdict("softmax", end).map(|found| found.map(|(_, judgement)| judgement.verdict))
        };
        let (pass, fail) = (("softmax", Verdict::Pass, Verdict::Pass), ("softmax", Verdict::Fail, Verdict::Fail));
        assert_eq!(verdict(&[pass], End::Exited(0)), Ok(Some(Verdict::Pass)));
        assert_eq!(verdict(&[pass], End::Exited(i32::from(SPENT))), Ok(Some(Verdict::Pass)));
        assert_eq!(verdict(&[], End::Exited(0)), Ok(None));
        // A pass needs an orderly end; a failure stands whatever comes after it.
        for end in [End::Exited(1), End::Killed(11), End::TimedOut, End::Stopped(19)] {
            assert_eq!(verdict(&[pass], end), Ok(None));
            assert_eq!(verdict(&[fail], end), Ok(Some(Verdict::Fail)));
        }
        assert!(verdict(&[pass, pass], End::Exited(0)).is_err());
        assert!(verdict(&[("l2norm", Verdict::Pass, Verdict::Pass)], End::Exited(0)).is_err());
        assert!(verdict(&[("softmax", Verdict::Fail, Verdict::Pass)], End::Exited(0)).is_err());
    }
}
