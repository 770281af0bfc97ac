//! Why a submission was refused.

use fusion_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use super::Location;

/// The note of a submission whose kernel does nothing, as a starter's.
pub const EMPTY: &str = "the kernel is empty";

/// The note of a submission that launched nothing, as a starter does.
pub const IDLE: &str = "the launch function returned without launching anything";

/// The code of what is told as the reason of a failure, before the failure itself.
pub const CAUSE: &str = "cause";

/// What it means.
pub const CAUSE_MEANING: &str = "Why a submission fails, where what the emulated device saw leaves no other reason: what was launched, what the kernel \
                                 received, or what it did. Below it stands what came of it. Fix the cause, and look at the rest again.";

/// The code of what in the source may be the reason of a failure, beside it.
pub const SUSPECT: &str = "suspect";

/// What it means.
pub const SUSPECT_MEANING: &str = "A place in the source that may be why results are wrong: a warning of the compiler's, a division of integers \
                                   where a float is made of the quotient, a float that an integer keeps, a parameter that its kernel never \
                                   uses. What is said of it is so. Whether it is the reason is for you to see.";

macro_rules! codes {
    ($($(#[$about:meta])* $code:ident = $name:literal: $meaning:literal;)*) => {
        /// The kind of a failure. Stable: wrong kernels name theirs in `solutions/dayNN/wrong`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code {
            $($(#[$about])* #[serde(rename = $name)] $code,)*
        }

        impl Code {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            /// What was found, and what usually fixes it.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$code => $meaning,)*
                }
            }
        }

        impl std::fmt::Display for Code {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(match self {
                    $(Self::$code => $name,)*
                })
            }
        }
    };
}

codes! {
    /// An element differs from the reference by more than the tolerance.
    Values = "values":
        "An element is further from the reference than rounding explains. The first one and the worst are named; \
         check one of them by hand. If all are wrong, look at what they share: a sum, a maximum, a scale.";
    /// An element was not written.
    Unwritten = "unwritten":
        "An element of an output was not written: it still holds what was there before the launch. Look at the \
         condition that guards the store, at the number of blocks, and at paths that end early.";
    /// Only elements of the tail are wrong or unwritten.
    Tail = "tail":
        "Only the last elements, those past the last full block, are wrong or unwritten. Round the number of \
         blocks up, let each thread check its index, and where a thread takes several elements at once, do those \
         that are left after the last whole pack.";
    /// With more elements than 31 or 32 bits count, some are wrong or not written.
    Large = "large":
        "With more than 2^31 or 2^32 elements, some are wrong or are not written. Of such a launch, the emulated device \
         executes only a few blocks. Use `size_t` for sizes and indices in the kernel, `usize` in the launch, and convert \
         before a product can overflow: `(size_t)blockIdx.x * blockDim.x`.";
    /// A parameter received fewer bytes than it has.
    Arguments = "arguments":
        "The launch passes an argument of fewer bytes than the kernel's parameter has, such as a `u32` for a `size_t`. The driver \
         reads all the same as many as the parameter has. Where the rest is 0 by chance, the kernel has the right number, and \
         next time it has not. Pass a `usize` for a `size_t`, an `i32` for an `int`, an `f32` for a `float`.";
    /// An input was overwritten.
    Inputs = "inputs": "An input was overwritten. Declare inputs `const`, and compare the order of the arguments.";
    /// Memory beside an output or input was written.
    RedZone = "red-zone": "Memory beside a buffer was written. Compare every index with the size before it is used.";
    /// Work was not on the given stream, or not ordered by it.
    Stream = "stream": "The work is not on the stream that the launch function was given.";
    /// The launch function returned an error.
    Launch = "launch": "The driver refused the launch, or has no kernel of that name.";
    /// The emulated device found a fault; [`Failure::fault`] has its code.
    Fault = "fault": "The device stopped the kernel, or saw what it must not do. The fault has a code of its own.";
    /// The CUDA source or the Rust source does not compile.
    Compile = "compile": "The CUDA source or the Rust source does not compile.";
    /// More launches than the exercise allows.
    Launches = "launches":
        "There are more launches, copies and memsets than the exercise needs. Each of them is one too many that \
         the kernel could do itself.";
    /// More bytes moved than necessary.
    Bytes = "bytes":
        "More bytes reach DRAM than must. Something goes out to memory and comes back, or is read by several \
         launches.";
    /// Elements of a product's factors are loaded more often than tiles of a modest size need.
    Reuse = "reuse":
        "The threads load the elements of the factors from global memory too often: each serves too few multiply-adds. \
         Load a tile into shared memory once, for all threads of a block, and let a block have a larger tile of the result.";
    /// Keys are read that no query of the block sees.
    Unseen = "unseen":
        "A block of causal attention reads keys and values that none of its queries sees. End its loop over the keys behind the tile \
         that has the last of its queries.";
    /// Accesses to global memory are narrower than the exercise asks for.
    Access = "access": "Threads load or store fewer bytes at a time than the exercise asks for: use vector types.";
    /// Device memory was allocated in the launch function.
    Allocations = "allocations":
        "The launch function allocates device memory. A fused kernel keeps what is between its steps.";
    /// Slower than the bar.
    Speed = "speed": "It is right and lean, and yet not as much faster than the unfused chain as its bytes allow.";
    /// Faster than memory allows: work was skipped.
    Impossible = "impossible": "It is faster than memory allows, so it cannot have done its work.";
    /// The time limit ended it.
    Timeout = "timeout": "The time limit ended it. Does a loop in the kernel end?";
    /// The process died.
    Crash = "crash": "The process died.";
    /// The submission's Rust code panicked.
    Panic = "panic": "The Rust code of the launch panicked.";
}

/// The two files of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The `.cu`.
    Kernel,
    /// The `.rs`.
    Launch,
}

/// One failure, told so that the learner can act on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub code: Code,
    /// The emulated device's code for the fault, for example `E-OOB-GLOBAL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// All that the emulated device knows of it. Title, notes and location repeat the gist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostic: Option<Box<Diagnostic>>,
    /// What it found at further places; and beside wrong values, what in the source may be why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Diagnostic>,
    /// Why it came to this, where the evidence decides; it is told first, and without the advice of what follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Diagnostic>>,
    /// The file that is to be changed, where it is not the code that says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// A compiler's message as the compiler shows it, where it has one; it is shown instead of title, notes and location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
    /// One line: what happened.
    pub title: String,
    /// Further lines: by how much, and what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What would fix it. It is not told beside a cause, which has help of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// Where in the submission's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Where the submission launches the kernel, if the launch is what is to be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched: Option<Location>,
    /// The problem that it failed at: `N = 1023`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The device that it failed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The first bad element, for failures of values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<Mismatch>,
}

impl Failure {
    pub fn new(code: Code, title: impl Into<String>) -> Self {
        Self {
            code,
            fault: None,
            diagnostic: None,
            also: Vec::new(),
            cause: None,
            side: None,
            rendered: None,
            title: title.into(),
            notes: Vec::new(),
            help: Vec::new(),
            location: None,
            launched: None,
            shape: None,
            device: None,
            mismatch: None,
        }
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a note before all others: a fact that may lead to the reason.
    pub fn lead_with(&mut self, note: impl Into<String>) {
        let note = note.into();
        if let Some(diagnostic) = &mut self.diagnostic {
            diagnostic.notes.insert(0, note.clone());
        }
        self.notes.insert(0, note);
    }

    /// Adds a note where it is shown: with what the device has said of it, if that is what is shown.
    pub fn add_note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if let Some(diagnostic) = &mut self.diagnostic {
            diagnostic.notes.push(note.clone());
        }
        self.notes.push(note);
    }

    pub fn at(mut self, shape: impl std::fmt::Display) -> Self {
        self.shape = Some(shape.to_string());
        self
    }

    /// The file that is to be changed.
    pub fn side(&self) -> Side {
        self.side.unwrap_or(match self.code {
            Code::Launch | Code::Arguments | Code::Stream | Code::Allocations | Code::Crash | Code::Panic => {
                Side::Launch
            }
            _ => Side::Kernel,
        })
    }

    /// The code, with the fault's code where there is one: what a wrong kernel's entry names.
    pub fn reason(&self) -> String {
        match &self.fault {
            Some(fault) => format!("{} {fault}", self.code),
            None => self.code.to_string(),
        }
    }
}

/// The first bad element of an output, how many there are, and the worst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The output's name.
    pub output: String,
    pub index: u64,
    /// Row and column, for row-wise shapes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    #[serde(with = "super::number")]
    pub expected: f64,
    #[serde(with = "super::number")]
    pub actual: f64,
    /// How far it may be off.
    #[serde(with = "super::number")]
    pub allowed: f64,
    /// The block and thread that should have written it, if one thread writes one element, or a block one row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u64>,
    /// Whether it lies past the last full block (or the last full group of four, without a block size).
    pub in_tail: bool,
    /// None of the bad elements was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwritten: bool,
    /// Bad elements, of how many.
    pub count: u64,
    pub total: u64,
    pub worst_index: u64,
    #[serde(with = "super::number")]
    pub worst_expected: f64,
    #[serde(with = "super::number")]
    pub worst_actual: f64,
}
