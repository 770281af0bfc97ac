//! Shuffles: which lane reads from which.

use fusion_ptx::ast::ShuffleMode;

/// The lane that a shuffle reads, and whether it is in range (PTX ISA 9.7.9.6).
#[inline(always)]
pub fn shuffle_source(mode: ShuffleMode, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let b = b & 31;
    let clamp = c & 31;
    let segment = c >> 8 & 31;
    let max = (lane & segment) | (clamp & !segment);
    let min = lane & segment;
    let (source, valid) = match mode {
        // The clamp of `up` is the segment's start.
        ShuffleMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= max as i32),
        ShuffleMode::Down => (lane + b, lane + b <= max),
        ShuffleMode::Bfly => (lane ^ b, (lane ^ b) <= max),
        ShuffleMode::Idx => (min | (b & !segment), (min | (b & !segment)) <= max),
    };
    if valid { (source & 31, true) } else { (lane, false) }
}
