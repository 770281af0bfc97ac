//! Plain reads beside atomics that can do no harm, whatever they find.
//!
//! Two of them stand in much good code: the first read of a compare-and-swap loop, and one that asks whether an atomic minimum or
//! maximum is worth doing. By the memory model each races with the other threads' atomics. But what it has read may be old and
//! nothing is lost, as long as an atomic on the same place has the last word. That is told by following the value from the read:
//! it must end in such atomics, or in branches that decide about nothing but them and what follows from their answers. A
//! compare-and-swap that has exchanged has confirmed what was read, so that nothing of it need be followed further.

mod place;
mod state;

use fusion_ptx::ast::{AtomicOp, Compare};
use smallvec::SmallVec;

use super::decides::function;
use crate::code::flow::Flow;
use crate::code::{
    AddressOf, Argument, Atomic, Base, Code, D2, Function, Inst, MicroOp, Operands, Reg, Role, SlowOp, TRUE,
};
use crate::report::kind::Idiom;
pub(super) use place::comparable;
use state::{Holds, Key, MOVED, State, key, meet, names, put};

/// Steps after which a value is followed no longer: then the race counts.
const STEPS: usize = 1 << 16;

/// Why a plain read does no harm beside other threads' atomics, if it does not. `other` is the atomic's instruction.
pub(super) fn harmless(code: &Code, idiom: Option<Idiom>, other: u32) -> Option<Idiom> {
    let Some(SlowOp::Atomic(atomic)) = code.slow_at(other) else { return None };
    // An exchange or an addition may undo what the guard has seen.
    idiom.filter(|idiom| *idiom != Idiom::Guard || moves_one_way(atomic.op))
}

/// What a plain read is for, as far as it is one of these.
pub(super) fn of_read(code: &Code, pc: u32) -> Option<Idiom> {
    let function = function(code, pc)?;
    let load = code.access(pc).filter(|load| !load.stores && load.regs.len() == 1)?;
    let flow = Flow::new(code, function);
    let count = flow.successors.len();
    let read = (pc - function.start) as usize;
    let walk = Walk {
        code,
        function,
        flow,
        read,
        bytes: load.element,
        address: comparable(code, function, load.address),
        states: vec![None; count],
        pending: vec![read],
        regions: Vec::new(),
        guesses: Vec::new(),
        confirmed: Vec::new(),
        guards: false,
    };
    walk.follow()
}

/// Atomics that can be done any number of times: whoever finds that one would change nothing may leave it out.
fn moves_one_way(op: AtomicOp) -> bool {
    matches!(op, AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Cas)
}

/// What lies between a branch at which what was read decides, and the place where its sides meet.
struct Region {
    branch: usize,
    all: Vec<bool>,
    /// What is executed, or not, for no other reason: an atomic on the same place has not had its say before.
    decided: Vec<bool>,
}

impl Region {
    /// Says whether that is new.
    fn decide(&mut self, at: usize) -> bool {
        self.all.get(at) == Some(&true) && !std::mem::replace(&mut self.decided[at], true)
    }
}

/// Follows what was read, an instruction at a time, until nothing more is learnt.
struct Walk<'c> {
    code: &'c Code,
    function: &'c Function,
    flow: Flow,
    read: usize,
    bytes: u32,
    address: AddressOf,
    /// What is known before an instruction.
    states: Vec<Option<State>>,
    pending: Vec<usize>,
    /// Where what was read decides.
    regions: Vec<Region>,
    /// Compare-and-swaps that take it, and those whose answers are looked at.
    guesses: Vec<usize>,
    confirmed: Vec<usize>,
    /// An atomic is done or not because of it.
    guards: bool,
}

impl Walk<'_> {
    fn follow(mut self) -> Option<Idiom> {
        self.states[self.read] = Some(State::new());
        for _ in 0..STEPS {
            let Some(at) = self.pending.pop() else {
                return self.conclude();
            };
            let state = self.states[at].clone().unwrap_or_default();
            self.step(at, state)?;
        }
        None
    }

    fn conclude(&self) -> Option<Idiom> {
        // One that fails and is not asked loses what it was to store; and who reads until something is there waits for it.
        if self.guesses.iter().any(|at| !self.confirmed.contains(at))
            || self.regions.iter().any(|region| self.polls(region.branch))
        {
            return None;
        }
        match self.guards {
            true => Some(Idiom::Guard),
            false => (!self.guesses.is_empty()).then_some(Idiom::Guess),
        }
    }

    /// Whether a branch makes a thread read again by what it has read, and not because a compare-and-swap has failed. The compiler
    /// may have made several reads of one.
    fn polls(&self, branch: usize) -> bool {
        let fails = |at: usize| {
            let state = self.states.get(at).and_then(Option::as_ref);
            let Some(MicroOp::Branch { p, .. }) = self.inst(at).map(|inst| inst.op) else { return false };
            state.is_some_and(|state| matches!(state.get(&(0, p)), Some(Holds::Exchanged(_))))
        };
        self.flow.decided_by(branch, fails).iter().any(|&at| self.reads(at))
    }

    /// Whether an instruction reads the same place.
    fn reads(&self, at: usize) -> bool {
        let load = self.code.access(self.pc(at)).filter(|access| !access.stores);
        load.is_some_and(|load| comparable(self.code, self.function, load.address) == self.address)
    }

    fn pc(&self, at: usize) -> u32 {
        self.function.start + at as u32
    }

    fn inst(&self, at: usize) -> Option<&Inst> {
        self.code.insts.get(self.pc(at) as usize)
    }

    /// Hands what is known on to an instruction.
    fn hand_on(&mut self, to: usize, state: State) {
        let Some(known) = self.states.get_mut(to) else { return };
        let Some(known) = known else {
            *known = Some(state);
            return self.pending.push(to);
        };
        let mut changed = false;
        for (&reg, &holds) in &state {
            let before = known.get(&reg).copied();
            let after = meet(before, Some(holds));
            if before != Some(after) {
                known.insert(reg, after);
                changed = true;
            }
        }
        for (reg, holds) in known.iter_mut() {
            let after = meet(Some(*holds), state.get(reg).copied());
            changed |= after != *holds;
            *holds = after;
        }
        if changed {
            self.pending.push(to);
        }
    }

    /// What was read decides at a branch.
    fn decide(&mut self, branch: usize) {
        if self.regions.iter().any(|region| region.branch == branch) {
            return;
        }
        let mut all = vec![false; self.states.len()];
        for at in self.flow.decided_by(branch, |_| false) {
            all[at] = true;
            self.pending.extend(self.states[at].is_some().then_some(at));
        }
        let mut region = Region { branch, decided: vec![false; all.len()], all };
        for &at in &self.flow.successors[branch] {
            region.decide(at);
        }
        self.regions.push(region);
    }

    /// Instructions behind one that is executed as what was read decides are executed so, too: where an atomic's answer decides
    /// between them, those behind its sides.
    fn spread(&mut self, at: usize, told: bool) {
        let next = if told { self.flow.join(at).into_iter().collect() } else { self.flow.successors[at].clone() };
        for region in self.regions.iter_mut().filter(|region| region.decided[at]) {
            for &next in &next {
                if region.decide(next) && self.states[next].is_some() {
                    self.pending.push(next);
                }
            }
        }
    }

    /// What an instruction makes of what is known; `None` if it lets the value go where it may do harm.
    fn step(&mut self, at: usize, mut state: State) -> Option<()> {
        let code = self.code;
        let inst = *self.inst(at)?;
        let within = self.regions.iter().any(|region| region.all[at]);
        let decided = self.regions.iter().any(|region| region.decided[at]);
        let is_read = |state: &State, reg: Key| match state.get(&reg) {
            Some(Holds::Read) => true,
            Some(Holds::Decided) => !within,
            _ => false,
        };
        if let MicroOp::Branch { p, negated, target } = inst.op {
            let target = target.wrapping_sub(self.function.start) as usize;
            match state.get(&(0, p)) {
                Some(Holds::Read) => self.decide(at),
                Some(Holds::Decided) if !within => self.decide(at),
                Some(&Holds::Exchanged(when)) => {
                    self.spread(at, true);
                    // Where it has exchanged, it has confirmed what was read.
                    let (taken, passed) = if when != negated { (State::new(), state) } else { (state, State::new()) };
                    self.hand_on(target, taken);
                    self.hand_on(at + 1, passed);
                    return Some(());
                }
                _ => {}
            }
            self.spread(at, state.get(&(0, p)) == Some(&Holds::Told));
        } else {
            self.spread(at, false);
            let guarded = is_read(&state, (0, inst.guard));
            let (mut takes, mut strays, mut told) = (false, false, !decided);
            let mut writes = SmallVec::<[Reg; 2]>::new();
            inst.op.operands(code, &mut |role, reg| match role {
                Role::Write => writes.push(reg),
                Role::Read | Role::Atomic => {
                    takes |= is_read(&state, key(reg));
                    told |= matches!(state.get(&key(reg)), Some(Holds::Told | Holds::Answer(_) | Holds::Exchanged(_)));
                }
                _ => strays |= is_read(&state, key(reg)),
            });
            if strays {
                return None;
            }
            let plain = match within {
                _ if takes || guarded => Some(Holds::Read),
                true => Some(if told { Holds::Told } else { Holds::Decided }),
                false => None,
            };
            let result = self.result(at, &inst, &state, plain, takes, decided || guarded)?;
            for reg in writes {
                self.forget(&mut state, key(reg));
                put(&mut state, key(reg), result, inst.guard != TRUE);
                if Some(key(reg)) == self.base() {
                    state.insert(MOVED, Holds::Read);
                }
            }
            if let Some(SlowOp::Call(call)) = code.slow_at(self.pc(at)) {
                for result in &call.returns {
                    if let Argument::Register(reg) = result {
                        self.forget(&mut state, key(*reg));
                        put(&mut state, key(*reg), None, inst.guard != TRUE);
                    }
                }
            }
            if at == self.read {
                state.remove(&MOVED);
            }
            let ends = matches!(inst.op, MicroOp::Slow(_)) && self.flow.successors[at].len() > 1;
            if guarded && ends {
                self.decide(at);
            }
        }
        for next in self.flow.successors[at].clone() {
            self.hand_on(next, state.clone());
        }
        Some(())
    }

    /// A register changes: no answer can be held against what it was any more.
    fn forget(&self, state: &mut State, changes: Key) {
        let compares = |at: usize| matches!(self.code.slow_at(self.pc(at)), Some(SlowOp::Atomic(a)) if a.a.iter().any(|reg| key(*reg) == changes));
        for holds in state.values_mut() {
            if matches!(holds, Holds::Answer(at) if compares(*at)) {
                *holds = Holds::Read;
            }
        }
    }

    /// What an instruction's results hold: what is `plain` for most. `takes`: an operand depends on what was read; `decided`: so does
    /// whether it is executed.
    fn result(
        &mut self,
        at: usize,
        inst: &Inst,
        state: &State,
        plain: Option<Holds>,
        takes: bool,
        decided: bool,
    ) -> Option<Option<Holds>> {
        let copied = |reg: Key| state.get(&reg).copied().filter(|holds| !matches!(holds, Holds::Read | Holds::Decided));
        let may = |may: bool| may.then_some(plain);
        match inst.op {
            MicroOp::Load(_) if at == self.read => Some(Some(Holds::Read)),
            MicroOp::Store(_) => may(!takes && !decided),
            MicroOp::Mov32(D2 { a, .. }) => Some(copied((1, a)).or(plain)),
            MicroOp::Mov64(D2 { a, .. }) => Some(copied((2, a)).or(plain)),
            MicroOp::SetpS32(s) | MicroOp::SetpU32(s) => Some(self.verdict(state, s.cmp, (1, s.a), (1, s.b)).or(plain)),
            MicroOp::SetpS64(s) | MicroOp::SetpU64(s) => Some(self.verdict(state, s.cmp, (2, s.a), (2, s.b)).or(plain)),
            MicroOp::Slow(index) => match self.code.slow.get(index as usize)? {
                SlowOp::Atomic(atomic) => {
                    let same = comparable(self.code, self.function, atomic.address) == self.address;
                    let whole = atomic.element == self.bytes && atomic.a.len() == 1;
                    let same = same && whole && !state.contains_key(&MOVED);
                    let swaps = self.atomic(at, atomic, same, takes, decided)?;
                    // The answer of any other one is nothing that was read here.
                    Some(if swaps { Some(Holds::Answer(at)) } else { plain.and(Some(Holds::Told)) })
                }
                SlowOp::Exit => may(!decided || self.is_entry()),
                SlowOp::Return => may(!names(state, &self.function.returns)),
                SlowOp::Call(call) => may(!takes && !decided && !names(state, &call.args)),
                SlowOp::Nothing
                | SlowOp::Yield
                | SlowOp::Read { .. }
                | SlowOp::FrameAddress { .. }
                | SlowOp::IsSpace { .. }
                | SlowOp::Pack { .. }
                | SlowOp::Unpack { .. }
                | SlowOp::Carry(_)
                | SlowOp::Lop3Predicate { .. }
                | SlowOp::SelectSign { .. }
                | SlowOp::TestProperty { .. }
                | SlowOp::Checked(_) => Some(plain),
                // What other threads see or wait for.
                _ => may(!takes && !decided),
            },
            _ => Some(plain),
        }
    }

    fn is_entry(&self) -> bool {
        let entry = self.code.functions.get(self.code.entry as usize).and_then(Option::as_ref);
        entry.is_some_and(|entry| entry.start == self.function.start)
    }

    /// The register of the read's address.
    fn base(&self) -> Option<Key> {
        match self.address.base {
            Base::None => None,
            Base::Word(slot) => Some((1, slot)),
            Base::Double(slot) => Some((2, slot)),
        }
    }

    /// Whether an atomic is a compare-and-swap on the same place; `None` if what was read may do harm there.
    fn atomic(&mut self, at: usize, atomic: &Atomic, same: bool, takes: bool, decided: bool) -> Option<bool> {
        let swaps = same && atomic.op == AtomicOp::Cas;
        // Only a compare-and-swap looks whether what it is made from still holds: a maximum of one more than what was read may
        // lose somebody else's.
        if takes && !swaps || decided && !(same && moves_one_way(atomic.op)) {
            return None;
        }
        if takes {
            self.guesses.push(at);
        }
        self.guards |= decided;
        Some(swaps)
    }

    /// A compare-and-swap's answer, held against what it was to compare with.
    fn verdict(&mut self, state: &State, cmp: Compare, a: Key, b: Key) -> Option<Holds> {
        let when = match cmp {
            Compare::Eq => true,
            Compare::Ne => false,
            _ => return None,
        };
        let confirms = |answer: Key, with: Key| {
            let &Holds::Answer(at) = state.get(&answer)? else { return None };
            let SlowOp::Atomic(atomic) = self.code.slow_at(self.pc(at))? else { return None };
            atomic.a.iter().map(|reg| key(*reg)).eq([with]).then_some(at)
        };
        self.confirmed.push(confirms(a, b).or_else(|| confirms(b, a))?);
        Some(Holds::Exchanged(when))
    }
}
