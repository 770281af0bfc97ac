//! Which operation an instruction of a family is.

use super::ScalarType;

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
    CvtPack(ScalarType),
    /// Three-input min and max (PTX ISA 8.8, sm_100).
    Min3,
    Max3,
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
