//! What happens before what inside a block.
//!
//! A block has one clock, which every synchronisation moves on. Instead of a vector of clocks a thread, the block
//! keeps what its barriers have made common: all that happened before `block` is ordered before everything that
//! happens now; within a warp, all before the warp's entry. Matrices for parts of warps and for barriers of some warps
//! exist only where a kernel has such things.

use crate::exec::state::lanes::{FULL, each};

/// A block's clock and the barriers behind it.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    /// Moves on at every synchronisation, and at every write, so that it tells what came first.
    pub(crate) now: u32,
    /// When it last moved on for a synchronisation.
    pub(crate) synced: u32,
    /// When the block began: what is older is of another block.
    pub(crate) start: u32,
    /// The last barrier of the whole block.
    pub(crate) block: u32,
    /// The last `__syncwarp()` of every warp as a whole.
    pub(crate) warps: Vec<u32>,
    /// `lanes[w][t][u]`: what lane u did before then is ordered before what lane t does now.
    lanes: Vec<Option<Box<[[u32; 32]; 32]>>>,
    /// The same for warps that met at barriers of part of the block: row w, column u.
    across: Vec<u32>,
    /// When lanes of each warp last executed a warp operation together, and which. That orders no access to memory.
    together: Vec<(u32, u32)>,
}

impl Clocks {
    pub(crate) fn start(&mut self, warps: usize) {
        self.tick();
        (self.start, self.block) = (self.now, self.now);
        self.warps.clear();
        self.warps.resize(warps, self.now);
        self.lanes.clear();
        self.across.clear();
        self.together.clear();
    }

    /// Lanes of a warp exchange something in registers.
    pub(crate) fn meet_in_registers(&mut self, warp: u32, mask: u32) {
        self.now += 1;
        let warp = warp as usize;
        if self.together.len() <= warp {
            self.together.resize(warp + 1, (0, 0));
        }
        self.together[warp] = (self.now, mask);
    }

    /// Whether two lanes of a warp have met since, be it in registers.
    pub(crate) fn have_met(&self, warp: u32, mask: u32, stamp: u32) -> bool {
        self.together.get(warp as usize).is_some_and(|&(met, lanes)| stamp < met && mask & !lanes == 0)
    }

    pub(crate) fn tick(&mut self) -> u32 {
        self.now += 1;
        self.synced = self.now;
        self.now
    }

    /// Whether it is time to begin from zero with the next block: one block cannot use up what is left.
    pub(crate) fn is_late(&self) -> bool {
        self.now > 1 << 31
    }

    /// Every live thread of the block has met.
    pub(crate) fn meet_all(&mut self) {
        self.block = self.tick();
        self.lanes.clear();
        self.across.clear();
    }

    /// Lanes of a warp have met.
    pub(crate) fn meet_lanes(&mut self, warp: u32, mask: u32, whole: bool) {
        let now = self.tick();
        let warp = warp as usize;
        if whole {
            if let Some(w) = self.warps.get_mut(warp) {
                *w = now;
            }
            if let Some(lanes) = self.lanes.get_mut(warp) {
                *lanes = None;
            }
            return;
        }
        if self.lanes.len() <= warp {
            self.lanes.resize_with(warp + 1, || None);
        }
        let known = self.lanes[warp].get_or_insert_with(|| Box::new([[0; 32]; 32]));
        let mut joined = [0; 32];
        for t in each(mask) {
            for (j, k) in joined.iter_mut().zip(&known[t]) {
                *j = (*j).max(*k);
            }
        }
        for u in each(mask) {
            joined[u] = now;
        }
        for t in each(mask) {
            known[t] = joined;
        }
    }

    /// Warps have met at a barrier: `arrived` are warps with their clock when they came, `waited` says which of them
    /// the barrier held up until all were there.
    pub(crate) fn meet_warps(&mut self, arrived: &[(u32, u32, bool)]) {
        self.tick();
        let n = self.warps.len();
        if self.across.is_empty() {
            self.across.resize(n * n, 0);
        }
        let mut joined = vec![0; n];
        for &(warp, came, _) in arrived {
            let warp = warp as usize;
            if warp >= n {
                return;
            }
            for (j, k) in joined.iter_mut().zip(&self.across[warp * n..][..n]) {
                *j = (*j).max(*k);
            }
            joined[warp] = joined[warp].max(came);
        }
        for &(warp, _, waited) in arrived {
            if waited {
                let warp = warp as usize;
                for (k, j) in self.across[warp * n..][..n].iter_mut().zip(&joined) {
                    *k = (*k).max(*j);
                }
                self.meet_lanes(warp as u32, FULL, true);
            }
        }
    }

    /// A warp as a whole learns what the others did before these times, and its lanes of each other.
    pub(crate) fn learn(&mut self, warp: u32, times: &[u32]) {
        let (n, warp) = (self.warps.len(), warp as usize);
        if self.across.is_empty() {
            self.across.resize(n * n, 0);
        }
        let Some(row) = self.across.get_mut(warp * n..(warp + 1) * n) else { return };
        for (known, time) in row.iter_mut().zip(times) {
            *known = (*known).max(*time);
        }
        if let (Some(own), Some(&time)) = (self.warps.get_mut(warp), times.get(warp)) {
            *own = (*own).max(time);
        }
    }

    /// What a thread of a warp knows of warps as a whole.
    pub(crate) fn known_warps(&self, warp: u32) -> impl Iterator<Item = (u32, u32)> {
        let n = self.warps.len();
        let row = self.across.get(warp as usize * n..(warp as usize + 1) * n).unwrap_or_default();
        let across = row.iter().enumerate().filter(|(_, stamp)| **stamp > self.block).map(|(w, s)| (w as u32, *s));
        let own = self.warps.get(warp as usize).map(|&stamp| (warp, stamp));
        across.filter(move |(w, _)| *w != warp).chain(own)
    }

    /// What a lane knows of the threads of its own warp.
    pub(crate) fn known_lanes(&self, warp: u32, lane: u32) -> impl Iterator<Item = (u32, u32)> {
        let known = self.lanes.get(warp as usize).and_then(Option::as_ref);
        let row = known.map_or(&[][..], |known| &known[lane as usize & 31][..]);
        row.iter().enumerate().filter(|(_, stamp)| **stamp > 0).map(move |(l, s)| (32 * warp + l as u32, *s))
    }

    /// What warp `of` as a whole did before then is ordered before what a thread of warp `me` does now.
    pub(crate) fn known_of_warp(&self, me: u32, of: u32) -> u32 {
        let (me, of) = (me as usize, of as usize);
        let told = if me == of { self.warps.get(me) } else { self.across.get(me * self.warps.len() + of) };
        told.map_or(self.block, |&told| told.max(self.block))
    }

    /// The same of what lane u of that warp did, and lane t of this one does.
    pub(crate) fn known_of(&self, me: u32, t: usize, of: u32, u: usize) -> u32 {
        let lanes = self.lanes.get(me as usize).and_then(Option::as_ref).filter(|_| me == of);
        self.known_of_warp(me, of).max(lanes.map_or(0, |known| known[t & 31][u & 31]))
    }

    /// Whether what lane u of warp `of` did at `stamp` is ordered before what lane t of warp `me` does now.
    pub(crate) fn ordered(&self, me: u32, t: usize, of: u32, u: usize, stamp: u32) -> bool {
        stamp < self.block || me == of && t == u || stamp < self.known_of(me, t, of, u)
    }
}
