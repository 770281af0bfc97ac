//! `malloc` and `free` of the device runtime, and accesses to what they manage.

use super::grid::{Run, Worker};
use super::lanes::each;
use super::trap::{Trap, Trapped};
use crate::memory::{BadFree, Heap, HeapBlock};
use crate::report::kind::{Access, Memory};
use crate::report::{Buffer, Name};

impl Run<'_> {
    /// Whether a live block of the heap holds these bytes.
    pub(crate) fn heap_holds(&self, addr: u64, len: u64) -> bool {
        self.with_heap(|heap| heap.holds(addr, len)).unwrap_or(false)
    }
}

/// One block for each lane; 0 where there is none.
pub(crate) fn malloc(worker: &mut Worker<'_>, mask: u32, sizes: &[u64; 32]) -> [u64; 32] {
    let mut bases = [0; 32];
    for lane in each(mask) {
        bases[lane] = worker.run.with_heap(|heap| heap.malloc(sizes[lane])).unwrap_or(0);
    }
    bases
}

/// What is freed may be another thread's next block: nothing that was done to it races with that.
pub(crate) fn free(worker: &mut Worker<'_>, mask: u32, bases: &[u64; 32]) -> Trapped {
    let run = worker.run;
    for lane in each(mask) {
        let base = bases[lane];
        // As in C, a null pointer is no block.
        if base == 0 {
            continue;
        }
        match run.with_heap(|heap| heap.free(base).map(|block| (block, heap.region().clone()))) {
            Some(Ok((block, region))) if run.checks.races => region.forget_races(block, run.grid_id as u32),
            Some(Ok(_)) => {}
            Some(Err(bad)) => return Err(bad_free(1 << lane, base, bad)),
            None => return Err(bad_free(1 << lane, base, BadFree::Foreign)),
        }
    }
    Ok(())
}

fn bad_free(lane: u32, address: u64, bad: BadFree) -> Box<Trap> {
    let kind = match bad {
        BadFree::Twice(block) => Memory::FreedTwice { size: block.size },
        BadFree::Inside(block) => Memory::FreedInside { offset: address - block.base, size: block.size },
        BadFree::Foreign => Memory::FreedForeign { address },
    };
    Trap::new(kind, lane)
}

/// What is wrong with an access to the heap that no live block holds, and the block that it is about.
pub(crate) fn stray(run: &Run<'_>, access: Access) -> Option<(Memory, Option<Buffer>)> {
    let Access { address, bytes, .. } = access;
    let buffer = |block: HeapBlock| Buffer {
        name: Name::HeapBlock,
        argument: None,
        size: block.size,
        offset: address.wrapping_sub(block.base) as i64,
        bytes: bytes as u32,
    };
    let find = |heap: &mut Heap| {
        if !heap.region().allocation.contains(address) {
            return None;
        }
        Some(match (heap.was_freed(address), heap.block(address)) {
            (Some(freed), _) => (Memory::FreedByKernel(access), Some(buffer(freed))),
            (None, Some(block)) => (Memory::OutOfBounds { access, constant: false }, Some(buffer(block))),
            (None, None) => (Memory::Unmapped(access), None),
        })
    };
    run.with_heap(find).flatten()
}
