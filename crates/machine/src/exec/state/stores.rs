//! What a warp remembers of its stores, to tell who goes around an operation at which others wait.

use super::warp::Split;

/// Stores of a warp that are remembered while some of its lanes wait. More are not needed to name one.
const STORES: usize = 16;

/// A store by lanes while others of their warp waited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) pc: u32,
    pub(crate) lanes: u32,
    pub(crate) event: u32,
}

/// What a warp remembers for it.
#[derive(Debug, Default)]
pub(crate) struct Bypass {
    /// Some split waits, or has waited not long ago.
    pub(crate) waited_for: bool,
    /// Counts waits and stores, to tell which came first.
    pub(crate) events: u32,
    pub(crate) stores: Vec<Elsewhere>,
    /// The last store since the last barrier of the block, and its lanes: none of them where there was none.
    pub(crate) stored: (u32, u32),
    /// There was one since this was last set back.
    pub(crate) stirs: bool,
}

/// A warp that has exited after a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone {
    /// One of those that stored, in the block's order.
    pub(crate) thread: u32,
    pub(crate) store: u32,
}

impl Bypass {
    pub(crate) fn start(&mut self) {
        self.clear();
        self.stored = (0, 0);
    }

    fn clear(&mut self) {
        self.waited_for = false;
        self.stores.clear();
    }

    /// Lanes store something, or change it atomically.
    #[inline(always)]
    pub(crate) fn stores(&mut self, pc: u32, lanes: u32) {
        self.stored = (pc, lanes);
        self.stirs = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stores.is_empty()
    }

    /// A split waits at its instruction from now on, if it did not already.
    pub(crate) fn wait(&mut self, split: &mut Split) {
        if split.waits_since.is_none_or(|(pc, _)| pc != split.pc) {
            self.events += 1;
            split.waits_since = Some((split.pc, self.events));
        }
        self.waited_for = true;
    }

    /// Lanes store something, or change it atomically, while others may be waiting.
    #[cold]
    #[inline(never)]
    pub(crate) fn store(&mut self, splits: &[Split], pc: u32, lanes: u32) {
        if !splits.iter().any(|s| s.waits_since.is_some()) {
            return self.clear();
        }
        self.events += 1;
        let event = self.events;
        if let Some(known) = self.stores.iter_mut().find(|e| e.pc == pc) {
            *known = Elsewhere { pc, lanes: known.lanes | lanes, event };
        } else if self.stores.len() < STORES {
            self.stores.push(Elsewhere { pc, lanes, event });
        }
    }
}
