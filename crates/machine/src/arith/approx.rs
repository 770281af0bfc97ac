//! Approximate functions (`.approx`, `div.full`; PTX ISA 9.7.3, 9.7.4), bit for bit as an NVIDIA H200 computes them.
//!
//! The manual bounds the error of each and leaves the bits open. A GPU computes them in its unit for
//! special functions (MUFU), by quadratic interpolation in fixed point; [`interpolation`] says how,
//! and [`tables`] holds the coefficients. An instruction is one operation of that unit, at most with a
//! multiplication before and after it, which brings subnormal numbers into the unit's range.
//!
//! **Exact** here means that all 2^32 inputs (2^16 of the 16-bit forms) give the bits that the H200
//! gives, which `cargo run --release -p fusion-conformance -- --approx` shows by a checksum on either device:
//! `rcp`, `sqrt`, `rsqrt`, `ex2`, `lg2`, `sin`, `cos`, `tanh` with and without `.ftz`, and `ex2`
//! and `tanh` of f16 and bf16. `div` is two such steps, and was compared on 2^30 pairs;
//! `rcp.f64` and `rsqrt.f64` on all upper halves of mantissas and on random numbers.
//!
//! Other generations of GPUs round some results differently; all stay within the manual's bounds.

pub mod exponential;
pub mod interpolation;
pub mod logarithm;
pub mod reciprocal;
pub mod root;
pub mod tables;
pub mod tanh;
pub mod trigonometric;

pub use exponential::{ex2, ex2_half};
pub use logarithm::lg2;
pub use reciprocal::{div, div_full, rcp, rcp_f64};
pub use root::{rsqrt, rsqrt_f64, sqrt};
pub use tanh::{tanh, tanh_half};
pub use trigonometric::{cos, sin};

/// Multiplies a subnormal number into the normal range.
const TWO_24: f32 = 16_777_216.0;

/// Whether a number is zero or subnormal; NaN is neither.
#[inline(always)]
fn below_normal(a: f32) -> bool {
    a.abs() < f32::MIN_POSITIVE
}

/// The upper half of an f64 made from a result's sign and biased exponent and its 24-bit mantissa, of
/// which the unit keeps 21 bits.
fn upper_half(sign: u64, exponent: u64, mantissa: u32) -> f64 {
    // The mantissa's leading one adds 1 to the exponent.
    f64::from_bits(sign | (((exponent - 1) << 20) + u64::from(mantissa >> 3)) << 32)
}
