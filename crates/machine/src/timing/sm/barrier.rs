//! Warps at the barriers of their block.

use super::{Sample, Sm};
use crate::exec::{AtBarrier, Step};
use crate::report::State;
use crate::timing::{Ticks, ticks};

#[derive(Clone, Debug, Default)]
pub(super) struct Barrier {
    /// Threads that it waits for; without a number, all warps.
    threads: Option<u32>,
    /// How many have come; a warp counts whole.
    come: u32,
    /// Warps that wait.
    waiting: Vec<usize>,
}

impl Barrier {
    fn is_complete(&self, alive: u32) -> bool {
        self.come >= self.threads.unwrap_or(32 * alive)
    }
}

impl Sm<'_> {
    /// A warp comes to a barrier: whether it has to wait there, or has been told when to go on.
    pub(super) fn arrive(&mut self, number: usize, sample: &Sample, step: &Step, now: Ticks) -> bool {
        let Some(&AtBarrier { id, threads, counts, waits }) = sample.recording.arrivals.get(step.first as usize) else {
            return false;
        };
        let place = self.warps[number].place;
        let slot = &mut self.slots[place];
        // The count of the whole block means all that have not left.
        let all = 32 * self.warps_of_block as u32;
        let barrier = slot.barriers.entry(id).or_default();
        barrier.threads = threads.filter(|&threads| threads < all);
        barrier.come += counts;
        if waits {
            barrier.waiting.push(number);
        }
        if barrier.is_complete(slot.alive) {
            self.release(place, id, now);
        }
        waits
    }

    /// All that a barrier waits for have come.
    pub(super) fn release(&mut self, place: usize, id: u8, now: Ticks) {
        let Some(barrier) = self.slots[place].barriers.remove(&id) else { return };
        let at = now + ticks(self.rates.barrier + self.rates.barrier_warp * barrier.waiting.len() as f64);
        for number in barrier.waiting {
            self.wait_for_operands(number, at, State::Barrier);
        }
    }

    /// No warp can move: of warps that were recorded in part, some never come to a barrier. Others do not wait for
    /// them.
    pub(super) fn free_the_stuck(&mut self) -> Option<(Ticks, usize)> {
        let now = self.schedulers.iter().map(|scheduler| scheduler.now).max().unwrap_or_default();
        for place in 0..self.slots.len() {
            let waiting = self.slots[place].barriers.iter().filter(|(_, barrier)| !barrier.waiting.is_empty());
            let mut ids: Vec<u8> = waiting.map(|(id, _)| *id).collect();
            ids.sort_unstable();
            ids.into_iter().for_each(|id| self.release(place, id, now));
            self.end_round(place, now);
            self.free_from_mbarriers(place, now);
        }
        self.earliest()
    }

    /// A warp has left its block.
    pub(super) fn leave(&mut self, number: usize, place: usize, now: Ticks) -> Option<(usize, Ticks)> {
        let slot = &mut self.slots[place];
        slot.alive = slot.alive.saturating_sub(1);
        let alive = slot.alive;
        if alive == 0 {
            return Some((place, now));
        }
        let complete = |barrier: &Barrier| !barrier.waiting.is_empty() && barrier.is_complete(alive);
        let complete = slot.barriers.iter().filter(|(_, barrier)| complete(barrier));
        let mut ids: Vec<u8> = complete.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.into_iter().for_each(|id| self.release(place, id, now));
        self.leave_cluster(number, now);
        None
    }
}
