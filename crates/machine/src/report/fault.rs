//! What is wrong, structured. Text is made from it only at the edge.

use serde::{Deserialize, Serialize};

use super::{Buffer, Code, Kind, Role};

/// Whose mistake a fault is. The three are never mixed in one title.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The kernel or its launch is wrong.
    Kernel,
    /// The emulator does not support something that a real GPU does.
    Unsupported,
    /// The machine or its input is at fault: out of memory, a module that is not PTX.
    Environment,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The kernel may be slower than it could be. Codes begin with `P-`.
    Advice,
    /// Not necessarily wrong: a race of equal values, an index that overflows. Codes begin with `L-` or `W-`.
    Warning,
    /// Undefined behaviour. Codes begin with `E-`.
    #[default]
    Error,
}

/// One mistake at one place, whoever made it how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: Kind,
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
    pub count: u64,
    /// The other parties: the other access of a race, the barrier that was missed, the variable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// What the checks had found by the time that the launch stopped here. It may be the cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Fault>,
    /// The memory that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Buffer>,
}

/// Another place that a fault is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Related {
    /// What it has to do with the fault.
    pub role: Role,
    pub source: Vec<SourcePosition>,
    pub ptx: Option<PtxPosition>,
    pub block: Option<[u32; 3]>,
    pub thread: Option<[u32; 3]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePosition {
    pub file: String,
    /// One-based.
    pub line: u32,
    pub column: u32,
    /// The inlined function that this position lies in, demangled where possible.
    pub function: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PtxPosition {
    /// One-based.
    pub line: u32,
    pub text: String,
    /// The module has a line table, whether or not it tells this instruction's line.
    #[serde(default)]
    pub line_table: bool,
}

impl Fault {
    /// A mistake without a place.
    pub fn new(kind: impl Into<Kind>) -> Self {
        Self {
            kind: kind.into(),
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

    pub fn code(&self) -> Code {
        self.kind.code()
    }

    pub fn severity(&self) -> Severity {
        self.code().severity()
    }

    pub fn blame(&self) -> Blame {
        self.code().blame()
    }
}

impl Related {
    /// Another party without a place.
    pub fn new(role: Role) -> Self {
        Self { role, source: Vec::new(), ptx: None, block: None, thread: None }
    }
}

/// The code alone: sentences are made in `fusion-diagnostic`.
impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.code().fmt(f)
    }
}

impl std::error::Error for Fault {}
