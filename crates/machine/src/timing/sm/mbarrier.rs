//! Warps and bulk copies at mbarriers: objects in shared memory that count arrivals, a phase after the other.
//!
//! A phase ends when all have arrived that the recording of the block has arriving in it.

use std::collections::HashMap;

use super::{Sample, Sm};
use crate::exec::{Phase, Step};
use crate::report::State;
use crate::timing::cost::{MBARRIER_ARRIVE, MBARRIER_WAKE, MBARRIER_WAKES_APART};
use crate::timing::{Ticks, ticks};

/// The phases of a block's objects.
pub(super) type Phases = HashMap<Phase, Arrivals>;

#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    come: u32,
    last: Ticks,
    /// Warps that wait.
    waiting: Vec<usize>,
}

/// How many arrivals each phase has.
pub(super) fn expected<'a>(visits: impl Iterator<Item = &'a [Phase]>) -> HashMap<Phase, u32> {
    let mut expected = HashMap::new();
    visits.flatten().for_each(|phase| *expected.entry(*phase).or_default() += 1);
    expected
}

impl Sm<'_> {
    /// A step's arrivals, at a time that may lie ahead.
    pub(super) fn arrive_at_mbarriers(&mut self, number: usize, sample: &Sample, step: &Step, at: Ticks) {
        let place = self.warps[number].place;
        for phase in sample.recording.visits(step) {
            let arrivals = self.slots[place].phases.entry(*phase).or_default();
            arrivals.come += 1;
            arrivals.last = arrivals.last.max(at + ticks(MBARRIER_ARRIVE));
            if arrivals.come < sample.expected.get(phase).copied().unwrap_or(0) {
                continue;
            }
            let wake = arrivals.last + ticks(MBARRIER_WAKE);
            for (turn, number) in std::mem::take(&mut arrivals.waiting).into_iter().enumerate() {
                let at = wake + ticks(MBARRIER_WAKES_APART * turn as f64);
                self.wait_for_operands(number, at, State::LongScoreboard);
            }
        }
    }

    /// A warp waits for phases. `ready`: when it has the answer, where they have ended.
    pub(super) fn wait_for_mbarriers(&mut self, number: usize, sample: &Sample, step: &Step, ready: Ticks) {
        let place = self.warps[number].place;
        let mut from = ready;
        for phase in sample.recording.visits(step) {
            let Some(&expected) = sample.expected.get(phase) else { continue };
            let arrivals = self.slots[place].phases.entry(*phase).or_default();
            if arrivals.come < expected {
                arrivals.waiting.push(number);
                return;
            }
            from = from.max(arrivals.last + ticks(MBARRIER_WAKE));
        }
        self.wait_for_operands(number, from, State::LongScoreboard);
    }

    /// Warps that wait for what is not recorded go on.
    pub(super) fn free_from_mbarriers(&mut self, place: usize, now: Ticks) {
        let mut stuck: Vec<usize> = Vec::new();
        self.slots[place].phases.values_mut().for_each(|arrivals| stuck.append(&mut arrivals.waiting));
        stuck.sort_unstable();
        for number in stuck {
            self.wait_for_operands(number, now, State::LongScoreboard);
        }
    }
}
