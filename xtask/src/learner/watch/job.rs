//! One run of `grade` or `bench` in a process of its own, which is ended when nobody waits for it any more.

use std::process::Command;
use std::thread::JoinHandle;
use std::time::Duration;

use clap::ValueEnum as _;
use fusion_course::Exercise;
use fusion_grader::judgement::Report;

use super::Options;
use crate::emulated;
use crate::interrupt::Interrupt;
use crate::process::{self, Said, Watch};

/// A process under way.
#[derive(Debug)]
pub(super) struct Job {
    stop: Interrupt,
    /// None once it was waited for.
    thread: Option<JoinHandle<Printed>>,
    grades: bool,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The report, and what was said beside it: what the submission printed, what the compiler warned of.
    Graded(Box<Report>, Vec<String>),
    Text(String),
}

/// All that a process printed, on both of its outputs.
#[derive(Debug, Default)]
struct Printed {
    out: Vec<String>,
    err: Vec<String>,
}

impl Job {
    pub(super) fn grade(options: &Options, exercise: &Exercise) -> Self {
        Self::start(options, exercise, &["grade", "--json"], true)
    }

    pub(super) fn bench(options: &Options, exercise: &Exercise) -> Self {
        Self::start(options, exercise, &["bench"], false)
    }

    pub(super) fn explain(options: &Options, exercise: &Exercise) -> Self {
        Self::start(options, exercise, &["explain"], false)
    }

    fn start(options: &Options, exercise: &Exercise, words: &[&str], grades: bool) -> Self {
        let stop = Interrupt::default();
        let command = command(options, exercise, words);
        let told = stop.clone();
        let thread = std::thread::spawn(move || match command {
            Ok(command) => printed(command, &told),
            Err(error) => Printed { err: vec![format!("error: {error}")], ..Printed::default() },
        });
        Self { stop, thread: Some(thread), grades }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Outcome {
        let printed = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        match serde_json::from_str(&printed.out.join("\n")) {
            Ok(report) if self.grades => Outcome::Graded(Box::new(report), printed.err),
            _ => Outcome::Text(apart(&[printed.out, printed.err].concat())),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.stop.request();
        // Its end is short: nothing of it outlives this.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

/// Lines as a text in which each table begins behind an empty line: lines without text do not come through the pipe.
fn apart(lines: &[String]) -> String {
    let begins_table = |index: usize| lines.get(index + 1).is_some_and(|next| next.starts_with("|-"));
    let line = |(index, line): (usize, &String)| format!("{}{line}\n", if begins_table(index) { "\n" } else { "" });
    lines.iter().enumerate().map(line).collect()
}

fn command(options: &Options, exercise: &Exercise, words: &[&str]) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words).arg(exercise.name);
    // What a kernel becomes is told by the emulated device.
    let device = options.device.to_possible_value().filter(|_| words != ["explain"]);
    if let Some(device) = device {
        command.args(["--device", device.get_name()]);
    }
    if let Some(profile) = &options.emulated.profile {
        command.args(["--profile", profile]);
    }
    if let Some(seconds) = options.timeout {
        command.args(["--timeout", &seconds.to_string()]);
    }
    if options.prebuilt {
        command.arg("--prebuilt");
    }
    emulated::tell(&mut command);
    Ok(command)
}

fn printed(mut command: Command, stop: &Interrupt) -> Printed {
    let mut printed = Printed::default();
    // It has limits of its own.
    let watch = Watch { limit: Duration::MAX, interrupt: stop };
    let ended = process::run(&mut command, &watch, |said| match said {
        Said::Printed(line) => printed.out.push(line),
        Said::Complained(line) => printed.err.push(line),
        Said::Message(_) => {}
    });
    if let Err(error) = ended {
        printed.err.push(format!("error: {error}"));
    }
    printed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_apart() {
        let lines = ["bench", "| a |", "|---|", "| 1 |", "| b |", "|---|", "end"].map(str::to_owned);
        assert_eq!(apart(&lines), "bench\n\n| a |\n|---|\n| 1 |\n\n| b |\n|---|\nend\n");
    }
}
