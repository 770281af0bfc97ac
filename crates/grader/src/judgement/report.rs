//! A judgement with its device, and a whole run.

use fusion_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use super::{Failure, Line, Part, Parts, Verdict};

/// Version of the JSON. It grows when a field changes its meaning or goes; new fields do not count.
pub const VERSION: u32 = 3;

/// Everything that one run of `grade` found out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    pub version: u32,
    /// The device that speed was judged on; absent when nothing ran.
    pub device: Option<DeviceInfo>,
    /// The emulated device that judged *right* and *lean* beside a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<DeviceInfo>,
    pub seed: u64,
    /// Whose code it was, where it was confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ClassRun>,
    pub exercises: Vec<Judgement>,
    /// What kept the run from grading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    pub exit_code: u8,
}

/// A run over code of people whom one does not trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassRun {
    /// The folder with the answers.
    pub folder: String,
    /// What kept their code in.
    pub contained: String,
}

/// An error of the run, not of an exercise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// `unknown-target`, `no-compiler`, `no-gpu`, `build`, `not-contained`, `interrupted`.
    pub code: String,
    pub message: String,
    /// For an unknown target: names like it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

impl RunError {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), nearest: Vec::new() }
    }

    /// Whether this is what went wrong.
    pub fn is(&self, code: &str) -> bool {
        self.code == code
    }
}

/// What is known about a submission to one exercise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    pub name: String,
    pub day: u32,
    pub kind: Kind,
    pub verdict: Verdict,
    pub parts: Parts,
    /// Where the reason lies that there is no verdict, if it is not in the submission: the file of another one of its day, and
    /// the line where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
    /// The source lines that failures and advice name, as they were compiled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// The files among them, and the exercise's own, that are no longer what they were when they were compiled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// For a sample: its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
}

impl Judgement {
    /// The first failure, in the order in which a learner fixes them.
    pub fn failure(&self) -> Option<&Failure> {
        self.parts.views().find_map(|part| part.failure)
    }

    /// All that the emulated device found: with what stopped it first, then advice.
    pub fn faults(&self) -> impl Iterator<Item = &Diagnostic> {
        let failures = self.parts.views().filter_map(|part| part.failure);
        let found = failures.flat_map(|failure| failure.diagnostic.as_deref().into_iter().chain(&failure.also));
        found.chain(self.parts.views().flat_map(|part| part.advice))
    }

    /// The same for a submission that did not come to be judged: it is wrong, for this reason.
    pub fn refused(mut self, failure: Failure) -> Self {
        self.parts.right = Part::refused(failure);
        self.conclude()
    }

    /// Sets the verdict from the parts, and the file that is to be changed.
    pub fn conclude(mut self) -> Self {
        self.parts.blame();
        self.verdict = self.parts.verdict();
        self
    }

    /// The judgements of the same submission on the emulated device and on a GPU, as one.
    pub fn merge(emulated: Self, gpu: Self) -> Self {
        let parts = emulated.parts.merge(gpu.parts);
        let lines = [emulated.lines, gpu.lines].concat();
        let mut changed = [emulated.changed, gpu.changed].concat();
        changed.sort();
        changed.dedup();
        Self { parts, lines, changed, ..emulated }.conclude()
    }
}

/// Whose code it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Exercise,
    Solution,
    /// An answer whose verdict is known.
    Sample,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    Emulated,
    Gpu,
}

/// The device, as a driver describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    pub kind: DeviceKind,
    pub name: String,
    /// Compute capability: `9.0`.
    pub compute_capability: String,
    pub multiprocessors: u32,
    pub l2_bytes: u64,
    pub memory_bytes: u64,
    /// The CUDA version that the driver supports: `13.0`.
    pub driver: String,
}
