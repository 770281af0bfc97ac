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
    let is_on = |lane: usize| mask >> lane & 1 == 1;
    let same = |from: usize, apart: usize| {
        let alike = |lane: usize| !is_on(lane) || !is_on(lane ^ apart) || addrs[lane] == addrs[lane ^ apart];
        (from..from + 2 * group_lanes).all(alike)
    };
    let mut total = 0;
    for from in (0..32).step_by(2 * group_lanes) {
        let both = mask & ((u64::MAX >> (64 - 2 * group_lanes)) << from) as u32;
        let first = both & ((u64::MAX >> (64 - group_lanes)) << from) as u32;
        let groups = if same(from, 1) || same(from, 2) { [both, 0] } else { [first, both & !first] };
        total += groups
            .into_iter()
            .filter(|&group| group != 0)
            .map(|group| group_wavefronts(addrs, group, words))
            .sum::<u64>();
    }
    total
}

fn group_wavefronts(addrs: &[u64; 32], mask: u32, words: u64) -> u64 {
    // The 32 words of a line have a bank each.
    let line = |word: u64| word / 32;
    let first = addrs[mask.trailing_zeros() as usize & 31] / 4;
    let in_line =
        |lane: usize| line(addrs[lane] / 4) == line(first) && line(addrs[lane] / 4 + words - 1) == line(first);
    if each(mask).all(in_line) {
        return 1;
    }
    // The distinct words, at most 32 of them; a bank's share of them is its number of passes.
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

#[cfg(test)]
mod tests {
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
}
