//! How undefined bits of the operands of an operation reach its results: a column of the tables of operations.

#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// The results are defined, or known only when the operation is executed (loads).
    Defined,
    /// Any undefined bit of an operand makes all of the results undefined.
    Whole,
    /// A sum: it is known below the lowest undefined bit.
    Sum,
    /// A product of the first two operands, to which a third is added: the same, and a factor that is zero decides.
    Product,
    /// Bit by bit by a truth table of up to three operands.
    Bitwise(u8),
    /// The function moves the bits of the first operand by the second.
    Shift(fn(u64, u64) -> u64),
    /// Copies the low bits of the operand; above them stands zero, or the sign.
    ZeroExtended(u8),
    SignExtended(u8),
    /// Each of these bits of the result is computed from the same bit of the operand; the others are known.
    InPlace(u64),
    /// The sign of the first, the rest from the second.
    Copysign,
    /// The operands side by side, the first the least significant, each as wide as it is.
    Concatenated,
    /// The reverse: the results are parts of the operand.
    Parted,
    /// The first operand or the second, as the third says.
    Selected {
        negated: bool,
    },
    /// Of two operands; equality is known as soon as two known bits differ.
    Compared {
        equality: bool,
    },
    /// By the entry of [`Code::comparisons`](super::Code::comparisons).
    Comparison(u32),
    /// As far as the instruction's [`Spread`](super::Spread) says.
    Function(PerLane),
    /// Written out where undefined bits are followed, because it has no other of its kind.
    Special,
}

/// What a lane computes by function.
#[derive(Clone, Copy)]
pub(crate) enum PerLane {
    Of1(fn(u64) -> u64),
    Of2(fn(u64, u64) -> u64),
    Of3(fn(u64, u64, u64) -> u64),
    Of4(fn(u64, u64, u64, u64) -> u64),
}

/// Truth tables of two operands, a the index's highest bit.
pub(crate) const AND: u8 = 0b1100_0000;
pub(crate) const OR: u8 = 0b1111_1100;
pub(crate) const XOR: u8 = 0b0011_1100;
