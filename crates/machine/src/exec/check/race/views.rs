//! Release and acquire (PTX ISA 8.9), a thread at a time.
//!
//! A fence makes what a thread knows ready; its next strong write leaves it at that address. Whoever reads it from there
//! with a strong read knows it after a fence of its own. Atomics that change a place pass on what was there.

use std::collections::HashMap;

use super::clocks::Clocks;
use super::view::{Seen, View};
use crate::code::Order;
use crate::exec::state::lanes::each;

/// What was left at an address: for everyone, and for the threads of one block.
#[derive(Debug, Default)]
pub(crate) struct Left {
    wide: View,
    block: u32,
    narrow: View,
    /// Counts the writes, so that a thread which polls takes in each but once.
    version: u64,
}

/// What was left where, by address.
pub(crate) type Places = HashMap<u64, Left>;

#[derive(Clone, Debug, Default)]
struct Thread {
    acquired: View,
    /// Read, but no fence has followed yet: by counting itself and looking at the count, and in any other way.
    counted: View,
    pending: View,
    /// The clock at its last fence, and at the last one that reaches beyond the block.
    fenced: u32,
    fenced_widely: u32,
    /// The place and version that it took in last, and how.
    taken: (u64, u64, Order),
}

/// What the threads of a block know beyond the block's barriers.
#[derive(Debug, Default)]
pub(crate) struct Views {
    pub(crate) block: u32,
    /// What every thread knows since the last barrier.
    common: View,
    /// What some thread had read before the last barrier without a fence, in these two ways.
    told_by_count: View,
    hinted: View,
    threads: Vec<Thread>,
    /// The clock when a warp last passed a fence as a whole.
    fences: HashMap<u32, u32>,
    pub(crate) shared: Places,
}

/// One strong access of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) thread: u32,
    pub(crate) place: u64,
    pub(crate) order: Order,
    /// The thread counts itself, and what it does next depends on the count.
    pub(crate) counts: bool,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl Views {
    pub(crate) fn start(&mut self, block: u32) {
        self.block = block;
        (self.common, self.hinted, self.told_by_count) = Default::default();
        self.threads.clear();
        self.fences.clear();
        self.shared.clear();
    }

    fn thread(&mut self, thread: u32) -> &mut Thread {
        let thread = thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// Nobody has said anything yet.
    pub(crate) fn is_silent(&self) -> bool {
        self.threads.is_empty() && self.common.is_empty()
    }

    /// Whether a thread knows what another did.
    pub(crate) fn cover(&self, me: u32, block: u32, warp: u8, thread: u32, stamp: u32) -> bool {
        self.common.covers(block, warp, thread, stamp)
            || self.threads.get(me as usize).is_some_and(|t| t.acquired.covers(block, warp, thread, stamp))
    }

    /// Whether every thread of a mask surely knows all that a warp did.
    pub(crate) fn cover_warp(&self, me: u32, mask: u32, block: u32, warp: u8, stamp: u32) -> bool {
        self.common.covers_warp(block, warp, stamp)
            || each(mask).all(|lane| {
                let thread = self.threads.get(me as usize * 32 + lane);
                thread.is_some_and(|t| t.acquired.covers_warp(block, warp, stamp))
            })
    }

    /// Whether it would know, had a fence followed where it or a thread of its block learnt of it.
    pub(crate) fn would_cover(&self, me: u32, block: u32, warp: u8, thread: u32, stamp: u32) -> bool {
        self.hinted.covers(block, warp, thread, stamp)
            || self.threads.get(me as usize).is_some_and(|t| t.pending.covers(block, warp, thread, stamp))
            || self.comes_last(me, block, warp, thread, stamp)
    }

    /// Whether it knows, but for that fence, because it or a thread of its block has counted itself after the other had.
    pub(crate) fn comes_last(&self, me: u32, block: u32, warp: u8, thread: u32, stamp: u32) -> bool {
        self.told_by_count.covers(block, warp, thread, stamp)
            || self.threads.get(me as usize).is_some_and(|t| t.counted.covers(block, warp, thread, stamp))
    }

    /// Whether a thread of a mask has heard of a warp, with a fence or without: what it does comes later then, whoever sees it.
    pub(crate) fn reach(&self, me: u32, mask: u32, block: u32, of: u32, stamp: u32) -> bool {
        each(mask).any(|lane| {
            let me = 32 * me + lane as u32;
            (32 * of..32 * of + 32).any(|thread| {
                self.cover(me, block, of as u8, thread, stamp) || self.would_cover(me, block, of as u8, thread, stamp)
            })
        })
    }

    pub(crate) fn fence(&mut self, clocks: &mut Clocks, warp: u32, mask: u32, whole: bool, order: Order) {
        let now = clocks.tick();
        let own = self.block;
        if whole && !order.narrow {
            self.fences.insert(warp, now);
        }
        for lane in each(mask) {
            let thread = self.thread(32 * warp + lane as u32);
            thread.fenced = now;
            if order.narrow {
                let near = [thread.pending.of(own), thread.counted.of(own)];
                near.iter().for_each(|near| thread.acquired.join(near));
            } else {
                thread.fenced_widely = now;
                let read = [std::mem::take(&mut thread.pending), std::mem::take(&mut thread.counted)];
                read.iter().for_each(|read| thread.acquired.join(read));
            }
        }
    }

    /// Every thread has met every other.
    pub(crate) fn meet_all(&mut self) {
        for thread in &mut self.threads {
            let acquired = std::mem::take(&mut thread.acquired);
            self.common.join(&acquired);
            self.hinted.join(&thread.pending);
            self.told_by_count.join(&thread.counted);
        }
    }

    /// Some have: those of a mask of a warp, or whole warps.
    pub(crate) fn meet(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        if self.threads.is_empty() {
            return;
        }
        let mut joined = View::default();
        for t in threads.clone() {
            if let Some(thread) = self.threads.get(t as usize) {
                joined.join(&thread.acquired);
            }
        }
        if !joined.is_empty() {
            for t in threads {
                self.thread(t).acquired = joined.clone();
            }
        }
    }

    /// Adds to a view what lanes of a warp have acquired; with a time, also what each did before then itself.
    pub(crate) fn release(&self, clocks: &Clocks, warp: u32, lanes: u32, now: Option<u32>, to: &mut View) {
        to.join(&self.common);
        for thread in each(lanes).map(|lane| 32 * warp + lane as u32) {
            if let Some(now) = now {
                to.add(self.block, seen(clocks, &self.fences, thread, now));
            }
            if let Some(known) = self.threads.get(thread as usize) {
                to.join(&known.acquired);
            }
        }
    }

    /// Lanes of a warp acquire a view.
    pub(crate) fn acquire(&mut self, warp: u32, lanes: u32, view: &View) {
        if view.is_empty() {
            return;
        }
        for lane in each(lanes) {
            self.thread(32 * warp + lane as u32).acquired.join(view);
        }
    }

    /// A thread's strong access: what it passes on and what it takes in.
    pub(crate) fn exchange(&mut self, clocks: &mut Clocks, places: Option<&mut Places>, access: Exchange) {
        let Exchange { thread, place, order, counts, reads, writes } = access;
        let known = self.threads.get(thread as usize);
        let (narrow_cut, wide_cut) = match known {
            _ if order.release => {
                let now = clocks.tick();
                (now, if order.narrow { 0 } else { now })
            }
            Some(t) => (t.fenced, if order.narrow { 0 } else { t.fenced_widely }),
            None => (0, 0),
        };
        // A place of its own is borrowed while it is worked on.
        let mut own = std::mem::take(&mut self.shared);
        let at = places.unwrap_or(&mut own);
        if narrow_cut == 0 && !at.contains_key(&place) {
            self.shared = own;
            return;
        }
        let block = self.block;
        let left = at.entry(place).or_default();
        if left.block != block {
            (left.block, left.narrow) = (block, View::default());
        }
        if writes {
            left.version += 1;
            // A plain write hides what was there; an atomic passes it on.
            if !reads {
                (left.wide, left.narrow) = Default::default();
            }
            let acquired = known.map(|t| &t.acquired);
            let mut told = false;
            for (cut, to) in [(wide_cut, &mut left.wide), (narrow_cut, &mut left.narrow)] {
                let needless = cut == 0 || told && cut == wide_cut;
                told = true;
                if !needless {
                    to.add(block, seen(clocks, &self.fences, thread, cut));
                    to.join(&self.common);
                    if let Some(acquired) = acquired {
                        to.join(acquired);
                    }
                }
            }
        }
        if reads && !(left.wide.is_empty() && left.narrow.is_empty()) {
            let (wide, narrow) =
                (if order.narrow { left.wide.of(block) } else { left.wide.clone() }, left.narrow.clone());
            let version = (place, left.version, order);
            let to = self.thread(thread);
            if std::mem::replace(&mut to.taken, version) != version {
                let to = match counts {
                    _ if order.acquire => &mut to.acquired,
                    true => &mut to.counted,
                    false => &mut to.pending,
                };
                to.join(&wide);
                to.join(&narrow);
            }
        }
        if !own.is_empty() {
            self.shared = own;
        }
    }
}

/// What a thread knew of its own block when its clock was `cut`.
fn seen(clocks: &Clocks, fences: &HashMap<u32, u32>, thread: u32, cut: u32) -> Seen {
    let mut seen = Seen::default();
    seen.threads.insert(thread as u16, cut);
    let warp = thread / 32;
    if cut > clocks.block {
        seen.all = clocks.block;
        for (of, stamp) in clocks.known_warps(warp) {
            seen.warps.insert(of as u8, stamp);
        }
        for (of, stamp) in clocks.known_lanes(warp, thread % 32) {
            seen.threads.entry(of as u16).or_insert(stamp);
        }
    } else {
        // The barrier came between the fence and the write. What other warps had fenced by then counts, as it does on
        // hardware, although the PTX memory model asks for a fence by the writing thread.
        for (&of, &stamp) in fences {
            seen.warps.insert(of as u8, stamp.min(clocks.block));
        }
    }
    seen
}
