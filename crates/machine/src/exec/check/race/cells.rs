//! The accesses to a block's shared memory since its last barrier, a word at a time.
//!
//! A barrier of the block orders all before it, so that a word has to remember little: who read it, who wrote it. What makes that
//! quick is what need not be remembered: the same threads again, and one more warp that reads what two have read, as whoever
//! writes there races with one of the two at least.

use smallvec::SmallVec;

use super::clocks::Clocks;
use super::compare::{Clash, Past, within};
use super::marks::{Cell, Mark, enough, unseen};
use super::row::{Kind, LINE, Row};
use super::strips::{self, Strip, Strips};
use super::value::Values;
use crate::exec::check::watch::Touch;
use crate::exec::state::address::sequential;
use crate::exec::state::lanes::{FULL, each};

/// Marks of a cell that are kept. When there are more, the oldest read is forgotten: a race may be missed, none is made up.
const MARKS: usize = 64;

/// What shared memory remembers.
#[derive(Debug)]
pub(super) struct Cells {
    /// The base-two logarithm of a cell's bytes: cells are words until something smaller is accessed.
    shift: u32,
    cells: Vec<Cell>,
    /// A bit a cell: two warps have read it since the barrier, and nobody has written.
    crowded: Vec<u64>,
    any_crowded: bool,
    /// Accesses that no cell has heard of yet. Only where cells are words.
    strips: Strips,
    any_pending: bool,
}

/// The base-two logarithm of a word's bytes.
const WORD: u32 = 2;

impl Default for Cells {
    fn default() -> Self {
        Self {
            shift: WORD,
            cells: Vec::new(),
            crowded: Vec::new(),
            any_crowded: false,
            strips: Strips::default(),
            any_pending: false,
        }
    }
}

/// Races of one access, one for each instruction of another warp, or of this, that it races with.
type Found = SmallVec<[(u64, Clash); 2]>;

fn add(found: &mut Found, line: u64, clash: Clash) {
    let of = |clash: &Clash| (clash.earlier.pc, clash.earlier.warp, clash.earlier.stamp, clash.earlier.kind);
    match found.iter_mut().find(|(_, known)| of(known) == of(&clash)) {
        Some((_, known)) => {
            known.lanes |= clash.lanes;
            known.benign &= clash.benign;
        }
        None => found.push((line, clash)),
    }
}

impl Cells {
    /// Another block begins.
    pub(super) fn start(&mut self) {
        self.barrier();
        self.strips.start();
        // What the block before has not waited for is not this one's.
        if std::mem::take(&mut self.any_pending) {
            self.cells.iter_mut().for_each(|cell| cell.retain(|mark| !mark.kind.is(Kind::PENDING)));
        }
    }

    /// The block has met at a barrier.
    pub(super) fn barrier(&mut self) {
        self.strips.barrier();
        if std::mem::take(&mut self.any_crowded) {
            self.crowded.fill(0);
        }
    }

    /// Whether a plain read of a whole warp is one that takes no more than a look: of one word for all lanes, or of words that
    /// enough others have read.
    #[inline(always)]
    pub(super) fn reads_quickly(&mut self, touch: &Touch<'_>, like: &Row, clocks: &Clocks) -> bool {
        if touch.bytes.trailing_zeros() < self.shift {
            return false;
        }
        if touch.row {
            return self.any_crowded && self.all_crowded(touch.addrs[0], 32 * touch.bytes)
                || self.renews_strip(touch, like, clocks);
        }
        let index = (touch.addrs[0] >> self.shift) as usize;
        if !touch.uniform || touch.bytes >> self.shift != 1 || index >= self.cells.len() {
            return false;
        }
        let mark = Mark {
            stamp: like.stamp,
            pc: like.pc,
            lanes: FULL,
            warp: like.warp,
            width: touch.bytes as u8,
            last: 31,
            kind: Kind::READ,
        };
        if self.is_crowded(index) {
            return true;
        }
        self.take_apart(index, index + 1, clocks);
        self.strips.note(index, index + 1, like.stamp);
        self.renews(index, &mark, clocks)
    }

    /// Compares a warp's access with what is remembered, and remembers it. `like` says who makes it, when and where.
    pub(super) fn access(
        &mut self,
        like: &Row,
        past: &Past<'_>,
        values: &Values<'_>,
        mut race: impl FnMut(u64, &Clash),
    ) {
        let touch = values.touch;
        let bytes = touch.bytes.clamp(1, LINE);
        if like.kind == Kind::WRITE && touch.row && self.renews_strip(touch, like, past.clocks) {
            return;
        }
        if bytes.trailing_zeros() < self.shift {
            self.take_apart(0, self.cells.len(), past.clocks);
            self.split(bytes.trailing_zeros());
        }
        let reads = like.kind == Kind::READ;
        // Those that are complete only later are never of the past.
        let last = if like.kind.is(Kind::PENDING) { u32::MAX } else { like.stamp };
        self.any_pending |= like.kind.is(Kind::PENDING);
        let plain_write = like.kind.writes() && !like.kind.is(Kind::STRONG);
        let mut comparison = Comparison::default();
        let mut left = touch.mask;
        while left != 0 {
            let first = left.trailing_zeros() as usize & 31;
            let at = touch.addrs[first];
            let lanes = if left == FULL && sequential(touch.addrs, 0) { FULL } else { run(touch.addrs, left, at) };
            left &= !lanes;
            let mark = Mark {
                stamp: like.stamp,
                pc: like.pc,
                lanes,
                warp: like.warp,
                width: bytes as u8,
                last: 31 - (lanes.leading_zeros() & 31) as u8,
                kind: like.kind,
            };
            if plain_write && !lanes.is_power_of_two() {
                let line = at & !(LINE - 1);
                within(&mark.row(like.block, at, line), values, |clash| race(line, &clash));
            }
            let from = (at >> self.shift) as usize;
            let to = from + (bytes >> self.shift).max(1) as usize;
            self.reach(to);
            self.take_apart(from, to, past.clocks);
            self.strips.note(from, to, last);
            for index in from..to {
                if reads && self.is_crowded(index) || self.renews(index, &mark, past.clocks) {
                    continue;
                }
                self.compare(index, mark, like.block, past, values, &mut comparison);
            }
        }
        for (line, clash) in &comparison.found {
            race(*line, clash);
        }
    }

    /// Makes room for so many cells.
    #[inline(always)]
    fn reach(&mut self, cells: usize) {
        if self.cells.len() < cells {
            self.cells.resize_with(cells.next_multiple_of(64), Cell::default);
            self.crowded.resize(self.cells.len() / 64, 0);
            self.strips.reach(self.cells.len());
        }
    }

    /// The quick way for a row of words: see [`Strips::renews`].
    #[inline(always)]
    fn renews_strip(&mut self, touch: &Touch<'_>, like: &Row, clocks: &Clocks) -> bool {
        if self.shift != WORD || touch.bytes != 1 << WORD || !touch.addrs[0].is_multiple_of(touch.bytes) {
            return false;
        }
        let start = (touch.addrs[0] >> WORD) as usize;
        self.reach(start + strips::CELLS);
        let strip = Strip { start, stamp: like.stamp, pc: like.pc, warp: like.warp, kind: like.kind };
        self.strips.renews(strip, clocks)
    }

    /// Strips that reach into cells `from..to` become marks of their cells.
    #[inline(always)]
    fn take_apart(&mut self, from: usize, to: usize, clocks: &Clocks) {
        if !self.strips.is_empty() {
            self.marks_of_strips(from, to, clocks.block);
        }
    }

    #[inline(never)]
    fn marks_of_strips(&mut self, from: usize, to: usize, met: u32) {
        while let Some(Strip { start, stamp, pc, warp, kind }) = self.strips.take(from, to, met) {
            self.strips.note(start, start + strips::CELLS, stamp);
            for (lane, cell) in self.cells.iter_mut().skip(start).take(strips::CELLS).enumerate() {
                // What the cell knew is of before the barrier.
                cell.clear();
                cell.push(Mark { stamp, pc, lanes: 1 << lane, warp, width: 1 << WORD, last: lane as u8, kind });
            }
        }
    }

    /// Cells become smaller.
    fn split(&mut self, shift: u32) {
        let times = 1 << (self.shift - shift);
        let cells = std::mem::take(&mut self.cells);
        self.cells = cells.into_iter().flat_map(|cell| std::iter::repeat_n(cell, times)).collect();
        self.crowded = vec![0; self.cells.len() / 64];
        (self.any_crowded, self.shift) = (false, shift);
    }

    #[inline(always)]
    fn is_crowded(&self, index: usize) -> bool {
        self.any_crowded && self.crowded.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    fn all_crowded(&self, at: u64, bytes: u64) -> bool {
        let (mut index, end) = (at >> self.shift, (at + bytes) >> self.shift);
        while index < end {
            let n = (64 - index % 64).min(end - index);
            let bits = (u64::MAX >> (64 - n)) << (index % 64);
            if self.crowded.get((index / 64) as usize).is_none_or(|word| word & bits != bits) {
                return false;
            }
            index += n;
        }
        true
    }

    /// The quick way: nothing has been here since the barrier, or only what this mark can take the place of.
    #[inline(always)]
    fn renews(&mut self, index: usize, mark: &Mark, clocks: &Clocks) -> bool {
        let Some(cell) = self.cells.get_mut(index) else { return true };
        match cell.as_mut_slice() {
            [] => {
                cell.push(*mark);
                true
            }
            [old] if old.kind.is(Kind::PENDING) => false,
            [old] if old.stamp < clocks.block => {
                *old = *mark;
                true
            }
            [old] if old.warp == mark.warp && mark.kind.covers(old.kind) && !mark.kind.is(Kind::STRONG) => {
                let alone = old.lanes == mark.lanes && mark.lanes.is_power_of_two();
                let synced = clocks.warps.get(usize::from(mark.warp)).is_some_and(|&warp| old.stamp < warp);
                let again = mark.kind == Kind::READ && old.lanes & !mark.lanes == 0;
                if alone || synced || again {
                    *old = *mark;
                }
                alone || synced || again
            }
            _ => false,
        }
    }

    /// A mark against those of its cell.
    fn compare(
        &mut self,
        index: usize,
        mark: Mark,
        block: u32,
        past: &Past<'_>,
        values: &Values<'_>,
        Comparison { found, order }: &mut Comparison,
    ) {
        let Some(cell) = self.cells.get_mut(index) else { return };
        let clocks = past.clocks;
        // The same again, and nothing has come in between.
        if let Some(last) = cell.last_mut().filter(|last| {
            (mark.kind == Kind::READ || mark.kind.is(Kind::STRONG))
                && (last.warp, last.kind, last.width) == (mark.warp, mark.kind, mark.width)
                && last.stamp >= clocks.synced
                && mark.lanes & !last.lanes == 0
        }) {
            last.last = mark.last;
            return;
        }
        let at = (index as u64) << self.shift;
        let line = at & !(LINE - 1);
        let later = mark.row(block, at, line);
        let mut kept = mark;
        let (mut needless, mut others, mut i) = (false, false, 0);
        while let Some(&old) = cell.get(i) {
            let earlier = || old.row(block, at, line);
            if old.kind.is(Kind::PENDING) && old.stamp >= clocks.start {
                // A copy out of shared memory only reads.
                if old.kind.writes() || mark.kind.writes() {
                    let (lane, other) = (first(mark.lanes), first(old.lanes));
                    let lanes = mark.lanes;
                    add(found, line, Clash { lane, other, lanes, ..Clash::new(earlier(), later) });
                }
                i += 1;
                continue;
            }
            if old.stamp < clocks.block {
                cell.remove(i);
                continue;
            }
            let same_warp = old.warp == mark.warp;
            let alone = same_warp && old.lanes == mark.lanes && mark.lanes.is_power_of_two();
            let synced = same_warp && clocks.warps.get(usize::from(mark.warp)).is_some_and(|&warp| old.stamp < warp);
            let reads = !old.kind.writes() && !mark.kind.writes();
            let mut told = false;
            let harmless = reads || alone || synced || old.kind.both_strong(mark.kind);
            let mut ordered = || order.between(&old, &mark, || past.all_ordered(&earlier(), &later));
            if !harmless && !ordered() {
                let same_instruction = same_warp && (old.stamp, old.pc) == (mark.stamp, mark.pc) && old.kind.writes();
                let clash = if same_instruction {
                    let (lane, other) = (first(mark.lanes), first(old.lanes));
                    let benign = values.same(lane, other);
                    Some(Clash { lane, other, lanes: mark.lanes, benign, ..Clash::new(earlier(), later) })
                } else {
                    let clash = past.racing(&earlier(), &later);
                    let clash = match old.kind.is(Kind::STRONG.with(Kind::WRITE)) && !mark.kind.is(Kind::STRONG) {
                        true => clash.and_then(|_| unseen(&cell[i..], &later, |mark| mark.row(block, at, line), past)),
                        false => clash,
                    };
                    clash.map(|clash| Clash { benign: values.benign(&clash), ..clash })
                };
                if let Some(clash) = clash {
                    add(found, line, clash);
                    // Of two writes that race, one is enough to race with a third.
                    told = old.kind.writes();
                }
            } else if harmless && let Some(clash) = same_warp.then(|| past.in_step(&earlier(), &later)).flatten() {
                add(found, line, clash);
            }
            let unsynced = same_warp && old.stamp >= clocks.synced;
            let superfluous = mark.kind.covers(old.kind)
                && (told || synced || same_warp && old.lanes & !mark.lanes == 0 || ordered());
            if superfluous {
                cell.remove(i);
                continue;
            }
            if unsynced && old.kind == mark.kind && (old.pc, old.width) == (mark.pc, mark.width) {
                kept.lanes |= old.lanes;
                cell.remove(i);
                continue;
            }
            needless |=
                unsynced && !mark.kind.is(Kind::STRONG) && old.kind.covers(mark.kind) && mark.lanes & !old.lanes == 0;
            others |= !same_warp && old.kind == mark.kind;
            i += 1;
        }
        // Whoever accesses a cell in another way than two warps did races with one of them, unless something other than the
        // barriers of the whole block orders warps.
        let crowd = !past.partial && matches!(mark.kind, Kind::READ | Kind::ATOMIC);
        if needless && !mark.kind.is(Kind::PENDING) {
            return;
        }
        // Of atomics the last is kept too: whoever made it has seen what the others did.
        if crowd && mark.kind == Kind::ATOMIC && enough(cell) {
            cell.pop();
        }
        if cell.len() >= MARKS {
            let oldest = cell.iter().position(|old| !old.kind.writes()).unwrap_or(0);
            cell.remove(oldest);
        }
        cell.push(kept);
        let crowded = crowd && others && cell.iter().all(|old| old.kind == Kind::READ);
        if let Some(word) = self.crowded.get_mut(index / 64) {
            let bit = 1 << (index % 64);
            *word = if crowded { *word | bit } else { *word & !bit };
            self.any_crowded |= crowded;
        }
    }

    /// A lane's copy to some bytes, begun at `stamp`, is complete: from `now` on it is a write of the thread that waited.
    pub(super) fn complete(&mut self, row: &Row, lane: usize, line: u64, now: u32) {
        let (low, high) = row.range(lane);
        let (from, to) = (line.wrapping_add_signed(low.into()), line.wrapping_add_signed(high.into()));
        for index in from >> self.shift..(to >> self.shift).max((from >> self.shift) + 1) {
            let Some(cell) = self.cells.get_mut(index as usize) else { return };
            let copy = |m: &&mut Mark| {
                m.kind.is(Kind::PENDING) && (m.warp, m.stamp) == (row.warp, row.stamp) && m.lanes >> lane & 1 == 1
            };
            let Some(mark) = cell.iter_mut().find(copy) else { continue };
            let written = Mark { lanes: 1 << lane, stamp: now, kind: mark.kind.without(Kind::PENDING), ..*mark };
            mark.lanes &= !(1 << lane);
            if mark.lanes == 0 {
                *mark = written;
            } else {
                cell.push(written);
            }
        }
    }

    /// All of a warp's copies are complete.
    pub(super) fn complete_all(&mut self, warp: u8, now: u32) {
        let marks = self.cells.iter_mut().flatten();
        for mark in marks.filter(|mark| mark.warp == warp && mark.kind.is(Kind::PENDING)) {
            (mark.stamp, mark.kind) = (now, mark.kind.without(Kind::PENDING));
        }
    }
}

/// One access against what all of its cells remember.
#[derive(Default)]
struct Comparison {
    found: Found,
    order: Order,
}

/// What was found out of one access: whether all that a warp did at some time comes before it. Cells that lie side by
/// side have marks of the same accesses, and to look it up takes long where threads have told each other much.
#[derive(Default)]
struct Order([Option<(Asked, bool)>; 8]);

/// Of the earlier access: warp and time; and the lanes of both.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Asked {
    warp: u8,
    stamp: u32,
    lanes: [u32; 2],
}

impl Order {
    fn between(&mut self, old: &Mark, mark: &Mark, ask: impl FnOnce() -> bool) -> bool {
        let asked = Asked { warp: old.warp, stamp: old.stamp, lanes: [old.lanes, mark.lanes] };
        let known = &mut self.0[usize::from(old.warp) % 8];
        match known {
            Some((before, ordered)) if *before == asked => *ordered,
            _ => known.insert((asked, ask())).1,
        }
    }
}

fn first(lanes: u32) -> usize {
    lanes.trailing_zeros() as usize & 31
}

/// The lowest lanes of a mask, as long as they are all at one address.
#[inline(always)]
fn run(addrs: &[u64; 32], mask: u32, at: u64) -> u32 {
    let end = each(mask).find(|&lane| addrs[lane] != at);
    end.map_or(mask, |end| mask & ((1 << end) - 1))
}
