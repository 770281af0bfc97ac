//! One thing that can be wrong, and what was found of it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something that can be wrong: data, and a function that looks. A check is in a list of [`super::checks`], and nowhere else.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) name: &'static str,
    /// Why it matters.
    pub(super) why: &'static str,
    /// Set where looking opens a library of others, which may end the process or never return: a process of its own looks.
    pub(super) apart: Option<Apart>,
    pub(super) look: fn(&Place) -> Finding,
}

/// What is said where that process does not answer.
#[derive(Debug)]
pub(super) struct Apart {
    /// What it did: "opening NVRTC".
    pub(super) doing: &'static str,
    pub(super) fix: &'static str,
}

/// Where the checks look.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The checkout, if this runs in one.
    pub(super) root: Option<PathBuf>,
}

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Ok,
    /// The course works, and something is worth knowing.
    Note,
    /// Something of the course does not work.
    Problem,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Finding {
    pub(super) state: State,
    pub(super) found: String,
    /// The command that fixes it, or a sentence that says how.
    #[serde(default)]
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(found: impl Into<String>) -> Self {
        Self { state: State::Ok, found: found.into(), fix: None }
    }

    /// A note that asks for nothing.
    pub(super) fn known(found: impl Into<String>) -> Self {
        Self { state: State::Note, found: found.into(), fix: None }
    }

    pub(super) fn note(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: State::Note, found: found.into(), fix: Some(fix.into()) }
    }

    pub(super) fn problem(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: State::Problem, found: found.into(), fix: Some(fix.into()) }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        })
    }
}
