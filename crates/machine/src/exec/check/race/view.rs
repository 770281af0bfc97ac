//! What has become known through atomics, flags and fences: of which blocks and threads, up to which time of theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

/// Blocks of a view that changes while others share it, so that it does not take long to compare two. A larger one
/// stands for all that other blocks did: a race with them may be missed, none is made up.
const BLOCKS: usize = 4096;

/// What is known of a block: everything before `all`, of some warps and threads more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) all: u32,
    pub(crate) warps: BTreeMap<u8, u32>,
    pub(crate) threads: BTreeMap<u16, u32>,
}

impl Seen {
    fn covers(&self, warp: u8, thread: u32, stamp: u32) -> bool {
        stamp < self.all
            || self.warps.get(&warp).is_some_and(|&w| stamp < w)
            || u16::try_from(thread).is_ok_and(|t| self.threads.get(&t).is_some_and(|&t| stamp < t))
    }

    /// Later times take the place of earlier ones.
    pub(crate) fn join(&mut self, other: &Self) {
        self.all = self.all.max(other.all);
        for (&warp, &stamp) in &other.warps {
            let known = self.warps.entry(warp).or_default();
            *known = stamp.max(*known);
        }
        for (&thread, &stamp) in &other.threads {
            let known = self.threads.entry(thread).or_default();
            *known = stamp.max(*known);
        }
        let all = self.all;
        self.warps.retain(|_, stamp| *stamp > all);
        self.threads.retain(|_, stamp| *stamp > all);
    }

    /// Whether another knows all of it.
    fn within(&self, other: &Self) -> bool {
        let warp = |warp: u8, stamp: u32| stamp <= other.all || other.warps.get(&warp).is_some_and(|&w| stamp <= w);
        self.all <= other.all
            && self.warps.iter().all(|(&w, &stamp)| warp(w, stamp))
            && self.threads.iter().all(|(&thread, &stamp)| {
                warp((thread / 32) as u8, stamp) || other.threads.get(&thread).is_some_and(|&t| stamp <= t)
            })
    }
}

/// What is known of a block is shared, too: at a barrier of the grid every block has a view of all that came before
/// it. The map is a persistent one: where each block adds itself to what those before it have left, a copy shares all
/// but a few nodes.
#[derive(Clone, Debug, Default)]
struct Known {
    blocks: RedBlackTreeMapSync<u32, Arc<Seen>>,
    /// All that other blocks did than the one of whoever asks.
    everything: bool,
}

impl Known {
    /// Whether another view knows all of it, for a thread of block `own`.
    fn within(&self, other: &Self, own: u32) -> bool {
        let known = |(block, seen): (&u32, &Arc<Seen>)| {
            other.blocks.get(block).is_some_and(|other| Arc::ptr_eq(seen, other) || seen.within(other))
        };
        if other.everything {
            return self.blocks.get_key_value(&own).is_none_or(known);
        }
        !self.everything && self.blocks.size() <= other.blocks.size() && self.blocks.iter().all(known)
    }

    fn covers(&self, own: u32, block: u32, covers: impl Fn(&Seen) -> bool) -> bool {
        self.everything && block != own || self.blocks.get(&block).is_some_and(|seen| covers(seen))
    }

    fn add(&mut self, block: u32, seen: &Arc<Seen>) {
        // Not by `get_mut`, which copies the way to a block even if nothing of it changes.
        if self.blocks.get(&block).is_some_and(|known| Arc::ptr_eq(known, seen)) {
            return;
        }
        match self.blocks.get_mut(&block) {
            None => self.blocks.insert_mut(block, seen.clone()),
            Some(known) => Arc::make_mut(known).join(seen),
        }
    }
}

/// Shared until it changes: what one block publishes, many take in. `own` is the block of whoever asks or adds.
#[derive(Clone, Debug, Default)]
pub(crate) struct View(Option<Arc<Known>>);

impl View {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether what a thread did at `stamp` of its block's clock is known.
    pub(crate) fn covers(&self, own: u32, block: u32, warp: u8, thread: u32, stamp: u32) -> bool {
        self.0.as_ref().is_some_and(|known| known.covers(own, block, |seen| seen.covers(warp, thread, stamp)))
    }

    /// Whether all that a warp did until `stamp` is known.
    pub(crate) fn covers_warp(&self, own: u32, block: u32, warp: u8, stamp: u32) -> bool {
        self.covers(own, block, warp, u32::MAX, stamp)
    }

    pub(crate) fn join(&mut self, own: u32, other: &Self) {
        let Some(theirs) = &other.0 else { return };
        match &self.0 {
            None => self.0 = Some(theirs.clone()),
            Some(mine) if Arc::ptr_eq(mine, theirs) => {}
            // One view for many blocks, instead of as many that are equal.
            Some(mine) if mine.within(theirs, own) => self.0 = Some(theirs.clone()),
            Some(mine) if theirs.within(mine, own) => {}
            Some(_) => {
                let mine = self.change(own);
                mine.everything |= theirs.everything;
                theirs.blocks.iter().for_each(|(&block, seen)| mine.add(block, seen));
            }
        }
    }

    pub(crate) fn add(&mut self, own: u32, seen: Seen) {
        self.change(own).add(own, &Arc::new(seen));
    }

    /// What it says of the own block.
    pub(crate) fn of(&self, own: u32) -> Self {
        let mut only = Self::default();
        if let Some(seen) = self.0.as_ref().and_then(|known| known.blocks.get(&own)) {
            only.change(own).add(own, seen);
        }
        only
    }

    fn change(&mut self, own: u32) -> &mut Known {
        let known = self.0.get_or_insert_default();
        if known.blocks.size() > BLOCKS && Arc::strong_count(known) > 1 {
            let seen = known.blocks.get(&own).map(|seen| (own, seen.clone()));
            *known = Arc::new(Known { blocks: seen.into_iter().collect(), everything: true });
        }
        Arc::make_mut(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(all: u32, warps: &[(u8, u32)], threads: &[(u16, u32)]) -> Seen {
        Seen { all, warps: warps.iter().copied().collect(), threads: threads.iter().copied().collect() }
    }

    fn view(blocks: &[(u32, &Seen)]) -> View {
        let mut view = View::default();
        blocks.iter().for_each(|&(block, seen)| view.add(block, seen.clone()));
        view
    }

    #[test]
    fn what_is_known_already_is_shared_and_not_copied() {
        let (early, late) = (seen(3, &[], &[(0, 4)]), seen(5, &[], &[(0, 6)]));
        let all = view(&[(1, &late), (2, &early)]);
        let mut one = view(&[(1, &early)]);
        one.join(9, &all);
        assert!(Arc::ptr_eq(one.0.as_ref().unwrap(), all.0.as_ref().unwrap()));
        one.join(9, &view(&[(2, &early)]));
        assert!(Arc::ptr_eq(one.0.as_ref().unwrap(), all.0.as_ref().unwrap()));
        // Something new on one block: what is known of the other stays shared.
        one.join(9, &view(&[(1, &seen(7, &[], &[]))]));
        assert!(one.covers(9, 1, 0, 0, 6) && !all.covers(9, 1, 0, 0, 6) && one.covers(9, 2, 0, 0, 3));
        let shared = |view: &View| view.0.as_ref().unwrap().blocks[&2].clone();
        assert!(Arc::ptr_eq(&shared(&one), &shared(&all)));
    }

    #[test]
    fn more_is_known_of_a_block_than_of_its_warps_and_of_those_than_of_threads() {
        let (block, warp, thread) = (seen(5, &[], &[]), seen(1, &[(2, 5)], &[]), seen(1, &[], &[(70, 5)]));
        assert!(thread.within(&warp) && warp.within(&block) && thread.within(&block));
        assert!(!block.within(&warp) && !warp.within(&thread));
        assert!(!seen(1, &[], &[(70, 6)]).within(&warp) && !seen(1, &[], &[(0, 5)]).within(&warp));
        assert!(thread.covers(2, 70, 4) && !thread.covers(2, 71, 4) && warp.covers(2, 71, 4));
    }

    #[test]
    fn a_large_view_stands_for_other_blocks_and_not_for_the_own_one() {
        let mut left = View::default();
        let last = BLOCKS as u32 + 2;
        for own in 0..=last {
            left.add(own, seen(0, &[], &[(0, 4)]));
            let mut mine = View::default();
            mine.join(own, &left);
            assert!(
                mine.covers(own, own, 0, 0, 3) && !mine.covers(own, own, 0, 0, 4) && !mine.covers(own, own, 1, 32, 3)
            );
            assert!(own == 0 || mine.covers(own, own - 1, 0, 0, 3));
        }
        // What is known of the own block stays, whichever view takes the place of the other.
        let mut mine = view(&[(last, &seen(7, &[], &[]))]);
        mine.join(last, &left);
        assert!(
            mine.covers(last, last, 3, 96, 6) && !mine.covers(last, last, 3, 96, 7) && mine.covers(last, 0, 0, 0, 3)
        );
    }
}
