//! A kernel as the clock sees it: of every instruction what it costs, waits for and brings.

use super::cost::{Cost, FOLDED, Unit};
use crate::code::{Code, MicroOp, Operands, Place, Role, SlowOp, TRUE};

/// What an instruction has to do with memory and with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Load(Place),
    Store(Place),
    Atomic(Place),
    Barrier,
    Shuffle,
    Fence,
    /// Goes elsewhere.
    Branch,
}

#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) cost: Cost,
    pub(crate) kind: Kind,
    pub(crate) reads: Vec<u32>,
    pub(crate) writes: Vec<u32>,
    /// May pass stores: nobody writes what it reads.
    pub(crate) read_only: bool,
    /// Bytes of one lane's access.
    pub(crate) bytes: u32,
    /// Goes to L2, whatever the L1 has.
    pub(crate) past_l1: bool,
    /// Loads what others next to it would, too.
    pub(crate) merged: bool,
    /// An atomic on floats, which take longer.
    pub(crate) float: bool,
    /// Has a branch inside of it, so that nothing is put between its parts.
    pub(crate) serial: bool,
}

#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    pub(crate) registers: usize,
}

impl Program {
    /// `text` gives the PTX of an instruction by its place in the code.
    pub(crate) fn new(code: &Code, text: impl Fn(u32) -> String) -> Self {
        // Registers of all functions side by side: words, doubles, predicates.
        let mut first = Vec::new();
        let mut registers = 0_u32;
        for function in code.functions.iter().flatten() {
            first.push((function.start, function.end, registers, function.words, function.doubles));
            registers += function.words + function.doubles + function.predicates;
        }
        let number = |pc: u32, slot: u32, bits: u8| {
            let (_, _, base, words, doubles) =
                first.iter().find(|(start, end, ..)| (*start..*end).contains(&pc)).copied().unwrap_or_default();
            base + match bits {
                1 => words + doubles + slot,
                64 => words + slot,
                _ => slot,
            }
        };
        let mut ops: Vec<Op> = Vec::with_capacity(code.insts.len());
        for (pc, inst) in (0..).zip(&code.insts) {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            inst.op.operands(code, &mut |role, reg| {
                let register = number(pc, reg.slot, reg.bits);
                if reg.bits == 1 && reg.slot == TRUE {
                    return;
                }
                match role {
                    Role::Write => writes.push(register),
                    _ => reads.push(register),
                }
            });
            if inst.guard != TRUE {
                reads.push(number(pc, inst.guard, 1));
                // What it does not write stays as it is.
                reads.extend_from_slice(&writes);
            }
            let text = if inst.counted { text(pc) } else { String::new() };
            let cost = if inst.counted { Cost::of(&text) } else { FOLDED };
            let past_l1 = [".cg", ".cv", ".volatile", ".relaxed", ".acquire"].iter().any(|word| text.contains(word));
            let serial = ["div.rn.f32", "sqrt.rn.f32", "rcp.rn.f32", "div.rn.f64", "sqrt.rn.f64", "rcp.rn.f64"].iter().any(|word| text.contains(word));
            let (kind, read_only, bytes) = kind(code, inst.op);
            let cost = match kind {
                // A parameter of the launch, or of a call, is a register or a constant.
                Kind::Load(Place::Param | Place::Frame) | Kind::Store(Place::Param | Place::Frame) => FOLDED,
                _ => cost,
            };
            ops.push(Op { merged: false, cost, kind, reads, writes, read_only, bytes, past_l1, serial, float: text.contains(".f32") || text.contains(".f64") || text.contains("f16") });
        }
        let mut program = Self { ops, registers: registers as usize };
        program.fold(code);
        program.merge(code);
        program
    }

    /// A product of 64 bits that is only added to an address is one instruction with the sum; so is a comparison's negation.
    fn fold(&mut self, code: &Code) {
        let mut readers = vec![0_u32; self.registers];
        for op in &self.ops {
            for &register in &op.reads {
                readers[register as usize] += 1;
            }
        }
        let mut wide = std::collections::HashMap::new();
        for pc in 0..self.ops.len() {
            match code.insts[pc].op {
                MicroOp::MulWideU(_) | MicroOp::MulWideS(_) | MicroOp::Shl64(_) => {
                    if let [register] = self.ops[pc].writes[..] {
                        wide.insert(register, pc);
                    }
                }
                MicroOp::Add64(_) => {
                    let found = self.ops[pc].reads.iter().find_map(|register| {
                        wide.get(register).copied().map(|pc| (*register, pc))
                    });
                    if let Some((register, product)) = found {
                        let multiplies = !matches!(code.insts[product].op, MicroOp::Shl64(_));
                        if multiplies && readers[register as usize] == 1 {
                            self.ops[pc].cost = self.ops[product].cost;
                            self.ops[product].cost = FOLDED;
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

impl Program {
    /// Neighbouring words of shared memory at one address are loaded together, four at a time.
    fn merge(&mut self, code: &Code) {
        let word = |pc: usize| {
            let access = code.access(pc as u32).filter(|access| !access.stores && access.place == Place::Shared)?;
            (access.bytes() == 4).then_some(access.address)
        };
        let mut from = 0;
        while from < self.ops.len() {
            let Some(first) = word(from).filter(|address| address.offset % 16 == 0) else {
                from += 1;
                continue;
            };
            // Up to the end of the straight piece of code.
            let mut found = vec![from];
            for pc in from + 1..self.ops.len().min(from + 200) {
                if self.ops[pc].divides() || matches!(self.ops[pc].kind, Kind::Store(Place::Shared)) {
                    break;
                }
                let next = found.len() as i64 * 4;
                if word(pc).is_some_and(|address| address.base == first.base && address.offset == first.offset + next) {
                    found.push(pc);
                    if found.len() == 4 {
                        break;
                    }
                }
            }
            if let ([_, _, _, _], Some(&register)) = (&found[..], self.ops[from].writes.first()) {
                self.ops[from].merged = true;
                for &pc in &found[1..] {
                    let op = &mut self.ops[pc];
                    (op.cost, op.kind, op.reads) = (FOLDED, Kind::Plain, vec![register]);
                }
            }
            from += 1;
        }
    }
}

fn kind(code: &Code, op: MicroOp) -> (Kind, bool, u32) {
    match op {
        MicroOp::Load(index) | MicroOp::LoadParam(index) => {
            let access = &code.accesses[index as usize];
            (Kind::Load(access.place), access.read_only, access.bytes())
        }
        MicroOp::Store(index) => {
            let access = &code.accesses[index as usize];
            (Kind::Store(access.place), false, access.bytes())
        }
        MicroOp::Jump(_) | MicroOp::Branch { .. } => (Kind::Branch, false, 0),
        MicroOp::Slow(index) => match &code.slow[index as usize] {
            SlowOp::Exit | SlowOp::Return | SlowOp::Trap | SlowOp::BranchTable { .. } | SlowOp::Call(_) => {
                (Kind::Branch, false, 0)
            }
            SlowOp::Barrier { .. } => (Kind::Barrier, false, 0),
            SlowOp::Collective(_) => (Kind::Shuffle, false, 0),
            SlowOp::Atomic(atomic) => (Kind::Atomic(atomic.place), false, atomic.element),
            SlowOp::Fence(_) => (Kind::Fence, false, 0),
            SlowOp::Mbarrier(_) => (Kind::Atomic(Place::Shared), false, 8),
            SlowOp::CopyAsync { size, .. } => (Kind::Store(Place::Shared), false, *size),
            SlowOp::CopyWait { .. } => (Kind::Fence, false, 0),
            _ => (Kind::Plain, false, 0),
        },
        _ => (Kind::Plain, false, 0),
    }
}

impl Op {
    /// Nothing is moved from one side of it to the other.
    pub(crate) fn divides(&self) -> bool {
        matches!(self.kind, Kind::Barrier | Kind::Fence | Kind::Branch)
    }

    pub(crate) fn is_folded(&self) -> bool {
        self.cost.unit == Unit::None
    }
}
