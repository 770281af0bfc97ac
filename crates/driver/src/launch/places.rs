//! What the places of the arguments in the caller's memory tell of them.
//!
//! The driver reads as many bytes as the kernel's parameter has, whatever the caller has there. Of a `u32` for a `size_t` it reads four
//! bytes too many. They are often 0, and then the kernel has the right number.

/// Bytes of a number that a shorter one is taken for.
const WIDE: usize = 8;

/// Which arguments are shorter than their parameter, by their places: address and bytes. Others may be, too. A structure of eight
/// bytes may lie anywhere.
pub(super) fn short(places: &[(usize, usize)], is_number: impl Fn(usize) -> bool) -> Vec<bool> {
    let is_short = |(index, &(address, len)): (usize, &(usize, usize))| {
        let torn = || places.iter().any(|&other| across((address, len), other));
        // No compiler puts a number of eight bytes elsewhere.
        len == WIDE && is_number(index) && (!address.is_multiple_of(WIDE) || torn())
    };
    places.iter().enumerate().map(is_short).collect()
}

/// Whether another argument begins within this one. What begins where it does may be the same number, read twice.
fn across((address, len): (usize, usize), (other, bytes): (usize, usize)) -> bool {
    bytes > 0 && (address + 1..address + len).contains(&other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_tells_what_cannot_be_eight_bytes() {
        let short = |places: &[(usize, usize)]| short(places, |_| true);
        assert_eq!(short(&[(0x1000, 8), (0x1008, 8), (0x1010, 4), (0x1014, 4)]), [false; 4]);
        assert_eq!(short(&[(0x1000, 8), (0x1004, 4)]), [true, false]);
        assert_eq!(short(&[(0x1004, 8), (0x1000, 8)]), [true, true]);
        assert_eq!(short(&[(0x1004, 4), (0x100c, 8)]), [false, true]);
        // One number for two parameters, and structures.
        assert_eq!(short(&[(0x1000, 8), (0x1000, 8), (0x1000, 4)]), [false; 3]);
        assert_eq!(short(&[(0x1004, 12), (0x1010, 16)]), [false; 2]);
    }
}
