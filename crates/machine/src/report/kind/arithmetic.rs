//! Arithmetic that is probably not meant.

use serde::{Deserialize, Serialize};

use crate::report::Code;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// An index that 32 bits do not hold; `exact` is what they ought to hold.
    IndexOverflow {
        formula: Formula,
        exact: i128,
        signed: bool,
    },
    /// A shift of a value of so many bits by the amount.
    Shift {
        bits: u32,
        amount: i32,
    },
    DivideByZero {
        dividend: i64,
    },
    /// The bits of a double, which an integer of so many bits does not hold.
    FloatToInt {
        value: u64,
        bits: u32,
        signed: bool,
    },
}

/// What was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    Add(i64, i64),
    Subtract(i64, i64),
    Multiply(i64, i64),
    MultiplyAdd(i64, i64, i64),
    ShiftLeft(i64, i64),
}

impl Arithmetic {
    pub fn code(&self) -> Code {
        match self {
            Self::IndexOverflow { .. } => Code::IndexOverflow,
            Self::Shift { .. } => Code::Shift,
            Self::DivideByZero { .. } => Code::DivideByZero,
            Self::FloatToInt { .. } => Code::FloatToInt,
        }
    }
}
