//! Somebody's answer to an exercise.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, DriverError};

use crate::{Arguments, Exercise};

/// A launch function behind a common signature; shared by an answer and its mutants.
pub type Bound =
    Arc<dyn Fn(&Arc<CudaStream>, &Arc<CudaModule>, Arguments<'_>) -> Result<(), DriverError> + Send + Sync>;

/// A source: CUDA C++, or the Rust of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Relative to the workspace's root, as diagnostics show it: `exercises/day22/src/add_gelu.cu`.
    pub path: String,
    pub text: String,
}

/// An answer to one exercise.
#[derive(Clone)]
pub struct Entry {
    pub exercise: &'static Exercise,
    pub source: Source,
    /// The file that has the launch function, where its text is known: the lines of a launch are told from it.
    pub rust: Option<Source>,
    pub launch: Bound,
}

impl Entry {
    /// The same with the file that has the launch function.
    pub fn with_rust(self, path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { rust: Some(Source { path: path.into(), text: text.into() }), ..self }
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("exercise", &self.exercise.name).field("source", &self.source.path).finish()
    }
}

/// The answers of one crate: a day's starters or its solutions.
#[derive(Debug)]
pub struct Submission {
    pub day: u32,
    pub entries: Vec<Entry>,
}
