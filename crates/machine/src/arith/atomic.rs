//! The operations of `atom`, `red` and `redux` (PTX ISA 9.7.13), on the old value and the operand.
//!
//! * `atom.add.f32`: the manual says that on global memory subnormal inputs and results are flushed,
//!   and on shared memory are kept. The parser sees no `.ftz`, so the caller sets [`Mode::ftz`] for
//!   global memory.
//! * Packed and 16-bit additions are `.noftz` and round once per half.

use fusion_ptx::ast::{AtomicOp, Binary, Mode, Redux, ReduxOp, ScalarType};

use super::integer::{self, Int};
use super::round::RN;
use super::{Fn2, by_flags, double, single};

/// The new value from the old one and `b`. `cas` compares and is the caller's.
pub fn atomic(op: AtomicOp, ty: ScalarType, mode: Mode) -> Option<Fn2> {
    use ScalarType::*;
    match op {
        AtomicOp::And => Some(|old, b| old & b),
        AtomicOp::Or => Some(|old, b| old | b),
        AtomicOp::Xor => Some(|old, b| old ^ b),
        AtomicOp::Exch => Some(|_, b| b),
        AtomicOp::Inc if ty == U32 => Some(|old, b| if old >= b { 0 } else { old + 1 }),
        AtomicOp::Dec if ty == U32 => Some(|old, b| if old == 0 || old > b { b } else { old - 1 }),
        AtomicOp::Add => add(ty, mode.ftz),
        AtomicOp::Min => extremum::<false>(ty),
        AtomicOp::Max => extremum::<true>(ty),
        AtomicOp::Inc | AtomicOp::Dec | AtomicOp::Cas => None,
    }
}

fn add(ty: ScalarType, ftz: bool) -> Option<Fn2> {
    use ScalarType::*;
    match ty {
        U32 | S32 => Some(|old, b| integer::add(<u32 as Int>::read(old), <u32 as Int>::read(b)).bits()),
        U64 | S64 => Some(|old, b| old.wrapping_add(b)),
        F32 if ftz => Some(|old, b| single::bits(single::add::<RN, true, false>(single::from(old), single::from(b)))),
        F32 => Some(|old, b| single::bits(single::add::<RN, false, false>(single::from(old), single::from(b)))),
        F64 => Some(|old, b| double::bits(double::add::<RN>(double::from(old), double::from(b)))),
        F16 | Bf16 | F16x2 | Bf16x2 => super::binary(Binary::Add, ty, Mode::plain()),
        _ => None,
    }
}

fn extremum<const MAX: bool>(ty: ScalarType) -> Option<Fn2> {
    use ScalarType::*;
    fn of<T: Int, const MAX: bool>(old: u64, b: u64) -> u64 {
        let (old, b) = (<T as Int>::read(old), <T as Int>::read(b));
        (if MAX { integer::max(old, b) } else { integer::min(old, b) }).bits()
    }
    Some(match ty {
        U32 => of::<u32, MAX>,
        S32 => of::<i32, MAX>,
        U64 => of::<u64, MAX>,
        S64 => of::<i64, MAX>,
        F16 | F16x2 | Bf16 | Bf16x2 => {
            return super::binary(if MAX { Binary::Max } else { Binary::Min }, ty, Mode::plain());
        }
        _ => return None,
    })
}

/// Between the running value and another lane's, or its absolute value. +0.0 is more than -0.0.
fn float_extremum(max: bool, nan: bool, abs: bool) -> Fn2 {
    use single::{bits, from, min_max};
    by_flags!(MAX = max, NAN = nan, ABS = abs; |a, b| {
        let b = if ABS { single::abs::<false>(from(b)) } else { from(b) };
        bits(min_max::<MAX, false, NAN, false>(from(a), b))
    })
}

/// How `redux.sync` gets one value out of several: from the start by a step for each lane, from the running value and the lane's.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    pub start: u64,
    pub step: Fn2,
}

/// The reduction of `redux.sync`. Integers start from what changes nothing; floats from NaN, which loses against every number and
/// is the canonical one where there is none, or with `.NaN`, where it would win, from the infinity that loses.
pub fn redux(Redux { op, abs, ty, mode }: Redux) -> Option<Reduction> {
    use ScalarType::*;
    let of = |start: u64, step: Option<Fn2>| step.map(|step| Reduction { start, step });
    match (op, ty) {
        (ReduxOp::And, B32) => of(u32::MAX.into(), Some(|a, b| a & b)),
        (ReduxOp::Or, B32) => of(0, Some(|a, b| a | b)),
        (ReduxOp::Xor, B32) => of(0, Some(|a, b| a ^ b)),
        (ReduxOp::Add, U32 | S32) => of(0, add(U32, false)),
        (ReduxOp::Min, U32) => of(u32::MAX.into(), extremum::<false>(ty)),
        (ReduxOp::Min, S32) => of(i32::MAX as u64, extremum::<false>(ty)),
        (ReduxOp::Max, U32) => of(0, extremum::<true>(ty)),
        (ReduxOp::Max, S32) => of(i32::MIN as u32 as u64, extremum::<true>(ty)),
        (ReduxOp::Min | ReduxOp::Max, F32) => {
            let start = match (mode.nan, op) {
                (false, _) => f32::NAN,
                (true, ReduxOp::Min) => f32::INFINITY,
                (true, _) => f32::NEG_INFINITY,
            };
            of(single::bits(start), Some(float_extremum(op == ReduxOp::Max, mode.nan, abs)))
        }
        _ => None,
    }
}
