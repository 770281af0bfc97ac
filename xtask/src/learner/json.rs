//! What `--json` prints of exercises, for editors and scripts. `book/src/appendix/commands.md` says what the fields mean.

use fusion_course::Exercise;
use serde::Serialize;

use super::choice::Learner;
use super::files::{self, Folder};
use super::list::has_changed;
use super::state::{Attempt, Standing};
use crate::output;

/// One object: an answer, or why there is none.
#[derive(Debug, Serialize)]
struct Said<T> {
    version: u32,
    #[serde(flatten)]
    answer: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Why>,
    exit_code: u8,
}

#[derive(Debug, Serialize)]
struct Why {
    message: String,
}

/// Prints it, and returns the exit code.
pub(super) fn tell<T: Serialize>(said: Result<T, String>) -> u8 {
    let (answer, error) = match said {
        Ok(answer) => (Some(answer), None),
        Err(message) => (None, Some(Why { message })),
    };
    let said = Said { version: 1, exit_code: if error.is_none() { 0 } else { 2 }, answer, error };
    if output::json(serde_json::to_string_pretty(&said)) { said.exit_code } else { 2 }
}

/// An exercise, and how it stands.
#[derive(Debug, Serialize)]
pub(super) struct Listed<'a> {
    name: &'static str,
    day: u32,
    definition: &'static str,
    /// Below the checkout's root.
    kernel: String,
    launch: String,
    page: String,
    state: &'static str,
    /// Whether the answer is another than the one that was graded as done last.
    changed: bool,
    attempts: usize,
    best: Option<&'a Attempt>,
}

impl<'a> Listed<'a> {
    pub(super) fn of(learner: &'a Learner, exercise: &Exercise) -> Self {
        let standing = learner.attempts.standing(exercise);
        let [kernel, launch] = Folder::Answer.paths(exercise);
        Self {
            name: exercise.name,
            day: exercise.day,
            definition: exercise.definition,
            kernel,
            launch,
            page: files::page(exercise),
            state: match standing {
                Standing::New => "new",
                Standing::Begun => "begun",
                Standing::Undecided => "right-and-lean",
                Standing::Passed => "passed",
            },
            changed: standing.is_done() && has_changed(learner, exercise),
            attempts: learner.attempts.of(exercise).count(),
            best: learner.attempts.best(exercise),
        }
    }
}
