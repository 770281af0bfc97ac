//! Instructions of three operands.

use fusion_ptx::ast::{Mode, Packed, PrmtMode, ScalarType, Ternary};

use super::half::{self, Half};
use super::integer::{self, Int};
use super::{Fn3, bits, by_direction, by_flags, direction, double, single};

/// The function of `op` on registers of type `ty`. The third operand and the result of `mad.wide` are
/// twice as wide as `ty`; positions, lengths and shift amounts are u32.
pub fn ternary(op: Ternary, ty: ScalarType, mode: Mode) -> Option<Fn3> {
    use ScalarType::*;
    match op {
        Ternary::Lop3(lut) => Some(LOP3[usize::from(lut)]),
        Ternary::ShfL { wrap } => Some(by_flags!(WRAP = wrap; |a, b, c| bits::shf_l(a, b, c, WRAP))),
        Ternary::ShfR { wrap } => Some(by_flags!(WRAP = wrap; |a, b, c| bits::shf_r(a, b, c, WRAP))),
        Ternary::Prmt(mode) => Some(prmt(mode)),
        Ternary::Fns => Some(bits::fns),
        Ternary::CvtPack(Packed { bits, signed }) => by_flags!(SIGNED = signed; match bits {
            2 => Some(|a, b, c| pack::<SIGNED>(a, b, c, 2)),
            4 => Some(|a, b, c| pack::<SIGNED>(a, b, c, 4)),
            8 => Some(|a, b, c| pack::<SIGNED>(a, b, c, 8)),
            16 => Some(|a, b, c| pack::<SIGNED>(a, b, c, 16)),
            _ => None,
        }),
        Ternary::Dp4a { a_signed, b_signed } => {
            Some(by_flags!(A = a_signed, B = b_signed; |a, b, c| integer::dot(a, b, c, 4, 0, A, B)))
        }
        Ternary::Dp2a { a_signed, b_signed, high } => Some(by_flags!(A = a_signed, B = b_signed, HIGH = high;
            |a, b, c| integer::dot(a, b, c, 2, if HIGH { 2 } else { 0 }, A, B))),
        _ => match ty {
            U16 => integer::<u16>(op, mode),
            U32 | B32 => integer::<u32>(op, mode),
            U64 | B64 => integer::<u64>(op, mode),
            S16 => integer::<i16>(op, mode),
            S32 => integer::<i32>(op, mode),
            S64 => integer::<i64>(op, mode),
            F32 => single(op, mode),
            F32x2 => pair(op, mode),
            F64 => double(op, mode),
            F16 => half::<half::F16, false>(op, mode),
            F16x2 => half::<half::F16, true>(op, mode),
            Bf16 => half::<half::Bf16, false>(op, mode),
            Bf16x2 => half::<half::Bf16, true>(op, mode),
            _ => None,
        },
    }
}

/// `cvt.pack`: two clamped numbers in fields of so many bits, a above b, below the low bits of c.
fn pack<const SIGNED: bool>(a: u64, b: u64, c: u64, bits: u32) -> u64 {
    let (least, greatest) = if SIGNED { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let field = |x: u64| (x as i32).clamp(least, greatest) as u32 & ((1 << bits) - 1);
    let above = (c as u32).checked_shl(2 * bits).unwrap_or(0);
    u64::from(above | field(a) << bits | field(b))
}

fn prmt(mode: PrmtMode) -> Fn3 {
    match mode {
        PrmtMode::Generic => |a, b, c| bits::prmt(a, b, c, PrmtMode::Generic),
        PrmtMode::F4e => |a, b, c| bits::prmt(a, b, c, PrmtMode::F4e),
        PrmtMode::B4e => |a, b, c| bits::prmt(a, b, c, PrmtMode::B4e),
        PrmtMode::Rc8 => |a, b, c| bits::prmt(a, b, c, PrmtMode::Rc8),
        PrmtMode::Ecl => |a, b, c| bits::prmt(a, b, c, PrmtMode::Ecl),
        PrmtMode::Ecr => |a, b, c| bits::prmt(a, b, c, PrmtMode::Ecr),
        PrmtMode::Rc16 => |a, b, c| bits::prmt(a, b, c, PrmtMode::Rc16),
    }
}

/// Reads three registers as integers, and gives the result's bits.
#[inline(always)]
fn on<T: Int>(a: u64, b: u64, c: u64, f: impl Fn(T, T, T) -> T) -> u64 {
    f(T::read(a), T::read(b), T::read(c)).bits()
}

fn integer<T: Int>(op: Ternary, mode: Mode) -> Option<Fn3> {
    let signed = T::MIN < T::read(0);
    Some(match op {
        Ternary::Mad => |a, b, c| on(a, b, c, integer::mad::<T>),
        Ternary::MadHi if mode.sat => |a, b, c| on(a, b, c, integer::mad_hi_sat::<T>),
        Ternary::MadHi => |a, b, c| on(a, b, c, integer::mad_hi::<T>),
        Ternary::MadWide => |a, b, c| integer::mad_wide(T::read(a), T::read(b), c),
        Ternary::Mad24 => |a, b, c| on(a, b, c, |a: T, b, c| integer::add(integer::mul24(a, b), c)),
        Ternary::Mad24Hi if mode.sat => {
            |a, b, c| on(a, b, c, |a: T, b, c| integer::add_sat(integer::mul24_hi(a, b), c))
        }
        Ternary::Mad24Hi => |a, b, c| on(a, b, c, |a: T, b, c| integer::add(integer::mul24_hi(a, b), c)),
        Ternary::Sad => |a, b, c| on(a, b, c, integer::sad::<T>),
        Ternary::Bfe => by_flags!(SIGNED = signed; |a, b, c| bits::bfe(a, b, c, T::BITS, SIGNED)),
        _ => return None,
    })
}

fn single(op: Ternary, mode: Mode) -> Option<Fn3> {
    use single::{bits, fma, from, min_max};
    Some(by_flags!(FTZ = mode.ftz; match op {
        Ternary::Fma => by_flags!(SAT = mode.sat; by_direction!(R = direction(mode)?;
            |a, b, c| bits(fma::<R, FTZ, SAT>(from(a), from(b), from(c))))),
        // Of three f32 (sm_100): those of two, twice.
        Ternary::Min3 | Ternary::Max3 => {
            by_flags!(MAX = op == Ternary::Max3, NAN = mode.nan, XORSIGN = mode.xorsign_abs; |a, b, c| {
                let first = min_max::<MAX, FTZ, NAN, XORSIGN>(from(a), from(b));
                bits(min_max::<MAX, FTZ, NAN, XORSIGN>(first, from(c)))
            })
        }
        _ => return None,
    }))
}

/// Two f32 in one 64-bit register (sm_100).
fn pair(op: Ternary, mode: Mode) -> Option<Fn3> {
    use single::{bits, fma, from};
    fn each(a: u64, b: u64, c: u64, f: impl Fn(f32, f32, f32) -> f32) -> u64 {
        bits(f(from(a), from(b), from(c))) | bits(f(from(a >> 32), from(b >> 32), from(c >> 32))) << 32
    }
    if op != Ternary::Fma {
        return None;
    }
    Some(by_flags!(FTZ = mode.ftz; by_direction!(R = direction(mode)?; |a, b, c| each(a, b, c, fma::<R, FTZ, false>))))
}

fn double(op: Ternary, mode: Mode) -> Option<Fn3> {
    use double::{bits, fma, from};
    if op != Ternary::Fma {
        return None;
    }
    Some(by_direction!(R = direction(mode)?; |a, b, c| bits(fma::<R>(from(a), from(b), from(c)))))
}

fn half<T: Half, const PACKED: bool>(op: Ternary, mode: Mode) -> Option<Fn3> {
    use half::{each3, fma};
    // `.oob` is about a NaN that only tensor loads make.
    if op != Ternary::Fma || mode.oob {
        return None;
    }
    Some(by_flags!(FTZ = mode.ftz, SAT = mode.sat, RELU = mode.relu;
        |a, b, c| each3::<PACKED>(a, b, c, fma::<T, FTZ, SAT, RELU>)))
}

macro_rules! lop3_rows {
    ($($high:literal)*) => {[$(
        lop3_rows!(@ $high 0), lop3_rows!(@ $high 1), lop3_rows!(@ $high 2), lop3_rows!(@ $high 3),
        lop3_rows!(@ $high 4), lop3_rows!(@ $high 5), lop3_rows!(@ $high 6), lop3_rows!(@ $high 7),
        lop3_rows!(@ $high 8), lop3_rows!(@ $high 9), lop3_rows!(@ $high 10), lop3_rows!(@ $high 11),
        lop3_rows!(@ $high 12), lop3_rows!(@ $high 13), lop3_rows!(@ $high 14), lop3_rows!(@ $high 15),
    )*]};
    (@ $high:literal $low:literal) => {
        |a, b, c| bits::lop3(a, b, c, $high * 16 + $low)
    };
}

/// One function per truth table, each a handful of logic operations once compiled.
static LOP3: [Fn3; 256] = lop3_rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
