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
