//! What buffers hold.

use fusion_suite::{Fill, Type};

/// Elements of which the contents of large buffers are repetitions.
pub(crate) const PERIOD: usize = 1 << 16;

/// The bytes of so many elements: numbers of mixed sign that no neighbour has; whole numbers count up from 0 to 127, so that they are also
/// good for indices. None where nothing is written.
pub(crate) fn contents(ty: Type, len: usize, fill: Fill) -> Option<Vec<u8>> {
    if fill != Fill::Ramp {
        return fill.bytes(ty, len);
    }
    let mixed = |i: usize| (i.wrapping_mul(2_654_435_761) >> 8 & 0xffff) as f64 / 8192.0 - 4.0;
    let number = |i: usize| if ty.is_float() { mixed(i) } else { (i % 128) as f64 };
    Some((0..len).flat_map(|i| ty.bytes(number(i))).collect())
}
