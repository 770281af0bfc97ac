//! Bulk copies that may be under way when their block ends.
//!
//! A block's shared memory is the next block's as soon as its last thread has ended. A copy that still reads there then takes what that
//! one has written, and one that still writes there overwrites it. Whoever has waited for a copy knows that it is done with the memory:
//! the thread that started it by its groups (PTX ISA, `cp.async.bulk.wait_group`), any thread by the mbarrier that it completes on.

use super::Races;
use super::row::Row;
use crate::code::{Place, SlowOp};
use crate::exec::check::Watch;
use crate::exec::fault;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::Trap;
use crate::report::kind::Unfinished;

impl Watch<'_> {
    /// The last thread of a block exits.
    pub(in crate::exec::check) fn look_for_unfinished(&mut self, races: &Races) {
        for reads in races.reads.values() {
            self.unfinished(false, reads.pending());
        }
        // Copies that no object of the block is told of, or more than are remembered, are not judged.
        let unseen = || races.announced.iter().filter(|announced| !announced.seen);
        if unseen().next().is_none() {
            return;
        }
        let is_bulk = |copy: &Row| self.run.code.slow_at(copy.pc).is_some_and(SlowOp::is_bulk);
        let pending = races.copies.values().flat_map(|copies| copies.pending());
        let unseen = pending.filter(|(_, copy)| is_bulk(copy) && unseen().any(|announced| announced.holds(copy)));
        let unseen: Vec<(u64, Row)> = unseen.copied().collect();
        self.unfinished(true, &unseen);
    }

    /// Copies by the piece: each thread counts once for the instruction that started them.
    fn unfinished(&mut self, into: bool, pieces: &[(u64, Row)]) {
        let mut counted: Vec<(u32, u8, u32)> = Vec::new();
        for (line, copy) in pieces {
            let started = (copy.pc, copy.warp, copy.lanes);
            if counted.contains(&started) {
                continue;
            }
            counted.push(started);
            let kind = Unfinished { into };
            let site = Site { code: kind.code(), pc: copy.pc, other: u32::MAX };
            let (run, block, warp) = (self.run, self.block, copy.warp.into());
            self.findings.add(site, block, warp, copy.lanes.count_ones().into(), || {
                let (low, high) = copy.range(copy.lanes.trailing_zeros() as usize & 31);
                let at = line.wrapping_add_signed(low.into());
                let about = fault::buffer(run, Place::Shared, at, (high - low) as u64);
                Trap::new(kind, copy.lanes).at(copy.pc).about(about)
            });
        }
    }
}
