//! Objects in shared memory that count arrivals, a phase after the other (PTX ISA 9.7.13.15).
//!
//! An object is a word of 64 bits, and what they mean is nobody else's business.

use fusion_ptx::ast::MbarrierOp;

use crate::code::{Mbarrier, Order, Place};
use crate::exec::check::{Action, AtMbarrier, Touch, Visit, Watch};
use crate::exec::context::{Common, Look, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::{Party, Trap, Trapped};
use crate::exec::memory::cluster::{self, Does, Whose, memory, own, same_block};
use crate::exec::memory::count;
use crate::exec::memory::shared::{self, wavefronts};
use crate::exec::state::address::{addresses, same_place};
use crate::exec::state::lanes::each;
use crate::exec::state::run::Run;
use crate::exec::state::shared::{load_element, store_element};
use crate::exec::state::warp::{Split, Warp};
use crate::report::Role;
use crate::report::kind::{self, Phase};

/// Bytes of an object.
const BYTES: u64 = 8;
const DOES: Does = Does { write: true, bytes: BYTES };

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

    /// What is wrong with doing it now.
    fn refuses(self, op: MbarrierOp, value: u64) -> Option<kind::Mbarrier> {
        let arrivals = match op {
            MbarrierOp::Init if value == 0 || value >> COUNT != 0 => {
                return Some(kind::Mbarrier::Count { count: value });
            }
            MbarrierOp::Arrive | MbarrierOp::ArriveDrop => value,
            MbarrierOp::ArriveExpectTx | MbarrierOp::ArriveDropExpectTx => 1,
            MbarrierOp::ArriveCopied { counted: true } => 1,
            _ => 0,
        };
        (arrivals > self.pending).then(|| kind::Mbarrier::TooMany { arrivals, phase: self.told() })
    }

    fn told(self) -> Phase {
        Phase { odd: self.phase, pending: self.pending, expected: self.expected, bytes: self.bytes }
    }

    /// Whether the phase that a wait is about is complete: it is the present one, or the one before.
    fn is_past(self, parity: bool, value: u64) -> bool {
        let phase = if parity { value & 1 == 1 } else { Self::of(value).phase };
        self.phase != phase
    }
}

/// How many arrivals a state lacks.
pub(crate) fn pending(word: u64) -> u64 {
    State::of(word).pending
}

/// What is done with an object.
#[derive(Clone, Copy)]
pub(super) struct Act {
    pub(super) op: MbarrierOp,
    pub(super) order: Order,
    /// It waits for copies that the lanes have begun, those since some time.
    pub(super) copies: Option<u32>,
}

/// What it has given: the states before, and the lanes whose phase is complete.
#[derive(Default)]
pub(super) struct Given {
    before: [u64; 32],
    past: u32,
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
    let addrs = addresses(&regs, &op.address, split.local_base);
    let copies = matches!(op.op, MbarrierOp::ArriveCopied { .. }).then_some(0);
    let act = Act { op: op.op, order: op.order, copies };
    let mut given = Given::default();
    let mut left = mask;
    while left != 0 {
        let (place, group, inside) = match op.place {
            Place::Generic => same_place(common.rank, left, &addrs),
            Place::Shared => (Place::Shared, left, own(worker, common, left, &op.address, &addrs, DOES)?),
            place => (place, left, addrs),
        };
        let (whose, group, inside) = match place {
            Place::Cluster => same_block(worker, common, group, &inside, DOES)?,
            _ => (Whose::Own, group, inside),
        };
        left &= !group;
        at_objects(worker, common, warp, whose, act, group, &inside, &value, &mut given)?;
        if whose == Whose::Own {
            shared::check_array(&mut worker.watch, &op.address, group, &inside, BYTES, false, true);
        }
    }
    let mut regs = warp.regs.view(split.bases);
    if let Some(d) = op.d {
        regs.put(d, mask, &given.before);
    }
    if let Some(p) = op.p {
        regs.put_predicate(p, mask, given.past);
    }
    Ok(given.past == mask)
}

/// Lanes at objects of one block.
#[expect(clippy::too_many_arguments, reason = "who, where and what")]
pub(super) fn at_objects(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &Warp,
    whose: Whose,
    Act { op, order, copies }: Act,
    mask: u32,
    addrs: &[u64; 32],
    value: &[u64; 32],
    given: &mut Given,
) -> Trapped {
    cluster::check(worker, common, whose, mask, addrs, DOES)?;
    if op != MbarrierOp::Init {
        check_initialised(worker.run, common, whose, mask, addrs)?;
    }
    let waits = match op {
        MbarrierOp::Wait { parity } => Some(parity),
        _ => None,
    };
    let load = |common: &mut Common, lane: usize| load_element(memory(common, whose), addrs[lane], BYTES as u32);
    let mut past = if waits.is_some() { 0 } else { mask };
    if let Some(parity) = waits {
        for lane in each(mask) {
            let word = load(common, lane);
            past |= u32::from(State::of(word).is_past(parity, value[lane])) << lane;
        }
        if let Some(lane) = each(mask & !past).next() {
            common.looked =
                Some(Look { pc: worker.watch.pc, warp: warp.index, lanes: mask & !past, address: addrs[lane] });
        }
    }
    given.past |= past;
    // Libraries let one lane invalidate an object for all of a warp that have met in a warp operation: that orders no memory, so
    // that only the first of an object's life is a plain write here. What is done with it is atomic for whoever can reach it.
    let (action, seen) = match op {
        MbarrierOp::Init => (Action::Write, Order::WEAK),
        _ => (Action::Atomic, Order { acquire: false, release: false, narrow: false, ..order }),
    };
    cluster::touch(worker, common, whose, &touch(mask, addrs, action, seen));
    let before = &mut given.before;
    for lane in each(mask) {
        before[lane] = load(common, lane);
        let state = State::of(before[lane]);
        let after = state.after(op, value[lane]);
        if let Some(wrong) = state.refuses(op, value[lane]) {
            let about = fault::buffer(worker.run, Place::Shared, addrs[lane], BYTES);
            return Err(Trap::new(wrong, 1 << lane).about(about));
        }
        store_element(memory(common, whose), addrs[lane], BYTES as u32, after.word());
        let objects = match whose {
            Whose::Peer(rank) if let Some(cluster) = &mut common.cluster => &mut cluster.peers[rank as usize].objects,
            _ => &mut common.objects,
        };
        match op {
            MbarrierOp::Init => drop(objects.insert(addrs[lane], Some(worker.watch.pc))),
            MbarrierOp::Invalidate => drop(objects.insert(addrs[lane], None)),
            _ => {}
        }
    }
    common.stirred |= waits.is_none();
    if worker.watch.records() {
        record(&mut worker.watch, whose, op, mask, (addrs, before, value));
    }
    let visiting = if waits.is_some() { past } else { mask };
    visits(addrs, before, visiting, warp, |visit, last| {
        let Common { checks, cluster, .. } = &mut *common;
        match waits {
            // The phase that is complete is the one before the present.
            Some(_) if order.acquire => checks.phase_wait(Visit { phase: !visit.phase, ..visit }),
            Some(_) => checks.phase_seen(Visit { phase: !visit.phase, ..visit }),
            None if order.release => {
                if let Some(since) = copies.filter(|_| whose == Whose::Own) {
                    checks.copies_announce(visit, since);
                }
                let after = State::of(before[last]).after(op, value[last]);
                let completes = after.phase != visit.phase;
                match whose {
                    Whose::Peer(rank) if let Some(cluster) = cluster => {
                        checks.phase_arrive_at(&mut cluster.peers[rank as usize].checks, visit, completes);
                    }
                    _ => checks.phase_arrive(visit, completes),
                }
            }
            _ => {}
        }
    });
    let passes = wavefronts(addrs, mask, BYTES);
    count(&mut worker.counters.shared_store, passes, BYTES * u64::from(mask.count_ones()));
    Ok(())
}

/// Shows the clock which phases lanes arrive at or ask for: `words` are the objects' states before.
fn record(
    watch: &mut Watch<'_>,
    whose: Whose,
    op: MbarrierOp,
    mask: u32,
    (addrs, words, value): (&[u64; 32], &[u64; 32], &[u64; 32]),
) {
    for lane in each(mask) {
        let state = State::of(words[lane]);
        let does = match op {
            MbarrierOp::ExpectTx => continue,
            MbarrierOp::Init | MbarrierOp::Invalidate => AtMbarrier::Begins,
            MbarrierOp::Wait { parity } => AtMbarrier::Asks { ended: state.is_past(parity, value[lane]) },
            _ => AtMbarrier::Arrives,
        };
        watch.visits(addrs[lane], (whose == Whose::Own).then_some(state.phase), does);
    }
}

/// An object that nobody has initialised counts nothing.
fn check_initialised(run: &Run<'_>, common: &Common, whose: Whose, mask: u32, addrs: &[u64; 32]) -> Trapped {
    let objects = match (whose, &common.cluster) {
        (Whose::Peer(rank), Some(cluster)) => &cluster.peers[rank as usize].objects,
        _ => &common.objects,
    };
    let missing = |lane: &usize| !matches!(objects.get(&addrs[*lane]), Some(Some(_)));
    let Some(lane) = each(mask).find(missing) else { return Ok(()) };
    let lanes = each(mask).filter(missing).fold(0, |lanes, lane| lanes | 1 << lane);
    let invalidated = objects.get(&addrs[lane]).is_some();
    let about = fault::buffer(run, Place::Shared, addrs[lane], BYTES);
    Err(Trap::new(kind::Mbarrier::NotInitialised { invalidated }, lanes).about(about))
}

/// Threads wait for a phase that nobody can complete: all of the cluster wait.
pub(crate) fn standstill(watch: &mut Watch<'_>, common: &Common, look: &Look) -> Box<Trap> {
    watch.warp = look.warp;
    let phase = State::of(load_element(&common.shared, look.address, BYTES as u32)).told();
    let about = fault::buffer(watch.run, Place::Shared, look.address, BYTES);
    let trap = Trap::new(kind::Mbarrier::Waits { lanes: look.lanes.count_ones(), phase }, look.lanes);
    let trap = trap.at(look.pc).about(about);
    match common.objects.get(&look.address) {
        Some(&Some(init)) => trap.party(Party::at(init, Role::Initialised)),
        _ => trap,
    }
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

fn touch<'t>(mask: u32, addrs: &'t [u64; 32], action: Action, order: Order) -> Touch<'t> {
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
        looks: 0,
        shared: &[],
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
