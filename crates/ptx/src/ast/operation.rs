//! Which operation an instruction of a family is.

use super::{Mode, ScalarType};

/// One-operand arithmetic (PTX ISA 9.7.1, 9.7.3, 9.7.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Abs,
    Neg,
    Not,
    /// `cnot`: 1 if the operand is zero, else 0.
    Cnot,
    Popc,
    Clz,
    Brev,
    Bfind {
        shiftamt: bool,
    },
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
}

impl Unary {
    /// The types of the result and the operand in an instruction of type `ty`.
    pub fn types(self, ty: ScalarType) -> [ScalarType; 2] {
        match self {
            // Bit counts are 32-bit whatever they count in.
            Self::Popc | Self::Clz | Self::Bfind { .. } => [ScalarType::U32, ty],
            _ => [ty; 2],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    /// Low half (integers), or the product (floats).
    Mul,
    MulHi,
    /// Operands of the named type, a result twice as wide.
    MulWide,
    Mul24,
    Mul24Hi,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// `copysign d, a, b`: the sign of a, the magnitude of b.
    Copysign,
    /// `bmsk.clamp` (true: `.wrap`).
    Bmsk {
        wrap: bool,
    },
    Szext {
        wrap: bool,
    },
}

impl Binary {
    /// The types of the result and the operands in an instruction of type `ty`.
    pub fn types(self, ty: ScalarType) -> [ScalarType; 3] {
        match self {
            Self::MulWide => [ty.twice().unwrap_or(ty), ty, ty],
            Self::Shl | Self::Shr | Self::Szext { .. } => [ty, ty, ScalarType::U32],
            _ => [ty; 3],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ternary {
    /// `mad.lo` (integers); floats are [`Ternary::Fma`].
    Mad,
    MadHi,
    MadWide,
    Mad24,
    Mad24Hi,
    Fma,
    /// c + |a - b|.
    Sad,
    Bfe,
    /// `slct`-free bitwise three-input functions: the look-up table of `lop3`.
    Lop3(u8),
    /// Funnel shifts; `wrap` takes the amount modulo 32, else it is clamped to 32.
    ShfL {
        wrap: bool,
    },
    ShfR {
        wrap: bool,
    },
    Prmt(PrmtMode),
    /// Four-way and two-way dot products with accumulate; signedness of a and b.
    Dp4a {
        a_signed: bool,
        b_signed: bool,
    },
    Dp2a {
        a_signed: bool,
        b_signed: bool,
        high: bool,
    },
    /// `fns`: find the n-th set bit.
    Fns,
    /// `cvt.pack.sat`: a and b clamped to this type, the former above the latter, both below the low bits of c.
    CvtPack(Packed),
    /// Three-input min and max (PTX ISA 8.8, sm_100).
    Min3,
    Max3,
}

impl Ternary {
    /// The types of the result and the operands in an instruction of type `ty`.
    pub fn types(self, ty: ScalarType) -> [ScalarType; 4] {
        use ScalarType::{B32, U32};
        match self {
            Self::MadWide => {
                let twice = ty.twice().unwrap_or(ty);
                [twice, ty, ty, twice]
            }
            Self::Bfe => [ty, ty, U32, U32],
            Self::ShfL { .. } | Self::ShfR { .. } => [ty, ty, ty, U32],
            Self::CvtPack(_) => [B32, ty, ty, B32],
            _ => [ty; 4],
        }
    }
}

/// The integers of 2 to 16 bits that `cvt.pack` packs into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packed {
    pub bits: u8,
    pub signed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrmtMode {
    Generic,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// Instructions of four operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quaternary {
    /// Inserts the low bits of the first into the second: at the position that the third says, as many as the last says.
    Bfi,
    /// `vadd4` and its like: four bytes of the first two each, beside or into the third. The last says which: digits of four bits, four
    /// for the first and four for the second, each the byte of `{b, a}` that goes into a lane, and a bit for each lane of the result.
    Quad {
        op: Quad,
        /// Bytes of the result, the first and the second.
        signed: [bool; 3],
        then: Then,
    },
}

/// What the byte-wise video instructions do with two bytes (PTX ISA, SIMD Video Instructions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quad {
    Add,
    Sub,
    /// The half of the sum, rounded away from zero.
    Avrg,
    AbsDiff,
    Min,
    Max,
}

/// And with the four results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    /// The low byte of each goes into its lane; the other lanes are the third operand's.
    Merge,
    /// The same, each clamped to the result's bytes.
    Saturate,
    /// They are added to the third operand.
    Accumulate,
}

impl Quaternary {
    /// The types of the result and the operands in an instruction of type `ty`.
    pub fn types(self, ty: ScalarType) -> [ScalarType; 5] {
        match self {
            Self::Bfi => [ty, ty, ty, ScalarType::U32, ScalarType::U32],
            Self::Quad { .. } => [ty, ty, ty, ty, ScalarType::U64],
        }
    }
}

/// What the lanes of a warp tell each other (PTX ISA 9.7.9.6, 9.7.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collective {
    /// `bar.warp.sync`: nothing, they only wait.
    Sync,
    /// The sources are the value, the lane and the clamp; the predicate says whether that lane is in range.
    Shuffle(ShuffleMode),
    /// The source is a predicate, or its complement; the result is one, or a b32 for `Ballot`.
    Vote {
        mode: VoteMode,
        negated: bool,
    },
    /// `match.any.sync` and `match.all.sync` (the latter with a predicate).
    Match {
        all: bool,
    },
    Redux(Redux),
    /// The predicate is true in the lane that the result names.
    Elect,
    Activemask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    And,
    Or,
    Xor,
    Exch,
    Cas,
    Add,
    Inc,
    Dec,
    Min,
    Max,
}

/// What `redux` makes of the values of several lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Redux {
    pub op: ReduxOp,
    /// Of absolute values (`f32` only).
    pub abs: bool,
    pub ty: ScalarType,
    pub mode: Mode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduxOp {
    And,
    Or,
    Xor,
    Add,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierOp {
    /// Waits for everyone.
    Sync,
    /// Announces itself and goes on.
    Arrive,
    RedPopc,
    RedAnd,
    RedOr,
}

/// What `mbarrier` does with an object that counts arrivals (PTX ISA 9.7.13.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MbarrierOp {
    /// So many arrivals complete a phase.
    Init,
    Invalidate,
    /// So many arrive.
    Arrive,
    /// And are not expected any more.
    ArriveDrop,
    /// So many bytes are awaited besides.
    ExpectTx,
    ArriveExpectTx,
    ArriveDropExpectTx,
    /// So many of them have come.
    CompleteTx,
    /// `cp.async.mbarrier.arrive`: arrives when the thread's copies are complete. Without `.noinc` one more arrival is expected
    /// of the present phase.
    ArriveCopied {
        counted: bool,
    },
    /// `test_wait` and `try_wait`: whether the phase is complete that a state or a parity tells.
    Wait {
        parity: bool,
    },
}

/// `testp` properties (PTX ISA 9.7.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestProperty {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}
