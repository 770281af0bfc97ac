//! The memory that a fault is about, and what it is called.

use serde::{Deserialize, Serialize};

/// What memory is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// As the kernel's source calls the parameter that points into it.
    Parameter(String),
    /// The parameter's number, counted from 0, where the PTX does not tell its name.
    Argument(u32),
    /// A variable's name in the source, without its scope.
    Variable(String),
    /// The number of an allocation that nothing names.
    Allocation(u64),
    /// An allocation of which only the size is known.
    Unnamed,
    /// The shared memory that a launch adds to a block's.
    DynamicShared,
    /// A block of the device heap.
    HeapBlock,
}

impl Name {
    /// The name in the source, where it has one.
    pub fn identifier(&self) -> Option<&str> {
        match self {
            Self::Parameter(name) | Self::Variable(name) => Some(name),
            Self::Argument(_) | Self::Allocation(_) | Self::Unnamed | Self::DynamicShared | Self::HeapBlock => None,
        }
    }
}

/// An allocation or variable, and which byte of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    pub name: Name,
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
