//! The arithmetic lints: an instruction that is suspected of a mistake, looked at and then executed.

use fusion_ptx::ast::ScalarType;

use super::finding::Site;
use super::grid::Worker;
use super::lanes::{View, each, lanes};
use super::trap::{Party, Trap};
use crate::arith;
use crate::code::{Checked, Lint, MicroOp, Reg};
use crate::report::Severity;

/// Executes a suspect, and notes what is wrong with it.
pub(crate) fn execute(worker: &mut Worker<'_>, regs: &mut View<'_>, checked: &Checked, mask: u32) {
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
            note(worker, checked, lint, &operands, wrong);
        }
    }
    apply(regs, checked.op, mask);
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

fn note(worker: &mut Worker<'_>, checked: &Checked, lint: &Lint, operands: &Operands, wrong: u32) {
    let code = match lint {
        Lint::Index { .. } => "L-INDEX-OVERFLOW",
        Lint::Shift { .. } => "L-SHIFT",
        Lint::Divide => "L-DIVIDE-BY-ZERO",
        Lint::FloatToInt { .. } => "L-FLOAT-TO-INT",
    };
    let site = Site { code, pc: worker.pc, other: u32::MAX };
    let (pc, count) = (worker.pc, u64::from(wrong.count_ones()));
    worker.findings.add(site, worker.block, worker.warp, count, || {
        let lane = wrong.trailing_zeros() as usize & 31;
        let trap = match *lint {
            Lint::Index { signed, access } => index(checked.op, operands, lane, signed, wrong, access),
            Lint::Shift { bits } => shift(bits, operands[1][lane], wrong),
            Lint::Divide => division(operands[0][lane], wrong),
            Lint::FloatToInt { from, to } => conversion(to, float(from, operands[0][lane]).unwrap_or(f64::NAN), wrong),
        };
        (Severity::Warning, trap.at(pc))
    });
}

fn index(op: MicroOp, operands: &Operands, lane: usize, signed: bool, wrong: u32, access: u32) -> Box<Trap> {
    let of = if signed { as_signed } else { as_unsigned };
    let [a, b, c] = operands.map(|operand| of(operand[lane]));
    let exact = exact(op, operands, lane, of);
    let formula = match op {
        MicroOp::Add32(_) => format!("{a} + {b}"),
        MicroOp::Sub32(_) => format!("{a} - {b}"),
        MicroOp::Mad32(_) => format!("{a} * {b} + {c}"),
        MicroOp::Shl32(_) => format!("{a} << {b}"),
        _ => format!("{a} * {b}"),
    };
    let (kind, kept, most) = match signed {
        true => ("int", i128::from(exact as i32), i128::from(i32::MAX)),
        false => ("unsigned int", i128::from(exact as u32), i128::from(u32::MAX)),
    };
    let trap = Trap::new("L-INDEX-OVERFLOW", wrong, "an index overflows 32 bits before it becomes an address")
        .label(format!("{formula} does not fit 32 bits"))
        .note(format!("{formula} is {exact}; as {kind}, which ends at {most}, it becomes {kept}"));
    let trap = match signed {
        true => trap
            .note("overflow of a signed integer is undefined in C++: the compiler may assume that it does not happen"),
        false => trap.note("an unsigned integer wraps around: the index then names another element of the same buffer"),
    };
    trap.help("widen before multiplying: `long long i = (long long)a * b;` instead of `int i = a * b;`, and the same for what it is compared with")
        .party(Party {
            label: "the address of this access is made from it".into(),
            pc: access,
            block: None,
            thread: None,
        })
}

fn shift(bits: u32, amount: u64, wrong: u32) -> Box<Trap> {
    Trap::new("L-SHIFT", wrong, format!("a shift of {bits} bits by {bits} or more"))
        .label(format!("shifts by {}", amount as u32 as i32))
        .note(format!("the amount is {}; C++ defines shifts by 0 to {} only", amount as u32 as i32, bits - 1))
        .note("the GPU gives 0 (or, shifting right, the sign), but the compiler may assume that it does not happen")
        .help(format!("test the amount first: `n < {bits} ? x << n : 0`, or shift a wider type"))
}

fn division(dividend: u64, wrong: u32) -> Box<Trap> {
    Trap::new("L-DIVIDE-BY-ZERO", wrong, "an integer is divided by zero")
        .label("the divisor is 0")
        .note(format!("the dividend is {}", dividend as i64))
        .note("the GPU does not stop: the result is some number, and in C++ the behaviour is undefined")
        .help("test the divisor first, or see to it that the host never passes 0")
}

fn conversion(to: ScalarType, value: f64, wrong: u32) -> Box<Trap> {
    let sign = if to.is_signed() { "signed" } else { "unsigned" };
    let what = format!("{sign} integer of {} bits", to.bits());
    let trap = Trap::new("L-FLOAT-TO-INT", wrong, "a float is converted to an integer that cannot hold it")
        .label(format!("{value} does not fit"))
        .note(format!("the value is {value}, which no {what} holds"));
    let trap = match value.is_nan() {
        true => trap.note("the GPU gives 0 for it (or the type's largest power of two), where C++ leaves it undefined"),
        false => trap.note("the GPU gives the nearest end of the type's range, where C++ leaves it undefined"),
    };
    trap.help("clamp it first, in floating point: `(int)fminf(fmaxf(x, low), high)`; a NaN becomes `low` by that")
}
