//! What a program had the device do, piece by piece: for a look at the whole program, and not at one launch.

use serde::{Deserialize, Serialize};

use super::{Moved, When};
use crate::machine::Span;

/// A launch, a copy or a memset that has run, with the memory that it went over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    pub task: Task,
    pub when: When,
    /// Ranges of addresses, each from its first byte to before its end, in their order. They consist of whole sectors of 32 bytes,
    /// of each of which at least one byte was accessed. Of accesses that jump about, the first thousand ranges.
    pub read: Vec<(u64, u64)>,
    pub written: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    Launch {
        kernel: String,
        grid: [u32; 3],
        block: [u32; 3],
        /// Bytes that its threads asked of global memory, each as often as it was asked for.
        loaded_bytes: u64,
        tensor_operations: u64,
        predicted_ns: f64,
    },
    Move(Moved),
}

/// All that one process had the device do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Its command line.
    pub command: Vec<String>,
    pub device: String,
    pub work: Vec<Work>,
}

/// So much of a program's work is kept.
pub const MOST_WORK: usize = 1 << 16;

/// Ranges of addresses as a trace has them.
pub fn ranges(spans: &[Span]) -> Vec<(u64, u64)> {
    spans.iter().map(|span| (span.start, span.end)).collect()
}
