//! What a launch has accessed in global memory, for whoever knows which launches may run at once.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::memory::{Allocation, Region};

/// How closely a launch is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracing {
    #[default]
    Off,
    /// Sectors of 32 bytes, at no cost: at least one byte of each is accessed.
    Sectors,
    /// To the byte, where it is cheap; what jumps about a lot is left out.
    Bytes,
}

/// Bytes from `start` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u64,
    pub end: u64,
    /// The instruction that accessed them first, for [`super::Loaded::place`].
    pub pc: Option<u32>,
}

/// What a launch has accessed, in order of address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Whether every byte of a span was accessed; else at least one of each 32 of them.
    pub exact: bool,
    /// Whether nothing was left out of what was followed to the byte.
    pub complete: bool,
    /// Whether the kernel has atomics, fences or volatile accesses, by which it may order itself with another.
    pub communicates: bool,
    pub read: Vec<Span>,
    pub written: Vec<Span>,
}

/// Of sectors, this many spans of each kind are kept.
const MOST: usize = 1024;

impl Footprint {
    /// Adds the sectors of a region that were touched since they were last forgotten.
    pub(super) fn add_sectors(&mut self, region: &Region) {
        add(&mut self.read, region, &region.sectors_read);
        add(&mut self.written, region, &region.sectors_written);
    }

    /// Drops what lies in the device heap: its blocks come and go without the host, and whoever passes their addresses
    /// on orders their use.
    pub(super) fn leave_out(&mut self, heap: &Allocation) {
        for spans in [&mut self.read, &mut self.written] {
            spans.retain(|span| span.end <= heap.base || span.start >= heap.end());
        }
    }
}

fn add(spans: &mut Vec<Span>, region: &Region, bitmap: &[AtomicU64]) {
    let origin = region.allocation.base >> 5;
    for (i, word) in bitmap.iter().enumerate() {
        let mut bits = word.load(Relaxed);
        while bits != 0 {
            let first = bits.trailing_zeros();
            let count = (bits >> first).trailing_ones();
            bits = if first + count == 64 { 0 } else { bits >> (first + count) << (first + count) };
            let start = (origin + 64 * i as u64 + u64::from(first)) << 5;
            let end = start + 32 * u64::from(count);
            if let Some(last) = spans.last_mut().filter(|last| last.end == start) {
                last.end = end;
            } else if spans.len() < MOST {
                spans.push(Span { start, end, pc: None });
            } else {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::AllocationKind;

    #[test]
    fn neighbouring_sectors_are_one_span() {
        let base = 0x1_0000;
        let allocation = Allocation { base, size: 32 * 200, kind: AllocationKind::Device, id: 1 };
        let region = Region::new(allocation).unwrap();
        region.sectors_read[0].store(1 | 3 << 62, Relaxed);
        region.sectors_read[1].store(u64::MAX, Relaxed);
        region.sectors_read[2].store(0b101, Relaxed);
        let mut footprint = Footprint::default();
        footprint.add_sectors(&region);
        let found: Vec<(u64, u64)> =
            footprint.read.iter().map(|s| ((s.start - base) / 32, (s.end - base) / 32)).collect();
        assert_eq!(found, [(0, 1), (62, 129), (130, 131)]);
        assert!(footprint.written.is_empty());
    }
}
