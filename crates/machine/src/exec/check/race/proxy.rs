//! What threads have written to shared memory and bulk copies need not see yet (PTX ISA, "Proxies").
//!
//! A bulk copy reads through a proxy of its own. It sees what a thread wrote if a fence between the two proxies stands on the way from the
//! one to the other: behind the write, in the thread that wrote or in one that knows of it, and before the copy.

use super::Races;
use super::clocks::Clocks;
use super::row::Row;
use super::views::Views;
use crate::code::{Place, SlowOp};
use crate::exec::check::Watch;
use crate::exec::check::watch::{Action, Touch};
use crate::exec::fault;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::{Party, Trap};
use crate::exec::state::lanes::each;
use crate::report::kind::{Proxy as Kind, Reader};
use crate::report::{Code, Role};

/// Bytes of a word.
const WORD: u64 = 4;

/// Who wrote a word last, when and where in the code.
#[derive(Clone, Copy, Debug)]
struct Written {
    stamp: u32,
    pc: u32,
    thread: u32,
}

/// What fences have not shown.
#[derive(Debug, Default)]
pub(super) struct Proxy {
    /// By word.
    words: Vec<Option<Written>>,
    /// The words that have a write which no fence has shown.
    hidden: Vec<u32>,
}

impl Proxy {
    pub(super) fn clear(&mut self) {
        self.words.fill(None);
        self.hidden.clear();
    }

    /// An access to the block's own shared memory, by `op` or by an ordinary store. What a bulk copy brings, others see.
    pub(super) fn note(&mut self, touch: &Touch<'_>, like: &Row, op: Option<&SlowOp>) {
        if !matches!(touch.action, Action::Write | Action::Atomic | Action::CopyAsync) {
            return;
        }
        let bulk = op.is_some_and(SlowOp::is_bulk);
        for lane in each(touch.mask) {
            let (at, thread) = (touch.addrs[lane], like.thread(lane));
            let written = (!bulk).then_some(Written { stamp: like.stamp, pc: like.pc, thread });
            for index in words(at, touch.bytes) {
                self.put(index, written);
            }
        }
    }

    fn put(&mut self, index: usize, written: Option<Written>) {
        if self.words.len() <= index {
            self.words.resize(index + 1, None);
        }
        let word = &mut self.words[index];
        if word.is_none() && written.is_some() {
            self.hidden.push(index as u32);
        }
        *word = written;
    }

    /// Lanes of a warp show what they wrote, and what they know that others did.
    pub(super) fn fence(&mut self, clocks: &Clocks, views: &Views, block: u32, warp: u32, mask: u32) {
        let Self { words, hidden } = self;
        hidden.retain(|index| {
            let Some(word) = words.get_mut(*index as usize) else { return false };
            let Some(written) = *word else { return false };
            let shown = each(mask).any(|lane| written.is_known(clocks, views, block, 32 * warp + lane as u32));
            if shown {
                *word = None;
            }
            !shown
        });
    }
}

impl Written {
    /// Whether the write comes before what a thread does now.
    fn is_known(&self, clocks: &Clocks, views: &Views, block: u32, me: u32) -> bool {
        let (warp, lane) = (me / 32, me as usize % 32);
        let (of, other) = (self.thread / 32, self.thread as usize % 32);
        self.thread == me
            || clocks.ordered(warp, lane, of, other, self.stamp)
            || !views.is_silent() && views.cover(me, block, of as u8, self.thread, self.stamp)
    }
}

/// The words that hold some bytes.
fn words(at: u64, bytes: u64) -> std::ops::RangeInclusive<usize> {
    (at / WORD) as usize..=((at + bytes.max(1) - 1) / WORD) as usize
}

impl Watch<'_> {
    /// A lane's bulk copy reads shared memory. What nothing orders before it is a race, and none of this.
    pub(in crate::exec::check) fn look_for_fences(&mut self, races: &Races, lane: usize, at: u64, len: u64) {
        let Some(proxy) = &races.proxy else { return };
        let me = 32 * self.warp + lane as u32;
        let block = races.block();
        let hidden = words(at, len).filter_map(|index| proxy.words.get(index).copied().flatten());
        let mut known = hidden.filter(|written| written.is_known(&races.clocks, &races.views, block, me));
        let Some(first) = known.next() else { return };
        // What others wrote needs a fence of theirs, which is then enough for the thread's own, too.
        let other = (first.thread == me).then(|| known.find(|written| written.thread != me)).flatten();
        let Written { pc, thread, .. } = other.unwrap_or(first);
        let site = Site { code: Code::ProxyFence, pc: self.pc, other: pc };
        let (run, here, own) = (self.run, self.pc, self.block);
        self.findings.add(site, self.block, self.warp, 1, || {
            let about = fault::buffer(run, Place::Shared, at, len);
            let party = Party { role: Role::Wrote, pc, block: Some(own), thread: Some(thread) };
            let kind = Kind { reader: Reader::Copy, same_thread: thread == me, block: run.launch.block };
            Trap::new(kind, 1 << lane).at(here).about(about).party(party)
        });
    }
}
