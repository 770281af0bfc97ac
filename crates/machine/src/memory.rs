//! Global memory: allocations in an address space of the machine's own.
//!
//! Contents are words of relaxed atomics, so that blocks that run on different cores may touch the
//! same allocation without `unsafe`: a data race of the kernel is a wrong value here, never
//! undefined behaviour of the emulator.

mod heap;
mod region;
mod written;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) use heap::{BadFree, DEFAULT_HEAP_BYTES, Heap, HeapBlock};
pub(crate) use region::{Region, Snapshot};
pub(crate) use written::Written;

/// Where the machine's own addresses begin. Host heaps, stacks and libraries lie far above it, so
/// a host pointer passed to a kernel can be told apart.
const FIRST_ADDRESS: u64 = 0x0a_0000_0000;
/// Where they end: 1 TiB below the place where Linux puts position-independent programs.
const LAST_ADDRESS: u64 = 0x5400_0000_0000;
const ALIGNMENT: u64 = 512;
/// The least unmapped space between two allocations. An allocation's own size, when larger, takes
/// its place, so that an index that is off by up to a factor of two faults instead of landing next door.
const MIN_GAP: u64 = 1 << 20;
/// How many freed allocations are remembered, to recognise a use after free.
const REMEMBERED: usize = 1024;

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationKind {
    Device,
    Managed,
    Pinned,
    /// A module's `.global` variable.
    Global,
    /// A module's `.const` variable: kernels may only read it.
    Constant,
    /// The device heap, out of which kernels take blocks with `malloc`.
    Heap,
}

/// One allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub base: u64,
    /// In bytes.
    pub size: u64,
    pub kind: AllocationKind,
    /// Counts up from 1 in the order of allocation.
    pub id: u64,
}

impl Allocation {
    /// One past the last byte.
    pub fn end(&self) -> u64 {
        self.base + self.size
    }

    pub(crate) fn contains(&self, addr: u64) -> bool {
        self.base <= addr && addr < self.end()
    }
}

/// There is not that much memory left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    pub requested: u64,
    pub free: u64,
    /// Whether the device would have it, and the host that emulates it has not.
    pub of_host: bool,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for OutOfMemory {}

/// An access from the host side that no allocation covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    Unmapped { addr: u64 },
    OutOfBounds { addr: u64, len: u64, allocation: Allocation },
    Freed { addr: u64, allocation: Allocation },
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for AccessError {}

/// The device's memory. Every method takes `&self`; the table of allocations is behind a lock, their contents are atomics.
pub struct Memory {
    total: u64,
    table: RwLock<Table>,
    /// Tells whether the host has memory at an address.
    host: OnceLock<fn(u64) -> bool>,
    /// Bytes that the host can give in all.
    backing: OnceLock<u64>,
}

#[derive(Default)]
struct Table {
    live: BTreeMap<u64, Arc<Region>>,
    freed: VecDeque<Allocation>,
    next_address: u64,
    next_id: u64,
    used: u64,
    /// Bytes of the host's memory that the live regions take once they are written to.
    backed: u64,
    /// The live regions in order of address, made when first asked for after a change.
    snapshot: Option<Snapshot>,
}

impl Memory {
    pub(crate) fn new(total: u64) -> Self {
        let table = Table { next_address: FIRST_ADDRESS, ..Table::default() };
        Self { total, table: RwLock::new(table), host: OnceLock::new(), backing: OnceLock::new() }
    }

    /// Allocates zeroed memory: 512-byte aligned, with unmapped space on both sides. A size of zero takes one byte's place.
    pub fn alloc(&self, size: u64, kind: AllocationKind) -> Result<u64, OutOfMemory> {
        let mut table = self.write_table();
        let base = table.place(size).ok_or(self.refusal(&table, size))?;
        self.insert(&mut table, base, size, kind)?;
        Ok(base)
    }

    /// Allocates memory of which every `period` bytes, a multiple of 8, are the same bytes: as large as anybody likes, and no more
    /// than one period of it is there. For launches of which a few blocks are executed. The device's own memory does not
    /// limit it.
    pub fn alloc_repeating(&self, size: u64, period: u64) -> Result<u64, OutOfMemory> {
        let mut table = self.write_table();
        let refused = self.refusal(&table, size);
        let base = table.place(size).filter(|_| period > 0 && period.is_multiple_of(8)).ok_or(refused)?;
        let allocation = Allocation { base, size, kind: AllocationKind::Device, id: table.next_id + 1 };
        let region = Region::repeating(allocation, period).ok_or(OutOfMemory { of_host: true, ..refused })?;
        table.next_id += 1;
        table.live.insert(base, Arc::new(region));
        table.snapshot = None;
        Ok(base)
    }

    /// Allocates at a given address: the mirror of host memory (managed, pinned) lies where the host has it. The base must be a multiple of 16.
    pub fn alloc_at(&self, base: u64, size: u64, kind: AllocationKind) -> Result<(), OutOfMemory> {
        let mut table = self.write_table();
        let refused = self.refusal(&table, size);
        let end = base.checked_add(size).ok_or(refused)?;
        if !base.is_multiple_of(16) {
            return Err(refused);
        }
        let overlaps = table.live.range(..end).next_back().is_some_and(|(_, r)| r.allocation.end() > base);
        if overlaps {
            return Err(refused);
        }
        self.insert(&mut table, base, size, kind)
    }

    /// Frees the allocation that begins at `base`.
    pub fn free(&self, base: u64) -> Result<Allocation, AccessError> {
        let mut table = self.write_table();
        let Some(region) = table.live.remove(&base) else {
            return Err(table.explain(base, 1));
        };
        table.snapshot = None;
        if region.period == 0 {
            table.used -= region.allocation.size;
            table.backed = table.backed.saturating_sub(backing(&region.allocation));
        }
        if table.freed.len() == REMEMBERED {
            table.freed.pop_front();
        }
        table.freed.push_back(region.allocation.clone());
        Ok(region.allocation.clone())
    }

    /// Addresses and numbers begin anew where nothing is allocated, and what was freed is forgotten. Returns whether
    /// that is so.
    pub fn start_over(&self) -> bool {
        let mut table = self.write_table();
        let is_empty = table.live.is_empty();
        if is_empty {
            *table = Table { next_address: FIRST_ADDRESS, ..Table::default() };
        }
        is_empty
    }

    /// The allocation that contains `addr`.
    pub fn find(&self, addr: u64) -> Option<Allocation> {
        self.read_table().region(addr).map(|r| r.allocation.clone())
    }

    /// Copies device memory out.
    pub fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), AccessError> {
        if out.is_empty() {
            return Ok(());
        }
        let region = self.region(addr, out.len() as u64)?;
        region.read(addr - region.allocation.base, out);
        Ok(())
    }

    /// Copies into device memory.
    pub fn write(&self, addr: u64, data: &[u8]) -> Result<(), AccessError> {
        if data.is_empty() {
            return Ok(());
        }
        let region = self.region(addr, data.len() as u64)?;
        region.write(addr - region.allocation.base, data);
        region.written.fill(addr - region.allocation.base, data.len() as u64);
        Ok(())
    }

    /// Writes `pattern` (1, 2 or 4 bytes) `count` times.
    pub fn fill(&self, addr: u64, pattern: &[u8], count: u64) -> Result<(), AccessError> {
        if count == 0 || pattern.is_empty() {
            return Ok(());
        }
        let len = count.saturating_mul(pattern.len() as u64);
        let region = self.region(addr, len)?;
        let chunk: Vec<u8> = pattern.iter().copied().cycle().take(pattern.len() * 4096).collect();
        let mut offset = addr - region.allocation.base;
        region.written.fill(offset, len);
        // More than a period would write the same bytes again.
        let mut left = if region.period > 0 { len.min(region.period) } else { len };
        while left > 0 {
            let n = left.min(chunk.len() as u64);
            region.write(offset, &chunk[..n as usize]);
            offset += n;
            left -= n;
        }
        Ok(())
    }

    /// Copies within the device. Overlapping ranges are copied as if through a buffer of their own.
    pub fn copy(&self, dst: u64, src: u64, len: u64) -> Result<(), AccessError> {
        if len == 0 {
            return Ok(());
        }
        let from = self.region(src, len)?;
        let to = self.region(dst, len)?;
        let (from_offset, to_offset) = (src - from.allocation.base, dst - to.allocation.base);
        const CHUNK: u64 = 1 << 16;
        let period = from.period.max(to.period);
        let len = if period > 0 { len.min(period) } else { len };
        let chunks = len.div_ceil(CHUNK);
        let mut buffer = vec![0; CHUNK.min(len) as usize];
        for i in 0..chunks {
            // Backwards when the destination lies above, so that nothing is overwritten before it was read.
            let at = if dst > src { chunks - 1 - i } else { i } * CHUNK;
            let part = &mut buffer[..CHUNK.min(len - at) as usize];
            from.read(from_offset + at, part);
            to.write(to_offset + at, part);
        }
        copy_written((&from.written, from_offset), (&to.written, to_offset), len);
        Ok(())
    }

    /// The first bytes of a range that nobody has ever written: their offset from `addr` and how many they are. `None` where all are
    /// written or the range is in no allocation.
    pub fn unwritten(&self, addr: u64, len: u64) -> Option<(u64, u64)> {
        let region = self.region(addr, len).ok().filter(|_| len > 0)?;
        let offset = addr - region.allocation.base;
        region.written.first_missing(offset, len).map(|(at, n)| (at - offset, n))
    }

    /// Makes a range's bytes count as never written. They keep their values.
    pub fn forget(&self, addr: u64, len: u64) -> Result<(), AccessError> {
        let region = self.region(addr, len)?;
        region.written.clear(addr - region.allocation.base, len);
        Ok(())
    }

    /// Makes all that is allocated count as written.
    pub(crate) fn assume_written(&self) {
        for region in self.read_table().live.values() {
            region.written.fill(0, region.allocation.size);
        }
    }

    /// Gives the machine, which does no I/O, the means to recognise a pointer to host memory. It is asked when an
    /// access has gone wrong; the first one that is given stays.
    pub fn recognise_host(&self, has: fn(u64) -> bool) {
        let _ = self.host.set(has);
    }

    /// Tells the machine, which does no I/O, how many bytes the host can give it: allocations that take more are refused. The first
    /// number that is given stays.
    pub fn limit_to(&self, bytes: u64) {
        let _ = self.backing.set(bytes);
    }

    /// Whether the host is known to have memory at this address.
    pub(crate) fn is_host(&self, addr: u64) -> bool {
        self.host.get().is_some_and(|has| has(addr))
    }

    /// Bytes allocated.
    pub fn used(&self) -> u64 {
        self.read_table().used
    }

    /// Bytes that the device has.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Every live allocation, in order of address. A launch works on it without a lock.
    pub(crate) fn snapshot(&self) -> Snapshot {
        if let Some(snapshot) = &self.read_table().snapshot {
            return snapshot.clone();
        }
        let mut table = self.write_table();
        let snapshot: Snapshot = table.live.values().cloned().collect();
        table.snapshot = Some(snapshot.clone());
        snapshot
    }

    /// The freed allocation that contained `addr` most recently.
    pub(crate) fn freed(&self, addr: u64) -> Option<Allocation> {
        self.read_table().freed(addr)
    }

    fn insert(&self, table: &mut Table, base: u64, size: u64, kind: AllocationKind) -> Result<(), OutOfMemory> {
        let refused = self.refusal(table, size);
        if size > refused.free {
            return Err(refused);
        }
        let allocation = Allocation { base, size, kind, id: table.next_id + 1 };
        let needed = backing(&allocation);
        // Most systems promise more memory than they have, and end the process that takes them at their word.
        let refused = OutOfMemory { of_host: true, ..refused };
        if self.backing.get().is_some_and(|most| table.backed.saturating_add(needed) > *most) {
            return Err(refused);
        }
        let region = Region::new(allocation).ok_or(refused)?;
        table.backed += needed;
        table.next_id += 1;
        table.live.insert(base, Arc::new(region));
        table.used += size;
        table.snapshot = None;
        Ok(())
    }

    fn refusal(&self, table: &Table, requested: u64) -> OutOfMemory {
        OutOfMemory { requested, free: self.total - table.used, of_host: false }
    }

    fn region(&self, addr: u64, len: u64) -> Result<Arc<Region>, AccessError> {
        let table = self.read_table();
        match table.region(addr) {
            Some(region) if region.allocation.end() - addr >= len => {
                region.host.store(true, std::sync::atomic::Ordering::Relaxed);
                Ok(region.clone())
            }
            _ => Err(table.explain(addr, len)),
        }
    }

    // A poisoned lock is not an error: the table is consistent after every statement.
    fn read_table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_table(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of the host's memory that an allocation takes: its contents with a bit a byte for what was written, and two a sector. What mirrors
/// memory of the host is there, too, and once more during a launch.
fn backing(allocation: &Allocation) -> u64 {
    let copies = match allocation.kind {
        AllocationKind::Managed | AllocationKind::Pinned => 3,
        _ => 1,
    };
    let Allocation { size, .. } = allocation;
    size.saturating_mul(copies).saturating_add(size / 8 + size / 128)
}

/// A copy of what was never written is as good as never written.
fn copy_written(from: (&Written, u64), to: (&Written, u64), len: u64) {
    let missing = |at: u64| from.0.first_missing(from.1 + at, len - at).map(|(start, n)| (start - from.1, n));
    let mut holes = Vec::new();
    let mut at = 0;
    while let Some((start, n)) = (at < len).then(|| missing(at)).flatten() {
        holes.push((start, n));
        at = start + n;
    }
    to.0.fill(to.1, len);
    for (start, n) in holes {
        to.0.clear(to.1 + start, n);
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("total", &self.total).field("used", &self.used()).finish_non_exhaustive()
    }
}

impl Table {
    fn region(&self, addr: u64) -> Option<&Arc<Region>> {
        let (_, region) = self.live.range(..=addr).next_back()?;
        (addr < region.allocation.end()).then_some(region)
    }

    fn freed(&self, addr: u64) -> Option<Allocation> {
        self.freed.iter().rev().find(|a| a.base <= addr && addr < a.end().max(a.base + 1)).cloned()
    }

    fn explain(&self, addr: u64, len: u64) -> AccessError {
        if let Some(region) = self.region(addr) {
            return AccessError::OutOfBounds { addr, len, allocation: region.allocation.clone() };
        }
        match self.freed(addr) {
            Some(allocation) => AccessError::Freed { addr, allocation },
            None => AccessError::Unmapped { addr },
        }
    }

    /// An address for `size` bytes: behind everything else, or in a gap when the addresses are used up.
    fn place(&mut self, size: u64) -> Option<u64> {
        let gap = size.max(MIN_GAP);
        let room = size.max(1).checked_add(2 * gap)?;
        let limit = LAST_ADDRESS.checked_sub(room)?;
        if self.next_address > limit {
            let mut base = FIRST_ADDRESS;
            for region in self.live.values() {
                if region.allocation.base >= base.checked_add(room)? {
                    break;
                }
                base = base.max((region.allocation.end() + gap).next_multiple_of(ALIGNMENT));
            }
            // The next one looks for a gap again: what lies behind this one may be taken.
            return (base <= limit).then_some(base);
        }
        let base = self.next_address;
        self.next_address = (base + size.max(1) + gap).next_multiple_of(ALIGNMENT);
        Some(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(1 << 20)
    }

    #[test]
    fn only_empty_memory_starts_over() {
        let memory = memory();
        let first = memory.alloc(16, AllocationKind::Device).unwrap();
        assert!(!memory.start_over());
        let number = memory.free(first).unwrap().id;
        assert_ne!(memory.alloc(16, AllocationKind::Device), Ok(first));
        memory.free(first).unwrap_err();
        let second = memory.snapshot()[0].allocation.base;
        memory.free(second).unwrap();
        assert!(memory.start_over() && memory.freed(first).is_none());
        assert_eq!(memory.alloc(16, AllocationKind::Device), Ok(first));
        assert_eq!(memory.find(first).unwrap().id, number);
    }

    #[test]
    fn the_host_cannot_give_more_than_it_has() {
        let memory = Memory::new(1 << 40);
        memory.limit_to(9000);
        let first = memory.alloc(4000, AllocationKind::Device).unwrap();
        let refused = memory.alloc(4000, AllocationKind::Device).unwrap_err();
        assert!(refused.of_host, "{refused}");
        assert!(memory.alloc_at(1 << 44, 2000, AllocationKind::Pinned).is_err());
        memory.alloc_at(1 << 44, 1000, AllocationKind::Pinned).unwrap();
        memory.free(first).unwrap();
        memory.alloc(5000, AllocationKind::Device).unwrap();
        assert!(!memory.alloc(1 << 41, AllocationKind::Device).unwrap_err().of_host);
    }

    #[test]
    fn allocations_are_aligned_and_far_apart() {
        let memory = memory();
        let bases = [(); 4].map(|()| memory.alloc(100, AllocationKind::Device).unwrap());
        for pair in bases.windows(2) {
            assert_eq!(pair[0] % 512, 0);
            assert!(pair[1] - pair[0] > MIN_GAP);
        }
        assert_eq!((memory.used(), memory.total()), (400, 1 << 20));
    }

    #[test]
    fn used_up_addresses_are_taken_again_where_nothing_lies() {
        let memory = memory();
        let first = memory.alloc(4096, AllocationKind::Device).unwrap();
        let second = memory.alloc(4096, AllocationKind::Device).unwrap();
        memory.free(first).unwrap();
        memory.write_table().next_address = LAST_ADDRESS;
        let mut taken = vec![(second, 4096)];
        for size in [512, 100_000, 4096, 1] {
            let base = memory.alloc(size, AllocationKind::Device).unwrap();
            assert!(taken.iter().all(|&(b, s)| base >= b + s || b >= base + size), "{base:#x} {taken:x?}");
            taken.push((base, size));
        }
    }

    #[test]
    fn bytes_come_back_at_any_offset() {
        let memory = memory();
        let base = memory.alloc(41, AllocationKind::Device).unwrap();
        let data: Vec<u8> = (1..=41).collect();
        for (offset, len) in [(0, 41), (1, 1), (3, 2), (5, 9), (40, 1), (2, 0)] {
            memory.fill(base, &[0], 41).unwrap();
            memory.write(base + offset, &data[..len]).unwrap();
            let mut all = [0; 41];
            memory.read(base, &mut all).unwrap();
            let (start, end) = (offset as usize, offset as usize + len);
            assert_eq!(all[start..end], data[..len]);
            assert!(all[..start].iter().chain(&all[end..]).all(|&b| b == 0));
        }
    }

    #[test]
    fn overlapping_copies_move_what_was_there() {
        let memory = memory();
        let n = 200_000u64;
        let base = memory.alloc(n, AllocationKind::Device).unwrap();
        let data: Vec<u8> = (0..n).map(|i| (i * 7 % 251) as u8).collect();
        for (dst, src) in [(0, 1000), (1000, 0)] {
            memory.write(base, &data).unwrap();
            memory.copy(base + dst, base + src, n - 1000).unwrap();
            let mut moved = vec![0; n as usize - 1000];
            memory.read(base + dst, &mut moved).unwrap();
            assert_eq!(moved, data[src as usize..][..moved.len()]);
        }
    }

    #[test]
    fn what_was_never_written_is_known() {
        let memory = memory();
        let [a, b] = [(); 2].map(|()| memory.alloc(1000, AllocationKind::Device).unwrap());
        let mirror = memory.alloc(64, AllocationKind::Pinned).unwrap();
        assert_eq!((memory.unwritten(a, 1000), memory.unwritten(mirror, 64)), (Some((0, 1000)), None));
        memory.write(a + 100, &[1; 10]).unwrap();
        memory.fill(a + 120, &[2, 3], 5).unwrap();
        assert_eq!(memory.unwritten(a + 100, 10), None);
        assert_eq!(memory.unwritten(a + 100, 100), Some((10, 10)));
        memory.fill(b, &[0], 1000).unwrap();
        assert_eq!(memory.unwritten(b, 1000), None);
        memory.copy(b + 3, a + 100, 100).unwrap();
        assert_eq!(memory.unwritten(b, 1000), Some((13, 10)));
        assert_eq!(memory.unwritten(b + 23, 900), Some((10, 70)));
        memory.write(b, &[0; 1000]).unwrap();
        memory.forget(b + 999, 1).unwrap();
        assert_eq!(memory.unwritten(b, 1000), Some((999, 1)));
        assert!(memory.forget(b, 1001).is_err());
    }

    #[test]
    fn memory_that_repeats_takes_one_period() {
        let memory = memory();
        let size = 1 << 40;
        let base = memory.alloc_repeating(size, 24).unwrap();
        assert!(memory.alloc_repeating(size, 12).is_err());
        assert_eq!(memory.used(), 0);
        let data: Vec<u8> = (0..24).collect();
        memory.fill(base, &[7], size).unwrap();
        memory.write(base, &data).unwrap();
        let mut read = [0; 30];
        memory.read(base + size - size % 24 - 26, &mut read[..26]).unwrap();
        assert_eq!(read[..26], [[22, 23].as_slice(), &data].concat()[..26]);
        memory.write(base + 24 * 1000 + 20, &[1; 8]).unwrap();
        memory.read(base, &mut read[..5]).unwrap();
        assert_eq!(read[..5], [1, 1, 1, 1, 4]);
        assert!(matches!(memory.read(base + size - 1, &mut read), Err(AccessError::OutOfBounds { .. })));
        memory.free(base).unwrap();
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn stray_accesses_say_what_is_wrong() {
        let memory = memory();
        let base = memory.alloc(16, AllocationKind::Device).unwrap();
        let error = |addr| memory.write(addr, &[0; 8]).unwrap_err();
        assert!(matches!(error(base + 12), AccessError::OutOfBounds { len: 8, .. }));
        assert!(matches!(error(64), AccessError::Unmapped { addr: 64 }));
        memory.free(base).unwrap();
        assert!(matches!(error(base + 8), AccessError::Freed { .. }));
        assert!(memory.free(base).is_err());
        assert!(memory.alloc((1 << 20) + 1, AllocationKind::Device).is_err());
    }
}
