//! What was there before an update, in `.course/update.json`: written before anything changes, so that a crash loses nothing.

use std::io::ErrorKind;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::answers::Answers;
use crate::learner::files;
use crate::learner::state::State;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// The branch's commit before, and behind the update once that has come to its end.
    pub(super) before: String,
    pub(super) after: Option<String>,
    pub(super) answers: Answers,
}

fn path(state: &State) -> PathBuf {
    state.root.join(".course/update.json")
}

impl Record {
    pub(super) fn write(&self, state: &State) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        files::write(&path(state), &(text + "\n")).map_err(|error| format!("cannot write .course/update.json: {error}"))
    }

    /// That of the last update, if there was one.
    pub(super) fn read(state: &State) -> Result<Option<Self>, String> {
        let text = match std::fs::read_to_string(path(state)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| format!("cannot read .course/update.json: {error}"))?,
        };
        serde_json::from_str(&text).map(Some).map_err(|error| format!("cannot read .course/update.json: {error}"))
    }

    pub(super) fn forget(state: &State) -> Result<(), String> {
        std::fs::remove_file(path(state)).map_err(|error| format!("cannot remove .course/update.json: {error}"))
    }
}
