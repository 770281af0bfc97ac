//! The banks of shared memory.

use super::lanes::each;

/// How many times the banks must be gone through for a request. Lanes that want the same word share
/// it; accesses of 8 and 16 bytes go by half and quarter warps.
pub(crate) fn wavefronts(addrs: &[u64; 32], mask: u32, bytes: u64) -> u64 {
    let words = bytes.div_ceil(4).max(1);
    let group_lanes = (32 / words.min(32)).max(1) as u32;
    let mut total = 0;
    let mut at = 0;
    while at < 32 {
        let group = mask & ((u64::MAX >> (64 - group_lanes)) << at) as u32;
        if group != 0 {
            total += group_wavefronts(addrs, group, words);
        }
        at += group_lanes;
    }
    total
}

/// The same as a GPU's clock has it: where neighbours, or the neighbours of these, want the same 8 or 16 bytes, twice as many lanes go at
/// once. Timed by `crates/timings/kernels/calibration/banks.cu`.
pub(crate) fn shared_wavefronts(addrs: &[u64; 32], mask: u32, bytes: u64) -> u64 {
    let words = bytes.div_ceil(4).max(1);
    let group_lanes = (32 / words.min(32)).max(1) as usize;
    if words == 1 {
        return wavefronts(addrs, mask, bytes);
    }
    let differ = [1, 2].map(|apart| differing(addrs, mask, apart));
    let mut total = 0;
    for from in (0..32).step_by(2 * group_lanes) {
        let both = mask & ((u64::MAX >> (64 - 2 * group_lanes)) << from) as u32;
        let first = both & ((u64::MAX >> (64 - group_lanes)) << from) as u32;
        let groups = if differ.iter().any(|differ| differ & both == 0) { [both, 0] } else { [first, both & !first] };
        total += groups
            .into_iter()
            .filter(|&group| group != 0)
            .map(|group| group_wavefronts(addrs, group, words))
            .sum::<u64>();
    }
    total
}

/// The lanes that want another address than the lane so many lanes apart, where both want one: 1 or 2 apart.
fn differing(addrs: &[u64; 32], mask: u32, apart: usize) -> u32 {
    let differ = (0..32).fold(0, |differ, lane| differ | u32::from(addrs[lane] != addrs[lane ^ apart]) << lane);
    let lower = if apart == 1 { 0x5555_5555 } else { 0x3333_3333 };
    let others = (mask & lower) << apart | mask >> apart & lower;
    differ & mask & others
}

/// The accesses of a group of lanes, which want at most 32 words: as often as the most used bank is asked for another.
fn group_wavefronts(addrs: &[u64; 32], mask: u32, words: u64) -> u64 {
    // The 32 words of a line have a bank each.
    let line = |word: u64| word / 32;
    let first = addrs[mask.trailing_zeros() as usize & 31] / 4;
    let in_line =
        |lane: usize| line(addrs[lane] / 4) == line(first) && line(addrs[lane] / 4 + words - 1) == line(first);
    if each(mask).all(in_line) {
        return 1;
    }
    let is_aligned = |lane: usize| (addrs[lane] / 4).is_multiple_of(words);
    if words.is_power_of_two() && words <= 32 && each(mask).all(is_aligned) {
        return aligned_wavefronts(addrs, mask, words);
    }
    // The distinct words; a bank's share of them is its number of passes.
    let mut seen = [u64::MAX; 32];
    let mut n = 0;
    let mut per_bank = [0u8; 32];
    let mut most = 1;
    for lane in each(mask) {
        for w in 0..words {
            let word = addrs[lane] / 4 + w;
            if per_bank[(word % 32) as usize] > 0 && seen[..n].contains(&word) {
                continue;
            }
            if n < 32 {
                seen[n] = word;
                n += 1;
            }
            let bank = &mut per_bank[(word % 32) as usize];
            *bank += 1;
            most = most.max(*bank);
        }
    }
    u64::from(most)
}

/// The same where each access is a multiple of its words: banks side by side are asked for the same number.
fn aligned_wavefronts(addrs: &[u64; 32], mask: u32, words: u64) -> u64 {
    const NONE: u8 = u8::MAX;
    let (shift, banks) = (2 + words.trailing_zeros(), 32 / words);
    // Of each such group of banks, the lane that asked it for something new last, and of each lane the one before.
    let (mut last, mut before) = ([NONE; 32], [NONE; 32]);
    let mut asked = [0u8; 32];
    let mut most = 1;
    for lane in each(mask) {
        let access = addrs[lane] >> shift;
        let bank = (access % banks) as usize;
        let mut other = last[bank];
        while other != NONE && addrs[other as usize & 31] >> shift != access {
            other = before[other as usize & 31];
        }
        if other == NONE {
            before[lane] = last[bank];
            last[bank] = lane as u8;
            asked[bank] += 1;
            most = most.max(asked[bank]);
        }
    }
    u64::from(most)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn neighbours_that_want_the_same_go_at_once() {
        let passes = |bytes: u64, lanes: u64| {
            let addrs = std::array::from_fn(|lane| lane as u64 / lanes * bytes);
            (wavefronts(&addrs, u32::MAX, bytes), shared_wavefronts(&addrs, u32::MAX, bytes))
        };
        assert_eq!([1, 2, 32].map(|lanes| passes(16, lanes)), [(4, 4), (4, 2), (4, 2)]);
        assert_eq!([1, 2, 32].map(|lanes| passes(8, lanes)), [(2, 2), (2, 1), (2, 1)]);
        assert_eq!(passes(4, 1), (1, 1));
    }

    #[test]
    fn a_bank_gives_one_word_at_a_time() {
        // By the definition: of each group, the most distinct words of one bank.
        let slow = |addrs: &[u64; 32], mask: u32, words: u64| {
            let lanes = (32 / words) as usize;
            let of = |group: usize| {
                let lanes = (group * lanes..(group + 1) * lanes).filter(|&lane| mask >> lane & 1 == 1);
                let wanted: BTreeSet<u64> =
                    lanes.flat_map(|lane| (0..words).map(move |w| addrs[lane] / 4 + w)).collect();
                (0..32).map(|bank| wanted.iter().filter(|&&word| word % 32 == bank).count() as u64).max().unwrap_or(0)
            };
            (0..32 / lanes).map(of).sum::<u64>()
        };
        let mut state = 1_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..2000_u64 {
            let words = 1 << random(3);
            // Far apart, near each other, side by side, and now and then not aligned.
            let (most, step) = (1 << (3 + random(8)), [1, 2, 8, 33][random(4) as usize]);
            let align = if random(4) == 0 { 1 } else { words };
            let addrs = std::array::from_fn(|lane| {
                let at = if random(2) == 0 { random(most) } else { lane as u64 * step };
                4 * align * at
            });
            let mask = if random(2) == 0 { u32::MAX } else { random(1 << 32) as u32 };
            assert_eq!(
                wavefronts(&addrs, mask, 4 * words),
                slow(&addrs, mask, words),
                "{round}: {words} {mask:x} {addrs:?}"
            );
        }
    }
}
