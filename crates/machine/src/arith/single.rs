//! f32 arithmetic (PTX ISA 9.7.3): the cores that the interpreter's lane loops inline.
//!
//! Every function is generic over the rounding direction `R`, `FTZ` (subnormal inputs and results
//! become zeros of the same sign) and `SAT` (results clamp to [0, 1], NaN to +0), so that each
//! instruction form is one straight piece of code. A NaN result is always 0x7fffffff.

use super::round::{self, Format, RN};

/// The NaN that every f32 instruction produces.
pub const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// A subnormal number as the zero of its sign.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// The canonical NaN for any NaN.
///
/// Told apart by its bits: of a choice between floats the optimiser may drop one that differs only in
/// the payload of a NaN, which to it is no difference.
#[inline(always)]
pub fn canonical(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits })
}

#[inline(always)]
pub fn input<const FTZ: bool>(x: f32) -> f32 {
    if FTZ { flush(x) } else { x }
}

#[inline(always)]
pub fn output<const FTZ: bool, const SAT: bool>(x: f32) -> f32 {
    if SAT {
        return saturate(input::<FTZ>(x));
    }
    canonical(input::<FTZ>(x))
}

/// Clamps to [0, 1]; NaN and minus zero become +0.
#[inline(always)]
pub fn saturate(x: f32) -> f32 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}

#[inline(always)]
pub fn add<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    output::<FTZ, SAT>(if R == RN { a + b } else { directed(round::add, R, a, b) })
}

#[inline(always)]
pub fn sub<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> f32 {
    add::<R, FTZ, SAT>(a, -b)
}

#[inline(always)]
pub fn mul<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    output::<FTZ, SAT>(if R == RN { a * b } else { directed(round::mul, R, a, b) })
}

#[inline(always)]
pub fn fma<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32, c: f32) -> f32 {
    let (a, b, c) = (input::<FTZ>(a), input::<FTZ>(b), input::<FTZ>(c));
    output::<FTZ, SAT>(if R == RN {
        let (sum, nearest) = fma_candidate(a, b, c);
        if needs_care(sum) { fma_carefully(a, b, c) } else { nearest }
    } else {
        from(round::fma(Format::F32, R, bits(a), bits(b), bits(c)))
    })
}

/// `fma.rn` by the processor's own instruction: for code compiled for a processor that has one, such as
/// a loop over lanes that was specialised for the host. Elsewhere it is a slow call, and
/// [`fma_lanes`] is quicker; the results are the same.
#[inline(always)]
pub fn fma_native<const FTZ: bool>(a: f32, b: f32, c: f32) -> f32 {
    output::<FTZ, false>(input::<FTZ>(a).mul_add(input::<FTZ>(b), input::<FTZ>(c)))
}

/// `fma.rn` of many lanes: vector instructions for all, then the rare careful ones.
#[inline(always)]
pub fn fma_lanes<const FTZ: bool, const N: usize>(a: &[u32; N], b: &[u32; N], c: &[u32; N]) -> [u32; N] {
    let operand = |x: u32| input::<FTZ>(f32::from_bits(x));
    let mut result = [0; N];
    let mut careful = 0;
    for i in 0..N {
        let (sum, nearest) = fma_candidate(operand(a[i]), operand(b[i]), operand(c[i]));
        result[i] = output::<FTZ, false>(nearest).to_bits();
        careful |= u32::from(needs_care(sum));
    }
    if careful != 0 {
        for i in 0..N {
            result[i] =
                fma::<RN, FTZ, false>(f32::from_bits(a[i]), f32::from_bits(b[i]), f32::from_bits(c[i])).to_bits();
        }
    }
    result
}

/// The sum in f64, where the product is exact, and that sum rounded once more.
///
/// Software, because the processor's own instruction is not part of every target, and the library's
/// function costs a call a lane.
#[inline(always)]
fn fma_candidate(a: f32, b: f32, c: f32) -> (f64, f32) {
    let sum = f64::from(a) * f64::from(b) + f64::from(c);
    (sum, sum as f32)
}

/// Whether rounding twice may differ from rounding once: only if the f64 is half-way between two f32,
/// or so small that the f32's last place has moved.
#[inline(always)]
fn needs_care(sum: f64) -> bool {
    let tie = sum.to_bits() as u32 & 0x1fff_ffff == 0x1000_0000;
    let small = sum.abs() < f64::from(f32::MIN_POSITIVE) && sum != 0.0;
    tie | small
}

/// Rounds the sum to odd in f64 first, so that the second rounding sees on which side of a tie it is.
#[inline(never)]
fn fma_carefully(a: f32, b: f32, c: f32) -> f32 {
    super::half::odd_sum(f64::from(a) * f64::from(b), f64::from(c)) as f32
}

#[inline(always)]
pub fn div<const R: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    output::<FTZ, false>(if R == RN { a / b } else { directed(round::div, R, a, b) })
}

#[inline(always)]
pub fn rcp<const R: u8, const FTZ: bool>(a: f32) -> f32 {
    div::<R, FTZ>(1.0, a)
}

#[inline(always)]
pub fn sqrt<const R: u8, const FTZ: bool>(a: f32) -> f32 {
    let a = input::<FTZ>(a);
    output::<FTZ, false>(if R == RN { a.sqrt() } else { from(round::sqrt(Format::F32, R, bits(a))) })
}

/// `neg` and `abs` change only the sign. Of NaN the manual says nothing; GPUs add a zero to do it (SASS
/// `FADD R, -RZ, -a`), which makes NaN canonical.
#[inline(always)]
pub fn neg<const FTZ: bool>(a: f32) -> f32 {
    canonical(-input::<FTZ>(a))
}

#[inline(always)]
pub fn abs<const FTZ: bool>(a: f32) -> f32 {
    canonical(input::<FTZ>(a).abs())
}

/// `min` and `max` (PTX ISA 9.7.3.10): -0 is less than +0; one NaN loses against a number unless
/// `PROPAGATE` (`.NaN`); two give the canonical NaN. With `XORSIGN` the magnitudes are compared and
/// the result's sign is the exclusive or of both.
#[inline(always)]
pub fn min_max<const MAX: bool, const FTZ: bool, const PROPAGATE: bool, const XORSIGN: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let (a, b) = if XORSIGN { (a.abs(), b.abs()) } else { (a, b) };
    let chosen = if a.is_nan() {
        if PROPAGATE || b.is_nan() { a } else { b }
    } else if b.is_nan() {
        if PROPAGATE { b } else { a }
    } else if a == b {
        // Only zeros can be equal and differ: the sign bit decides.
        let both = if MAX { a.to_bits() & b.to_bits() } else { a.to_bits() | b.to_bits() };
        f32::from_bits(both)
    } else if (a < b) != MAX {
        a
    } else {
        b
    };
    canonical(if XORSIGN { f32::from_bits(chosen.to_bits() | sign) } else { chosen })
}

#[inline(always)]
pub fn copysign(sign: f32, magnitude: f32) -> f32 {
    magnitude.copysign(sign)
}

/// Rounds to the nearest integral value, ties to even, keeping the sign of zero.
#[inline(always)]
pub fn round_nearest(x: f32) -> f32 {
    // Above 2^23 everything is integral; below, adding 2^23 leaves no place for a fraction.
    let magic = 8_388_608f32.copysign(x);
    if x.abs() < 8_388_608.0 { ((x + magic) - magic).copysign(x) } else { x }
}

#[inline(never)]
fn directed(operation: fn(Format, u8, u64, u64) -> u64, direction: u8, a: f32, b: f32) -> f32 {
    from(operation(Format::F32, direction, bits(a), bits(b)))
}

#[inline(always)]
pub fn bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

#[inline(always)]
pub fn from(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}
