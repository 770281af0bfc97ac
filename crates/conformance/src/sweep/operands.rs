//! Operands that find mistakes: the ends of ranges, zeros, infinities, NaNs, numbers that round, halves of bits, small counts; and
//! numbers close to these.

use crate::mix::mix;
use crate::value::Type;

/// Bits of an operand: `number` says which of the instruction's. Threads come upon all triples of special values, then upon random ones.
pub(super) fn operand(ty: Type, thread: u32, number: u32) -> u64 {
    let special = ty.specials();
    let count = special.len() as u32;
    let triples = count * count * count;
    let seed = random(u64::from(thread) << 8 | u64::from(number));
    if thread < triples.min(super::THREADS / 2) {
        // The first operand changes quickest: where not all triples fit, those of the last are spread.
        let index = match number {
            0 => thread % count,
            1 => thread / count % count,
            _ => (thread / (count * count)).wrapping_add(thread.wrapping_mul(7)) % count,
        };
        return special[index as usize];
    }
    let bits = match seed >> 60 {
        // Anything.
        0..=4 => random(seed),
        // A special value, or one nearby.
        5..=7 => special[(seed % u64::from(count)) as usize],
        8..=9 => special[(seed % u64::from(count)) as usize].wrapping_add((seed >> 20) % 9).wrapping_sub(4),
        // Numbers of like size, so that sums cancel and roundings matter.
        10..=13 => ty.ordinary(random(seed), seed),
        // Few bits.
        _ => random(seed) & random(seed ^ 1) & random(seed ^ 2),
    };
    bits & ty.mask()
}

/// A step of SplitMix64, which adds before it mixes.
fn random(seed: u64) -> u64 {
    mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15))
}
