//! The table of micro-operations.

use fusion_ptx::ast::{BoolOp, Compare};

use super::rule::{AND, OR, PerLane, XOR};
use super::table::{Slots, field, table};
use super::{Reg, Rule, Slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct D2 {
    pub(crate) d: Slot,
    pub(crate) a: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct D3 {
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct D4 {
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
}

/// A comparison that writes one predicate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared {
    pub(crate) cmp: Compare,
    pub(crate) p: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}

impl Slots<1> for D2 {
    fn slots(&self) -> (Slot, [Slot; 1]) {
        (self.d, [self.a])
    }
}

impl Slots<2> for D3 {
    fn slots(&self) -> (Slot, [Slot; 2]) {
        (self.d, [self.a, self.b])
    }
}

impl Slots<3> for D4 {
    fn slots(&self) -> (Slot, [Slot; 3]) {
        (self.d, [self.a, self.b, self.c])
    }
}

impl Slots<2> for Compared {
    fn slots(&self) -> (Slot, [Slot; 2]) {
        (self.p, [self.a, self.b])
    }
}

impl Compared {
    fn rule(&self, floats: bool) -> Rule {
        Rule::Compared { equality: !floats && matches!(self.cmp, Compare::Eq | Compare::Ne) }
    }
}

fn truth_table(op: BoolOp) -> u8 {
    match op {
        BoolOp::And => AND,
        BoolOp::Or => OR,
        BoolOp::Xor => XOR,
    }
}

/// Bits of a word moved by an amount, as the operations do; the same of a double.
fn left32(u: u64, n: u64) -> u64 {
    if n < 32 { u << n } else { 0 }
}

fn right32(u: u64, n: u64) -> u64 {
    if n < 32 { u >> n } else { 0 }
}

fn signed_right32(u: u64, n: u64) -> u64 {
    u64::from((u as u32 as i32 >> n.min(31)) as u32)
}

fn left64(u: u64, n: u64) -> u64 {
    if n < 64 { u << n } else { 0 }
}

fn right64(u: u64, n: u64) -> u64 {
    if n < 64 { u >> n } else { 0 }
}

fn signed_right64(u: u64, n: u64) -> u64 {
    (u as i64 >> n.min(63)) as u64
}

table! {
    /// The micro-operations. The first groups are the hot ones, each a loop over lanes that the compiler vectorises; everything
    /// rarer is a function pointer per lane or a [`SlowOp`](super::SlowOp).
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum MicroOp |code|

    lanes {
        Add32(s: D3) word <- word word => Sum;
        Sub32(s: D3) word <- word word => Sum;
        Mul32(s: D3) word <- word word => Product;
        Mad32(s: D4) word <- word word word => Product;
        And32(s: D3) word <- word word => Bitwise(AND);
        Or32(s: D3) word <- word word => Bitwise(OR);
        Xor32(s: D3) word <- word word => Bitwise(XOR);
        Not32(s: D2) word <- word => InPlace(u64::MAX);
        Neg32(s: D2) word <- word => Sum;
        Shl32(s: D3) word <- word word => Shift(left32);
        ShrU32(s: D3) word <- word word => Shift(right32);
        ShrS32(s: D3) word <- word word => Shift(signed_right32);
        MinU32(s: D3) word <- word word => Whole;
        MaxU32(s: D3) word <- word word => Whole;
        MinS32(s: D3) word <- word word => Whole;
        MaxS32(s: D3) word <- word word => Whole;
        Lop3(s: D4, lut: u8) word <- word word word => Bitwise(*lut);
        MulWideU(s: D3) double <- word word => Product;
        MulWideS(s: D3) double <- word word => Product;
        MadWideU(s: D4) double <- word word double => Product;
        MadWideS(s: D4) double <- word word double => Product;

        Add64(s: D3) double <- double double => Sum;
        Sub64(s: D3) double <- double double => Sum;
        Mul64(s: D3) double <- double double => Product;
        Mad64(s: D4) double <- double double double => Product;
        And64(s: D3) double <- double double => Bitwise(AND);
        Or64(s: D3) double <- double double => Bitwise(OR);
        Xor64(s: D3) double <- double double => Bitwise(XOR);
        Shl64(s: D3) double <- double word => Shift(left64);
        ShrU64(s: D3) double <- double word => Shift(right64);
        ShrS64(s: D3) double <- double word => Shift(signed_right64);

        AddF32(s: D3) word <- word word => Whole;
        SubF32(s: D3) word <- word word => Whole;
        MulF32(s: D3) word <- word word => Whole;
        FmaF32(s: D4) word <- word word word => Whole;
        DivF32(s: D3) word <- word word => Whole;
        AddF32Ftz(s: D3) word <- word word => Whole;
        SubF32Ftz(s: D3) word <- word word => Whole;
        MulF32Ftz(s: D3) word <- word word => Whole;
        FmaF32Ftz(s: D4) word <- word word word => Whole;
        MinF32(s: D3) word <- word word => Whole;
        MaxF32(s: D3) word <- word word => Whole;
        NegF32(s: D2) word <- word => InPlace(u64::MAX);
        AbsF32(s: D2) word <- word => InPlace(0x7fff_ffff);
        /// The sign of a, the magnitude of b.
        CopysignF32(s: D3) word <- word word => Copysign;
        /// Approximate reciprocal and power of two.
        RcpF32(s: D2) word <- word => Whole;
        RcpF32Ftz(s: D2) word <- word => Whole;
        Ex2F32(s: D2) word <- word => Whole;
        Ex2F32Ftz(s: D2) word <- word => Whole;
        AddF64(s: D3) double <- double double => Whole;
        SubF64(s: D3) double <- double double => Whole;
        MulF64(s: D3) double <- double double => Whole;
        FmaF64(s: D4) double <- double double double => Whole;

        Mov32(s: D2) word <- word => ZeroExtended(32);
        Mov64(s: D2) double <- double => ZeroExtended(64);
        ZeroExtend64(s: D2) double <- word => ZeroExtended(32);
        SignExtend64(s: D2) double <- word => SignExtended(32);
        Truncate64(s: D2) word <- double => ZeroExtended(32);
        /// The low 8 or 16 bits of a word, zero- or sign-extended within it.
        ZeroExtend32(s: D2, bits: u8) word <- word => ZeroExtended(*bits);
        SignExtend32(s: D2, bits: u8) word <- word => SignExtended(*bits);
        S32ToF32(s: D2) word <- word => Whole;
        U32ToF32(s: D2) word <- word => Whole;
        /// `{a, b}` with a the less significant.
        Pack32To64(s: D3) double <- word word => Concatenated;
        Pack16To32(s: D3) word <- half half => Concatenated;

        SetpS32(s: Compared) flag <- word word => s.rule(false);
        SetpU32(s: Compared) flag <- word word => s.rule(false);
        SetpS64(s: Compared) flag <- double double => s.rule(false);
        SetpU64(s: Compared) flag <- double double => s.rule(false);
        SetpF32(s: Compared) flag <- word word => s.rule(true);
        SetpF32Ftz(s: Compared) flag <- word word => s.rule(true);
        /// Predicate logic; a complement is an exclusive or with [`TRUE`](super::TRUE).
        LogicP(s: D3, op: BoolOp) flag <- flag flag => Bitwise(truth_table(*op));
    }

    others {
        Select32 { a: Slot = Read, b: Slot = Read, p: Slot = Read flag, negated: bool, d: Slot = Write }
            => Selected { negated: *negated };
        Select64 { a: Slot = Read double, b: Slot = Read double, p: Slot = Read flag, negated: bool, d: Slot = Write double }
            => Selected { negated: *negated };
        /// The reverse of `Pack`.
        Unpack64To32 { low: Slot = Write word, high: Slot = Write word, a: Slot = Read double } => Parted;
        Unpack32To16 { low: Slot = Write half, high: Slot = Write half, a: Slot = Read word } => Parted;
        /// Any other comparison: index into [`Code::comparisons`].
        Setp(index: u32 = Of comparisons) => Comparison(*index);

        Unary(f1: fn(u64) -> u64, d: Reg = Write, a: Reg = Read) => Function(PerLane::Of1(*f1));
        Binary(f2: fn(u64, u64) -> u64, d: Reg = Write, a: Reg = Read, b: Reg = Read) => Function(PerLane::Of2(*f2));
        /// Index into [`Code::ternaries`].
        Ternary(index: u32 = Of ternaries) => Function(PerLane::Of3(code.ternaries[*index as usize].f));

        /// Index into [`Code::quaternaries`].
        Quaternary(index: u32 = Of quaternaries) => Function(PerLane::Of4(code.quaternaries[*index as usize].f));

        /// The parameter buffer of the launch, at an offset that is known: index into [`Code::accesses`].
        LoadParam(index: u32 = Of accesses) => Defined;
        /// Index into [`Code::accesses`].
        Load(index: u32 = Of accesses) => Defined;
        Store(index: u32 = Of accesses) => Defined;

        Jump(target: u32) => Defined;
        /// Goes to `target` in the lanes where the predicate differs from `negated`.
        Branch { p: Slot = Branch flag, negated: bool, target: u32 } => Defined;
        /// Index into [`Code::slow`].
        Slow(index: u32 = Of slow) => code.slow[*index as usize].rule(code);
    }
}
