//! The rounds of barriers that count threads: who came to which.
//!
//! Such a barrier counts who arrives and does not know who is meant (PTX ISA 9.7.13.1, `barrier`). Hence each arrival must come
//! after all of the round before: one that nothing orders so comes first by another schedule, and completes that round in the
//! place of somebody else.

use crate::exec::state::barrier::Arrival;

/// A warp's arrival at a barrier that counts threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    pub(crate) barrier: u32,
    pub(crate) warp: u32,
    /// The barrier holds it up until all are there.
    pub(super) waits: bool,
    /// How many threads it counts.
    pub(crate) threads: u32,
    pub(crate) pc: u32,
    pub(crate) thread: u32,
    /// The block's clock behind the arrival: it is later than all that the warp has done before, and than the arrival itself.
    pub(super) clock: u32,
}

impl Came {
    pub(crate) fn new(barrier: u32, warp: u32, threads: u32, waits: bool, arrival: Arrival) -> Self {
        let Arrival { pc, thread } = arrival;
        Self { barrier, warp, waits, threads, pc, thread, clock: 0 }
    }
}

/// What is known of the rounds of a block's barriers.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// Who has come to a round that is not complete.
    open: Vec<Came>,
    /// Who came to the last round that was.
    closed: Vec<Came>,
}

impl Rounds {
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.closed.clear();
    }

    pub(super) fn arrive(&mut self, came: Came) {
        self.open.push(came);
    }

    /// Those of the round before at a barrier.
    pub(super) fn before(&self, barrier: u32) -> impl Iterator<Item = &Came> {
        self.closed.iter().filter(move |came| came.barrier == barrier)
    }

    /// A round is complete.
    pub(super) fn complete(&mut self, barrier: u32) {
        self.closed.retain(|came| came.barrier != barrier);
        self.closed.extend(self.open.extract_if(.., |came| came.barrier == barrier));
    }
}
