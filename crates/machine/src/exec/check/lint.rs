//! The arithmetic lints: an instruction that is suspected of a mistake, looked at and then executed.

use fusion_ptx::ast::ScalarType;

use crate::arith;
use crate::code::{Checked, Lint, MicroOp, Reg};
use crate::exec::check::Watch;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::{Party, Trap};
use crate::exec::state::lanes::{View, each, lanes};
use crate::report::Role;
use crate::report::kind::{Arithmetic, Formula};

impl Watch<'_> {
    /// Executes a suspect, and notes what is wrong with it.
    pub(crate) fn suspect(&mut self, regs: &mut View<'_>, checked: &Checked, mask: u32) {
        let operands = operands(regs, checked.op);
        for lint in &checked.lints {
            let wrong = match *lint {
                Lint::Index { signed, .. } => wraps(checked.op, &operands, mask, signed),
                Lint::Shift { bits } => lanes_where(mask, |lane| operands[1][lane] >= u64::from(bits)),
                Lint::Divide => lanes_where(mask, |lane| operands[1][lane] == 0),
                Lint::FloatToInt { from, to } => {
                    lanes_where(mask, |lane| float(from, operands[0][lane]).is_some_and(|value| !holds(to, value)))
                }
            };
            if wrong != 0 {
                note(self, checked, lint, &operands, wrong);
            }
        }
        apply(regs, checked.op, mask);
    }
}

#[inline]
fn lanes_where(mask: u32, test: impl Fn(usize) -> bool) -> u32 {
    each(mask).fold(0, |found, lane| found | u32::from(test(lane)) << lane)
}

type Operands = [[u64; 32]; 3];

fn operands(regs: &View<'_>, op: MicroOp) -> Operands {
    let word = |slot| regs.get(Reg { slot, bits: 32 });
    let double = |slot| regs.get(Reg { slot, bits: 64 });
    let none = [0; 32];
    match op {
        MicroOp::Add32(s)
        | MicroOp::Sub32(s)
        | MicroOp::Mul32(s)
        | MicroOp::Shl32(s)
        | MicroOp::ShrU32(s)
        | MicroOp::ShrS32(s) => [word(s.a), word(s.b), none],
        MicroOp::Mad32(s) => [word(s.a), word(s.b), word(s.c)],
        MicroOp::Shl64(s) | MicroOp::ShrU64(s) | MicroOp::ShrS64(s) => [double(s.a), word(s.b), none],
        MicroOp::Unary(_, _, a) => [regs.get(a), none, none],
        MicroOp::Binary(_, _, a, b) => [regs.get(a), regs.get(b), none],
        _ => [none; 3],
    }
}

/// What the interpreter's loop does with the same operation.
fn apply(r: &mut View<'_>, op: MicroOp, m: u32) {
    match op {
        MicroOp::Add32(s) => r.words2(s.d, s.a, s.b, m, u32::wrapping_add),
        MicroOp::Sub32(s) => r.words2(s.d, s.a, s.b, m, u32::wrapping_sub),
        MicroOp::Mul32(s) => r.words2(s.d, s.a, s.b, m, u32::wrapping_mul),
        MicroOp::Mad32(s) => r.words3(s.d, [s.a, s.b, s.c], m, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        MicroOp::Shl32(s) => r.words2(s.d, s.a, s.b, m, |a, b| a.checked_shl(b).unwrap_or(0)),
        MicroOp::ShrU32(s) => r.words2(s.d, s.a, s.b, m, |a, b| a.checked_shr(b).unwrap_or(0)),
        MicroOp::ShrS32(s) => r.words2(s.d, s.a, s.b, m, |a, b| (a as i32 >> b.min(31)) as u32),
        MicroOp::Shl64(s) => r.shift(s.d, s.a, s.b, m, |a, b| a.checked_shl(b).unwrap_or(0)),
        MicroOp::ShrU64(s) => r.shift(s.d, s.a, s.b, m, |a, b| a.checked_shr(b).unwrap_or(0)),
        MicroOp::ShrS64(s) => r.shift(s.d, s.a, s.b, m, |a, b| (a as i64 >> b.min(63)) as u64),
        MicroOp::Unary(f, d, a) => {
            let a = r.get(a);
            r.put(d, m, &lanes(|i| f(a[i])));
        }
        MicroOp::Binary(f, d, a, b) => {
            let (a, b) = (r.get(a), r.get(b));
            r.put(d, m, &lanes(|i| f(a[i], b[i])));
        }
        _ => debug_assert!(false, "lowering checks only what is executed here"),
    }
}

/// The lanes whose result 32 bits do not hold. An index that is widened without its sign may still be one that went below zero
/// and came back, as in `x[i + (n - 1)]`: it wraps only if it does so in either reading.
fn wraps(op: MicroOp, operands: &Operands, mask: u32, signed: bool) -> u32 {
    match op {
        MicroOp::Add32(_) => beyond(operands, mask, signed, |a, b, _| a.wrapping_add(b)),
        MicroOp::Sub32(_) => beyond(operands, mask, signed, |a, b, _| a.wrapping_sub(b)),
        MicroOp::Mul32(_) => beyond(operands, mask, signed, |a, b, _| a.wrapping_mul(b)),
        MicroOp::Mad32(_) => beyond(operands, mask, signed, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        // 32 and more is the business of another lint.
        MicroOp::Shl32(_) => beyond(operands, mask, signed, |a, b, _| a << (b & 31)),
        _ => 0,
    }
}

/// The same for an operation on 64 bits, which hold what one makes of two or three words, with and without a sign.
#[inline(always)]
fn beyond(operands: &Operands, mask: u32, signed: bool, op: impl Fn(u64, u64, u64) -> u64) -> u32 {
    let [a, b, c] = operands;
    let extend = |word: u64| i64::from(word as u32 as i32) as u64;
    let mut wrong = 0;
    for lane in 0..32 {
        let exact = op(extend(a[lane]), extend(b[lane]), extend(c[lane]));
        let unsigned = op(a[lane], b[lane], c[lane]);
        let wraps = (exact != extend(exact)) & (signed | (unsigned >> 32 != 0));
        wrong |= u32::from(wraps) << lane;
    }
    wrong & mask
}

/// What the operation would give with as many bits as it takes, its operands read as `of` says.
fn exact(op: MicroOp, operands: &Operands, lane: usize, of: impl Fn(u64) -> i128) -> i128 {
    let [a, b, c] = operands.map(|operand| of(operand[lane]));
    match op {
        MicroOp::Add32(_) => a + b,
        MicroOp::Sub32(_) => a - b,
        MicroOp::Mul32(_) => a * b,
        MicroOp::Mad32(_) => a * b + c,
        MicroOp::Shl32(_) => a << (operands[1][lane] & 31),
        _ => 0,
    }
}

fn as_signed(word: u64) -> i128 {
    i128::from(word as u32 as i32)
}

fn as_unsigned(word: u64) -> i128 {
    i128::from(word as u32)
}

/// The value of a float of a type.
fn float(ty: ScalarType, bits: u64) -> Option<f64> {
    let through = |ty| arith::convert(ScalarType::F64, ty, fusion_ptx::ast::Mode::plain());
    match ty {
        ScalarType::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        ScalarType::F64 => Some(f64::from_bits(bits)),
        ty => through(ty).map(|f| f64::from_bits(f(bits))),
    }
}

/// Whether an integer type has the value, whichever way it is rounded.
fn holds(ty: ScalarType, value: f64) -> bool {
    let bits = ty.bits() as i32;
    let (low, high) = match ty.is_signed() {
        true => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
        false => (0.0, 2f64.powi(bits)),
    };
    // With 64 bits `low - 1.0` is `low` itself, which is held.
    value < high && (value > low - 1.0 || value == low)
}

fn note(watch: &mut Watch<'_>, checked: &Checked, lint: &Lint, operands: &Operands, wrong: u32) {
    let lane = wrong.trailing_zeros() as usize & 31;
    let kind = match *lint {
        Lint::Index { signed, .. } => index(checked.op, operands, lane, signed),
        Lint::Shift { bits } => Arithmetic::Shift { bits, amount: operands[1][lane] as u32 as i32 },
        Lint::Divide => Arithmetic::DivideByZero { dividend: operands[0][lane] as i64 },
        Lint::FloatToInt { from, to } => Arithmetic::FloatToInt {
            value: float(from, operands[0][lane]).unwrap_or(f64::NAN).to_bits(),
            bits: to.bits(),
            signed: to.is_signed(),
        },
    };
    let site = Site { code: kind.code(), pc: watch.pc, other: u32::MAX };
    let (pc, count) = (watch.pc, u64::from(wrong.count_ones()));
    watch.findings.add(site, watch.block, watch.warp, count, || {
        let trap = Trap::new(kind, wrong).at(pc);
        match *lint {
            Lint::Index { access, .. } => trap.party(Party::at(access, Role::Addressed)),
            _ => trap,
        }
    });
}

fn index(op: MicroOp, operands: &Operands, lane: usize, signed: bool) -> Arithmetic {
    let of = if signed { as_signed } else { as_unsigned };
    // Words, which 64 bits hold in either reading.
    let [a, b, c] = operands.map(|operand| of(operand[lane]) as i64);
    let formula = match op {
        MicroOp::Add32(_) => Formula::Add(a, b),
        MicroOp::Sub32(_) => Formula::Subtract(a, b),
        MicroOp::Mad32(_) => Formula::MultiplyAdd(a, b, c),
        MicroOp::Shl32(_) => Formula::ShiftLeft(a, b),
        _ => Formula::Multiply(a, b),
    };
    Arithmetic::IndexOverflow { formula, exact: exact(op, operands, lane, of), signed }
}
