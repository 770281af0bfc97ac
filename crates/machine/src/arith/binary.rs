//! Instructions of two operands.

use fusion_ptx::ast::{Accuracy, Binary, Mode, ScalarType};

use super::half::{self, Half};
use super::integer::{self, Int};
use super::{Fn2, approx, bits, by_direction, by_flags, compare, direction, double, single};

/// The function of `op` on registers of type `ty`. The second operand of shifts is a u32; `mul.wide`
/// gives a result twice as wide as `ty`. With a carry flag ([`Mode::carry_in`], [`Mode::carry_out`])
/// see [`super::carry`] instead.
pub fn binary(op: Binary, ty: ScalarType, mode: Mode) -> Option<Fn2> {
    use ScalarType::*;
    match (op, ty) {
        (Binary::And, Pred | B16 | B32 | B64) => Some(|a, b| a & b),
        (Binary::Or, Pred | B16 | B32 | B64) => Some(|a, b| a | b),
        (Binary::Xor, Pred | B16 | B32 | B64) => Some(|a, b| a ^ b),
        (Binary::Copysign, _) => compare::copysign(ty),
        (Binary::Bmsk { wrap: false }, _) => Some(|a, b| bits::bmsk(a, b, false)),
        (Binary::Bmsk { wrap: true }, _) => Some(|a, b| bits::bmsk(a, b, true)),
        (Binary::Szext { wrap }, _) => {
            Some(by_flags!(SIGNED = ty.is_signed(), WRAP = wrap; |a, b| bits::szext(a, b, SIGNED, WRAP)))
        }
        (_, B16 | U16) => integer::<u16>(op, mode),
        (_, B32 | U32) => integer::<u32>(op, mode),
        (_, B64 | U64) => integer::<u64>(op, mode),
        (_, S16) => integer::<i16>(op, mode),
        (_, S32) => integer::<i32>(op, mode),
        (_, S64) => integer::<i64>(op, mode),
        (_, U16x2) => packed_integer::<u16>(op, mode),
        (_, S16x2) => packed_integer::<i16>(op, mode),
        (_, F32) => single(op, mode),
        (_, F32x2) => pair(op, mode),
        (_, F64) => double(op, mode),
        (_, F16 | F16x2) => half::<half::F16>(op, ty == F16x2, mode),
        (_, Bf16 | Bf16x2) => half::<half::Bf16>(op, ty == Bf16x2, mode),
        _ => None,
    }
}

/// Reads two registers as integers, and gives the result's bits.
#[inline(always)]
fn on<T: Int>(a: u64, b: u64, f: impl Fn(T, T) -> T) -> u64 {
    f(T::read(a), T::read(b)).bits()
}

fn integer<T: Int>(op: Binary, mode: Mode) -> Option<Fn2> {
    Some(match op {
        Binary::Add if mode.sat => |a, b| on(a, b, integer::add_sat::<T>),
        Binary::Sub if mode.sat => |a, b| on(a, b, integer::sub_sat::<T>),
        Binary::Add => |a, b| on(a, b, integer::add::<T>),
        Binary::Sub => |a, b| on(a, b, integer::sub::<T>),
        Binary::Mul => |a, b| on(a, b, integer::mul::<T>),
        Binary::MulHi => |a, b| on(a, b, integer::mul_hi::<T>),
        Binary::MulWide => |a, b| integer::mul_wide(T::read(a), T::read(b)),
        Binary::Mul24 => |a, b| on(a, b, integer::mul24::<T>),
        Binary::Mul24Hi => |a, b| on(a, b, integer::mul24_hi::<T>),
        Binary::Div => |a, b| on(a, b, integer::div::<T>),
        Binary::Rem => |a, b| on(a, b, integer::rem::<T>),
        Binary::Min if mode.relu => |a, b| on(a, b, |a: T, b| integer::relu(integer::min(a, b))),
        Binary::Max if mode.relu => |a, b| on(a, b, |a: T, b| integer::relu(integer::max(a, b))),
        Binary::Min => |a, b| on(a, b, integer::min::<T>),
        Binary::Max => |a, b| on(a, b, integer::max::<T>),
        Binary::Shl => |a, b| integer::shl(T::read(a), b).bits(),
        Binary::Shr => |a, b| integer::shr(T::read(a), b).bits(),
        _ => return None,
    })
}

fn packed_integer<T: Int>(op: Binary, mode: Mode) -> Option<Fn2> {
    use integer::halves;
    Some(match op {
        Binary::Add => |a, b| halves(a, b, integer::add::<T>),
        Binary::Sub => |a, b| halves(a, b, integer::sub::<T>),
        Binary::Min if mode.relu => |a, b| halves(a, b, |a: T, b| integer::relu(integer::min(a, b))),
        Binary::Max if mode.relu => |a, b| halves(a, b, |a: T, b| integer::relu(integer::max(a, b))),
        Binary::Min => |a, b| halves(a, b, integer::min::<T>),
        Binary::Max => |a, b| halves(a, b, integer::max::<T>),
        _ => return None,
    })
}

fn single(op: Binary, mode: Mode) -> Option<Fn2> {
    use single::{add, bits, div, from, min_max, mul, sub};
    Some(by_flags!(FTZ = mode.ftz, SAT = mode.sat; match op {
        Binary::Add => by_direction!(R = direction(mode)?; |a, b| bits(add::<R, FTZ, SAT>(from(a), from(b)))),
        Binary::Sub => by_direction!(R = direction(mode)?; |a, b| bits(sub::<R, FTZ, SAT>(from(a), from(b)))),
        Binary::Mul => by_direction!(R = direction(mode)?; |a, b| bits(mul::<R, FTZ, SAT>(from(a), from(b)))),
        Binary::Div => match mode.accuracy {
            Accuracy::Exact => by_direction!(R = direction(mode)?; |a, b| bits(div::<R, FTZ>(from(a), from(b)))),
            Accuracy::Approx => |a, b| bits(approx::div::<FTZ>(from(a), from(b))),
            Accuracy::Full => |a, b| bits(approx::div_full::<FTZ>(from(a), from(b))),
        },
        Binary::Min | Binary::Max => by_flags!(MAX = op == Binary::Max, NAN = mode.nan, XORSIGN = mode.xorsign_abs;
            |a, b| bits(min_max::<MAX, FTZ, NAN, XORSIGN>(from(a), from(b)))),
        _ => return None,
    }))
}

/// Two f32 in one 64-bit register (sm_100).
fn pair(op: Binary, mode: Mode) -> Option<Fn2> {
    use single::{add, bits, from, mul, sub};
    fn each(a: u64, b: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
        bits(f(from(a), from(b))) | bits(f(from(a >> 32), from(b >> 32))) << 32
    }
    Some(by_flags!(FTZ = mode.ftz; by_direction!(R = direction(mode)?; match op {
        Binary::Add => |a, b| each(a, b, add::<R, FTZ, false>),
        Binary::Sub => |a, b| each(a, b, sub::<R, FTZ, false>),
        Binary::Mul => |a, b| each(a, b, mul::<R, FTZ, false>),
        _ => return None,
    })))
}

fn double(op: Binary, mode: Mode) -> Option<Fn2> {
    use double::{bits, from};
    Some(by_direction!(R = direction(mode)?; match op {
        Binary::Add => |a, b| bits(double::add::<R>(from(a), from(b))),
        Binary::Sub => |a, b| bits(double::sub::<R>(from(a), from(b))),
        Binary::Mul => |a, b| bits(double::mul::<R>(from(a), from(b))),
        Binary::Div => |a, b| bits(double::div::<R>(from(a), from(b))),
        Binary::Min => |a, b| bits(double::min_max::<false>(from(a), from(b))),
        Binary::Max => |a, b| bits(double::min_max::<true>(from(a), from(b))),
        _ => return None,
    }))
}

fn half<T: Half>(op: Binary, packed: bool, mode: Mode) -> Option<Fn2> {
    use half::{add, each2, min_max, mul, sub};
    Some(by_flags!(PACKED = packed, FTZ = mode.ftz, SAT = mode.sat; match op {
        Binary::Add => |a, b| each2::<PACKED>(a, b, add::<T, FTZ, SAT>),
        Binary::Sub => |a, b| each2::<PACKED>(a, b, sub::<T, FTZ, SAT>),
        Binary::Mul => |a, b| each2::<PACKED>(a, b, mul::<T, FTZ, SAT>),
        Binary::Min | Binary::Max => by_flags!(MAX = op == Binary::Max, NAN = mode.nan, XORSIGN = mode.xorsign_abs;
            |a, b| each2::<PACKED>(a, b, min_max::<T, MAX, FTZ, NAN, XORSIGN>)),
        _ => return None,
    }))
}
