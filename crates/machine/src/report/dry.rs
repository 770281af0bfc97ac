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
    /// Whether a launch is to be timed instead: a few blocks are executed, chosen by the clock, and the launch report has the time that
    /// follows for all.
    pub timed: bool,
    /// Whether the account of a launch that is timed says what the warps of one SM do, and when.
    pub traced: bool,
}

impl Dry {
    /// Whether launches execute all of their blocks, as always.
    pub fn is_off(&self) -> bool {
        self.blocks.is_empty() && !self.timed
    }
}

/// A block of a dry launch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DryBlock {
    pub index: u64,
    /// The bytes of global memory that it wrote, from the first to before the last, and those that it read.
    pub written: Vec<(u64, u64)>,
    #[serde(default)]
    pub read: Vec<(u64, u64)>,
    /// Whether these are all of them.
    pub complete: bool,
    /// What stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Box<Fault>>,
}
