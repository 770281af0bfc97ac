//! An allocation as a worker sees it: no lock, no bookkeeping but the sectors touched.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::memory::{AllocationKind, Region, Written};

/// One allocation as a worker sees it.
pub(crate) struct Window<'a> {
    pub(crate) base: u64,
    pub(crate) end: u64,
    pub(crate) words: &'a [AtomicU32],
    /// After how many bytes the words stand for the next ones; 0 where there are as many as the allocation has.
    period: u64,
    read: &'a [AtomicU64],
    written: &'a [AtomicU64],
    pub(crate) constant: bool,
    /// The device heap, of which only the blocks that `malloc` gave may be accessed.
    pub(crate) heap: bool,
    /// Which bytes were ever written; nobody knows of nothing.
    pub(crate) history: Option<&'a Written>,
    /// This worker has used it.
    pub(crate) touched: bool,
}

/// Of allocations in order of address, the one that contains an address.
#[inline(always)]
pub(crate) fn window_of(windows: &[Window<'_>], addr: u64) -> Option<usize> {
    let found = windows.partition_point(|w| w.base <= addr).checked_sub(1)?;
    (addr < windows[found].end).then_some(found)
}

impl<'a> Window<'a> {
    pub(crate) fn new(region: &'a Arc<Region>) -> Self {
        Self {
            base: region.allocation.base,
            end: region.allocation.end(),
            words: &region.words,
            period: region.period,
            read: &region.sectors_read,
            written: &region.sectors_written,
            constant: region.allocation.kind == AllocationKind::Constant,
            heap: region.allocation.kind == AllocationKind::Heap,
            history: Some(&region.written),
            touched: false,
        }
    }

    /// One that holds nothing, so that there is always a first.
    pub(crate) fn nothing() -> Self {
        Self {
            base: u64::MAX,
            end: u64::MAX,
            words: &[],
            period: 0,
            read: &[],
            written: &[],
            constant: false,
            heap: false,
            history: None,
            touched: false,
        }
    }

    #[inline(always)]
    pub(crate) fn holds(&self, addr: u64, len: u64) -> bool {
        addr >= self.base && addr < self.end && self.end - addr >= len
    }

    /// Marks the sectors of a range as read or written.
    #[inline(always)]
    pub(crate) fn mark(&mut self, addr: u64, len: u64, write: bool) {
        self.touched = true;
        let bitmap = if write { self.written } else { self.read };
        let origin = self.base >> 5;
        let (first, last) = ((addr >> 5) - origin, ((addr + len - 1) >> 5) - origin);
        for word in first / 64..=last / 64 {
            let low = first.max(word * 64) % 64;
            let high = last.min(word * 64 + 63) % 64;
            let bits = (u64::MAX << low) & (u64::MAX >> (63 - high));
            if let Some(entry) = bitmap.get(word as usize)
                && entry.load(Relaxed) & bits != bits
            {
                entry.fetch_or(bits, Relaxed);
            }
        }
    }

    /// A little-endian element of 1, 2, 4 or 8 bytes, which is aligned and inside.
    #[inline(always)]
    pub(crate) fn load(&self, addr: u64, element: u32) -> u64 {
        let offset = self.offset(addr);
        let word = (offset / 4) as usize;
        let low = u64::from(self.words[word].load(Relaxed));
        match element {
            4 => low,
            8 => low | u64::from(self.words[word + 1].load(Relaxed)) << 32,
            _ => low >> (8 * (offset % 4)) & ((1 << (8 * element)) - 1),
        }
    }

    /// Where an address lies among the words, in bytes.
    #[inline(always)]
    fn offset(&self, addr: u64) -> u64 {
        let offset = addr - self.base;
        if self.period == 0 { offset } else { offset % self.period }
    }

    #[inline(always)]
    pub(crate) fn store(&self, addr: u64, element: u32, value: u64) {
        let offset = self.offset(addr);
        let word = (offset / 4) as usize;
        match element {
            4 => self.words[word].store(value as u32, Relaxed),
            8 => {
                self.words[word].store(value as u32, Relaxed);
                self.words[word + 1].store((value >> 32) as u32, Relaxed);
            }
            _ => {
                let shift = 8 * (offset % 4) as u32;
                let mask = ((1u32 << (8 * element)) - 1) << shift;
                self.merge(word, mask, (value as u32) << shift);
            }
        }
    }

    /// Replaces some bits of a word, whose other bytes another core may be writing.
    #[inline(always)]
    pub(crate) fn merge(&self, word: usize, mask: u32, bits: u32) {
        let target = &self.words[word];
        if mask == u32::MAX {
            return target.store(bits, Relaxed);
        }
        let mut old = target.load(Relaxed);
        while let Err(seen) = target.compare_exchange_weak(old, old & !mask | bits & mask, Relaxed, Relaxed) {
            old = seen;
        }
    }
}
