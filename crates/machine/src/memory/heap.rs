//! The device heap: what kernels take with `malloc` and give back with `free`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use super::{AllocationKind, Memory, OutOfMemory, Region};

/// What CUDA gives the heap unless `CU_LIMIT_MALLOC_HEAP_SIZE` says otherwise.
pub(crate) const DEFAULT_HEAP_BYTES: u64 = 8 << 20;
/// Blocks begin at multiples of this. So much is also left free behind each one, that an index one too large is found.
const UNIT: u64 = 16;
/// How many freed blocks are remembered, to recognise a use after free.
const REMEMBERED: usize = 4096;

/// A block of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeapBlock {
    pub(crate) base: u64,
    /// In bytes, as asked for.
    pub(crate) size: u64,
}

impl HeapBlock {
    fn holds(&self, addr: u64, len: u64) -> bool {
        addr >= self.base && len <= self.size && addr - self.base <= self.size - len
    }
}

/// Why an address cannot be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadFree {
    /// It has been freed already.
    Twice(HeapBlock),
    /// It lies in a block, but is not its beginning.
    Inside(HeapBlock),
    /// `malloc` never returned it.
    Foreign,
}

/// The heap's memory is one allocation; which of it is taken is known here alone.
pub(crate) struct Heap {
    region: Arc<Region>,
    /// Sizes by address.
    live: BTreeMap<u64, u64>,
    /// The latest last.
    freed: VecDeque<HeapBlock>,
    /// Where the search for room begins: behind the latest block, so that what was freed is not at once taken again.
    next: u64,
    /// There is no room for so much, until something is freed.
    hopeless: u64,
}

impl Heap {
    pub(crate) fn new(memory: &Memory, bytes: u64) -> Result<Self, OutOfMemory> {
        let base = memory.alloc(bytes, AllocationKind::Heap)?;
        let refused = OutOfMemory { requested: bytes, free: 0, of_host: false };
        let region = memory.read_table().region(base).cloned().ok_or(refused)?;
        Ok(Self { next: base, region, live: BTreeMap::new(), freed: VecDeque::new(), hopeless: u64::MAX })
    }

    pub(crate) fn base(&self) -> u64 {
        self.region.allocation.base
    }

    /// The address of `size` bytes that nobody has, or 0 where there are none. They hold what they held.
    pub(crate) fn malloc(&mut self, size: u64) -> u64 {
        if size == 0 || size >= self.hopeless || size > self.region.allocation.size {
            return 0;
        }
        let room = size.next_multiple_of(UNIT) + UNIT;
        let (start, end) = (self.region.allocation.base, self.region.allocation.end());
        let found = self.gap(self.next, end, room).or_else(|| self.gap(start, end, room));
        let Some(base) = found else {
            self.hopeless = size;
            return 0;
        };
        self.next = base + room;
        self.live.insert(base, size);
        // It counts as never written, whoever had it before.
        self.region.written.clear(base - start, size);
        base
    }

    /// The first place in a range with so much room between the live blocks. The last block needs none behind it.
    fn gap(&self, from: u64, end: u64, room: u64) -> Option<u64> {
        let before = self.live.range(..from).next_back().map_or(from, |(base, size)| Self::behind(*base, *size));
        let mut at = from.max(before);
        for (base, size) in self.live.range(from..) {
            if *base >= at && base - at >= room {
                return Some(at);
            }
            at = Self::behind(*base, *size);
        }
        (at <= end && end - at >= room - UNIT).then_some(at)
    }

    /// Where the next block may begin.
    fn behind(base: u64, size: u64) -> u64 {
        base + size.next_multiple_of(UNIT) + UNIT
    }

    /// # Errors
    /// Says what is at the address instead of a block of the heap.
    pub(crate) fn free(&mut self, base: u64) -> Result<HeapBlock, BadFree> {
        let Some(size) = self.live.remove(&base) else {
            return Err(match (self.block(base), self.was_freed(base)) {
                (Some(block), _) if block.holds(base, 1) => BadFree::Inside(block),
                (_, Some(block)) if block.base == base => BadFree::Twice(block),
                _ => BadFree::Foreign,
            });
        };
        let block = HeapBlock { base, size };
        if self.freed.len() == REMEMBERED {
            self.freed.pop_front();
        }
        self.freed.push_back(block);
        self.hopeless = u64::MAX;
        Ok(block)
    }

    /// Whether a live block holds all of these bytes.
    pub(crate) fn holds(&self, addr: u64, len: u64) -> bool {
        self.block(addr).is_some_and(|block| block.holds(addr, len))
    }

    /// The live block nearest below an address of the heap, which may lie behind its end.
    pub(crate) fn block(&self, addr: u64) -> Option<HeapBlock> {
        if !self.region.allocation.contains(addr) {
            return None;
        }
        let (&base, &size) = self.live.range(..=addr).next_back()?;
        Some(HeapBlock { base, size })
    }

    /// The block at this address that was freed last.
    pub(crate) fn was_freed(&self, addr: u64) -> Option<HeapBlock> {
        self.freed.iter().rev().find(|block| block.holds(addr, 1)).copied()
    }

    /// The heap's memory, for what the checks remember of it.
    pub(crate) fn region(&self) -> &Arc<Region> {
        &self.region
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { region, live, .. } = self;
        f.debug_struct("Heap")
            .field("allocation", &region.allocation)
            .field("live", &live.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap(memory: &Memory) -> Heap {
        Heap::new(memory, 1024).unwrap()
    }

    #[test]
    fn blocks_are_apart_and_aligned_until_nothing_is_left() {
        let memory = Memory::new(1 << 20);
        let mut heap = heap(&memory);
        let blocks: Vec<u64> = std::iter::from_fn(|| Some(heap.malloc(40)).filter(|base| *base != 0)).collect();
        // Each takes 48 bytes and 16 behind it.
        assert_eq!(blocks.len(), 16);
        assert!(blocks.iter().all(|base| base % 16 == 0));
        assert!(blocks.windows(2).all(|pair| pair[1] - pair[0] == 64));
        assert_eq!((heap.malloc(1025), heap.malloc(0), heap.malloc(u64::MAX)), (0, 0, 0));
        assert!(heap.holds(blocks[3], 40) && heap.holds(blocks[3] + 39, 1));
        assert!(!heap.holds(blocks[3] + 39, 2) && !heap.holds(blocks[3] + 40, 1) && !heap.holds(blocks[3] - 1, 1));
        // What is freed is there again, and a smaller block fits where a larger one did not.
        heap.free(blocks[3]).unwrap();
        assert_eq!((heap.malloc(64), heap.malloc(8)), (0, blocks[3]));
        let whole = Heap::new(&memory, 1024).unwrap().malloc(1024);
        assert_ne!(whole, 0, "the last block needs nothing behind it");
    }

    #[test]
    fn what_was_freed_is_taken_again_as_late_as_possible() {
        let memory = Memory::new(1 << 20);
        let mut heap = heap(&memory);
        let first = heap.malloc(100);
        heap.free(first).unwrap();
        assert_ne!(heap.malloc(100), first);
        assert_eq!(heap.was_freed(first + 99), Some(HeapBlock { base: first, size: 100 }));
        assert_eq!(heap.free(first), Err(BadFree::Twice(HeapBlock { base: first, size: 100 })));
    }

    #[test]
    fn only_what_malloc_gave_can_be_freed() {
        let memory = Memory::new(1 << 20);
        let mut heap = heap(&memory);
        let base = heap.malloc(100);
        assert_eq!(heap.free(base + 4), Err(BadFree::Inside(HeapBlock { base, size: 100 })));
        assert_eq!([heap.free(base + 500), heap.free(8)], [Err(BadFree::Foreign); 2]);
        assert_eq!(heap.free(base), Ok(HeapBlock { base, size: 100 }));
    }
}
