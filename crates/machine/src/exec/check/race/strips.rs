//! Rows of 32 words of shared memory, each remembered as one access of a whole warp instead of 32 of its lanes.
//!
//! Most accesses are such rows, and most of what follows on a row is the same warp at the same place. Whatever is not so is looked at
//! a word at a time by [`Cells`](super::cells::Cells), which takes a strip apart first: a strip never says more than its
//! words would.

use super::clocks::Clocks;
use super::row::Kind;

/// Cells of a strip: a word a lane.
pub(super) const CELLS: usize = 32;

/// A whole warp's plain access to 32 words, one a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    /// The cell of lane 0.
    pub(super) start: usize,
    pub(super) stamp: u32,
    pub(super) pc: u32,
    pub(super) warp: u8,
    pub(super) kind: Kind,
}

/// 32 cells: the strip that starts in them, and the last access that a cell of them remembers by itself.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    strip: Option<Strip>,
    last: u32,
}

#[derive(Debug, Default)]
pub(super) struct Strips {
    slots: Vec<Slot>,
    /// There may be a strip of since the block's last barrier.
    any: bool,
}

impl Strips {
    /// Makes room for so many cells.
    pub(super) fn reach(&mut self, cells: usize) {
        self.slots.resize(cells.div_ceil(CELLS), Slot::default());
    }

    /// Remembers a strip, if nothing has been at its words since the block's barrier but what it can take the place of.
    #[inline(always)]
    pub(super) fn renews(&mut self, strip: Strip, clocks: &Clocks) -> bool {
        let (first, end) = (strip.start / CELLS, strip.start + CELLS);
        let last = (end - 1) / CELLS;
        let Some(slots) = self.slots.get_mut(first..=last) else { return false };
        if slots.iter().any(|slot| slot.last >= clocks.block) {
            return false;
        }
        let live = |slot: &Slot| slot.strip.filter(|old| old.stamp >= clocks.block);
        if let Some(old) = live(&slots[0]) {
            if old.start != strip.start || old.warp != strip.warp {
                return false;
            }
            // Lane by lane the same thread again: what it does now stands for what it did, or adds nothing to it.
            if !strip.kind.covers(old.kind) {
                return old.stamp >= clocks.synced && old.kind.covers(strip.kind);
            }
        } else {
            let behind = last != first && live(&slots[last - first]).is_some_and(|old| old.start < end);
            let before = first.checked_sub(1).and_then(|before| live(&self.slots[before]));
            if behind || before.is_some_and(|old| old.start + CELLS > strip.start) {
                return false;
            }
        }
        self.slots[first].strip = Some(strip);
        self.any = true;
        true
    }

    /// Whether taking strips apart may be left out.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        !self.any
    }

    /// Takes out a strip of since barrier `met` that reaches into cells `from..to`, if there is one.
    pub(super) fn take(&mut self, from: usize, to: usize, met: u32) -> Option<Strip> {
        let slots = self.slots.iter_mut().take(to.div_ceil(CELLS)).skip((from / CELLS).saturating_sub(1));
        let overlaps = |strip: &Strip| strip.stamp >= met && strip.start < to && from < strip.start + CELLS;
        slots.map(|slot| &mut slot.strip).find(|strip| strip.as_ref().is_some_and(overlaps))?.take()
    }

    /// Cells `from..to` remember an access by themselves.
    #[inline(always)]
    pub(super) fn note(&mut self, from: usize, to: usize, stamp: u32) {
        for slot in self.slots.iter_mut().take(to.div_ceil(CELLS)).skip(from / CELLS) {
            slot.last = slot.last.max(stamp);
        }
    }

    /// The block has met at a barrier: strips are of the past.
    pub(super) fn barrier(&mut self) {
        self.any = false;
    }

    /// Another block begins.
    pub(super) fn start(&mut self) {
        self.slots.fill(Slot::default());
    }
}
