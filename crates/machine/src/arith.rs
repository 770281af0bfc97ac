//! The exact meaning of every PTX arithmetic instruction, as functions on register bits.
//!
//! An instruction form is looked up once, when a kernel is lowered, and becomes a plain function
//! pointer that knows its type, rounding and modifiers; `None` means that PTX has no such form (or
//! that we do not). Beside the lookups, the modules export the scalar cores, so that the hot
//! instructions' lane loops can inline them.
//!
//! Registers are `u64`: an operand's bits above its type's width are zero and do not matter, results
//! are zero-extended from their type's width. The exception is [`convert`] to a signed integer, which
//! extends the sign to 64 bits, because `cvt` into a wider register does; the caller masks.
//!
//! What makes results exact: rounding to nearest is the processor's, which is IEEE 754 everywhere;
//! other directions are computed by [`round`] in integers; 16-bit formats by [`half`] in wider ones
//! with a proof that rounding twice is harmless. No result depends on the host: NaN is made
//! canonical, and of the host's mathematical library only the exactly defined f64 `fma` is used.

pub mod approx;
pub mod atomic;
pub mod bits;
pub mod carry;
pub mod compare;
pub mod convert;
pub mod double;
pub mod half;
pub mod integer;
pub mod narrow;
pub mod round;
pub mod single;

mod binary;
mod ternary;
mod unary;

pub use atomic::{atomic, redux};
pub use binary::binary;
pub use carry::{add_carry, mad_carry, sub_borrow};
pub use compare::{compare, set_value, slct, testp};
pub use convert::convert;
pub use narrow::convert_pack;
pub use ternary::ternary;
pub use unary::unary;

/// Functions of one, two and three registers.
pub type Fn1 = fn(u64) -> u64;
pub type Fn2 = fn(u64, u64) -> u64;
pub type Fn3 = fn(u64, u64, u64) -> u64;

/// `bfi` of a width of 32 or 64 bits: a, b, position, length.
pub fn bfi(ty: fusion_ptx::ast::ScalarType) -> Option<fn(u64, u64, u64, u64) -> u64> {
    match ty.bits() {
        32 => Some(|a, b, position, length| bits::bfi(a, b, position, length, 32)),
        64 => Some(|a, b, position, length| bits::bfi(a, b, position, length, 64)),
        _ => None,
    }
}

/// Runs `$body` with the constants R, FTZ and SAT of a mode; rounding to nearest is the default.
macro_rules! by_mode {
    ($mode:expr, $body:expr) => {{
        use $crate::arith::round::{self, RM, RN, RP, RZ};
        let mode = $mode;
        match (mode.rounding.map_or(Some(RN), round::direction)?, mode.ftz, mode.sat) {
            (RN, false, false) => $crate::arith::by_mode!(@ RN, false, false, $body),
            (RN, false, true) => $crate::arith::by_mode!(@ RN, false, true, $body),
            (RN, true, false) => $crate::arith::by_mode!(@ RN, true, false, $body),
            (RN, true, true) => $crate::arith::by_mode!(@ RN, true, true, $body),
            (RZ, false, false) => $crate::arith::by_mode!(@ RZ, false, false, $body),
            (RZ, false, true) => $crate::arith::by_mode!(@ RZ, false, true, $body),
            (RZ, true, false) => $crate::arith::by_mode!(@ RZ, true, false, $body),
            (RZ, true, true) => $crate::arith::by_mode!(@ RZ, true, true, $body),
            (RM, false, false) => $crate::arith::by_mode!(@ RM, false, false, $body),
            (RM, false, true) => $crate::arith::by_mode!(@ RM, false, true, $body),
            (RM, true, false) => $crate::arith::by_mode!(@ RM, true, false, $body),
            (RM, true, true) => $crate::arith::by_mode!(@ RM, true, true, $body),
            (RP, false, false) => $crate::arith::by_mode!(@ RP, false, false, $body),
            (RP, false, true) => $crate::arith::by_mode!(@ RP, false, true, $body),
            (RP, true, false) => $crate::arith::by_mode!(@ RP, true, false, $body),
            (RP, true, true) => $crate::arith::by_mode!(@ RP, true, true, $body),
            _ => return None,
        }
    }};
    (@ $r:expr, $ftz:expr, $sat:expr, $body:expr) => {{
        #[allow(dead_code)]
        const R: u8 = $r;
        #[allow(dead_code)]
        const FTZ: bool = $ftz;
        #[allow(dead_code)]
        const SAT: bool = $sat;
        $body
    }};
}

/// Runs `$body` with the constants A and B of two flags.
macro_rules! by_flags {
    ($a:expr, $b:expr, $body:expr) => {
        match ($a, $b) {
            (false, false) => $crate::arith::by_flags!(@ false, false, $body),
            (false, true) => $crate::arith::by_flags!(@ false, true, $body),
            (true, false) => $crate::arith::by_flags!(@ true, false, $body),
            (true, true) => $crate::arith::by_flags!(@ true, true, $body),
        }
    };
    (@ $a:expr, $b:expr, $body:expr) => {{
        #[allow(dead_code)]
        const A: bool = $a;
        #[allow(dead_code)]
        const B: bool = $b;
        $body
    }};
}

use {by_flags, by_mode};

#[cfg(test)]
mod tests;
