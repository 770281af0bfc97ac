//! Why not to fuse.

use serde::Serialize;

/// A reason against, with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub(crate) enum Reason {
    /// Somebody else takes the intermediate, so that it is written all the same.
    NeededElsewhere {
        tensor: String,
        by: String,
    },
    /// The second operation reduces along an axis that the first does not keep together.
    OtherAxis {
        first: String,
        second: String,
    },
    /// An operation needs the first of these and is needed by the last.
    Between {
        operation: String,
    },
    /// A row of a matmul's output is made by several blocks.
    RowAcrossTiles {
        operation: String,
        tiles: u64,
    },
    /// Every column of tiles of the matmul would compute the first operation again.
    Recomputed {
        operation: String,
        times: u64,
    },
    /// A library's kernel would have to be replaced by one's own.
    LibraryLost {
        operation: String,
    },
    /// The library has this as an epilogue: no kernel need be written.
    LibraryEpilogue {
        operation: String,
    },
    /// Matmuls of one input are one matmul, with the weights side by side.
    OneMatmul {
        operation: String,
        times: u64,
    },
    /// One waits for arithmetic and the other for memory.
    OtherBottleneck {
        arithmetic: String,
        memory: String,
    },
    SharedMemory {
        needed: u64,
        most: u64,
    },
    Registers {
        estimate: u32,
        threshold: u32,
    },
    Occupancy {
        percent: u32,
    },
    /// The operations are in another candidate as well: one excludes the other.
    Overlap {
        with: String,
    },
}

impl Reason {
    /// Whether the library does it when asked.
    pub(crate) fn is_a_call(&self) -> bool {
        matches!(self, Reason::LibraryEpilogue { .. } | Reason::OneMatmul { .. })
    }

    /// Whether it forbids, where others only ask for a second thought.
    pub(crate) fn forbids(&self) -> bool {
        matches!(
            self,
            Reason::OtherAxis { .. }
                | Reason::Between { .. }
                | Reason::RowAcrossTiles { .. }
                | Reason::Recomputed { .. }
                | Reason::SharedMemory { .. }
        )
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::NeededElsewhere { tensor, by } => {
                write!(f, "{by} needs `{tensor}` too: it is written all the same, and only its reading is saved")
            }
            Reason::OtherAxis { first, second } => write!(
                f,
                "{second} needs all of {first} along another axis: no block has it before the whole grid is done"
            ),
            Reason::Between { operation } => {
                write!(f, "{operation} comes between them: it needs the one and is needed by the other")
            }
            Reason::RowAcrossTiles { operation, tiles } => write!(
                f,
                "a row of {operation} is made by {tiles} blocks of 128 columns, and normalising needs the whole row"
            ),
            Reason::Recomputed { operation, times } => {
                write!(f, "{times} columns of tiles read the input of the matmul: each would compute {operation} again")
            }
            Reason::LibraryLost { operation } => {
                write!(f, "{operation} comes from a library, and a kernel of your own would have to match it")
            }
            Reason::LibraryEpilogue { operation } => {
                write!(
                    f,
                    "the library that does {operation} has the rest as an epilogue: ask for it instead of writing a kernel"
                )
            }
            Reason::OneMatmul { operation, times } => {
                write!(f, "one call of the library does {operation} and its like: put the {times} weights side by side")
            }
            Reason::OtherBottleneck { arithmetic, memory } => {
                write!(
                    f,
                    "{arithmetic} waits for arithmetic and {memory} for memory: they want different blocks and tiles"
                )
            }
            Reason::SharedMemory { needed, most } => {
                write!(f, "a block would need {needed} bytes of shared memory, and may have {most}")
            }
            Reason::Registers { estimate, threshold } => {
                write!(f, "about {estimate} registers per thread, above the {threshold} of the criteria")
            }
            Reason::Occupancy { percent } => {
                write!(f, "about {percent}% occupancy: see that enough bytes are in flight")
            }
            Reason::Overlap { with } => write!(f, "shares operations with {with}: choose one"),
        }
    }
}
