//! Accesses that memory cannot serve.

use serde::{Deserialize, Serialize};

use crate::report::{Code, Name};

/// A thread's access: of so many bytes from an address of its memory on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub write: bool,
    pub bytes: u64,
    pub address: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Before the fault's buffer, or past it.
    OutOfBounds {
        access: Access,
        constant: bool,
    },
    /// Outside of the block's shared memory.
    OutsideShared {
        access: Access,
        /// Bytes that a block has, those that the kernel declares, and those that the launch adds.
        size: u64,
        fixed: u32,
        dynamic: u32,
        /// The kernel declares variables in it.
        declares: bool,
    },
    /// Outside of the fault's buffer, a shared array, and inside of the block's shared memory.
    OutsideArray {
        access: Access,
        /// What lies there, if it is an array.
        hit: Option<Name>,
    },
    /// Outside of a thread's local memory, of `size` bytes.
    OutsideLocal {
        access: Access,
        size: u64,
    },
    /// Outside of the kernel's parameters, of `size` bytes.
    OutsideParameters {
        access: Access,
        size: u64,
    },
    /// The format of what is to be printed cannot be read.
    UnreadableFormat,
    Null(Access),
    HostPointer(Access),
    /// Nothing is allocated there. The fault's buffer is what a parameter near it points to.
    Unmapped(Access),
    /// The fault's buffer has been freed.
    Freed(Access),
    /// The same by a kernel, which had taken it from the device heap.
    FreedByKernel(Access),
    /// A kernel frees a block of the device heap, of `size` bytes, once more.
    FreedTwice {
        size: u64,
    },
    /// A kernel frees an address inside of a block of the device heap.
    FreedInside {
        offset: u64,
        size: u64,
    },
    /// A kernel frees what is no block of the device heap.
    FreedForeign {
        address: u64,
    },
    Misaligned {
        access: Access,
        align: u64,
    },
    /// The fault's buffer is constant.
    WriteConstant(Access),
    WriteParameter,
}

impl Memory {
    pub fn code(&self) -> Code {
        match self {
            Self::OutOfBounds { constant: true, .. } => Code::OobConst,
            Self::OutOfBounds { .. } | Self::UnreadableFormat => Code::OobGlobal,
            Self::OutsideShared { .. } | Self::OutsideArray { .. } => Code::OobShared,
            Self::OutsideLocal { .. } => Code::OobLocal,
            Self::OutsideParameters { .. } => Code::OobParam,
            Self::Null(_) => Code::Null,
            Self::HostPointer(_) => Code::HostPointer,
            Self::Unmapped(_) | Self::FreedInside { .. } | Self::FreedForeign { .. } => Code::Unmapped,
            Self::Freed(_) | Self::FreedByKernel(_) | Self::FreedTwice { .. } => Code::UseAfterFree,
            Self::Misaligned { .. } => Code::Misaligned,
            Self::WriteConstant(_) | Self::WriteParameter => Code::WriteReadonly,
        }
    }
}
