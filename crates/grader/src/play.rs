//! A playground: kernels of one's own, on buffers that a comment at the top of their file describes.
//!
//! Nothing is judged. What the kernels did is shown: what they printed and wrote, what was found in them, what they moved, and how long
//! they take.

mod element;
mod expression;
mod kernels;
mod names;
mod run;
mod script;

use fusion_diagnostic::Diagnostic;
use fusion_machine::report::Counters;
use serde::{Deserialize, Serialize};

use crate::judgement::{Failure, Line, Timing};
use crate::profile::Predicted;
use crate::takes::Takes;

pub(crate) use run::{Play, play};

/// What is shown for an element that was never written.
pub const NOT_WRITTEN: &str = "-";

/// What came of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The kernels that ran, each launch in its turn.
    pub launches: Vec<Ran>,
    /// The buffers that are to be shown.
    pub buffers: Vec<Shown>,
    /// What is wrong with the description: then nothing ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<Diagnostic>,
    /// A description to begin with, where there was none: then nothing ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Why it was not compiled, or did not run to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Box<Failure>>,
    /// What the emulated device found, errors first.
    pub findings: Vec<Diagnostic>,
    /// The lines that findings name.
    pub lines: Vec<Line>,
    /// Of all launches together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// What bounds the longest launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// Where the time goes; nothing on a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predicted>,
}

/// One launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub takes: Takes,
    /// None on a GPU, and of a launch that was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
}

/// A buffer behind the last launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub name: String,
    /// `f32`
    pub element: String,
    pub count: usize,
    /// The first elements, as text; [`NOT_WRITTEN`] for what neither a fill nor a kernel has written, where the device
    /// tells.
    pub elements: Vec<String>,
}

impl Played {
    /// Whether kernels ran to their end and nothing was found that is an error.
    pub fn is_clean(&self) -> bool {
        let errors = self.findings.iter().filter(|found| found.severity == fusion_machine::report::Severity::Error);
        self.failure.is_none() && self.has_run() && errors.count() == 0
    }

    /// Whether the description could be followed.
    pub fn has_run(&self) -> bool {
        self.mistakes.is_empty() && self.template.is_none()
    }
}
