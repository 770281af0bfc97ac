//! `malloc` and `free` of the device runtime.

use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::lanes::each;
use crate::exec::state::run::Run;
use crate::memory::BadFree;
use crate::report::kind::Memory;

/// One block for each lane; 0 where there is none.
pub(crate) fn malloc(run: &Run<'_>, mask: u32, sizes: &[u64; 32]) -> [u64; 32] {
    let mut bases = [0; 32];
    for lane in each(mask) {
        bases[lane] = run.with_heap(|heap| heap.malloc(sizes[lane])).unwrap_or(0);
    }
    bases
}

/// What is freed may be another thread's next block: nothing that was done to it races with that.
pub(crate) fn free(run: &Run<'_>, mask: u32, bases: &[u64; 32]) -> Trapped {
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
