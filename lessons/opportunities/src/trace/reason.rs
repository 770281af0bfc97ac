//! Why launches of a trace might not become one.

use std::fmt;

use serde::Serialize;

/// A reason against, with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub(crate) enum Reason {
    /// What goes from one to the next is read by another step as well, so that it is written all the same.
    ReadElsewhere { by: String },
    /// Another step needs one of them and is needed by another one.
    Between { step: String },
    /// Each byte that the launch reads serves many results: what comes before it would be computed as often.
    ReadOften { kernel: String, times: f64 },
    /// Each byte that the launch reads serves many results: what comes after it belongs at the end of that kernel.
    Epilogue { kernel: String },
    /// Few blocks read what many have written.
    FewBlocks { kernel: String, blocks: u64, of: u64 },
}

impl Reason {
    /// Whether no kernel can be made of them.
    pub(crate) fn forbids(&self) -> bool {
        matches!(self, Self::Between { .. } | Self::ReadOften { .. })
    }

    /// Whether the kernel may be slower than what it replaces, for all the bytes that it saves.
    pub(crate) fn is_a_doubt(&self) -> bool {
        matches!(self, Self::Epilogue { .. } | Self::FewBlocks { .. })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadElsewhere { by } => {
                write!(
                    f,
                    "{by} reads the intermediate as well: it is written all the same, and only its reading is saved"
                )
            }
            Self::Between { step } => {
                write!(f, "{step} needs one of them and is needed by another: it stands between them")
            }
            Self::ReadOften { kernel, times } => {
                write!(
                    f,
                    "{kernel} asks for each byte {times:.0} times, as tiles do: what comes before it would be computed as often"
                )
            }
            Self::Epilogue { kernel } => {
                write!(
                    f,
                    "{kernel} works as a product of matrices does: fuse into its end, or ask the library for an epilogue"
                )
            }
            Self::FewBlocks { kernel, blocks, of } => write!(
                f,
                "{kernel} has {blocks} block{} for what {of} blocks wrote: fused, so few do the work of all, or the last one waits for the grid",
                if *blocks == 1 { "" } else { "s" }
            ),
        }
    }
}
