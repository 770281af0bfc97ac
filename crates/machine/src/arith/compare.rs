//! Comparisons, `testp`, `set` and `slct` (PTX ISA 9.7.6 and 9.7.3.1).

use fusion_ptx::ast::{Compare, ScalarType, TestProperty};

use super::half::{self, Half};
use super::integer::Int;
use super::{Fn2, double, single};

/// A comparison of two registers.
pub type Predicate = fn(u64, u64) -> bool;

/// The comparison `cmp` for operands of type `ty`. Of the packed types it compares the low halves.
pub fn compare(cmp: Compare, ty: ScalarType, ftz: bool) -> Option<Predicate> {
    use ScalarType::*;
    match ty {
        // Bit-size types know only equality; the unsigned orders of a b-type are the same as u.
        Pred | B8 | U8 => integer::<u8>(cmp),
        B16 | U16 => integer::<u16>(cmp),
        B32 | U32 => integer::<u32>(cmp),
        B64 | U64 => integer::<u64>(cmp),
        S8 => integer::<i8>(cmp),
        S16 => integer::<i16>(cmp),
        S32 => integer::<i32>(cmp),
        S64 => integer::<i64>(cmp),
        F32 if ftz => float::<FlushedSingle>(cmp),
        F32 => float::<Single>(cmp),
        F64 => float::<Double>(cmp),
        F16 | F16x2 if ftz => float::<FlushedF16>(cmp),
        F16 | F16x2 => float::<HalfOf<half::F16>>(cmp),
        Bf16 | Bf16x2 => float::<HalfOf<half::Bf16>>(cmp),
        _ => None,
    }
}

/// How a float type's registers are read for comparing.
trait Float {
    type Number: PartialOrd;
    fn read(bits: u64) -> Self::Number;
}

struct Single;
struct FlushedSingle;
struct Double;
struct FlushedF16;
struct HalfOf<T>(std::marker::PhantomData<T>);

impl Float for Single {
    type Number = f32;
    #[inline(always)]
    fn read(bits: u64) -> f32 {
        single::from(bits)
    }
}

impl Float for FlushedSingle {
    type Number = f32;
    #[inline(always)]
    fn read(bits: u64) -> f32 {
        single::flush(single::from(bits))
    }
}

impl Float for Double {
    type Number = f64;
    #[inline(always)]
    fn read(bits: u64) -> f64 {
        double::from(bits)
    }
}

impl<T: Half> Float for HalfOf<T> {
    type Number = f32;
    #[inline(always)]
    fn read(bits: u64) -> f32 {
        T::widen(bits as u16)
    }
}

impl Float for FlushedF16 {
    type Number = f32;
    #[inline(always)]
    fn read(bits: u64) -> f32 {
        if bits & 0x7c00 == 0 { 0.0 } else { half::F16::widen(bits as u16) }
    }
}

fn integer<T: Int>(cmp: Compare) -> Option<Predicate> {
    use Compare::*;
    Some(match cmp {
        Eq => |a, b| T::read(a) == T::read(b),
        Ne => |a, b| T::read(a) != T::read(b),
        Lt | Lo => |a, b| T::read(a) < T::read(b),
        Le | Ls => |a, b| T::read(a) <= T::read(b),
        Gt | Hi => |a, b| T::read(a) > T::read(b),
        Ge | Hs => |a, b| T::read(a) >= T::read(b),
        _ => return None,
    })
}

fn float<T: Float>(cmp: Compare) -> Option<Predicate> {
    use Compare::*;
    // The unordered forms are the negations of the opposite ordered ones: NaN makes those false.
    Some(match cmp {
        Eq => |a, b| T::read(a) == T::read(b),
        Ne => |a, b| matches!(T::read(a).partial_cmp(&T::read(b)), Some(order) if order.is_ne()),
        Lt => |a, b| T::read(a) < T::read(b),
        Le => |a, b| T::read(a) <= T::read(b),
        Gt => |a, b| T::read(a) > T::read(b),
        Ge => |a, b| T::read(a) >= T::read(b),
        Equ => |a, b| T::read(a).partial_cmp(&T::read(b)).is_none_or(|order| order.is_eq()),
        Neu => |a, b| T::read(a) != T::read(b),
        Ltu => |a, b| T::read(a).partial_cmp(&T::read(b)).is_none_or(|order| order.is_lt()),
        Leu => |a, b| T::read(a).partial_cmp(&T::read(b)).is_none_or(|order| order.is_le()),
        Gtu => |a, b| T::read(a).partial_cmp(&T::read(b)).is_none_or(|order| order.is_gt()),
        Geu => |a, b| T::read(a).partial_cmp(&T::read(b)).is_none_or(|order| order.is_ge()),
        Num => |a, b| T::read(a).partial_cmp(&T::read(b)).is_some(),
        Nan => |a, b| T::read(a).partial_cmp(&T::read(b)).is_none(),
        Lo | Ls | Hi | Hs => return None,
    })
}

/// What `set` writes to a register of type `dty` when the comparison holds; zero otherwise.
pub fn set_value(dty: ScalarType) -> Option<u64> {
    use ScalarType::*;
    match dty {
        U16 | S16 => Some(0xffff),
        U32 | S32 => Some(0xffff_ffff),
        F32 => Some(u64::from(1f32.to_bits())),
        F16 => Some(u64::from(half::F16::ONE)),
        Bf16 => Some(u64::from(half::Bf16::ONE)),
        // The caller masks these to the half that it sets.
        F16x2 => Some(u64::from(half::F16::ONE) * 0x1_0001),
        Bf16x2 => Some(u64::from(half::Bf16::ONE) * 0x1_0001),
        _ => None,
    }
}

/// `testp`. Zeros count as normal.
pub fn testp(property: TestProperty, ty: ScalarType) -> Option<fn(u64) -> bool> {
    use TestProperty::*;
    Some(match (ty, property) {
        (ScalarType::F32, Finite) => |a| single::from(a).is_finite(),
        (ScalarType::F32, Infinite) => |a| single::from(a).is_infinite(),
        (ScalarType::F32, Number) => |a| !single::from(a).is_nan(),
        (ScalarType::F32, NotANumber) => |a| single::from(a).is_nan(),
        (ScalarType::F32, Normal) => |a| single::from(a).is_normal() || single::from(a) == 0.0,
        (ScalarType::F32, Subnormal) => |a| single::from(a).is_subnormal(),
        (ScalarType::F64, Finite) => |a| double::from(a).is_finite(),
        (ScalarType::F64, Infinite) => |a| double::from(a).is_infinite(),
        (ScalarType::F64, Number) => |a| !double::from(a).is_nan(),
        (ScalarType::F64, NotANumber) => |a| double::from(a).is_nan(),
        (ScalarType::F64, Normal) => |a| double::from(a).is_normal() || double::from(a) == 0.0,
        (ScalarType::F64, Subnormal) => |a| double::from(a).is_subnormal(),
        _ => return None,
    })
}

/// Whether `slct` takes its first source, by the third of type `cty`. NaN takes the second, -0 the first.
pub fn slct(cty: ScalarType, ftz: bool) -> Option<fn(u64) -> bool> {
    match (cty, ftz) {
        (ScalarType::S32, _) => Some(|c| c as u32 as i32 >= 0),
        (ScalarType::F32, false) => Some(|c| single::from(c) >= 0.0),
        (ScalarType::F32, true) => Some(|c| single::flush(single::from(c)) >= 0.0),
        _ => None,
    }
}

/// `copysign d, a, b`: the sign of a, the magnitude of b.
pub fn copysign(ty: ScalarType) -> Option<Fn2> {
    match ty {
        ScalarType::F32 => Some(|a, b| a & 0x8000_0000 | b & 0x7fff_ffff),
        ScalarType::F64 => Some(|a, b| a & 1 << 63 | b & !(1 << 63)),
        _ => None,
    }
}
