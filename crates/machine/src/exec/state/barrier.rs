//! Barriers: who has come, and how many are counted.

use super::warp::BarrierResult;

/// A named barrier (PTX ISA 9.7.13.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barrier {
    pub(crate) arrived: u32,
    /// How many of these wait.
    pub(crate) waiting: u32,
    /// How many threads complete it; `None` for every live thread of the block.
    pub(crate) expected: Option<u32>,
    /// How often it has been completed.
    pub(crate) round: u64,
    popc: u32,
    all: bool,
    any: bool,
    last: (u32, bool, bool),
    /// Who came first in this round.
    pub(crate) first: Option<Arrival>,
}

/// A thread's arrival at a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) pc: u32,
    pub(crate) thread: u32,
}

impl Barrier {
    /// The reduction of the round that was completed last.
    pub(crate) fn result(&self, which: BarrierResult) -> u64 {
        match which {
            BarrierResult::Popc => u64::from(self.last.0),
            BarrierResult::And => u64::from(self.last.1),
            BarrierResult::Or => u64::from(self.last.2),
        }
    }

    /// Who came first in the round under way, and how many threads the last one counted.
    pub(crate) fn open(&self) -> Option<(Arrival, Option<u32>)> {
        self.first.filter(|_| self.arrived > 0).map(|first| (first, self.expected))
    }

    /// Who came first, where threads wait for every live one of the block.
    pub(crate) fn waits_for_all(&self) -> Option<Arrival> {
        self.first.filter(|_| self.arrived > 0 && self.expected.is_none())
    }

    /// Threads arrive, `truths` of `lanes` of them with a true predicate.
    pub(crate) fn arrive(&mut self, threads: u32, lanes: u32, truths: u32, expected: Option<u32>, waits: bool) {
        if self.arrived == 0 {
            (self.popc, self.all, self.any) = (0, true, false);
            self.waiting = 0;
        }
        self.arrived += threads;
        self.waiting += if waits { lanes } else { 0 };
        self.expected = expected;
        self.popc += truths;
        self.all &= truths == lanes;
        self.any |= truths != 0;
    }

    /// Completes it if enough have arrived.
    pub(crate) fn settle(&mut self, live: u32) -> bool {
        let complete = self.arrived > 0 && self.arrived >= self.expected.unwrap_or(live);
        if complete {
            self.last = (self.popc, self.all, self.any);
            self.arrived = 0;
            self.first = None;
            self.round += 1;
        }
        complete
    }
}
