//! A kernel as the clock sees it: of every instruction what it costs, waits for and brings.

mod alignment;
mod arms;
mod divergence;
mod fold;
pub(crate) mod ifs;
pub(crate) mod linear;
pub(crate) mod live;
mod narrow;
mod offsets;
mod uniform;

use std::collections::HashMap;

use fusion_ptx::ast::{MbarrierOp, WarpgroupOp};

use self::linear::Sum;
use super::cost::{Cost, FOLDED, Unit};
use super::effect::Model;
use crate::code::{Base, Code, MicroOp, Operands, Place, Role, SlowOp, TRUE};
use crate::exec::Step;
use crate::profile::Units;

/// What an instruction has to do with memory and with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Load(Place),
    Store(Place),
    Atomic(Place),
    /// From global to shared memory, behind the warp's back; closes a group of such copies; waits until no more groups than so many are
    /// under way, or until no copy is.
    Copy,
    CopyCommit,
    CopyWait(Option<u32>),
    /// A product of a warp group, behind the warp's back; closes a group of such products; waits until no more groups than so many are
    /// under way.
    Product,
    ProductFence,
    ProductCommit,
    ProductWait(u32),
    Barrier,
    /// Comes to the barrier of the cluster, with all that it has written unless it is relaxed; waits there.
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    Shuffle,
    /// `near`: for the block alone, or between its accesses and its bulk copies.
    Fence {
        near: bool,
    },
    /// A bulk copy to shared memory, of which an mbarrier is told, and one out of it; closes a group of those; waits
    /// until no more groups than so many read shared memory.
    BulkLoad,
    BulkStore,
    BulkCommit,
    BulkWait(u32),
    /// Arrives at an mbarrier, or lets the warp's copies do so; waits there for a phase.
    MbarrierArrive {
        copied: bool,
    },
    MbarrierWait,
    /// Goes elsewhere.
    Branch,
}

impl Kind {
    /// Goes through the unit for loads and stores.
    pub(crate) fn reaches_memory(self) -> bool {
        matches!(
            self,
            Self::Load(_)
                | Self::Store(_)
                | Self::Atomic(_)
                | Self::Copy
                | Self::MbarrierArrive { .. }
                | Self::MbarrierWait
                | Self::Fence { near: true }
        )
    }

    /// Reads what it reaches of global memory, and writes nothing there.
    pub(crate) fn loads(self) -> bool {
        matches!(self, Self::Load(_) | Self::Copy | Self::BulkLoad)
    }
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) cost: Cost,
    pub(crate) kind: Kind,
    /// Registers, by their numbers in the [`Program`].
    pub(crate) reads: Vec<u32>,
    pub(crate) writes: Vec<u32>,
    /// Bytes of one lane's access.
    pub(crate) bytes: u32,
    /// Where a load or store goes, and what an instruction of arithmetic computes, where that is a sum.
    pub(crate) address: Option<Sum>,
    pub(crate) value: Option<Sum>,
    /// A load that may pass stores: nobody writes what it reads.
    pub(crate) read_only: bool,
    /// Goes to L2, whatever the L1 has.
    pub(crate) past_l1: bool,
    /// A load of a word of shared memory that brings the three words behind it, too.
    pub(crate) merged: bool,
    /// An atomic that adds the same number for all lanes: the lanes at an address are counted first, and one addition does.
    pub(crate) counts: bool,
    /// An atomic that one lane does for its warp, with what `redux` makes of the operands of all.
    pub(crate) one_lane: bool,
    /// Reads a special register in which lanes differ.
    pub(crate) of_a_lane: bool,
    /// What lanes do together, where they may have parted: nothing is moved over it.
    pub(crate) reconverges: bool,
    /// Computes with floats.
    pub(crate) float: bool,
    /// The assembler makes a branch of it, over which it moves nothing.
    pub(crate) serial: bool,
}

#[derive(Debug)]
pub(crate) struct Program {
    /// By place in the code.
    pub(crate) ops: Vec<Op>,
    /// How many there are.
    pub(crate) registers: usize,
    /// Behind the kernel's own instructions stand those with which the assembler keeps a register in local memory, and loads it again: where.
    pub(crate) spills: u32,
    /// Branches over instructions that have a predicate instead: where they begin, and one past where these end.
    pub(crate) predicated: HashMap<u32, u32>,
    /// Branches over an arm or two that stay branches, by where they stand.
    pub(crate) ifs: HashMap<u32, ifs::If>,
    pub(crate) live: live::Live,
}

/// Loads that do not stop at the L1 (PTX ISA 9.7.9.1, cache operators, and 8.4).
const PAST_L1: [&str; 5] = [".cg", ".cv", ".volatile", ".relaxed", ".acquire"];

/// Bytes that a bulk copy moves at least.
const BULK_PIECE: u32 = 16;

/// Special registers in which lanes differ (PTX ISA 10, "Special Registers").
const OF_A_LANE: [&str; 3] = ["%tid", "%laneid", "%lanemask"];

/// What becomes a sequence with a branch to a slow case.
const SERIAL: [&str; 6] = ["div.rn.f32", "sqrt.rn.f32", "rcp.rn.f32", "div.rn.f64", "sqrt.rn.f64", "rcp.rn.f64"];

impl Program {
    /// `text` gives the PTX of an instruction by its place in the code.
    pub(crate) fn new(code: &Code, units: &Units, model: &Model, text: impl Fn(u32) -> String) -> Self {
        let numbers = Numbers::new(code);
        let reader = linear::Reader::new(code, &numbers);
        let op = |(pc, inst): (u32, &crate::code::Inst)| {
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            inst.op.operands(code, &mut |role, reg| {
                if reg.bits == 1 && reg.slot == TRUE {
                    return;
                }
                let register = numbers.of(pc, reg.slot, reg.bits);
                if role == Role::Write { writes.push(register) } else { reads.push(register) }
            });
            if inst.guard != TRUE {
                reads.push(numbers.of(pc, inst.guard, 1));
                // What it does not write stays as it is.
                reads.extend_from_slice(&writes);
            }
            let text = if inst.counted { text(pc) } else { String::new() };
            let contains = |words: &[&str]| words.iter().any(|word| text.contains(word));
            let (kind, read_only, bytes) = kind(code, inst.op);
            let cost = match kind {
                // A parameter of the launch, or of a call, is a register or a constant.
                Kind::Load(Place::Param) if inst.counted => Cost::of(&text, units),
                Kind::Load(Place::Param | Place::Frame) | Kind::Store(Place::Param | Place::Frame) => FOLDED,
                // Lanes that part meet again behind what is jumped over: two instructions see to that.
                Kind::Branch if parts(code, pc, inst.op) => {
                    let cost = Cost::of(&text, units);
                    Cost { issues: cost.issues + 2.0, ..cost }
                }
                _ if inst.counted => Cost::of(&text, units),
                _ => FOLDED,
            };
            Op {
                reads,
                writes,
                bytes,
                address: reader.address(pc),
                value: (inst.guard == TRUE).then(|| reader.value(pc, inst.op)).flatten(),
                read_only,
                past_l1: contains(&PAST_L1),
                counts: counts_lanes(&text),
                of_a_lane: contains(&OF_A_LANE),
                float: contains(&[".f32", ".f64", "f16"]),
                serial: contains(&SERIAL),
                ..Op::new(cost, kind)
            }
        };
        let ops: Vec<Op> = (0..).zip(&code.insts).map(op).collect();
        let named = ops.iter().flat_map(|op| op.reads.iter().chain(&op.writes));
        let registers = named.max().map_or(0, |&register| register as usize + 1);
        let spills = ops.len() as u32;
        let mut program = Self {
            ops,
            registers,
            spills,
            predicated: HashMap::new(),
            ifs: HashMap::new(),
            live: live::Live::default(),
        };
        narrow::halves(&mut program, code, units, &text);
        fold::shared_loads(&mut program, code, &numbers);
        // What costs nothing by now takes part in no other instruction.
        offsets::fold(&mut program, code, &numbers);
        fold::products(&mut program, code);
        fold::combined(&mut program, code, &numbers);
        // Before branches are predicates of what they lead over.
        uniform::atomics(&mut program, code, &numbers);
        divergence::mark(&mut program, code);
        fold::short_branches(&mut program, code, model.assembler.predicated);
        program.ifs = ifs::find(&program, code);
        arms::moves(&mut program, code);
        program.live = live::Live::new(&program.ops, registers, code, &numbers);
        let memory = |text: &str, kind| Op { bytes: 4, ..Op::new(Cost::of(text, units), kind) };
        program.ops.push(memory("st.local.b32 [%r1], %r2;", Kind::Store(Place::Local)));
        program.ops.push(memory("ld.local.b32 %r2, [%r1];", Kind::Load(Place::Local)));
        program
    }
}

impl Program {
    /// What a warp issues: with what is jumped over and has a predicate instead, which it issues for no lane.
    pub(crate) fn issued(&self, steps: Vec<Step>) -> Vec<Step> {
        if !steps.iter().any(|step| self.predicated.contains_key(&step.pc)) {
            return steps;
        }
        let mut issued = Vec::with_capacity(steps.len());
        let mut at = 0;
        while let Some(&step) = steps.get(at) {
            issued.push(step);
            at += 1;
            let Some(&end) = self.predicated.get(&step.pc) else { continue };
            for pc in step.pc + 1..end {
                let executed = steps.get(at).filter(|step| step.pc == pc);
                at += usize::from(executed.is_some());
                issued.push(executed.copied().unwrap_or(Step { pc, ..Step::default() }));
            }
        }
        issued
    }
}

/// `red.shared.add.u32 [%r1], 1;`, or an atomic of this kind whose result nobody asks for.
fn counts_lanes(text: &str) -> bool {
    let operand = text.rsplit(',').next().unwrap_or_default().trim().trim_end_matches(';');
    let is_addition = text.contains(".add.u32") || text.contains(".add.s32");
    (text.contains("red.") || text.contains("atom.")) && is_addition && operand.parse::<i64>().is_ok()
}

/// Numbers of registers: those of all functions side by side, of each its words, doubles and predicates.
struct Numbers(Vec<Frame>);

struct Frame {
    start: u32,
    end: u32,
    first: u32,
    words: u32,
    doubles: u32,
}

impl Numbers {
    fn new(code: &Code) -> Self {
        let mut first = 0;
        let frame = |function: &crate::code::Function| {
            let &crate::code::Function { start, end, words, doubles, predicates, .. } = function;
            let frame = Frame { start, end, first, words, doubles };
            first += words + doubles + predicates;
            frame
        };
        Self(code.functions.iter().flatten().map(frame).collect())
    }

    /// The register that an address begins with.
    fn of_base(&self, pc: u32, base: Base) -> Option<u32> {
        match base {
            Base::None => None,
            Base::Word(slot) => Some(self.of(pc, slot, 32)),
            Base::Double(slot) => Some(self.of(pc, slot, 64)),
        }
    }

    fn of(&self, pc: u32, slot: u32, bits: u8) -> u32 {
        let Some(frame) = self.0.iter().find(|frame| (frame.start..frame.end).contains(&pc)) else { return slot };
        frame.first
            + slot
            + match bits {
                1 => frame.words + frame.doubles,
                64 => frame.words,
                _ => 0,
            }
    }
}

/// Whether a branch leads some lanes over what others execute, and not out of the kernel.
fn parts(code: &Code, pc: u32, op: MicroOp) -> bool {
    let MicroOp::Branch { target, .. } = op else { return false };
    target > pc && (target as usize) < code.insts.len() && !code.leaves(target)
}

/// What an instruction does, whether a load may pass stores, and the bytes of a lane's access.
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
            SlowOp::ClusterBarrier { wait: true, .. } => (Kind::ClusterWait, false, 0),
            SlowOp::ClusterBarrier { relaxed, .. } => (Kind::ClusterArrive { relaxed: *relaxed }, false, 0),
            SlowOp::Collective(_) => (Kind::Shuffle, false, 0),
            SlowOp::Matrix(access) if access.row.stores => {
                (Kind::Store(Place::Shared), false, 4 * access.regs.len() as u32)
            }
            SlowOp::Matrix(access) => (Kind::Load(Place::Shared), false, 4 * access.regs.len() as u32),
            SlowOp::Atomic(atomic) => (Kind::Atomic(atomic.place), false, atomic.element),
            // A cluster's blocks are on several SMs, which meet in L2.
            SlowOp::Fence(order) => (Kind::Fence { near: order.narrow && !order.clustered }, false, 0),
            SlowOp::ProxyFence => (Kind::Fence { near: true }, false, 0),
            SlowOp::Mbarrier(object) => match object.op {
                MbarrierOp::Wait { .. } => (Kind::MbarrierWait, false, 8),
                op => (Kind::MbarrierArrive { copied: matches!(op, MbarrierOp::ArriveCopied { .. }) }, false, 8),
            },
            SlowOp::CopyBulk(copy) if copy.to == Place::Global => (Kind::BulkStore, false, BULK_PIECE),
            SlowOp::CopyTensor(copy) if copy.mbarrier.is_none() => (Kind::BulkStore, false, BULK_PIECE),
            SlowOp::CopyBulk(_) | SlowOp::CopyTensor(_) => (Kind::BulkLoad, false, BULK_PIECE),
            SlowOp::BulkCommit => (Kind::BulkCommit, false, 0),
            SlowOp::BulkWait { groups } => (Kind::BulkWait(*groups), false, 0),
            SlowOp::StoreAsync(store) => (Kind::Store(Place::Cluster), false, store.element * store.a.len() as u32),
            SlowOp::CopyAsync { size, .. } => (Kind::Copy, false, *size),
            SlowOp::CopyCommit => (Kind::CopyCommit, false, 0),
            SlowOp::Wgmma(_) => (Kind::Product, false, 0),
            SlowOp::Warpgroup(WarpgroupOp::Commit) => (Kind::ProductCommit, false, 0),
            SlowOp::Warpgroup(WarpgroupOp::Wait(groups)) => (Kind::ProductWait(*groups), false, 0),
            SlowOp::Warpgroup(WarpgroupOp::Fence) => (Kind::ProductFence, false, 0),
            SlowOp::CopyWait { groups } => (Kind::CopyWait(*groups), false, 0),
            _ => (Kind::Plain, false, 0),
        },
        _ => (Kind::Plain, false, 0),
    }
}

impl Op {
    /// Names no register and has no address.
    pub(crate) fn new(cost: Cost, kind: Kind) -> Self {
        Self {
            cost,
            kind,
            reads: Vec::new(),
            writes: Vec::new(),
            bytes: 0,
            address: None,
            value: None,
            read_only: false,
            past_l1: false,
            merged: false,
            counts: false,
            one_lane: false,
            of_a_lane: false,
            reconverges: false,
            float: false,
            serial: false,
        }
    }

    /// Nothing is moved from one side of it to the other.
    pub(crate) fn divides(&self) -> bool {
        use Kind::{
            Barrier, Branch, BulkCommit, BulkLoad, BulkStore, BulkWait, ClusterArrive, ClusterWait, CopyCommit,
            CopyWait, Fence, MbarrierArrive, MbarrierWait, Product, ProductCommit, ProductFence, ProductWait,
        };
        let of_barriers = matches!(self.kind, Barrier | ClusterArrive { .. } | ClusterWait);
        let of_objects = matches!(self.kind, MbarrierArrive { .. } | MbarrierWait);
        let of_copies = matches!(self.kind, CopyCommit | CopyWait(_) | BulkLoad | BulkStore | BulkCommit | BulkWait(_));
        let of_products = matches!(self.kind, Product | ProductFence | ProductCommit | ProductWait(_));
        let of_others = of_barriers || of_objects || of_copies || of_products;
        self.serial || of_others || matches!(self.kind, Fence { .. } | Branch)
    }

    /// Whether it takes something from global memory.
    pub(crate) fn loads_global(&self) -> bool {
        matches!(self.kind, Kind::Load(Place::Global | Place::Generic)) && !self.is_folded()
    }

    pub(crate) fn is_folded(&self) -> bool {
        self.cost.unit == Unit::None
    }
}

#[cfg(test)]
mod tests;
