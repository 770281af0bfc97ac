//! Copies of boxes by a tensor map, and what else only copies that go by themselves get wrong.

use serde::{Deserialize, Serialize};

use crate::report::Code;

/// A copy of a box that has no map, or not one that suits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tensor {
    /// What stands there is no map of the driver's.
    NoMap,
    /// It lies in memory from which no copy reads maps: a thread's own, or shared.
    Elsewhere { local: bool },
    /// The copy names so many coordinates.
    Rank { coordinates: u32, dimensions: u32 },
    /// A box begins between two multiples of 16 bytes of a row: at this element, which has so many bytes.
    Start { coordinate: i32, element: u32 },
    /// A copy out of shared memory whose box begins before the tensor.
    Below { axis: u32, coordinate: i32 },
    /// The reduction does not exist for the type of the tensor's elements.
    NoReduction,
    /// The emulator does not execute it.
    Unsupported(Missing),
}

/// What a map may ask for and the emulator does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    Interleave,
    /// Elements that change on the way: to tf32, or to zero where they are subnormal.
    Rounding,
}

/// The asynchronous proxy reads what a thread has written before, and no fence stands between for the proxies of the two. The fault's
/// first related place is the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    pub reader: Reader,
    pub same_thread: bool,
    /// Threads of a block.
    pub block: [u32; 3],
}

/// A bulk copy that may be under way when its block ends. Nobody has waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Into the block's shared memory, and not out of it.
    pub into: bool,
}

/// What goes by the asynchronous proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// A bulk copy.
    Copy,
    /// A product of a warp group.
    Product,
}

impl Tensor {
    pub fn code(&self) -> Code {
        match self {
            Self::Unsupported(_) => Code::UnsupportedInstruction,
            _ => Code::TensorMap,
        }
    }
}

impl Unfinished {
    pub fn code(&self) -> Code {
        Code::RaceAsync
    }
}

impl Proxy {
    pub fn code(&self) -> Code {
        Code::ProxyFence
    }
}
