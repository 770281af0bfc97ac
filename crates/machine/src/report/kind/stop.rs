//! Kernels that stop themselves, and what the emulator cannot execute.

use serde::{Deserialize, Serialize};

use crate::report::Code;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Trap,
    /// A branch table of so many targets has none at the index.
    BranchTable {
        index: u32,
        targets: u64,
    },
    Assertion {
        message: String,
        file: String,
        line: u32,
        function: String,
    },
    /// A call, so many calls deep, with so many bytes of local memory in use.
    StackOverflow {
        function: String,
        depth: u64,
        local_bytes: u32,
    },
    /// A call through an address that is no function's.
    NoFunction {
        address: u64,
    },
}

impl Stop {
    pub fn code(&self) -> Code {
        match self {
            Self::Trap | Self::BranchTable { .. } => Code::Trap,
            Self::Assertion { .. } => Code::Assert,
            Self::StackOverflow { .. } => Code::Stack,
            Self::NoFunction { .. } => Code::Call,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unsupported {
    /// The opcode, where one is known, and what lowering has to say about it.
    Instruction { opcode: String, reason: String },
    /// A call of a function that has no body.
    NoBody,
}

impl Unsupported {
    pub fn code(&self) -> Code {
        Code::UnsupportedInstruction
    }
}
