//! Dry launches: of a launch that is too large to run, a few blocks.

use serde::{Deserialize, Serialize};

use super::Fault;

/// How launches run dry. The default is that they do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dry {
    /// The blocks that are executed, one after the other; those that the grid does not have are left out. Of none, all are, as
    /// always.
    pub blocks: Vec<u64>,
    /// Warp instructions that each may take.
    pub budget: u64,
    /// After how many bytes memory that is allocated repeats itself; 0 for memory as always.
    pub period: u64,
}

/// A block of a dry launch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DryBlock {
    pub index: u64,
    /// The bytes of global memory that it wrote, from the first to before the last.
    pub written: Vec<(u64, u64)>,
    /// Whether these are all of them.
    pub complete: bool,
    /// What stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Box<Fault>>,
}
