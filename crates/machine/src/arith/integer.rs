//! Integer arithmetic (PTX ISA 9.7.1), generic over the operand type.
//!
//! [`Int`] views the low bits of a register as one integer type. What the manual leaves open is
//! filled in as GPUs do it (by the machine code that their compiler makes): a quotient and a remainder
//! by zero are all ones, and the smallest signed number divided by -1 is itself.

/// An integer type of PTX.
pub trait Int: Copy + Ord {
    const BITS: u32;
    const MIN: Self;
    const MAX: Self;
    fn read(bits: u64) -> Self;
    /// Zero-extended.
    fn bits(self) -> u64;
    /// The exact value; every product of two operands fits.
    fn wide(self) -> i128;
    /// The low bits of an exact value.
    fn narrow(value: i128) -> Self;
}

macro_rules! int {
    ($($ty:ident $unsigned:ident)*) => {$(
        impl Int for $ty {
            const BITS: u32 = $ty::BITS;
            const MIN: Self = $ty::MIN;
            const MAX: Self = $ty::MAX;
            #[inline(always)]
            fn read(bits: u64) -> Self {
                bits as $ty
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self as $unsigned as u64
            }
            #[inline(always)]
            fn wide(self) -> i128 {
                self as i128
            }
            #[inline(always)]
            fn narrow(value: i128) -> Self {
                value as $ty
            }
        }
    )*};
}

int!(u8 u8 u16 u16 u32 u32 u64 u64 i8 u8 i16 u16 i32 u32 i64 u64);

/// The nearest value of the type.
#[inline(always)]
pub fn clamp<T: Int>(value: i128) -> T {
    T::narrow(value.clamp(T::MIN.wide(), T::MAX.wide()))
}

#[inline(always)]
pub fn add<T: Int>(a: T, b: T) -> T {
    T::read(a.bits().wrapping_add(b.bits()))
}

#[inline(always)]
pub fn sub<T: Int>(a: T, b: T) -> T {
    T::read(a.bits().wrapping_sub(b.bits()))
}

#[inline(always)]
pub fn mul<T: Int>(a: T, b: T) -> T {
    T::read(a.bits().wrapping_mul(b.bits()))
}

#[inline(always)]
pub fn add_sat<T: Int>(a: T, b: T) -> T {
    clamp(a.wide() + b.wide())
}

#[inline(always)]
pub fn sub_sat<T: Int>(a: T, b: T) -> T {
    clamp(a.wide() - b.wide())
}

/// The upper half of the product.
#[inline(always)]
pub fn mul_hi<T: Int>(a: T, b: T) -> T {
    // Two u64 have a product that only fits i128 as bits; the arithmetic shift's low half is right.
    T::narrow(a.wide().wrapping_mul(b.wide()) >> T::BITS)
}

/// The whole product, as bits of the type twice as wide (at most 64 bits).
#[inline(always)]
pub fn mul_wide<T: Int>(a: T, b: T) -> u64 {
    low_bits(a.wide().wrapping_mul(b.wide()) as u64, 2 * T::BITS)
}

/// The low `width` bits.
#[inline(always)]
pub fn low_bits(bits: u64, width: u32) -> u64 {
    if width >= 64 { bits } else { bits & ((1 << width) - 1) }
}

#[inline(always)]
pub fn mad<T: Int>(a: T, b: T, c: T) -> T {
    add(mul(a, b), c)
}

#[inline(always)]
pub fn mad_hi<T: Int>(a: T, b: T, c: T) -> T {
    add(mul_hi(a, b), c)
}

#[inline(always)]
pub fn mad_hi_sat<T: Int>(a: T, b: T, c: T) -> T {
    add_sat(mul_hi(a, b), c)
}

/// `a * b + c` with c twice as wide, as bits.
#[inline(always)]
pub fn mad_wide<T: Int>(a: T, b: T, c: u64) -> u64 {
    low_bits(mul_wide(a, b).wrapping_add(c), 2 * T::BITS)
}

#[inline(always)]
pub fn div<T: Int>(a: T, b: T) -> T {
    // Narrow and 64-bit division are much quicker than 128-bit: most operands fit them.
    match (i64::try_from(a.wide()), i64::try_from(b.wide())) {
        (_, Ok(0)) => T::read(u64::MAX),
        (Ok(a), Ok(b)) => T::read(a.wrapping_div(b) as u64),
        _ => T::narrow(a.wide() / b.wide()),
    }
}

#[inline(always)]
pub fn rem<T: Int>(a: T, b: T) -> T {
    match (i64::try_from(a.wide()), i64::try_from(b.wide())) {
        (_, Ok(0)) => T::read(u64::MAX),
        (Ok(a), Ok(b)) => T::read(a.wrapping_rem(b) as u64),
        _ => T::narrow(a.wide() % b.wide()),
    }
}

#[inline(always)]
pub fn min<T: Int>(a: T, b: T) -> T {
    a.min(b)
}

#[inline(always)]
pub fn max<T: Int>(a: T, b: T) -> T {
    a.max(b)
}

/// `.relu` of min and max: negative results become zero.
#[inline(always)]
pub fn relu<T: Int>(a: T) -> T {
    a.max(T::read(0))
}

/// The smallest number is its own absolute value and negation.
#[inline(always)]
pub fn abs<T: Int>(a: T) -> T {
    if a < T::read(0) { neg(a) } else { a }
}

#[inline(always)]
pub fn neg<T: Int>(a: T) -> T {
    sub(T::read(0), a)
}

/// c + |a - b|
#[inline(always)]
pub fn sad<T: Int>(a: T, b: T, c: T) -> T {
    add(c, if a < b { sub(b, a) } else { sub(a, b) })
}

/// Shifts take an unsigned 32-bit amount; from the width on, everything is shifted out.
#[inline(always)]
pub fn shl<T: Int>(a: T, amount: u64) -> T {
    let amount = amount as u32;
    T::read(if amount < T::BITS { a.bits() << amount } else { 0 })
}

/// Signed types fill with the sign.
#[inline(always)]
pub fn shr<T: Int>(a: T, amount: u64) -> T {
    T::narrow(a.wide() >> (amount as u32).min(T::BITS))
}

/// The low 24 bits, extended as the type is signed.
#[inline(always)]
fn low24<T: Int>(a: T) -> i64 {
    let low = (a.bits() & 0xff_ffff) as i64;
    if T::MIN < T::read(0) { low << 40 >> 40 } else { low }
}

/// Bits 31..0 of the 48-bit product of 24-bit operands.
#[inline(always)]
pub fn mul24<T: Int>(a: T, b: T) -> T {
    T::read((low24(a) * low24(b)) as u64)
}

/// Bits 47..16.
#[inline(always)]
pub fn mul24_hi<T: Int>(a: T, b: T) -> T {
    T::read(((low24(a) * low24(b)) >> 16) as u64)
}

/// Applies a 16-bit function to both halves.
#[inline(always)]
pub fn halves<T: Int>(a: u64, b: u64, f: impl Fn(T, T) -> T) -> u64 {
    f(T::read(a), T::read(b)).bits() | f(T::read(a >> 16), T::read(b >> 16)).bits() << 16
}

/// Sum of products of packed integers and c, modulo 2^32: `lanes` of a (each `32 / lanes` bits) with
/// bytes of b, starting at byte `first`.
#[inline(always)]
pub fn dot(a: u64, b: u64, c: u64, lanes: u32, first: u32, a_signed: bool, b_signed: bool) -> u64 {
    let width = 32 / lanes;
    let mut sum = c as u32;
    for lane in 0..lanes {
        let x = extract(a as u32, lane * width, width, a_signed);
        let y = extract(b as u32, (first + lane) * 8, 8, b_signed);
        sum = sum.wrapping_add(x.wrapping_mul(y));
    }
    u64::from(sum)
}

#[inline(always)]
fn extract(word: u32, position: u32, width: u32, signed: bool) -> u32 {
    let top = word >> position << (32 - width);
    if signed { (top as i32 >> (32 - width)) as u32 } else { top >> (32 - width) }
}
