//! The worker that launches one variant of an exercise, or predicts its time.

use std::path::{Path, PathBuf};
use std::process::Command;

use fusion_grader::judgement::{DeviceInfo, Kind, RunError};
use fusion_grader::profile::Profiled;
use fusion_grader::protocol::Message;
use fusion_grader::render;

use crate::interrupt::Interrupt;
use crate::judge::{Stop, cannot_run};
use crate::process::{self, End, Said, Watch};
use crate::programs::{self, Programs};
use crate::progress::{Printout, Progress};
use crate::{output, target, toolchain};

/// The program that has one exercise's answer.
pub(in crate::learner) struct Worker {
    pub(in crate::learner) exercise: &'static str,
    pub(in crate::learner) program: PathBuf,
    pub(in crate::learner) root: Option<PathBuf>,
    seed: u64,
}

impl Worker {
    /// Builds it, or says why it does not compile.
    pub(in crate::learner) fn find(
        named: &String,
        solutions: bool,
        seed: u64,
        prebuilt: bool,
        interrupt: &Interrupt,
    ) -> Result<Result<Self, String>, Stop> {
        let selections = target::resolve(std::slice::from_ref(named), fusion_course::days()).map_err(|unknown| {
            let error = RunError::new("unknown-target", unknown.to_string());
            Stop::Error(RunError { nearest: unknown.nearest, ..error })
        })?;
        let (Some(selection), true) =
            (selections.first(), selections.iter().map(|it| it.exercises.len()).sum::<usize>() == 1)
        else {
            let message = format!("`{}` is more than one exercise: name one", named);
            return Err(Stop::Error(RunError::new("unknown-target", message)));
        };
        let exercise = selection.exercises[0].name;
        let kind = if solutions { Kind::Solution } else { Kind::Exercise };
        let package = programs::package(kind, selection.day.number);
        toolchain::ready().map_err(Stop::Error)?;
        let programs = Programs::get(std::slice::from_ref(&package), prebuilt, interrupt).map_err(Stop::Error)?;
        let Some(program) = programs.paths.get(&package) else {
            let errors = programs.errors.iter().map(|error| render::failure(&error.failure, &[], output::look()));
            return Ok(Err(format!("`{package}` does not compile\n\n{}", errors.collect::<Vec<_>>().join("\n\n"))));
        };
        Ok(Ok(Self { exercise, program: program.clone(), root: programs.root, seed }))
    }

    /// The command for a rung, or for the answer itself.
    pub(in crate::learner) fn command(&self, device: &str, rung: Option<&str>, size: Option<&str>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["profile", "--exercise", self.exercise, "--device", device, "--seed", &self.seed.to_string()]);
        command.args(rung.iter().flat_map(|rung| ["--rung", rung]));
        command.args(size.iter().flat_map(|size| ["--size", size]));
        command.current_dir(self.root.as_deref().unwrap_or(Path::new(".")));
        command
    }
}

/// The size that was profiled, as the worker takes it.
pub(in crate::learner) fn size(profiled: &Profiled) -> String {
    match profiled.rows {
        1 => profiled.columns.to_string(),
        rows => format!("{rows}x{}", profiled.columns),
    }
}

/// Runs the worker to its end. What it could not do is a note.
pub(in crate::learner) fn attend(
    command: &mut Command,
    exercise: &str,
    watch: &Watch<'_>,
    progress: &Progress,
) -> Result<Result<(DeviceInfo, Profiled), String>, Stop> {
    let (mut found, mut unable, mut note) = (None, None, None);
    let mut printout = Printout::default();
    let end = process::run(command, watch, |said| match said {
        Said::Message(message) => match *message {
            Message::Profiled { device, profiled } => found = Some((device, *profiled)),
            Message::Untimed { note: why, .. } => note = Some(why),
            Message::Unable { error } => unable = Some(error),
            Message::Progress { text } => progress.say(format!("{exercise}: {text}")),
            _ => {}
        },
        Said::Printed(line) | Said::Complained(line) => printout.line(exercise, &line, progress),
    });
    printout.end(exercise, progress);
    let end = end.map_err(|error| cannot_run(Path::new(command.get_program()), &error))?;
    match (end, unable, found) {
        (End::Interrupted, ..) => Err(Stop::Interrupted),
        (_, Some(error), _) => Err(Stop::Error(error)),
        (_, None, Some(found)) => Ok(Ok(found)),
        (End::TimedOut, ..) => Ok(Err(format!("stopped after {} s; --timeout gives it more", watch.limit.as_secs()))),
        (end, None, None) => Ok(Err(note.unwrap_or_else(|| format!("the process ended without an answer: {end:?}")))),
    }
}
