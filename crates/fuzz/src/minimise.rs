//! Making an input small while it still breaks the same promise.

use std::time::{Duration, Instant};

use crate::{Input, check};

/// Leaves out lines, ever smaller groups of them, as long as the finding stays at its site. Gives up after `limit`.
pub fn minimise(input: &Input, site: &str, limit: Duration) -> Input {
    let begun = Instant::now();
    let mut best = input.clone();
    let fails = |candidate: &Input| check(candidate).err().is_some_and(|finding| finding.site() == site);
    let lines_of = |input: &Input| input.ptx.split_inclusive(|&c| c == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let mut lines = lines_of(&best);
    let mut size = lines.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        let mut removed = false;
        while at < lines.len() {
            if begun.elapsed() > limit {
                return best;
            }
            let mut fewer = lines.clone();
            fewer.drain(at..(at + size).min(lines.len()));
            let candidate = Input { ptx: fewer.concat(), ..best.clone() };
            if fails(&candidate) {
                (best, lines, removed) = (candidate, fewer, true);
            } else {
                at += size;
            }
        }
        if size == 1 && !removed {
            return best;
        }
        size = (size / 2).max(1);
    }
}
