//! A fault in words, as documents carry it.

use fusion_machine::report::{Blame, PtxPosition, Severity, SourcePosition};
use serde::{Deserialize, Serialize};

/// One mistake with all that is said of it. [`crate::say`] makes it of a [`Fault`](fusion_machine::Fault).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable: `E-OOB-GLOBAL`, `E-RACE-SHARED`, ... What the grader finds has codes of its own.
    pub code: String,
    pub blame: Blame,
    #[serde(default)]
    pub severity: Severity,
    /// One line: what happened. No location in it, and no address.
    pub title: String,
    /// A few words for beneath the primary position: `read of 4 bytes here`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Sentences of facts: by how much, which buffer, where the value came from.
    pub notes: Vec<String>,
    /// Sentences that tell how to fix it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// Empty for what is not about a kernel.
    pub kernel: String,
    /// The primary position: the innermost source position first, then the calls that it was inlined into.
    /// Empty when the PTX tells no source line.
    pub source: Vec<SourcePosition>,
    /// The offending PTX instruction.
    pub ptx: Option<PtxPosition>,
    /// The first thread that did it (lowest block, then lowest thread).
    pub block: Option<[u32; 3]>,
    pub thread: Option<[u32; 3]>,
    /// How many lanes of that warp did it at once.
    pub lanes: u32,
    /// How often threads of this launch did the same at the same place, where the launch went on; else `lanes`.
    #[serde(default)]
    pub count: u64,
    /// The other parties: the other access of a race, the barrier that was missed, the variable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// What the checks had found by the time that the launch stopped here. It may be the cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Diagnostic>,
    /// The memory that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Buffer>,
}

/// Another place that a diagnostic is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Related {
    /// A few words: `the other thread writes it here`.
    pub label: String,
    /// The label names the thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_thread: bool,
    pub source: Vec<SourcePosition>,
    pub ptx: Option<PtxPosition>,
    pub block: Option<[u32; 3]>,
    pub thread: Option<[u32; 3]>,
}

/// An allocation or variable, and which byte of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// Whatever it is called: the kernel's parameter (`x`, or `argument 2` when the PTX does not tell) or the variable's name.
    pub name: String,
    /// The kernel's parameter that points into it, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<u32>,
    /// Its size in bytes.
    pub size: u64,
    /// Of the access's first byte, counted from the buffer's first one: negative before it, `size` or more past it.
    pub offset: i64,
    /// Bytes that a thread accessed there.
    pub bytes: u32,
}

impl Diagnostic {
    /// An error of the kernel's without a place.
    pub fn new(code: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            blame: Blame::Kernel,
            severity: Severity::Error,
            title: title.into(),
            label: String::new(),
            notes: Vec::new(),
            help: Vec::new(),
            kernel: String::new(),
            source: Vec::new(),
            ptx: None,
            block: None,
            thread: None,
            lanes: 0,
            count: 0,
            related: Vec::new(),
            earlier: Vec::new(),
            buffer: None,
        }
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.title)
    }
}
