//! Shared memory that products read: behind the back of the threads, by the asynchronous proxy (PTX ISA 8.6).
//!
//! Memory is remembered in pieces of 16 bytes, as descriptors see it. Of several threads that have written to a piece,
//! the last one counts: of a fence that some of them lack, a report may be missed.

use super::{BlockChecks, Watch};
use crate::code::{Code, MicroOp, Place, SlowOp};
use crate::exec::check::watch::{Action, Touch};
use crate::exec::state::lanes::each;
use crate::exec::state::run::Run;

pub(super) const PIECE: u64 = 16;

#[derive(Debug, Default)]
pub(super) struct Tiles {
    pieces: Vec<Piece>,
    /// Grows with every write and fence.
    now: u64,
    /// How often threads of the block have met.
    meetings: u32,
    /// By warp and lane: the last fence between the proxies.
    fences: Vec<[u64; 32]>,
    /// By warp: after how many meetings that was, and one more.
    fenced: Vec<u32>,
    /// The same of the last fence by any thread, and of the last one before the last meeting.
    last: u32,
    met: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// Parts of products that read it and are under way.
    reading: u32,
    /// The last write by an ordinary instruction: when (0 for never), after how many meetings, where in the code, and
    /// by whom.
    written: u64,
    meetings: u32,
    pc: u32,
    thread: u32,
}

/// A warp's part of a product that reads shared memory.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) product: u32,
    pub(super) pc: u32,
    pub(super) pieces: Vec<u32>,
}

/// A write that no fence makes visible to the asynchronous proxy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) pc: u32,
    pub(super) thread: u32,
}

impl Tiles {
    pub(super) fn start(&mut self, run: &Run<'_>) {
        let Self { mut pieces, mut fences, mut fenced, .. } = std::mem::take(self);
        pieces.clear();
        pieces.resize(u64::from(run.shared_bytes).div_ceil(PIECE) as usize, Piece::default());
        fences.clear();
        fences.resize(run.warps as usize, [0; 32]);
        fenced.clear();
        fenced.resize(run.warps as usize, 0);
        *self = Self { pieces, fences, fenced, ..Self::default() };
    }

    pub(super) fn fence(&mut self, warp: u32, mask: u32) {
        self.now += 1;
        let (now, meetings) = (self.now, self.meetings + 1);
        if let (Some(fences), Some(fenced)) = (self.fences.get_mut(warp as usize), self.fenced.get_mut(warp as usize)) {
            each(mask).for_each(|lane| fences[lane] = now);
            *fenced = meetings;
        }
        self.last = meetings;
    }

    pub(super) fn met(&mut self) {
        self.meetings += 1;
        self.met = self.last;
    }

    /// A fence counts wherever it stands between the write and the product: executed by the thread that has written, or
    /// by another one after they have met.
    fn is_fenced(&self, warp: u32, piece: &Piece) -> bool {
        let (writer, lane) = (piece.thread / 32, piece.thread as usize % 32);
        let by = |warp: u32| self.fences.get(warp as usize).copied().unwrap_or_default();
        let later = |fenced: u32| fenced > piece.meetings + 1;
        by(writer)[lane] > piece.written
            || writer == warp && by(warp).iter().any(|fence| *fence > piece.written)
            || later(self.fenced.get(warp as usize).copied().unwrap_or_default())
            || later(self.met)
    }

    /// The first piece that a thread has written without a fence since.
    pub(super) fn unfenced(&self, warp: u32, pieces: &[u64]) -> Option<Written> {
        let known = pieces.iter().filter_map(|at| self.pieces.get((at / PIECE) as usize));
        let found = known.into_iter().find(|piece| piece.written > 0 && !self.is_fenced(warp, piece))?;
        Some(Written { pc: found.pc, thread: found.thread })
    }

    /// A part of a product begins to read.
    pub(super) fn begin(&mut self, product: u32, pc: u32, pieces: &[u64]) -> Reading {
        let mut numbers: Vec<u32> = pieces.iter().map(|at| (at / PIECE) as u32).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for &number in &numbers {
            if let Some(piece) = self.pieces.get_mut(number as usize) {
                piece.reading += 1;
            }
        }
        Reading { product, pc, pieces: numbers }
    }

    /// It has read all.
    pub(super) fn read(&mut self, reading: &Reading) {
        for &number in &reading.pieces {
            if let Some(piece) = self.pieces.get_mut(number as usize) {
                piece.reading = piece.reading.saturating_sub(1);
            }
        }
    }
}

impl Watch<'_> {
    /// A write to shared memory.
    pub(in crate::exec::check) fn look_at_tiles(&mut self, checks: &mut BlockChecks, touch: &Touch<'_>) {
        if touch.place != Place::Shared || touch.action == Action::Read {
            return;
        }
        let Some(groups) = checks.warpgroups.as_deref_mut() else { return };
        groups.tiles.now += 1;
        let (now, meetings) = (groups.tiles.now, groups.tiles.meetings);
        let generic = is_generic(self.run.code, self.pc);
        let mut overwritten = None;
        for lane in each(touch.mask) {
            let (first, last) = (touch.addrs[lane] / PIECE, (touch.addrs[lane] + touch.bytes.max(1) - 1) / PIECE);
            for number in first..=last {
                let Some(piece) = groups.tiles.pieces.get_mut(number as usize) else { continue };
                if piece.reading > 0 {
                    overwritten = overwritten.or(Some(number as u32));
                }
                piece.written = if generic { now } else { 0 };
                (piece.meetings, piece.pc, piece.thread) = (meetings, self.pc, 32 * self.warp + lane as u32);
            }
        }
        let Some(number) = overwritten else { return };
        let reads = |reading: &&Reading| reading.pieces.binary_search(&number).is_ok();
        let readers = groups.warps.iter().zip(0u32..);
        let found = readers.filter_map(|(warp, index)| Some((warp.reads.iter().find(reads)?.pc, index))).next();
        let Some((pc, reader)) = found else { return };
        self.overwrites_factor(pc, reader);
    }
}

/// Whether an instruction writes by the ordinary way of memory, which the asynchronous proxy does not see without a
/// fence.
fn is_generic(code: &Code, pc: u32) -> bool {
    match code.insts.get(pc as usize).map(|inst| inst.op) {
        Some(MicroOp::Slow(_)) => {
            matches!(code.slow_at(pc), Some(SlowOp::Matrix(_) | SlowOp::Atomic(_) | SlowOp::CopyAsync { .. }))
        }
        _ => true,
    }
}
