//! `grade --class`: judges code of people whom one does not trust.
//!
//! Only the two files of an exercise are taken. The `.rs` becomes a program of its own, built by a confined compiler and run
//! confined; the `.cu` is compiled and judged by a worker that the program cannot reach.

mod host;
mod submission;

use std::path::{Path, PathBuf};
use std::process::Command;

use fusion_course::Exercise;
use fusion_grader::judgement::{ClassRun, DeviceKind, Judgement, Kind, Report, RunError};
use fusion_toolchain::{Cache, Toolchain};

use self::host::Libraries;
use self::submission::Taken;
use super::Options;
use crate::confine::{self, Files, Who};
use crate::device::Device;
use crate::interrupt::Interrupt;
use crate::judge::{self, Stop, Task};
use crate::process::Watch;
use crate::progress::Progress;
use crate::target::{self, Selection};
use crate::{contained, emulated, plain, toolchain};

/// Judges what is in the folder.
pub(super) fn grade(options: &Options, folder: &Path, interrupt: &Interrupt, report: &mut Report) -> Result<(), Stop> {
    let refuse = |code: &str, message: String| Stop::Error(RunError::new(code, message));
    if let Some(why) = confine::unavailable() {
        return Err(refuse("not-contained", format!("--class is not available: {why}. Nothing was run")));
    }
    if options.device == Device::Gpu {
        let why = "--class judges on the emulated device only: leave --device out, or take `--device emulated`";
        return Err(refuse("no-gpu", why.to_owned()));
    }
    if !folder.is_dir() {
        return Err(refuse("unknown-target", format!("--class: there is no folder {}", folder.display())));
    }
    let selections = target::resolve(&options.targets, fusion_course::days()).map_err(|unknown| {
        let error = RunError::new("unknown-target", unknown.to_string());
        Stop::Error(RunError { nearest: unknown.nearest, ..error })
    })?;
    let wanted = wanted(folder, &selections, options.targets.is_empty());
    if wanted.is_empty() {
        let layout = submission::layout("NN", "NAME");
        return Err(refuse("unknown-target", format!("{} has no answer to any exercise; {layout}", folder.display())));
    }
    report.class = Some(ClassRun { folder: folder.display().to_string(), contained: confine::BY.to_owned() });
    confine::program().map_err(|error| refuse("build", format!("cannot find this program: {error}")))?;
    let class = Class::new(options, interrupt).map_err(Stop::Error)?;
    report.seed = class.seed;
    class.libraries.rehearse(&class.driver, interrupt)?;
    let progress = Progress::new(wanted.len());
    for exercise in wanted {
        let judgement = class.judge(folder, exercise, &progress, report)?;
        // Its author wrote some of it: the messages of rustc, and names of files.
        report.exercises.push(plain::text_of(judgement));
        progress.step();
    }
    Ok(())
}

/// The exercises that were named, or those for which there is something.
fn wanted(folder: &Path, selections: &[Selection], found: bool) -> Vec<&'static Exercise> {
    let exercises = selections.iter().flat_map(|selection| &selection.exercises).copied();
    exercises.filter(|exercise| !found || submission::any(folder, exercise)).collect()
}

/// What all exercises of a run share.
struct Class<'a> {
    options: &'a Options,
    interrupt: &'a Interrupt,
    libraries: Libraries,
    /// What a worker may read.
    compiler: Vec<PathBuf>,
    /// Folders in which it may look for a compiler.
    listed: Vec<PathBuf>,
    driver: PathBuf,
    seed: u64,
}

impl<'a> Class<'a> {
    fn new(options: &'a Options, interrupt: &'a Interrupt) -> Result<Self, RunError> {
        toolchain::ready()?;
        let found = fusion_toolchain::find().map_err(|error| RunError::new("no-compiler", error.to_string()))?;
        let libraries = Libraries::build(interrupt)?;
        let driver = fusion_device::emulated_driver().map_err(|error| RunError::new("no-device", error.to_string()))?;
        let seed = options.seed.map_or_else(drawn, Ok)?;
        Ok(Self { options, interrupt, libraries, compiler: readable(&found), listed: listed(&found), driver, seed })
    }

    fn judge(
        &self,
        folder: &Path,
        exercise: &'static Exercise,
        progress: &Progress,
        report: &mut Report,
    ) -> Result<Judgement, Stop> {
        let blank = Judgement {
            name: exercise.name.to_owned(),
            day: exercise.day,
            kind: Kind::Exercise,
            ..Judgement::default()
        };
        let taken = match Taken::from(folder, exercise, self.libraries.folder()) {
            Ok(taken) => taken,
            Err(submission::Refused::Theirs(failure)) => return Ok(blank.refused(*failure)),
            Err(submission::Refused::Ours(error)) => {
                return Err(Stop::Error(RunError::new("build", format!("cannot copy the submission: {error}"))));
            }
        };
        progress.say(format!("{}: building", exercise.name));
        let limit = self.options.limit(DeviceKind::Emulated);
        let watch = Watch { limit, interrupt: self.interrupt };
        let host = match self.libraries.host(&taken, exercise, &watch)? {
            Ok(host) => host,
            Err(failure) => return Ok(blank.refused(failure)),
        };
        let worker = contained::Options::new(
            exercise.name,
            taken.kernel.clone(),
            taken.name.clone(),
            host.clone(),
            self.driver.clone(),
            self.options.size,
        );
        let command = self.worker(&worker, &host, &taken).map_err(|error| judge::cannot_run(&host, &error))?;
        let parts = Vec::new();
        let task = Task {
            program: &host,
            root: None,
            kind: Kind::Exercise,
            top: false,
            day: exercise.day,
            exercise: exercise.name,
            device: DeviceKind::Emulated,
            parts,
            seed: self.seed,
            size: self.options.size,
            limit,
        };
        let secret = self.seed.to_string();
        let outcome = judge::judge_by(command, &task, Some(&secret), self.interrupt, progress)?;
        report.device = outcome.device.or(report.device.take());
        Ok(outcome.judgement)
    }

    /// The worker's command, confined: it compiles the `.cu`, which may include files.
    fn worker(&self, worker: &contained::Options, host: &Path, taken: &Taken) -> std::io::Result<Command> {
        let own = [confine::program()?, host.to_owned(), self.driver.clone(), taken.kernel.clone()];
        let read: Vec<PathBuf> = own.into_iter().chain(emulated::file()).chain(self.compiler.iter().cloned()).collect();
        let listed = Files { read: &read, list: &self.listed, write: &[] };
        let mut command = confine::command(Who::Worker, &worker.command()?, listed)?;
        command.current_dir("/");
        Ok(command)
    }
}

/// NVRTC, its headers, what was fetched with it, and what is kept of what it has made. Not what is beside them: a `.cu`
/// may include what can be read.
fn readable(toolchain: &Toolchain) -> Vec<PathBuf> {
    let Toolchain { nvrtc, builtins, include, .. } = toolchain;
    let cache = Cache::from_env().map(|cache| cache.directory());
    [nvrtc, builtins].into_iter().chain(include).cloned().chain(cache).collect()
}

/// The folders of both libraries, in which the worker looks for them as this process did.
fn listed(toolchain: &Toolchain) -> Vec<PathBuf> {
    let libraries = [&toolchain.nvrtc, &toolchain.builtins];
    libraries.into_iter().filter_map(|file| file.parent()).map(Path::to_path_buf).collect()
}

/// A seed that cannot be guessed.
fn drawn() -> Result<u64, RunError> {
    getrandom::u64().map_err(|error| RunError::new("build", format!("no random numbers: {error}")))
}
