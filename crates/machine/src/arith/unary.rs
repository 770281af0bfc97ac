//! Instructions of one operand.

use fusion_ptx::ast::{Accuracy, Mode, ScalarType, Unary};

use super::half::{self, Half};
use super::integer::{self, Int};
use super::{Fn1, approx, bits, by_direction, by_flags, direction, double, single};

/// The function of `op` on a register of type `ty`; `popc`, `clz` and `bfind` give a 32-bit result.
pub fn unary(op: Unary, ty: ScalarType, mode: Mode) -> Option<Fn1> {
    use ScalarType::*;
    match ty {
        Pred if op == Unary::Not => Some(|a| !a & 1),
        B16 | U16 => unsigned::<u16>(op),
        B32 | U32 => unsigned::<u32>(op),
        B64 | U64 => unsigned::<u64>(op),
        S16 => signed::<i16>(op),
        S32 => signed::<i32>(op),
        S64 => signed::<i64>(op),
        F32 => single(op, mode),
        F64 => double(op, mode),
        F16 | F16x2 => half::<half::F16>(op, ty == F16x2, mode),
        Bf16 | Bf16x2 => half::<half::Bf16>(op, ty == Bf16x2, mode),
        _ => None,
    }
}

fn unsigned<T: Int>(op: Unary) -> Option<Fn1> {
    Some(match op {
        Unary::Not => |a| T::read(!a).bits(),
        Unary::Cnot => |a| u64::from(T::read(a).bits() == 0),
        Unary::Popc => |a| bits::popc(T::read(a).bits()),
        Unary::Clz => |a| bits::clz(T::read(a).bits(), T::BITS),
        Unary::Brev => |a| bits::brev(T::read(a).bits(), T::BITS),
        Unary::Bfind { shiftamt: false } => |a| bits::bfind(a, T::BITS, false, false),
        Unary::Bfind { shiftamt: true } => |a| bits::bfind(a, T::BITS, false, true),
        // Not PTX, but only the sign's interpretation would differ.
        Unary::Neg => |a| integer::neg(T::read(a)).bits(),
        _ => return None,
    })
}

fn signed<T: Int>(op: Unary) -> Option<Fn1> {
    Some(match op {
        Unary::Abs => |a| integer::abs(T::read(a)).bits(),
        Unary::Neg => |a| integer::neg(T::read(a)).bits(),
        Unary::Bfind { shiftamt: false } => |a| bits::bfind(a, T::BITS, true, false),
        Unary::Bfind { shiftamt: true } => |a| bits::bfind(a, T::BITS, true, true),
        _ => return unsigned::<T>(op),
    })
}

fn single(op: Unary, mode: Mode) -> Option<Fn1> {
    use single::{bits, from};
    if mode.accuracy == Accuracy::Exact {
        return Some(by_flags!(FTZ = mode.ftz; match op {
            Unary::Abs => |a| bits(single::abs::<FTZ>(from(a))),
            Unary::Neg => |a| bits(single::neg::<FTZ>(from(a))),
            Unary::Rcp => by_direction!(R = direction(mode)?; |a| bits(single::rcp::<R, FTZ>(from(a)))),
            Unary::Sqrt => by_direction!(R = direction(mode)?; |a| bits(single::sqrt::<R, FTZ>(from(a)))),
            // The rest exist as approximations only, whether or not the text said so.
            _ => return single(op, Mode { accuracy: Accuracy::Approx, ..mode }),
        }));
    }
    Some(by_flags!(FTZ = mode.ftz; match op {
        Unary::Rcp => |a| u64::from(approx::rcp::<FTZ, 1>([a as u32])[0]),
        Unary::Sqrt => |a| bits(approx::sqrt::<FTZ>(from(a))),
        Unary::Rsqrt => |a| bits(approx::rsqrt::<FTZ>(from(a))),
        Unary::Ex2 => |a| u64::from(approx::ex2::<FTZ, 1>([a as u32])[0]),
        Unary::Lg2 => |a| bits(approx::lg2::<FTZ>(from(a))),
        Unary::Sin => |a| bits(approx::sin::<FTZ>(from(a))),
        Unary::Cos => |a| bits(approx::cos::<FTZ>(from(a))),
        Unary::Tanh => |a| bits(approx::tanh(from(a))),
        _ => return None,
    }))
}

fn double(op: Unary, mode: Mode) -> Option<Fn1> {
    use double::{bits, from};
    let exact = mode.accuracy == Accuracy::Exact;
    Some(match op {
        Unary::Abs => |a| bits(double::abs(from(a))),
        Unary::Neg => |a| bits(double::neg(from(a))),
        Unary::Rcp if exact => by_direction!(R = direction(mode)?; |a| bits(double::rcp::<R>(from(a)))),
        Unary::Sqrt if exact => by_direction!(R = direction(mode)?; |a| bits(double::sqrt::<R>(from(a)))),
        Unary::Rcp => |a| bits(approx::rcp_f64(from(a))),
        Unary::Rsqrt => by_flags!(FTZ = mode.ftz; |a| bits(approx::rsqrt_f64::<FTZ>(from(a)))),
        _ => return None,
    })
}

fn half<T: Half>(op: Unary, packed: bool, mode: Mode) -> Option<Fn1> {
    use half::{abs, each1, neg};
    Some(by_flags!(FTZ = mode.ftz, PACKED = packed; match op {
        Unary::Abs => |a| each1::<PACKED>(a, abs::<T, FTZ>),
        Unary::Neg => |a| each1::<PACKED>(a, neg::<T, FTZ>),
        Unary::Ex2 => |a| each1::<PACKED>(a, approx::ex2_half::<T>),
        Unary::Tanh => |a| each1::<PACKED>(a, approx::tanh_half::<T>),
        _ => return None,
    }))
}
