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

use fusion_ptx::ast::{Mode, Quaternary, ScalarType};

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
pub mod tensor;

mod binary;
mod quad;
mod shuffle;
mod ternary;
mod unary;

pub use atomic::{Reduction, atomic, redux};
pub use binary::binary;
pub use carry::{add_carry, mad_carry, sub_carry};
pub use compare::{compare, set_value, slct, testp};
pub use convert::convert;
pub use narrow::convert_pack;
pub use shuffle::shuffle_source;
pub use ternary::ternary;
pub use unary::unary;

/// Functions of one to four registers.
pub type Fn1 = fn(u64) -> u64;
pub type Fn2 = fn(u64, u64) -> u64;
pub type Fn3 = fn(u64, u64, u64) -> u64;
pub type Fn4 = fn(u64, u64, u64, u64) -> u64;

/// The function of an instruction of four operands.
pub fn quaternary(op: Quaternary, ty: ScalarType) -> Option<Fn4> {
    match (op, ty.bits()) {
        (Quaternary::Quad { op, signed, then }, 32) => Some(quad::quad(op, signed, then)),
        (Quaternary::Bfi, 32) => Some(|a, b, position, length| bits::bfi(a, b, position, length, 32)),
        (Quaternary::Bfi, 64) => Some(|a, b, position, length| bits::bfi(a, b, position, length, 64)),
        _ => None,
    }
}

/// Gives `$body` constants for flags: `by_flags!(FTZ = mode.ftz, SAT = mode.sat; body)` expands the
/// body once for each combination, so that functions generic over constants can be chosen at run time.
macro_rules! by_flags {
    (; $body:expr) => { $body };
    ($name:ident = $value:expr $(, $names:ident = $values:expr)*; $body:expr) => {
        if $value {
            const $name: bool = true;
            $crate::arith::by_flags!($($names = $values),*; $body)
        } else {
            const $name: bool = false;
            $crate::arith::by_flags!($($names = $values),*; $body)
        }
    };
}

/// The same for one rounding direction out of the four that IEEE 754 asks for; leaves the function
/// with `None` on any other.
macro_rules! by_direction {
    ($name:ident = $value:expr; $body:expr) => {
        match $value {
            $crate::arith::round::RN => $crate::arith::by_direction!(@ $name = RN; $body),
            $crate::arith::round::RZ => $crate::arith::by_direction!(@ $name = RZ; $body),
            $crate::arith::round::RM => $crate::arith::by_direction!(@ $name = RM; $body),
            $crate::arith::round::RP => $crate::arith::by_direction!(@ $name = RP; $body),
            _ => return None,
        }
    };
    (@ $name:ident = $direction:ident; $body:expr) => {{
        const $name: u8 = $crate::arith::round::$direction;
        $body
    }};
}

/// The direction of an instruction, to nearest unless it says otherwise.
fn direction(mode: Mode) -> Option<u8> {
    mode.rounding.map_or(Some(round::RN), round::direction)
}

use {by_direction, by_flags};

#[cfg(test)]
mod tests;
