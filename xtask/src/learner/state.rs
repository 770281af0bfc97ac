//! What a learner has done so far, as readable text in the checkout's folder `.course`.
//!
//! `attempts.jsonl` has a line for each attempt, and is only ever appended to: a crash loses the line that was being written and
//! nothing else, and two terminals may write at once. `quiz.jsonl` is the same for answers in quizzes. `best` has the files of each exercise's best attempt, `saved` what `reset` took
//! away. Everything else follows from these.

mod attempt;
mod journal;
mod mark;
mod record;
mod standing;

use std::path::{Path, PathBuf};

use fusion_course::Exercise;

pub(crate) use attempt::{Attempt, Speed};
pub(crate) use mark::Mark;
pub(crate) use record::Recorder;
pub(crate) use standing::{Attempts, Standing};

use super::files::Folder;
use crate::programs;

/// The folder below the checkout's root. Git ignores it.
const FOLDER: &str = ".course";

/// A checkout, and what was done in it.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) root: PathBuf,
}

/// What is said where there is no checkout.
pub(crate) const NO_CHECKOUT: &str =
    "this is not run inside the course's folder: change to it, and what you have done so far is known again";

impl State {
    /// The checkout that this is run in.
    pub(crate) fn find() -> Option<Self> {
        programs::workspace_root().map(|root| Self { root })
    }

    fn folder(&self) -> PathBuf {
        self.root.join(FOLDER)
    }

    /// The file that has all attempts.
    pub(crate) fn journal(&self) -> PathBuf {
        self.folder().join("attempts.jsonl")
    }

    /// All attempts, from the first to the last.
    pub(crate) fn attempts(&self) -> std::io::Result<Attempts> {
        let mut attempts = Attempts { all: journal::read(&self.journal())?, starters: Vec::new() };
        for exercise in exercises() {
            if let Ok(starter) = Folder::Starter.read(&self.root, exercise) {
                attempts.starters.push((exercise.name, starter.fingerprints()));
            }
        }
        Ok(attempts)
    }

    pub(crate) fn add(&self, attempt: &Attempt) -> std::io::Result<()> {
        journal::append(&self.journal(), attempt)
    }

    fn quiz(&self) -> PathBuf {
        self.folder().join("quiz.jsonl")
    }

    /// What was answered in quizzes, from the first to the last.
    pub(crate) fn marks(&self) -> std::io::Result<Vec<Mark>> {
        journal::read(&self.quiz())
    }

    pub(crate) fn mark(&self, mark: &Mark) -> std::io::Result<()> {
        journal::append(&self.quiz(), mark)
    }

    /// Where work on an exercise is that `reset` took away, below the root.
    pub(crate) fn saved(&self, exercise: &Exercise) -> PathBuf {
        Path::new(FOLDER).join("saved").join(exercise.name)
    }

    /// Where the files of an exercise's best attempt are kept, below the root.
    pub(crate) fn best(&self, exercise: &Exercise) -> PathBuf {
        Path::new(FOLDER).join("best").join(exercise.name)
    }
}

/// All exercises, in the course's order.
pub(crate) fn exercises() -> impl Iterator<Item = &'static Exercise> + Clone {
    fusion_course::days().iter().flat_map(|day| day.exercises).copied()
}
