//! Where the time of a simulation goes: what each warp waits for, at which instruction.
//!
//! The simulation tells this what happens and asks it nothing, so that times are what they would be without.

mod sum;

use super::cost::Unit;
use super::program::{Kind, Op, Program};
use super::{Ticks, ticks};
use crate::code::Place;
use crate::exec::Step;
use crate::report::State;
pub(crate) use sum::Placed;
pub(super) use sum::Whole;

/// Who makes the value of a register: an instruction, and how a warp waits for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker {
    pc: u32,
    state: State,
}

impl Default for Maker {
    fn default() -> Self {
        Self { pc: NOBODY, state: State::Wait }
    }
}

const NOBODY: u32 = u32::MAX;

impl Maker {
    pub(super) fn new(op: &Op, step: &Step) -> Self {
        let is_shared =
            |place| place == Place::Shared || place == Place::Generic && step.reached == Some(Place::Shared);
        let state = match op.kind {
            Kind::Load(Place::Constant) | Kind::Shuffle => State::ShortScoreboard,
            Kind::Load(place) | Kind::Atomic(place) if is_shared(place) => State::ShortScoreboard,
            Kind::Load(_) | Kind::Atomic(_) | Kind::Copy | Kind::CopyWait(_) => State::LongScoreboard,
            Kind::MbarrierWait | Kind::BulkWait(_) => State::LongScoreboard,
            Kind::ProductWait(_) => State::ShortScoreboard,
            Kind::ProductFence | Kind::ProductCommit => State::Wait,
            Kind::Barrier | Kind::ClusterArrive { relaxed: true } | Kind::ClusterWait => State::Barrier,
            Kind::Fence { .. } | Kind::ClusterArrive { relaxed: false } => State::Membar,
            Kind::Branch => State::BranchResolving,
            Kind::Plain if op.cost.unit == Unit::Special && !op.serial => State::ShortScoreboard,
            Kind::Plain | Kind::Store(_) | Kind::CopyCommit | Kind::Product => State::Wait,
            Kind::BulkLoad | Kind::BulkStore | Kind::BulkCommit | Kind::MbarrierArrive { .. } => State::Wait,
        };
        Self { pc: step.pc, state }
    }

    pub(super) fn state(self) -> State {
        self.state
    }
}

/// Why a warp waits, and until when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Why {
    /// Not before this time, whatever it reads: it comes from a branch or a barrier, or its block has begun.
    pub(super) from: Ticks,
    pub(super) state: State,
    /// When all that it reads is there, and what was the last of it.
    pub(super) ready: Ticks,
    pub(super) last: Maker,
}

impl Why {
    /// Until a time that goes by no register.
    pub(super) fn until(ready: Ticks, state: State) -> Self {
        Self { from: ready, state, ready, last: Maker::default() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Warp {
    /// Since when nothing of it was issued, and what was before; nothing where its block has just begun.
    since: Ticks,
    issued: Option<u32>,
    why: Why,
    /// For how long the units that can do its next instruction had been closed when it was ready.
    closed: Ticks,
    /// The unit of what was issued last, and until when that takes it.
    own: (Unit, Ticks),
}

/// What warps have done at one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) states: [Ticks; State::ALL.len()],
    /// What they waited for most, and by how much it is ahead of all else.
    awaited: Option<u32>,
    ahead: Ticks,
}

impl Row {
    /// The majority by one pass: whoever has more than half of all is what is left.
    fn wait_for(&mut self, pc: u32, time: Ticks) {
        if self.awaited == Some(pc) {
            self.ahead += time;
        } else if self.ahead >= time {
            self.ahead -= time;
        } else {
            (self.awaited, self.ahead) = (Some(pc), time - self.ahead);
        }
    }
}

/// What a warp's place does for some time, at an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    warp: u32,
    pc: u32,
    state: State,
    from: Ticks,
    to: Ticks,
}

/// Spans that are kept: those of the first blocks, and after them what each warp was doing by then. Of one launch, that is still what fits into a
/// worker's message.
const MOST_SPANS: usize = 59_000;

/// A scheduler's units.
type Units = [UnitTime; Unit::COUNT];

/// What a unit has done.
#[derive(Clone, Copy, Debug, Default)]
struct UnitTime {
    /// For how long it has had work, and until when it has some.
    worked: Ticks,
    until: Ticks,
    /// For how long of that it could take nothing. While a unit without a queue takes an instruction, the others that want it could have
    /// been taken as well: these are eligible and not selected (*Kernel Profiling Guide*, "Warp Stall Reasons").
    closed: Ticks,
    /// The part of `closed` that is of what it has still to do.
    last: Ticks,
}

/// Of one SM.
#[derive(Debug, Default)]
pub(crate) struct Account {
    warps: Vec<Warp>,
    units: Vec<Units>,
    /// By place in the code.
    pub(crate) rows: Vec<Row>,
    /// Time of places without a block: until one was handed out, and since there are no more.
    pub(crate) undispatched: Ticks,
    /// When each place had its last block, and how many there are before warps leave.
    ends: Vec<Ticks>,
    places: usize,
    /// Where somebody wants to see them.
    spans: Option<Vec<Span>>,
    /// Until when they are kept, since there are many.
    until: Option<Ticks>,
}

impl Account {
    pub(super) fn new(program: &Program, schedulers: usize) -> Self {
        let rows = vec![Row::default(); program.ops.len()];
        Self { units: vec![Units::default(); schedulers], rows, ..Self::default() }
    }

    /// Keeps what warps do, and when.
    pub(super) fn trace(&mut self) {
        self.spans = Some(Vec::new());
    }

    /// There is room for so many warps, in so many blocks: for `first` of them before warps leave.
    pub(super) fn room(&mut self, warps: usize, places: usize, first: usize) {
        self.warps =
            vec![
                Warp { since: 0, issued: None, why: Why::until(0, State::Launch), closed: 0, own: (Unit::None, 0) };
                warps
            ];
        self.ends = vec![0; places];
        self.places = first;
    }

    /// A place that was free from `free` on has a block from `at` on.
    pub(super) fn place(&mut self, free: Ticks, at: Ticks) {
        self.undispatched += at.saturating_sub(free);
    }

    /// A warp is there.
    pub(super) fn begin(&mut self, warp: usize, at: Ticks) {
        (self.warps[warp].since, self.warps[warp].issued) = (at, None);
    }

    pub(super) fn wait(&mut self, warp: usize, why: Why) {
        self.warps[warp].why = why;
    }

    /// A warp is ready, and waits for its turn and for a unit.
    pub(super) fn queue(&mut self, scheduler: usize, warp: usize, unit: Unit) {
        let ready = self.warps[warp].why.ready;
        self.warps[warp].closed = self.closed(scheduler, unit, ready);
    }

    /// For how long the units that can do something have been closed by now; of two, the one that has been so for less time.
    fn closed(&self, scheduler: usize, unit: Unit, now: Ticks) -> Ticks {
        let until_now = |&unit: &usize| {
            let UnitTime { until, closed, last, .. } = self.units[scheduler][unit];
            closed - until.saturating_sub(now).min(last)
        };
        unit.indices().iter().map(until_now).min().unwrap_or_default()
    }

    /// A scheduler's unit has work for so long from `from` on, or when it is done with what it has. For the
    /// first `taken` ticks it takes instructions.
    pub(super) fn work(&mut self, scheduler: usize, unit: usize, from: Ticks, (time, taken): (Ticks, Ticks)) {
        let unit = &mut self.units[scheduler][unit];
        let closed = time.saturating_sub(taken);
        // What it was given at the same time goes on, or begins behind that.
        let before = unit.last.min(unit.until.saturating_sub(from));
        unit.worked += time;
        unit.until = unit.until.max(from) + time;
        unit.last = before + closed;
        unit.closed += closed;
    }

    /// A warp's instruction is issued from `now` to `next`.
    pub(super) fn issue(&mut self, scheduler: usize, warp: usize, op: &Op, pc: u32, (now, next): (Ticks, Ticks)) {
        let queued = self.leave(warp, pc, now);
        let throttled = self.closed(scheduler, op.cost.unit, now).saturating_sub(self.warps[warp].closed).min(queued);
        let (ready, free) = (now - queued, now - (queued - throttled));
        // A unit that is busy with the warp's own last instruction is none that others keep it from.
        let (unit, until) = self.warps[warp].own;
        let own = if unit == op.cost.unit && !op.kind.reaches_memory() { until.clamp(ready, free) } else { ready };
        self.spend(warp, pc, State::Wait, (ready, own));
        self.spend(warp, pc, throttle(op), (own, free));
        self.spend(warp, pc, State::NotSelected, (free, now));
        self.spend(warp, pc, State::Selected, (now, next));
        (self.warps[warp].since, self.warps[warp].issued) = (next, Some(pc));
        self.warps[warp].own = (op.cost.unit, now + ticks(op.cost.busy));
    }

    /// What a warp was waiting for before an instruction is over: for how long it has been ready since.
    fn leave(&mut self, warp: usize, pc: u32, now: Ticks) -> Ticks {
        let Warp { since, issued, why: Why { from, state, ready, last }, .. } = self.warps[warp];
        let (from, ready) = (from.clamp(since, now), ready.clamp(since, now));
        // Who waits at a barrier has issued it.
        self.spend(warp, issued.unwrap_or(pc), state, (since, from));
        let ready = ready.max(from);
        self.spend(warp, pc, last.state, (from, ready));
        if ready > from && matches!(last.state, State::LongScoreboard | State::ShortScoreboard) {
            self.rows[pc as usize].wait_for(last.pc, ready - from);
        }
        now - ready
    }

    /// A warp is in a state from one time to another.
    fn spend(&mut self, warp: usize, pc: u32, state: State, (from, to): (Ticks, Ticks)) {
        self.rows[pc as usize].states[state as usize] += to - from;
        let Some(spans) = &mut self.spans else { return };
        let to = self.until.map_or(to, |until| to.min(until));
        if from < to {
            spans.push(Span { warp: warp as u32, pc, state, from, to });
        }
        // A wait is told when it is over. So those that go on at that time come later, and no warp seems to be idle at the end.
        if self.until.is_none() && spans.len() >= MOST_SPANS {
            self.until = spans.iter().map(|span| span.to).max();
        }
    }

    /// A warp is gone. Its last instruction was at `pc`.
    pub(super) fn end(&mut self, warp: usize, pc: u32, now: Ticks) {
        let queued = self.leave(warp, pc, now);
        self.spend(warp, pc, State::NotSelected, (now - queued, now));
        self.warps[warp].since = now;
    }

    /// A block is gone.
    pub(super) fn end_block(&mut self, place: usize, now: Ticks) {
        self.ends[place] = now;
    }

    /// Time of places since there were no more blocks for them, when the last of all is gone.
    pub(crate) fn tail(&self, end: Ticks) -> Ticks {
        let mut idle: Vec<Ticks> = self.ends.iter().map(|&last| end.saturating_sub(last)).collect();
        idle.sort_unstable();
        idle.into_iter().take(self.places).sum()
    }

    /// For how long each of the units was at work, on all schedulers.
    pub(crate) fn units(&self) -> [Ticks; Unit::COUNT] {
        std::array::from_fn(|unit| self.units.iter().map(|units| units[unit].worked).sum())
    }

    pub(crate) fn places(&self) -> usize {
        self.places
    }
}

/// How a warp waits for a unit that is busy.
fn throttle(op: &Op) -> State {
    match op.kind {
        Kind::Load(Place::Shared) | Kind::Store(Place::Shared) | Kind::Atomic(Place::Shared) | Kind::Shuffle => {
            State::MioThrottle
        }
        Kind::MbarrierArrive { .. } | Kind::MbarrierWait => State::MioThrottle,
        Kind::Load(_) | Kind::Store(_) | Kind::Atomic(_) | Kind::Copy => State::LgThrottle,
        _ if op.cost.unit == Unit::Special => State::MioThrottle,
        _ => State::MathPipeThrottle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit that is given two instructions, each of which it takes in one of its three ticks, is closed in the others.
    #[test]
    fn a_unit_is_closed_while_it_takes_nothing() {
        let mut account = Account { units: vec![Units::default()], ..Account::default() };
        account.work(0, 1, 100, (3, 1));
        account.work(0, 1, 100, (3, 1));
        assert_eq!([100, 103, 105, 106, 200].map(|now| account.closed(0, Unit::Alu, now)), [0, 1, 3, 4, 4]);
        // Where nothing is added, nothing changes.
        account.work(0, 1, 103, (0, 0));
        assert_eq!([103, 106].map(|now| account.closed(0, Unit::Alu, now)), [1, 4]);
        assert_eq!(account.units()[1], 6);
    }

    #[test]
    fn what_is_kept_ends_at_one_time_for_all_warps() {
        let mut account = Account { rows: vec![Row::default()], spans: Some(Vec::new()), ..Account::default() };
        let mut spend = |warp, state, times| account.spend(warp, 0, state, times);
        // One warp issues all the time. Another one waits, and its wait is told only when there are too many spans.
        let end = 2 * MOST_SPANS as Ticks;
        for now in 0..end {
            spend(0, State::Selected, (now, now + 1));
        }
        spend(1, State::LongScoreboard, (5, end));
        spend(1, State::Selected, (end, end + 1));
        let spans = account.spans.unwrap();
        let last = |warp| spans.iter().filter(|span| span.warp == warp).map(|span| span.to).max().unwrap();
        assert_eq!((last(0), last(1)), (MOST_SPANS as Ticks, MOST_SPANS as Ticks));
        assert_eq!(account.rows[0].states[State::LongScoreboard as usize], end - 5);
    }
}
