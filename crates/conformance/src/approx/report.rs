//! What was measured of one instruction.

use super::instruction::{ErrorKind, Instruction};
use crate::mix::mix;

/// The largest error, where it was, and a checksum of all results.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    pub inputs: u64,
    pub worst: f64,
    /// The input's bits.
    pub at: u32,
    /// The same on two devices only if all results are, bit for bit.
    pub checksum: u64,
}

impl Measured {
    pub(super) fn add(&mut self, input: u32, result: u32, instruction: &Instruction) {
        self.inputs += 1;
        self.checksum = self.checksum.wrapping_add(mix(u64::from(input) << 32 | u64::from(result)));
        let magnitude = instruction.input(input).abs();
        if !(instruction.from..=instruction.to).contains(&magnitude) {
            return;
        }
        let exact = instruction.exact(input);
        let error = error(instruction, exact, instruction.widen(result));
        if error > self.worst {
            (self.worst, self.at) = (error, input);
        }
    }

    /// The sum of two parts, the first of equal errors first.
    pub(super) fn merge(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.checksum = self.checksum.wrapping_add(other.checksum);
        if other.worst > self.worst {
            (self.worst, self.at) = (other.worst, other.at);
        }
    }

    /// A row of the table.
    pub fn row(&self, instruction: &Instruction) -> String {
        let show = |error: f64| match instruction.error {
            ErrorKind::Ulp => format!("{error:.3} ulp"),
            ErrorKind::Relative => format!("2^{:.3}", error.log2()),
            ErrorKind::Absolute => format!("2^{:.3} abs", error.log2()),
        };
        format!(
            "{:<21} {:>13}  {:>13}  at {:#010x}  {:016x}",
            instruction.name,
            show(self.worst),
            show(instruction.bound),
            self.at,
            self.checksum
        )
    }
}

/// How far a result is from the exact one. Where the exact one is no f32's neighbour the manual bounds nothing.
fn error(instruction: &Instruction, exact: f64, result: f64) -> f64 {
    const SMALLEST: f64 = f32::MIN_POSITIVE as f64;
    if exact.is_nan() || exact.is_infinite() || result.is_infinite() || result.is_nan() {
        return 0.0;
    }
    let distance = (result - exact).abs();
    match instruction.error {
        ErrorKind::Absolute => distance,
        ErrorKind::Relative if exact == 0.0 => 0.0,
        ErrorKind::Relative => distance / exact.abs(),
        // A flushed result is the manual's table, not an error.
        ErrorKind::Ulp if exact.abs() < SMALLEST && result == 0.0 => 0.0,
        ErrorKind::Ulp => distance / ulp(exact),
    }
}

/// A unit in the last place of the f32 numbers around x.
fn ulp(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i64 - 1023).max(-126);
    f64::from_bits(((exponent - 23 + 1023) as u64) << 52)
}
