//! What has become known through atomics, flags and fences: of which blocks and threads, up to which time of theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Blocks of a view that is copied. A larger one stands for everything: a race may be missed, none is made up.
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

    fn join(&mut self, other: &Self) {
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
}

#[derive(Clone, Debug, Default)]
struct Known {
    blocks: BTreeMap<u32, Seen>,
    everything: bool,
}

/// Shared until it changes: what one block publishes, many take in.
#[derive(Clone, Debug, Default)]
pub(crate) struct View(Option<Arc<Known>>);

impl View {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether what a thread did at `stamp` of its block's clock is known.
    pub(crate) fn covers(&self, block: u32, warp: u8, thread: u32, stamp: u32) -> bool {
        self.0.as_ref().is_some_and(|known| {
            known.everything || known.blocks.get(&block).is_some_and(|seen| seen.covers(warp, thread, stamp))
        })
    }

    /// Whether all that a warp did until `stamp` is known.
    pub(crate) fn covers_warp(&self, block: u32, warp: u8, stamp: u32) -> bool {
        self.0.as_ref().is_some_and(|known| {
            known.everything || known.blocks.get(&block).is_some_and(|seen| seen.covers(warp, u32::MAX, stamp))
        })
    }

    pub(crate) fn join(&mut self, other: &Self) {
        let Some(theirs) = &other.0 else { return };
        match &self.0 {
            None => self.0 = Some(theirs.clone()),
            Some(mine) if Arc::ptr_eq(mine, theirs) => {}
            Some(_) => {
                let mine = self.change();
                mine.everything |= theirs.everything;
                for (&block, seen) in &theirs.blocks {
                    mine.blocks.entry(block).or_default().join(seen);
                }
            }
        }
    }

    pub(crate) fn add(&mut self, block: u32, seen: &Seen) {
        self.change().blocks.entry(block).or_default().join(seen);
    }

    /// What it says of one block.
    pub(crate) fn of(&self, block: u32) -> Self {
        let mut only = Self::default();
        if let Some(seen) = self.0.as_ref().and_then(|known| known.blocks.get(&block)) {
            only.add(block, seen);
        }
        only
    }

    fn change(&mut self) -> &mut Known {
        let known = self.0.get_or_insert_default();
        if known.blocks.len() > BLOCKS && Arc::strong_count(known) > 1 {
            *known = Arc::new(Known { blocks: BTreeMap::new(), everything: true });
        }
        Arc::make_mut(known)
    }
}
