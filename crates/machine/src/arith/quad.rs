//! Four bytes at once: the SIMD video instructions on bytes (`vadd4` and its like).

use fusion_ptx::ast::{Quad, Then};

use super::{Fn4, by_flags};

/// The function of two registers of bytes, the one that the results are merged with or added to, and the selection (see
/// [`Quaternary::Quad`](fusion_ptx::ast::Quaternary::Quad)). Signed or not: bytes of the result, the first and the second.
pub(super) fn quad(op: Quad, [d, a, b]: [bool; 3], then: Then) -> Fn4 {
    match op {
        Quad::Add => with::<Add>(d, a, b, then),
        Quad::Sub => with::<Sub>(d, a, b, then),
        Quad::Avrg => with::<Avrg>(d, a, b, then),
        Quad::AbsDiff => with::<AbsDiff>(d, a, b, then),
        Quad::Min => with::<Min>(d, a, b, then),
        Quad::Max => with::<Max>(d, a, b, then),
    }
}

/// What becomes of two bytes, with as many bits as it takes.
trait OfTwo {
    fn of(a: i32, b: i32) -> i32;
}

macro_rules! of_two {
    ($($name:ident |$a:ident, $b:ident| $result:expr;)*) => {$(
        struct $name;

        impl OfTwo for $name {
            fn of($a: i32, $b: i32) -> i32 {
                $result
            }
        }
    )*};
}

of_two! {
    Add |a, b| a + b;
    Sub |a, b| a - b;
    Avrg |a, b| (a + b + i32::from(a + b >= 0)) >> 1;
    AbsDiff |a, b| (a - b).abs();
    Min |a, b| a.min(b);
    Max |a, b| a.max(b);
}

fn with<T: OfTwo>(d: bool, a: bool, b: bool, then: Then) -> Fn4 {
    by_flags!(D = d, A = a, B = b; match then {
        Then::Merge => |a, b, c, selection| {
            merged(c, selection, |lane| value::<T, A, B>(a, b, selection, lane))
        },
        Then::Saturate => |a, b, c, selection| {
            let (low, high) = if D { (-128, 127) } else { (0, 255) };
            merged(c, selection, |lane| value::<T, A, B>(a, b, selection, lane).clamp(low, high))
        },
        Then::Accumulate => |a, b, c, selection| {
            let sum = lanes(selection).fold(c as u32, |sum, lane| {
                sum.wrapping_add_signed(value::<T, A, B>(a, b, selection, lane))
            });
            u64::from(sum)
        },
    })
}

/// The lanes of the result that are written.
fn lanes(selection: u64) -> impl Iterator<Item = u32> {
    (0..4).filter(move |lane| selection >> (32 + lane) & 1 == 1)
}

/// The result in a lane, from the bytes of `{b, a}` that are selected for it.
fn value<T: OfTwo, const A: bool, const B: bool>(a: u64, b: u64, selection: u64, lane: u32) -> i32 {
    let bytes = (a & 0xffff_ffff | b << 32).to_le_bytes();
    let byte = |which: u64, signed: bool| {
        let byte = bytes[which as usize & 7];
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    T::of(byte(selection >> (4 * lane), A), byte(selection >> (16 + 4 * lane), B))
}

/// The low bytes of the results in their lanes, and `c` in the others.
fn merged(c: u64, selection: u64, value: impl Fn(u32) -> i32) -> u64 {
    let mut bytes = (c as u32).to_le_bytes();
    for lane in lanes(selection) {
        bytes[lane as usize & 3] = value(lane) as u8;
    }
    u64::from(u32::from_le_bytes(bytes))
}
