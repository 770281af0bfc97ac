//! Objects in shared memory that count arrivals, a phase after the other (PTX ISA 9.7.13.15).
//!
//! An object is a word of 64 bits, and what they mean is nobody else's business.

use fusion_ptx::ast::MbarrierOp;

use crate::code::{Mbarrier, Order, Place};
use crate::exec::check::{Action, Touch, Visit};
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::Trapped;
use crate::exec::memory::count;
use crate::exec::memory::shared::{self, wavefronts};
use crate::exec::state::address::{addresses, resolve};
use crate::exec::state::lanes::each;
use crate::exec::state::shared::{load_element, store_element};
use crate::exec::state::warp::{Split, Warp};

/// Bytes of an object.
const BYTES: u64 = 8;

/// Bits of a count of arrivals, and of one of bytes, which may be below zero for a while.
const COUNT: u32 = 20;
const BYTE_COUNT: u32 = 21;

/// An object's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// Arrivals that the present phase lacks, and those of each.
    pending: u64,
    expected: u64,
    /// Bytes that it lacks.
    bytes: i64,
    /// The lowest bit of the phase's number.
    phase: bool,
}

impl State {
    fn of(word: u64) -> Self {
        let field = |from: u32, bits: u32| word >> from & ((1 << bits) - 1);
        let bytes = field(2 * COUNT, BYTE_COUNT) << (64 - BYTE_COUNT);
        Self {
            pending: field(0, COUNT),
            expected: field(COUNT, COUNT),
            bytes: bytes as i64 >> (64 - BYTE_COUNT),
            phase: word >> 63 == 1,
        }
    }

    fn word(self) -> u64 {
        let keep = |value: u64, bits: u32| value & ((1 << bits) - 1);
        keep(self.pending, COUNT)
            | keep(self.expected, COUNT) << COUNT
            | keep(self.bytes as u64, BYTE_COUNT) << (2 * COUNT)
            | u64::from(self.phase) << 63
    }

    fn arrive(self, n: u64) -> Self {
        Self { pending: self.pending.saturating_sub(n), ..self }.settled()
    }

    fn drop(self, n: u64) -> Self {
        Self { expected: self.expected.saturating_sub(n), ..self }.arrive(n)
    }

    fn expect(self, bytes: u64) -> Self {
        Self { bytes: self.bytes.wrapping_add(bytes as i64), ..self }
    }

    /// The next phase, if this one is complete.
    fn settled(self) -> Self {
        if self.pending != 0 || self.bytes != 0 {
            return self;
        }
        Self { pending: self.expected, phase: !self.phase, ..self }
    }

    fn after(self, op: MbarrierOp, value: u64) -> Self {
        match op {
            MbarrierOp::Init => Self { pending: value, expected: value, bytes: 0, phase: false },
            MbarrierOp::Invalidate => Self::of(0),
            MbarrierOp::Arrive => self.arrive(value),
            MbarrierOp::ArriveDrop => self.drop(value),
            MbarrierOp::ExpectTx => self.expect(value),
            MbarrierOp::ArriveExpectTx => self.expect(value).arrive(1),
            MbarrierOp::ArriveDropExpectTx => self.expect(value).drop(1),
            MbarrierOp::CompleteTx => self.expect(value.wrapping_neg()).settled(),
            MbarrierOp::ArriveCopied { counted: true } => self.arrive(1),
            // One more is expected, and has come.
            MbarrierOp::ArriveCopied { counted: false } | MbarrierOp::Wait { .. } => self,
        }
    }

    /// Whether the phase that a wait is about is complete: it is the present one, or the one before.
    fn is_past(self, parity: bool, value: u64) -> bool {
        let phase = if parity { value & 1 == 1 } else { Self::of(value).phase };
        self.phase != phase
    }
}

/// Says whether nobody waits in vain.
pub(crate) fn execute(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &Split,
    op: &Mbarrier,
    mask: u32,
) -> Trapped<bool> {
    let regs = warp.regs.view(split.bases);
    let value = regs.get(op.value);
    let mut addrs = addresses(&regs, &op.address, split.local_base);
    if op.place == Place::Generic {
        addrs = addrs.map(|addr| resolve(addr).1);
    }
    shared::check(worker, &common.shared, mask, &addrs, BYTES, true)?;
    shared::check_array(&mut worker.watch, &op.address, mask, &addrs, BYTES, false, true);
    let waits = match op.op {
        MbarrierOp::Wait { parity } => Some(parity),
        _ => None,
    };
    let past = waits.map_or(mask, |parity| {
        each(mask).fold(0, |past, lane| {
            let state = State::of(load_element(&common.shared, addrs[lane], BYTES as u32));
            past | u32::from(state.is_past(parity, value[lane])) << lane
        })
    });
    // Libraries let one lane invalidate an object for all of a warp that have met in a warp operation: that orders no memory, so
    // that only the first of an object's life is a plain write here.
    let (action, order) = match op.op {
        MbarrierOp::Init => (Action::Write, Order::WEAK),
        _ => (Action::Atomic, Order { acquire: false, release: false, ..op.order }),
    };
    worker.watch.touch(&mut common.checks, &touch(mask, &addrs, action, order, &common.shared));
    let mut before = [0u64; 32];
    for lane in each(mask) {
        before[lane] = load_element(&common.shared, addrs[lane], BYTES as u32);
        let after = State::of(before[lane]).after(op.op, value[lane]);
        store_element(&mut common.shared, addrs[lane], BYTES as u32, after.word());
    }
    let visiting = if waits.is_some() { past } else { mask };
    visits(&addrs, &before, visiting, warp, |visit, last| match waits {
        // The phase that is complete is the one before the present.
        Some(_) if op.order.acquire => common.checks.phase_wait(Visit { phase: !visit.phase, ..visit }),
        None if op.order.release => {
            if matches!(op.op, MbarrierOp::ArriveCopied { .. }) {
                common.checks.copies_announce(visit);
            }
            let after = State::of(before[last]).after(op.op, value[last]);
            common.checks.phase_arrive(visit, after.phase != visit.phase);
        }
        _ => {}
    });
    let passes = wavefronts(&addrs, mask, BYTES);
    count(&mut worker.counters.shared_store, passes, BYTES * u64::from(mask.count_ones()));
    let mut regs = warp.regs.view(split.bases);
    if let Some(d) = op.d {
        regs.put(d, mask, &before);
    }
    if let Some(p) = op.p {
        regs.put_predicate(p, mask, past);
    }
    Ok(past == mask)
}

/// Calls `f` for the lanes that come to one object in one phase, with the last of them.
fn visits(addrs: &[u64; 32], words: &[u64; 32], mask: u32, warp: &Warp, mut f: impl FnMut(Visit, usize)) {
    let phase = |lane: usize| State::of(words[lane]).phase;
    let mut left = mask;
    while left != 0 {
        let first = left.trailing_zeros() as usize & 31;
        let same = |lane: &usize| addrs[*lane] == addrs[first] && phase(*lane) == phase(first);
        let lanes = each(left).filter(same).fold(0u32, |lanes, lane| lanes | 1 << lane);
        left &= !lanes;
        let (object, phase, whole) = (addrs[first], phase(first), lanes == warp.alive);
        let last = 31 - (lanes.leading_zeros() as usize & 31);
        f(Visit { object, phase, warp: warp.index, lanes, whole }, last);
    }
}

fn touch<'t>(mask: u32, addrs: &'t [u64; 32], action: Action, order: Order, shared: &'t [u32]) -> Touch<'t> {
    Touch {
        place: Place::Shared,
        action,
        mask,
        addrs,
        bytes: BYTES,
        row: false,
        uniform: false,
        windows: &[],
        window: None,
        access: None,
        stored: None,
        order,
        shared,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_a_word() {
        let state = State { pending: 3, expected: (1 << 20) - 1, bytes: -5, phase: true };
        assert_eq!(State::of(state.word()), state);
        assert_eq!(State::of(0), State { pending: 0, expected: 0, bytes: 0, phase: false });
    }

    #[test]
    fn a_phase_is_complete_when_all_have_come() {
        let fresh = State::of(0).after(MbarrierOp::Init, 2);
        let one = fresh.arrive(1);
        assert!(!one.is_past(true, 0) && one.is_past(true, 1), "the phase before the first is complete");
        let two = one.arrive(1);
        assert!(two.is_past(false, fresh.word()) && !two.is_past(true, 1));
        assert_eq!(two.pending, 2);
        assert_eq!(two.arrive(2).phase, fresh.phase);
        // Whoever drops out is not expected in the next phase.
        assert_eq!(two.drop(1).arrive(1).pending, 1);
        // Bytes that are awaited hold a phase up.
        let bytes = two.after(MbarrierOp::ArriveExpectTx, 16).arrive(1);
        assert_eq!(bytes.phase, two.phase);
        assert_ne!(bytes.after(MbarrierOp::CompleteTx, 16).phase, two.phase);
    }
}
