//! Which bytes of an allocation have ever been written: one bit a byte.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bytemuck::allocation::try_zeroed_slice_box;

use Ordering::Relaxed;

/// The record of one allocation. Memory that was filled in one go needs no bits: it is *complete*.
pub(crate) struct Written {
    /// Counts only while the allocation is not complete.
    bits: Box<[AtomicU64]>,
    complete: AtomicBool,
    /// Held while a complete allocation becomes one that is not.
    opening: Mutex<()>,
    size: u64,
}

/// The part of a range that lies in one word of bits: the word's index and the bits.
fn parts(offset: u64, len: u64) -> impl Iterator<Item = (usize, u64)> {
    let end = offset.saturating_add(len);
    let words = if len == 0 { 1..1 } else { offset / 64..(end - 1) / 64 + 1 };
    words.map(move |word| {
        let low = offset.max(word * 64) % 64;
        let high = (end - 1).min(word * 64 + 63) % 64;
        (word as usize, (u64::MAX << low) & (u64::MAX >> (63 - high)))
    })
}

impl Written {
    /// `None` when the host has not that much memory.
    pub(crate) fn new(size: u64, complete: bool) -> Option<Self> {
        let words = usize::try_from(size.div_ceil(64)).ok()?;
        let bits = try_zeroed_slice_box(words).ok()?;
        Some(Self { bits, complete: AtomicBool::new(complete), opening: Mutex::new(()), size })
    }

    /// Every byte has been written.
    #[inline(always)]
    pub(crate) fn complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    /// Marks a range as written.
    #[inline(always)]
    pub(crate) fn set(&self, offset: u64, len: u64) {
        if self.complete() {
            return;
        }
        for (word, bits) in parts(offset, len) {
            let Some(entry) = self.bits.get(word) else { return };
            if entry.load(Relaxed) & bits == bits {
                continue;
            }
            match bits {
                u64::MAX => entry.store(bits, Relaxed),
                bits => {
                    entry.fetch_or(bits, Relaxed);
                }
            }
        }
    }

    /// Marks a range as written from outside of a launch: a range that is everything completes the allocation.
    pub(crate) fn fill(&self, offset: u64, len: u64) {
        if offset == 0 && len >= self.size {
            self.complete.store(true, Ordering::Release);
        } else {
            self.set(offset, len);
        }
    }

    /// Marks a range as never written.
    pub(crate) fn clear(&self, offset: u64, len: u64) {
        if len == 0 {
            return;
        }
        if self.complete() {
            let _guard = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
            if self.complete() {
                for entry in &self.bits {
                    entry.store(u64::MAX, Relaxed);
                }
                self.complete.store(false, Ordering::Release);
            }
        }
        for (word, bits) in parts(offset, len) {
            let Some(entry) = self.bits.get(word) else { return };
            entry.fetch_and(!bits, Relaxed);
        }
    }

    /// Whether every byte of a range has been written.
    #[inline(always)]
    pub(crate) fn holds(&self, offset: u64, len: u64) -> bool {
        if self.complete() {
            return true;
        }
        let missing = |(word, bits): (usize, u64)| self.bits.get(word).map_or(0, |e| e.load(Relaxed)) & bits != bits;
        !parts(offset, len).any(missing)
    }

    /// The bytes of a range of at most 64 that were never written: bit i stands for byte i.
    pub(crate) fn missing(&self, offset: u64, len: u64) -> u64 {
        if self.holds(offset, len) {
            return 0;
        }
        let (word, shift) = ((offset / 64) as usize, offset % 64);
        let get = |word: usize| self.bits.get(word).map_or(u64::MAX, |entry| entry.load(Relaxed));
        let low = get(word) >> shift;
        let bits = if shift == 0 { low } else { low | get(word + 1) << (64 - shift) };
        !bits & (u64::MAX >> (64 - len.clamp(1, 64)))
    }

    /// The first run of bytes in a range that were never written: its offset and length.
    pub(crate) fn first_missing(&self, offset: u64, len: u64) -> Option<(u64, u64)> {
        if self.complete() {
            return None;
        }
        let mut start = None;
        for (word, bits) in parts(offset, len) {
            let base = word as u64 * 64;
            let missing = !self.bits.get(word)?.load(Relaxed) & bits;
            // Bits below where the search is are done with.
            let mut at = match start {
                None if missing == 0 => continue,
                None => {
                    let first = u64::from(missing.trailing_zeros());
                    start = Some(base + first);
                    first
                }
                Some(_) => 0,
            };
            at += u64::from((!(missing >> at)).trailing_zeros()).min(64 - at);
            if at < 64 {
                return start.map(|start| (start, base + at - start));
            }
        }
        start.map(|start| (start, offset + len - start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_a_list_of_bytes() {
        const SIZE: u64 = 300;
        let written = Written::new(SIZE, false).unwrap();
        let mut model = [false; SIZE as usize];
        let mut state = 1u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..2000 {
            let offset = next(SIZE);
            let len = next((SIZE - offset).min(90)) + 1;
            match next(4) {
                0 => written.set(offset, len),
                1 => written.clear(offset, len),
                2 => written.fill(offset, len),
                _ => written.fill(0, SIZE),
            }
            let range = offset as usize..(offset + len) as usize;
            match (len, &written) {
                _ if written.complete() => model.fill(true),
                _ => {
                    let now = written.missing(offset, 1) == 0;
                    model[range.clone()].fill(now);
                }
            }
            let (at, len) = (next(SIZE - 70), 1 + next(64));
            let expected: Vec<bool> = model[at as usize..(at + len) as usize].to_vec();
            let missing = written.missing(at, len);
            for (i, known) in expected.iter().enumerate() {
                assert_eq!(missing >> i & 1 == 0, *known, "byte {i} of {len} at {at}");
            }
            assert_eq!(written.holds(at, len), expected.iter().all(|w| *w));
            let first = expected.iter().position(|w| !w).map(|i| {
                let run = expected[i..].iter().take_while(|w| !**w).count();
                (at + i as u64, run as u64)
            });
            assert_eq!(written.first_missing(at, len), first);
        }
    }
}
