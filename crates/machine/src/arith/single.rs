//! f32 arithmetic (PTX ISA 9.7.3): the cores that the interpreter's lane loops inline.
//!
//! Every function is generic over the rounding direction `R`, `FTZ` (subnormal inputs and results
//! become zeros of the same sign) and `SAT` (results clamp to [0, 1], NaN to +0), so that each
//! instruction form is one straight piece of code. A NaN result is always 0x7fffffff.
//!
//! With `FTZ`, a result is subnormal that is below the normal numbers when rounded to 24 bits, whatever its
//! exponent, see [`round::Format`]. The processor rounds it as a subnormal, with fewer bits, and may say the smallest normal
//! number. To nearest, that happens from half a subnormal's last place below it, and the 24 bits round up from half of that: see [`TINY`].

use super::round::{self, Format, RN};

/// The NaN that every f32 instruction produces.
pub const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// Half of a 24-bit number's last place below the smallest normal number. To nearest even, every lesser magnitude rounds to a subnormal.
const TINY: f64 = f32::MIN_POSITIVE as f64 * (1.0 - f32::EPSILON as f64 / 4.0);

/// Whether a number rounds to a subnormal, to nearest and to 24 bits.
#[inline(always)]
fn is_tiny(exact: f64) -> bool {
    exact.abs() < TINY
}

/// Rounds to nearest; if `FTZ`, a subnormal becomes the zero of its sign.
#[inline(always)]
pub fn nearest<const FTZ: bool>(exact: f64) -> f32 {
    let nearest = exact as f32;
    if FTZ && is_tiny(exact) { 0f32.copysign(nearest) } else { nearest }
}

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
    // A subnormal sum is exact in every direction: it is a multiple of the least subnormal number.
    output::<FTZ, SAT>(if R == RN { a + b } else { directed::<FTZ>(round::add, R, a, b) })
}

#[inline(always)]
pub fn sub<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> f32 {
    add::<R, FTZ, SAT>(a, -b)
}

#[inline(always)]
pub fn mul<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    output::<FTZ, SAT>(if R == RN { product::<FTZ>(a, b) } else { directed::<FTZ>(round::mul, R, a, b) })
}

/// The product to nearest of what are no subnormals if `FTZ`. A NaN keeps its payload.
#[inline(always)]
pub fn product<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let product = a * b;
    if FTZ && is_tiny(f64::from(a) * f64::from(b)) { 0f32.copysign(product) } else { product }
}

#[inline(always)]
pub fn fma<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32, c: f32) -> f32 {
    let (a, b, c) = (input::<FTZ>(a), input::<FTZ>(b), input::<FTZ>(c));
    output::<FTZ, SAT>(if R == RN {
        let (sum, nearest) = fma_candidate(a, b, c);
        if needs_care(sum) { fma_carefully::<FTZ>(a, b, c) } else { nearest }
    } else {
        fma_directed::<R>(a, b, c).unwrap_or_else(|| from(round::fma(format::<FTZ>(), R, bits(a), bits(b), bits(c))))
    })
}

/// Magnitudes of f64 whose neighbours in f32 are neither subnormal nor infinite.
const ORDINARY: std::ops::RangeInclusive<f64> = 2.0 * f32::MIN_POSITIVE as f64..=f32::MAX as f64 / 2.0;

/// `fma` in a direction, for most operands: every `expf` has one, rounded down. The product is exact in f64, and what the sum loses
/// there is found by adding backwards (Knuth, The Art of Computer Programming 2, 4.2.2). The two say on which side of the nearest f32
/// the exact result lies.
#[inline(always)]
fn fma_directed<const R: u8>(a: f32, b: f32, c: f32) -> Option<f32> {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    if !ORDINARY.contains(&sum.abs()) {
        return None;
    }
    let back = sum - product;
    let lost = (product - (sum - back)) + (c - back);
    let nearest = sum as f32;
    // Exact, and where it is not 0 larger than what was lost.
    let beyond = sum - f64::from(nearest);
    let beyond = if beyond == 0.0 { lost } else { beyond };
    match R {
        round::RM => Some(if beyond < 0.0 { nearest.next_down() } else { nearest }),
        round::RP => Some(if beyond > 0.0 { nearest.next_up() } else { nearest }),
        round::RZ if nearest > 0.0 => Some(if beyond < 0.0 { nearest.next_down() } else { nearest }),
        round::RZ => Some(if beyond > 0.0 { nearest.next_up() } else { nearest }),
        _ => None,
    }
}

/// `fma.rn` of many lanes by the processor's own instruction: for code compiled for a processor that has one, such as
/// a loop over lanes that was specialised for the host. Elsewhere it is a slow call, and
/// [`fma_lanes`] is quicker; the results are the same.
#[inline(always)]
pub fn fma_lanes_native<const FTZ: bool, const N: usize>(a: &[u32; N], b: &[u32; N], c: &[u32; N]) -> [u32; N] {
    let operand = |x: u32| input::<FTZ>(f32::from_bits(x));
    let mut result = [0; N];
    let mut smallest = false;
    for i in 0..N {
        result[i] = output::<FTZ, false>(operand(a[i]).mul_add(operand(b[i]), operand(c[i]))).to_bits();
        smallest |= FTZ && result[i] & 0x7fff_ffff == f32::MIN_POSITIVE.to_bits();
    }
    // Perhaps rounded up to it from what is to be flushed.
    if smallest { fma_lanes::<FTZ, N>(a, b, c) } else { result }
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
fn fma_carefully<const FTZ: bool>(a: f32, b: f32, c: f32) -> f32 {
    nearest::<FTZ>(super::half::odd_sum(f64::from(a) * f64::from(b), f64::from(c)))
}

#[inline(always)]
pub fn div<const R: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (input::<FTZ>(a), input::<FTZ>(b));
    let quotient = if R == RN { a / b } else { directed::<FTZ>(round::div, R, a, b) };
    // A quotient of 24-bit numbers below a power of two lies a last place or more below it: none rounds up to the smallest normal
    // number from 24 bits.
    let tiny = R == RN && f64::from(a).abs() < f64::from(b).abs() * f64::from(f32::MIN_POSITIVE);
    output::<FTZ, false>(if FTZ && tiny { 0f32.copysign(quotient) } else { quotient })
}

/// Whether machine code leaves a division to a routine: where an operand is 0, subnormal, infinite or NaN, or where a quotient or what it
/// is off by may be.
///
/// The instruction that tells (`FCHK`) is documented nowhere. The routine shows what it is for: it tells exponents of 0 and 255 apart,
/// scales, and rounds subnormal quotients (`cuobjdump -sass`, compute capability 9.0). What a quotient is off by has 24 bits below it.
pub fn is_divided_by_routine(a: f32, b: f32) -> bool {
    let exponent = |x: f32| (x.to_bits() >> 23 & 0xff) as i32;
    let (of_a, of_b) = (exponent(a), exponent(b));
    let ordinary = |exponent: i32| (1..255).contains(&exponent);
    !ordinary(of_a) || !ordinary(of_b) || of_a <= 24 || !(-125..=126).contains(&(of_a - of_b))
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
fn directed<const FTZ: bool>(operation: fn(Format, u8, u64, u64) -> u64, direction: u8, a: f32, b: f32) -> f32 {
    from(operation(format::<FTZ>(), direction, bits(a), bits(b)))
}

pub const fn format<const FTZ: bool>() -> Format {
    if FTZ { Format::F32_FTZ } else { Format::F32 }
}

#[inline(always)]
pub fn bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

#[inline(always)]
pub fn from(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}
