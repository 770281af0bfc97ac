//! The contents of one allocation.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use bytemuck::allocation::try_zeroed_slice_box;

use super::written::Written;
use super::{Allocation, AllocationKind, HeapBlock};
use crate::exec::Shadow;

/// The live allocations in order of address.
pub(crate) type Snapshot = Arc<[Arc<Region>]>;

/// An allocation's words, and which 32-byte sectors a launch has touched.
pub(crate) struct Region {
    pub(crate) allocation: Allocation,
    /// Little-endian words; the last one may reach past the allocation's end. Of memory that repeats, one period.
    pub(crate) words: Box<[AtomicU32]>,
    /// After how many bytes the memory repeats; 0 where it does not.
    pub(crate) period: u64,
    /// One bit a 32-byte sector: read, written.
    pub(crate) sectors_read: Box<[AtomicU64]>,
    pub(crate) sectors_written: Box<[AtomicU64]>,
    /// Set when anyone but a kernel reads or writes it.
    pub(crate) host: AtomicBool,
    /// Who accessed it, where races are looked for.
    shadow: OnceLock<Shadow>,
    /// Which bytes were ever written.
    pub(crate) written: Written,
}

impl Region {
    /// `None` when the host has not that much memory.
    pub(crate) fn new(allocation: Allocation) -> Option<Self> {
        Self::with(allocation.clone(), allocation.size, 0)
    }

    /// Memory of which every so many bytes are the same bytes. What was accessed in it is not known.
    pub(crate) fn repeating(allocation: Allocation, period: u64) -> Option<Self> {
        let mut region = Self::with(allocation, period, period)?;
        (region.sectors_read, region.sectors_written) = Default::default();
        region.written = Written::new(0, true)?;
        Some(region)
    }

    fn with(allocation: Allocation, bytes: u64, period: u64) -> Option<Self> {
        let words = usize::try_from(bytes.div_ceil(4)).ok()?;
        // One more than the size says: a host mirror need not begin at a sector.
        let sectors = (words.div_ceil(8) + 1).div_ceil(64);
        // What the host or a module provides holds something from the start; what is only allocated does not.
        let written = Written::new(bytes, !matches!(allocation.kind, AllocationKind::Device | AllocationKind::Heap))?;
        Some(Self {
            allocation,
            period,
            written,
            words: try_zeroed_slice_box(words).ok()?,
            sectors_read: try_zeroed_slice_box(sectors).ok()?,
            sectors_written: try_zeroed_slice_box(sectors).ok()?,
            host: AtomicBool::new(false),
            shadow: OnceLock::new(),
        })
    }

    pub(crate) fn shadow(&self) -> &Shadow {
        self.shadow.get_or_init(|| Shadow::new(&self.allocation))
    }

    /// Lets the race checks forget who touched a block of the heap.
    pub(crate) fn forget_races(&self, block: HeapBlock, launch: u32) {
        self.shadow().forget(&self.allocation, block.base, block.size, launch);
    }

    /// Copies out. The range must lie inside.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        let mut done = 0;
        while let Some((at, len)) = self.piece(offset + done as u64, out.len() - done) {
            self.read_piece(at, &mut out[done..done + len]);
            done += len;
        }
    }

    /// Copies in. The range must lie inside.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        let mut done = 0;
        while let Some((at, len)) = self.piece(offset + done as u64, data.len() - done) {
            self.write_piece(at, &data[done..done + len]);
            done += len;
        }
    }

    /// Where in the words a range begins, and how much of it lies there in one piece.
    fn piece(&self, offset: u64, left: usize) -> Option<(u64, usize)> {
        match self.period {
            _ if left == 0 => None,
            0 => Some((offset, left)),
            period => Some((offset % period, left.min((period - offset % period) as usize))),
        }
    }

    fn read_piece(&self, offset: u64, out: &mut [u8]) {
        let (mut word, skip) = (offset as usize / 4, offset as usize % 4);
        let mut out = out;
        if skip != 0 {
            let n = (4 - skip).min(out.len());
            let (head, rest) = out.split_at_mut(n);
            head.copy_from_slice(&self.words[word].load(Relaxed).to_le_bytes()[skip..skip + n]);
            out = rest;
            word += 1;
        }
        let (whole, tail) = out.as_chunks_mut::<4>();
        for (bytes, w) in whole.iter_mut().zip(&self.words[word..]) {
            *bytes = w.load(Relaxed).to_le_bytes();
        }
        word += whole.len();
        if !tail.is_empty() {
            tail.copy_from_slice(&self.words[word].load(Relaxed).to_le_bytes()[..tail.len()]);
        }
    }

    fn write_piece(&self, offset: u64, data: &[u8]) {
        let (mut word, skip) = (offset as usize / 4, offset as usize % 4);
        let mut data = data;
        if skip != 0 {
            let (head, rest) = data.split_at((4 - skip).min(data.len()));
            self.write_part(word, skip, head);
            data = rest;
            word += 1;
        }
        let (whole, tail) = data.as_chunks::<4>();
        for (bytes, w) in whole.iter().zip(&self.words[word..]) {
            w.store(u32::from_le_bytes(*bytes), Relaxed);
        }
        word += whole.len();
        if !tail.is_empty() {
            self.write_part(word, 0, tail);
        }
    }

    fn write_part(&self, word: usize, skip: usize, bytes: &[u8]) {
        let (mut mask, mut bits) = (0, 0);
        for (i, &byte) in bytes.iter().enumerate() {
            mask |= 0xff << (8 * (skip + i));
            bits |= u32::from(byte) << (8 * (skip + i));
        }
        self.merge(word, mask, bits);
    }

    /// Replaces the bits of one word that `mask` names; its other bytes may be written by others meanwhile.
    pub(crate) fn merge(&self, word: usize, mask: u32, bits: u32) {
        let target = &self.words[word];
        let mut old = target.load(Relaxed);
        while let Err(seen) = target.compare_exchange_weak(old, old & !mask | bits, Relaxed, Relaxed) {
            old = seen;
        }
    }
}
