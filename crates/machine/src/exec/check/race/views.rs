//! Release and acquire (PTX ISA 8.9), a thread at a time.
//!
//! A fence makes what a thread knows ready; its next strong write leaves it at that address. Whoever reads it from there
//! with a strong read knows it after a fence of its own. Atomics that change a place pass on what was there.
//!
//! Of two `fence.sc` that reach each other, one comes first, and the other's thread knows what the first one's knew
//! (PTX ISA 8.9.3). A barrier between the read and the reader's fence does not matter then. Let thread W fence and then
//! write a flag, thread R read that, and thread T fence after it has met R. If T's fence came first, R's read would be
//! ordered before W's write, by the barrier and the two fences; but no read finds what is written after it (8.10.6). So
//! W's fence came first.

use std::collections::HashMap;
use std::sync::Arc;

use super::clocks::Clocks;
use super::view::{Seen, View};
use crate::code::Order;
use crate::exec::state::lanes::each;

/// What was left at an address: for everyone, and for the threads of one block.
#[derive(Debug, Default)]
pub(crate) struct Left {
    wide: View,
    /// The part of that which a `fence.sc` has made ready.
    total: View,
    block: u32,
    narrow: View,
    /// Counts the writes, so that a thread which polls takes in each but once.
    version: u64,
}

/// What was left where, by address.
pub(crate) type Places = HashMap<u64, Left>;

/// A fence, or an access that releases by itself.
#[derive(Clone, Debug)]
struct Fenced {
    /// The clock then.
    at: u32,
    /// What the thread knew of its block at that time by barriers, itself apart. What it learns later, it has not made ready.
    seen: Arc<Seen>,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    acquired: View,
    /// Read, but no fence has followed yet: by counting itself and looking at the count, and in any other way.
    counted: View,
    pending: View,
    /// Its last fence, and the last one that reaches beyond the block.
    fenced: Option<Fenced>,
    fenced_widely: Option<Fenced>,
    /// The last of those that was a `fence.sc`.
    fenced_totally: Option<Fenced>,
    /// What such fences had made ready that it has read of, or another whom it has met since.
    heard: View,
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
    /// The same of what `fence.sc` had made ready: a thread that passes one itself knows it.
    heard: View,
    threads: Vec<Thread>,
    /// When warps as a whole and threads last passed a fence, and one that reaches beyond the block.
    fences: Seen,
    wide_fences: Seen,
    total_fences: Seen,
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
    /// What it does next depends on what it finds there. Who does not look knows nothing, whatever a schedule lets it find.
    pub(crate) learns: bool,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl Views {
    pub(crate) fn start(&mut self, block: u32) {
        self.block = block;
        (self.common, self.hinted, self.told_by_count, self.heard) = Default::default();
        self.threads.clear();
        (self.fences, self.wide_fences, self.total_fences) = Default::default();
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
        self.common.covers(self.block, block, warp, thread, stamp)
            || self.threads.get(me as usize).is_some_and(|t| t.acquired.covers(self.block, block, warp, thread, stamp))
    }

    /// Whether every thread of a mask surely knows all that a warp did.
    pub(crate) fn cover_warp(&self, me: u32, mask: u32, block: u32, warp: u8, stamp: u32) -> bool {
        self.common.covers_warp(self.block, block, warp, stamp)
            || each(mask).all(|lane| {
                let thread = self.threads.get(me as usize * 32 + lane);
                thread.is_some_and(|t| t.acquired.covers_warp(self.block, block, warp, stamp))
            })
    }

    /// Whether it would know, had a fence followed where it or a thread of its block learnt of it.
    pub(crate) fn would_cover(&self, me: u32, block: u32, warp: u8, thread: u32, stamp: u32) -> bool {
        self.hinted.covers(self.block, block, warp, thread, stamp)
            || self.threads.get(me as usize).is_some_and(|t| t.pending.covers(self.block, block, warp, thread, stamp))
            || self.comes_last(me, block, warp, thread, stamp)
    }

    /// Whether it knows, but for that fence, because it or a thread of its block has counted itself after the other had.
    pub(crate) fn comes_last(&self, me: u32, block: u32, warp: u8, thread: u32, stamp: u32) -> bool {
        self.told_by_count.covers(self.block, block, warp, thread, stamp)
            || self.threads.get(me as usize).is_some_and(|t| t.counted.covers(self.block, block, warp, thread, stamp))
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
        let fenced = |fences: &mut Seen| {
            if whole {
                fences.warps.insert(warp as u8, now);
                fences.threads.retain(|thread, _| u32::from(*thread) / 32 != warp);
            } else {
                fences.threads.extend(each(mask).map(|lane| ((32 * warp) as u16 + lane as u16, now)));
            }
        };
        fenced(&mut self.fences);
        if !order.narrow {
            fenced(&mut self.wide_fences);
        }
        let total = order.total && !order.narrow;
        if total {
            fenced(&mut self.total_fences);
        }
        let heard = if total { self.heard.clone() } else { View::default() };
        // Most often all of a warp know the same.
        let mut common: Option<Arc<Seen>> = None;
        for lane in each(mask) {
            let thread = 32 * warp + lane as u32;
            let seen = match clocks.known_lanes(warp, lane as u32).next() {
                Some(_) => Arc::new(known(clocks, thread)),
                None => common.get_or_insert_with(|| Arc::new(known(clocks, thread))).clone(),
            };
            let thread = self.thread(thread);
            let fenced = Fenced { at: now, seen };
            if order.narrow {
                let near = [thread.pending.of(own), thread.counted.of(own)];
                near.iter().for_each(|near| thread.acquired.join(own, near));
            } else {
                thread.fenced_widely = Some(fenced.clone());
                let read = [std::mem::take(&mut thread.pending), std::mem::take(&mut thread.counted)];
                read.iter().for_each(|read| thread.acquired.join(own, read));
            }
            if total {
                thread.fenced_totally = Some(fenced.clone());
                let own_heard = std::mem::take(&mut thread.heard);
                [&heard, &own_heard].iter().for_each(|heard| thread.acquired.join(own, heard));
            }
            thread.fenced = Some(fenced);
        }
    }

    /// What every thread knows.
    pub(crate) fn common(&self) -> View {
        let mut all = self.common.clone();
        self.threads.iter().for_each(|thread| all.join(self.block, &thread.acquired));
        all
    }

    /// Every thread learns of it.
    pub(crate) fn all_learn(&mut self, view: &View) {
        self.common.join(self.block, view);
    }

    /// Every thread has met every other.
    pub(crate) fn meet_all(&mut self) {
        for thread in &mut self.threads {
            let acquired = std::mem::take(&mut thread.acquired);
            self.common.join(self.block, &acquired);
            self.hinted.join(self.block, &thread.pending);
            self.told_by_count.join(self.block, &thread.counted);
            self.heard.join(self.block, &std::mem::take(&mut thread.heard));
        }
    }

    /// Some have: those of a mask of a warp, or whole warps.
    pub(crate) fn meet(&mut self, threads: impl Iterator<Item = u32> + Clone) {
        if self.threads.is_empty() {
            return;
        }
        let (mut joined, mut heard) = (View::default(), View::default());
        for t in threads.clone() {
            if let Some(thread) = self.threads.get(t as usize) {
                joined.join(self.block, &thread.acquired);
                heard.join(self.block, &thread.heard);
            }
        }
        if !heard.is_empty() {
            for t in threads.clone() {
                self.thread(t).heard = heard.clone();
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
        to.join(self.block, &self.common);
        for thread in each(lanes).map(|lane| 32 * warp + lane as u32) {
            if let Some(now) = now {
                let mut seen = known(clocks, thread);
                seen.threads.insert(thread as u16, now);
                to.add(self.block, seen);
            }
            if let Some(known) = self.threads.get(thread as usize) {
                to.join(self.block, &known.acquired);
            }
        }
    }

    /// Lanes of a warp acquire a view.
    pub(crate) fn acquire(&mut self, warp: u32, lanes: u32, view: &View) {
        if view.is_empty() {
            return;
        }
        for lane in each(lanes) {
            let own = self.block;
            self.thread(32 * warp + lane as u32).acquired.join(own, view);
        }
    }

    /// A thread's strong access: what it passes on and what it takes in.
    pub(crate) fn exchange(&mut self, clocks: &mut Clocks, places: Option<&mut Places>, access: Exchange) {
        let Exchange { thread, place, order, counts, learns, reads, writes } = access;
        let (near, wide) = match self.threads.get(thread as usize) {
            _ if order.release => {
                let now = Some(Fenced { at: clocks.tick(), seen: Arc::new(known(clocks, thread)) });
                (now.clone(), now)
            }
            Some(t) => (t.fenced.clone(), t.fenced_widely.clone()),
            None => (None, None),
        };
        let wide = wide.filter(|_| !order.narrow);
        let total = self.threads.get(thread as usize).and_then(|t| t.fenced_totally.clone()).filter(|_| !order.narrow);
        // A place of its own is borrowed while it is worked on.
        let mut own = std::mem::take(&mut self.shared);
        let at = places.unwrap_or(&mut own);
        if near.is_none() && !at.contains_key(&place) {
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
                (left.wide, left.narrow, left.total) = Default::default();
            }
            let ready = |fenced: &Fenced, fences: &Seen, to: &mut View| {
                to.add(block, self.ready(clocks, thread, fenced, fences));
                to.join(block, &self.common);
                if let Some(known) = self.threads.get(thread as usize) {
                    to.join(block, &known.acquired);
                }
            };
            if let Some(wide) = &wide {
                ready(wide, &self.wide_fences, &mut left.wide);
            }
            if let Some(total) = &total {
                ready(total, &self.total_fences, &mut left.total);
            }
            if let Some(near) = near.filter(|near| wide.is_none_or(|wide| near.at != wide.at)) {
                ready(&near, &self.fences, &mut left.narrow);
            }
        }
        if learns && reads && !(left.wide.is_empty() && left.narrow.is_empty()) {
            let (wide, narrow) =
                (if order.narrow { left.wide.of(block) } else { left.wide.clone() }, left.narrow.clone());
            let total = if order.narrow { View::default() } else { left.total.clone() };
            let version = (place, left.version, order);
            let to = self.thread(thread);
            if std::mem::replace(&mut to.taken, version) != version {
                let to = match counts {
                    _ if order.acquire => &mut to.acquired,
                    true => &mut to.counted,
                    false => &mut to.pending,
                };
                to.join(block, &wide);
                to.join(block, &narrow);
                self.thread(thread).heard.join(block, &total);
            }
        }
        if !own.is_empty() {
            self.shared = own;
        }
    }

    /// What a thread's last fence has made ready of its own block.
    fn ready(&self, clocks: &Clocks, thread: u32, fenced: &Fenced, fences: &Seen) -> Seen {
        let mut ready = Seen::clone(&fenced.seen);
        ready.threads.insert(thread as u16, fenced.at);
        // Others may have passed fences of their own, and then met this thread. What they had made ready counts, as it does on
        // hardware, although the PTX memory model asks for a fence by the writing thread.
        let (warp, lane) = (thread / 32, thread as usize % 32);
        let mut met = Seen::default();
        for (&of, &at) in &fences.warps {
            met.warps.insert(of, at.min(clocks.known_of_warp(warp, of.into())));
            if u32::from(of) == warp {
                met.threads.extend(clocks.known_lanes(warp, lane as u32).map(|(u, known)| (u as u16, known.min(at))));
            }
        }
        for (&of, &at) in &fences.threads {
            let known = clocks.known_of(warp, lane, u32::from(of) / 32, usize::from(of) % 32);
            let stamp = met.threads.entry(of).or_default();
            *stamp = known.min(at).max(*stamp);
        }
        ready.join(&met);
        ready
    }
}

/// What a thread knows of its own block, itself apart, by barriers.
fn known(clocks: &Clocks, thread: u32) -> Seen {
    let (warp, lane) = (thread / 32, thread % 32);
    Seen {
        all: clocks.block,
        warps: clocks.known_warps(warp).map(|(of, stamp)| (of as u8, stamp)).collect(),
        threads: clocks.known_lanes(warp, lane).map(|(of, stamp)| (of as u16, stamp)).collect(),
    }
}
