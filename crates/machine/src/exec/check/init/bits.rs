//! Which bits of a result are undefined, bit by bit where that is known.

/// Any function of three bits, applied to 64 of them at once: a bit is undefined if some way to define the operands'
/// undefined bits gives 0 and another one 1. Values and undefined bits of the three operands.
pub(crate) fn logic(lut: u8, v: [u64; 3], u: [u64; 3]) -> u64 {
    let (mut ones, mut zeros) = (0, 0);
    for row in 0..8u8 {
        // The bits at which the operands can be as this row of the table has them: a is the index's highest bit.
        let can = |operand: usize| {
            let one = row >> (2 - operand) & 1 == 1;
            u[operand] | if one { v[operand] } else { !v[operand] }
        };
        let possible = can(0) & can(1) & can(2);
        if lut >> row & 1 == 1 {
            ones |= possible;
        } else {
            zeros |= possible;
        }
    }
    ones & zeros
}

/// Sums and products: bits below the lowest undefined one do not depend on it.
pub(crate) fn upwards(u: u64) -> u64 {
    if u == 0 { 0 } else { u64::MAX << u.trailing_zeros() }
}

/// Every 16 or 32 bits for themselves.
pub(crate) fn fields(u: u64, bits: u32) -> u64 {
    let field = u64::MAX >> (64 - bits);
    (0..64 / bits).map(|i| field << (i * bits)).filter(|field| u & field != 0).fold(0, |all, field| all | field)
}

/// Bits to bytes: those that have an undefined bit.
pub(crate) fn bytes(u: u64) -> u64 {
    (0..8).fold(0, |bytes, i| bytes | u64::from(u >> (8 * i) & 0xff != 0) << i)
}

/// Bytes to bits.
pub(crate) fn spread(bytes: u64) -> u64 {
    (0..8).filter(|i| bytes >> i & 1 == 1).fold(0, |bits, i| bits | 0xff << (8 * i))
}

/// Whether an atomic's new value is its operand, whatever the old one is.
pub(crate) fn replaces(f: fn(u64, u64) -> u64, element: u32) -> bool {
    let keep = u64::MAX >> (64 - 8 * element.clamp(1, 8));
    let sign = keep ^ keep >> 1;
    let probes = [0, keep, sign, keep >> 1, 1, 0x5555_5555_5555_5555 & keep, 0x3c00_3c00_3c00_3c00 & keep];
    probes.iter().all(|&old| probes.iter().all(|&new| f(old, new) & keep == new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{AND, OR, XOR};

    #[test]
    fn logic_knows_what_decides() {
        let (v, u) = (0b0011, 0b1111);
        // A known 0 decides an `and`, a known 1 an `or`, nothing an `xor`.
        assert_eq!(logic(AND, [0, v, 0], [u, 0, 0]), 0b0011);
        assert_eq!(logic(OR, [0, v, 0], [u, 0, 0]) & 0xf, 0b1100);
        assert_eq!(logic(XOR, [0, v, 0], [u, 0, 0]), 0b1111);
    }

    #[test]
    fn an_exchange_is_told_from_a_maximum() {
        assert!(replaces(|_, new| new, 4));
        for f in
            [|a, b| a + b, |a: u64, b: u64| a.max(b), |a, b| a | b, |a, b| a & b, |a, b| if a >= b { 0 } else { b }]
        {
            assert!(!replaces(f, 4));
        }
    }
}
