//! A block at the barrier of its cluster. Only some blocks are recorded, and those of a cluster mostly do the same work:
//! so the others are thought to come when this one does.

use super::{Sm, Warp};
use crate::report::State;
use crate::timing::cost::CLUSTER_BARRIER;
use crate::timing::{Ticks, ticks};

/// Rounds of the barrier, as one block sees them.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// Warps that have come in this round, and when the last of them did.
    come: u32,
    last: Ticks,
    /// Of each round that is complete, when warps go on.
    complete: Vec<Ticks>,
    /// Warps that wait for this round.
    waiting: Vec<usize>,
}

impl Rounds {
    /// Of so many warps that have not left.
    pub(super) fn is_complete(&self, alive: u32) -> bool {
        self.come > 0 && self.come >= alive
    }
}

impl Sm<'_> {
    /// A warp comes, with all that it has written, at a time that may lie ahead.
    pub(super) fn arrive_at_cluster(&mut self, number: usize, at: Ticks) {
        let warp = &mut self.warps[number];
        let place = warp.place;
        let slot = &mut self.slots[place];
        // Of a warp whose lanes have parted, others have come before in this round: it counts once.
        if warp.arrived <= slot.rounds.complete.len() {
            warp.arrived += 1;
            slot.rounds.come += 1;
        }
        slot.rounds.last = slot.rounds.last.max(at);
        if slot.rounds.is_complete(slot.alive) {
            self.end_round(place, at);
        }
    }

    /// A warp waits: until the time that is known of its round, or for the others.
    pub(super) fn wait_for_cluster(&mut self, number: usize, now: Ticks) {
        let Warp { place, arrived, .. } = self.warps[number];
        let round = arrived.saturating_sub(1);
        let rounds = &mut self.slots[place].rounds;
        match rounds.complete.get(round) {
            Some(&at) => self.wait_for_operands(number, at.max(now), State::Barrier),
            None => rounds.waiting.push(number),
        }
    }

    /// A warp has left its block: where it has come in this round before, it counts no more.
    pub(super) fn leave_cluster(&mut self, number: usize, now: Ticks) {
        let Warp { place, arrived, .. } = self.warps[number];
        let slot = &mut self.slots[place];
        if arrived > slot.rounds.complete.len() {
            slot.rounds.come = slot.rounds.come.saturating_sub(1);
        }
        if slot.rounds.is_complete(slot.alive) {
            self.end_round(place, now);
        }
    }

    /// All have come: those who wait go on.
    pub(super) fn end_round(&mut self, place: usize, now: Ticks) {
        let warps = self.warps_of_block as f64;
        let rounds = &mut self.slots[place].rounds;
        if rounds.come == 0 && rounds.waiting.is_empty() {
            return;
        }
        let barrier = self.rates.barrier + self.rates.barrier_warp * warps + CLUSTER_BARRIER;
        let at = rounds.last.max(now) + ticks(barrier);
        (rounds.come, rounds.last) = (0, 0);
        rounds.complete.push(at);
        for number in std::mem::take(&mut rounds.waiting) {
            self.wait_for_operands(number, at, State::Barrier);
        }
    }
}
