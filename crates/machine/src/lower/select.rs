//! Instruction selection: one PTX instruction to one or a few micro-operations.

mod arithmetic;
mod control;
mod data;
mod matrix;

use fusion_ptx::ast::{
    BoolOp, Dst, Function, FunctionId, GlobalId, Guard, Instruction, LocalId, Module, Op, Operand, PredOperand, RegId,
    ReservedSmem, ScalarType, Space, Special,
};

use super::flow::Liveness;
use super::frame::{Frame, Home};
use super::roots::Roots;
use super::{Addresses, RESERVED_SHARED, SharedLayout};
use crate::code::{self, Code, D2, D3, Dynamic, Fill, Inst, MicroOp, Origin, Reg, Slot, SlowOp, Spread, TRUE, window};

/// Why an instruction cannot be executed.
pub(super) struct Unsupported(pub(super) String);

pub(super) type Selected<T = ()> = Result<T, Unsupported>;

pub(super) fn unsupported<T>(reason: impl Into<String>) -> Selected<T> {
    Err(Unsupported(reason.into()))
}

pub(super) struct Selector<'a> {
    pub(super) module: &'a Module,
    pub(super) id: FunctionId,
    pub(super) function: &'a Function,
    pub(super) addresses: &'a Addresses,
    pub(super) shared: &'a SharedLayout,
    pub(super) code: &'a mut Code,
    pub(super) frame: Frame,
    pub(super) roots: Roots<'a>,
    origin: Origin,
    guard: (Slot, bool),
    /// The next instruction emitted is the program's own.
    pub(super) counted: bool,
    block_jumps: Vec<(u32, usize)>,
}

impl<'a> Selector<'a> {
    pub(super) fn new(
        module: &'a Module,
        id: FunctionId,
        addresses: &'a Addresses,
        shared: &'a SharedLayout,
        code: &'a mut Code,
    ) -> Self {
        let function = &module.functions[id.index()];
        Self {
            module,
            id,
            function,
            addresses,
            shared,
            code,
            frame: Frame::new(function, addresses.local_bytes),
            roots: Roots::new(module, id, shared),
            origin: Origin { span: function.span, loc: None },
            guard: (TRUE, false),
            counted: false,
            block_jumps: Vec::new(),
        }
    }

    /// Where the next instruction will stand.
    pub(super) fn here(&self) -> u32 {
        self.code.insts.len() as u32
    }

    /// Sets the position that what follows is blamed on.
    pub(super) fn at(&mut self, instruction: &Instruction) {
        self.origin = Origin { span: instruction.span, loc: instruction.loc };
        self.counted = true;
        self.guard = (TRUE, false);
    }

    /// Emits a branch whose target is filled in later; returns its place.
    pub(super) fn branch(&mut self, guard: Option<Guard>) -> u32 {
        let at = self.here();
        match guard.and_then(|g| self.flag(g.reg).ok().map(|slot| (slot, g.negated))) {
            Some((p, negated)) => self.emit(MicroOp::Branch { p, negated, target: 0 }),
            None => self.emit(MicroOp::Jump(0)),
        }
        at
    }

    pub(super) fn jump_to_block(&mut self, block: usize) {
        self.guard = (TRUE, false);
        self.counted = false;
        self.block_jumps.push((self.here(), block));
        self.emit(MicroOp::Jump(0));
    }

    pub(super) fn implicit_return(&mut self) {
        self.guard = (TRUE, false);
        self.counted = false;
        self.slow(SlowOp::Return);
    }

    /// Selects everything but branches.
    pub(super) fn select(&mut self, op: &Op, guard: Option<Guard>) {
        let before = (self.here(), self.frame.predicates);
        let result = match guard {
            None => self.try_select(op),
            Some(guard) => self.flag(guard.reg).and_then(|slot| {
                self.guard = (slot, guard.negated);
                self.try_select(op)
            }),
        };
        if let Err(Unsupported(reason)) = result {
            self.code.insts.truncate(before.0 as usize);
            self.code.origins.truncate(before.0 as usize);
            self.counted = true;
            let opcode = match op {
                Op::Unsupported { opcode, .. } => opcode.clone(),
                _ => String::new(),
            };
            self.slow(SlowOp::Unsupported { opcode, reason });
            return;
        }
        let spread = Spread::of(op);
        if spread != Spread::Whole {
            self.code.spreads.extend((before.0..self.here()).map(|pc| (pc, spread)));
        }
    }

    pub(super) fn finish(self, liveness: &Liveness) -> (code::Function, Vec<(u32, usize)>) {
        let function = self.frame.finish(self.function, &liveness.at_entry, liveness.peak);
        (function, self.block_jumps)
    }

    pub(super) fn emit(&mut self, op: MicroOp) {
        let counted = std::mem::replace(&mut self.counted, false);
        self.code.insts.push(Inst { op, guard: self.guard.0, negated: self.guard.1, counted });
        self.code.origins.push(self.origin);
    }

    pub(super) fn slow(&mut self, op: SlowOp) {
        self.code.slow.push(op);
        self.emit(MicroOp::Slow(self.code.slow.len() as u32 - 1));
    }

    pub(super) fn register(&self, id: RegId) -> Option<Reg> {
        self.frame.registers.get(id.index()).copied().flatten()
    }

    pub(super) fn reg(&self, id: RegId) -> Selected<Reg> {
        self.register(id).ok_or_else(|| Unsupported("a 128-bit register cannot stand here".into()))
    }

    /// The halves of a 128-bit register, the less significant first.
    pub(super) fn halves(&self, id: RegId) -> Selected<[Reg; 2]> {
        let found = self.frame.wide.get(&id).copied();
        found.ok_or_else(|| Unsupported("a 128-bit register must stand here".into()))
    }

    /// What an instruction reads: each operand's register, or the two that a 128-bit one has.
    pub(super) fn values(&mut self, operands: &[Operand], bits: u32) -> Selected<Vec<Reg>> {
        let mut values = Vec::with_capacity(operands.len());
        for operand in operands {
            match operand {
                Operand::Reg(id) if bits == 128 => values.extend(self.halves(*id)?),
                _ if bits == 128 => return unsupported("a 128-bit operand is a register"),
                _ => values.push(self.value(operand, bits)?),
            }
        }
        Ok(values)
    }

    /// The same for what it writes, where `None` is the sink.
    pub(super) fn targets(&self, targets: &[Dst], bits: u32) -> Selected<Vec<Option<Reg>>> {
        let mut regs = Vec::with_capacity(targets.len());
        for target in targets {
            match target {
                Some(id) if bits == 128 => regs.extend(self.halves(*id)?.map(Some)),
                None if bits == 128 => regs.extend([None; 2]),
                _ => regs.push(self.optional(*target)?),
            }
        }
        Ok(regs)
    }

    /// A source operand in the file for `bits`, converted if its register is of the other file.
    pub(super) fn source(&mut self, operand: &Operand, bits: u32) -> Selected<Slot> {
        let constant = |s: &mut Self, value: u64| {
            let value = if bits >= 64 { value } else { value & ((1 << bits) - 1) };
            Ok(s.frame.fill(Fill::Constant(value), bits))
        };
        match operand {
            Operand::Reg(id) => {
                let reg = self.reg(*id)?;
                match (reg.bits, bits) {
                    (1, _) => unsupported("a predicate where a value is expected"),
                    (64, 64) => Ok(reg.slot),
                    (64, _) => {
                        let d = self.frame.temporary(32).slot;
                        self.emit(MicroOp::Truncate64(D2 { d, a: reg.slot }));
                        Ok(d)
                    }
                    (_, 64) => {
                        let d = self.frame.temporary(64).slot;
                        self.emit(MicroOp::ZeroExtend64(D2 { d, a: reg.slot }));
                        Ok(d)
                    }
                    _ => Ok(reg.slot),
                }
            }
            Operand::Imm(value) => constant(self, *value),
            Operand::Special(special) => self.special(*special, bits),
            Operand::Not(_) => unsupported("a complemented predicate where a value is expected"),
            Operand::Global(id, offset) => {
                let address = self.global_address(*id)?.wrapping_add_signed(*offset);
                match self.shared.globals.contains_key(id) {
                    true => Ok(self.frame.fill(Fill::Shared(address), bits)),
                    false => constant(self, address),
                }
            }
            Operand::Local(id, offset) => match self.home(*id)? {
                Home::Param(at) => constant(self, u64::from(at).wrapping_add_signed(*offset)),
                Home::Shared => {
                    let at = u64::from(self.shared_offset(*id)?);
                    Ok(self.frame.fill(Fill::Shared(at.wrapping_add_signed(*offset)), bits))
                }
                Home::Frame(at) => {
                    let variable = self.function.variables.get(id.index());
                    self.frame.exposed |= variable.is_none_or(|v| v.space != Space::Local);
                    let d = self.frame.temporary(64).slot;
                    self.slow(SlowOp::FrameAddress { d, offset: i64::from(at).wrapping_add(*offset) });
                    if bits == 64 {
                        return Ok(d);
                    }
                    let word = self.frame.temporary(32).slot;
                    self.emit(MicroOp::Truncate64(D2 { d: word, a: d }));
                    Ok(word)
                }
            },
            Operand::Function(id) => constant(self, window::FUNCTION + 16 * u64::from(id.0)),
        }
    }

    /// A source operand for a function over lanes: its own width counts, not the file's.
    pub(super) fn value(&mut self, operand: &Operand, bits: u32) -> Selected<Reg> {
        let slot = self.source(operand, bits)?;
        Ok(Reg { slot, bits: bits as u8 })
    }

    /// A source operand of a type, which may be a predicate.
    pub(super) fn typed(&mut self, ty: ScalarType, operand: &Operand) -> Selected<Reg> {
        match ty {
            ScalarType::Pred => Ok(code::flag(self.predicate(operand)?)),
            ty => self.value(operand, ty.bits()),
        }
    }

    /// A predicate operand as a slot.
    pub(super) fn predicate(&mut self, operand: &Operand) -> Selected<Slot> {
        match operand {
            Operand::Reg(id) => match self.reg(*id)? {
                Reg { slot, bits: 1 } => Ok(slot),
                _ => unsupported("a value where a predicate is expected"),
            },
            Operand::Not(id) => {
                let a = self.reg(*id)?.slot;
                let d = self.frame.predicate();
                self.emit(MicroOp::LogicP(D3 { d, a, b: TRUE }, BoolOp::Xor));
                Ok(d)
            }
            Operand::Imm(0) => Ok(self.frame.fill(Fill::Constant(0), 1)),
            Operand::Special(Special::IsExplicitCluster) => Ok(self.frame.fill(Fill::IsExplicitCluster, 1)),
            Operand::Imm(_) => Ok(TRUE),
            _ => unsupported("this operand cannot be a predicate"),
        }
    }

    pub(super) fn pred(&self, p: PredOperand) -> Selected<(Slot, bool)> {
        let (reg, negated) = match p {
            PredOperand::Reg { reg, negated } => (reg, negated),
            PredOperand::Constant(truth) => return Ok((TRUE, !truth)),
        };
        match self.reg(reg)? {
            Reg { slot, bits: 1 } => Ok((slot, negated)),
            _ => unsupported("a value where a predicate is expected"),
        }
    }

    /// The destination, which must be of the file for `bits`, or a slot that nobody reads for the sink.
    pub(super) fn destination(&mut self, d: Dst, bits: u32) -> Selected<Reg> {
        let reg = self.any_destination(d, bits)?;
        match (reg.bits, bits) {
            (1, 1) | (64, 64) => Ok(reg),
            (1 | 64, _) | (_, 1 | 64) => unsupported("the destination register has the wrong width"),
            _ => Ok(reg),
        }
    }

    /// A destination that may be wider than the result.
    pub(super) fn any_destination(&mut self, d: Dst, bits: u32) -> Selected<Reg> {
        match d {
            Some(id) => self.reg(id),
            None if bits == 1 => Ok(Reg { slot: self.frame.predicate(), bits: 1 }),
            None => Ok(self.frame.temporary(bits)),
        }
    }

    /// A predicate that is written.
    pub(super) fn flag(&self, id: RegId) -> Selected<Slot> {
        self.pred(PredOperand::Reg { reg: id, negated: false }).map(|(slot, _)| slot)
    }

    pub(super) fn optional_flag(&self, d: Dst) -> Selected<Option<Slot>> {
        d.map(|id| self.flag(id)).transpose()
    }

    pub(super) fn optional(&self, d: Dst) -> Selected<Option<Reg>> {
        d.map(|id| self.reg(id)).transpose()
    }

    pub(super) fn home(&self, id: LocalId) -> Selected<Home> {
        self.frame.homes.get(id.index()).copied().ok_or_else(|| Unsupported("unknown variable".into()))
    }

    pub(super) fn shared_offset(&self, id: LocalId) -> Selected<u32> {
        let found = self.shared.locals.get(&(self.id, id)).copied();
        found.ok_or_else(|| Unsupported("unknown shared variable".into()))
    }

    /// The address of a module's variable in its own space.
    pub(super) fn global_address(&self, id: GlobalId) -> Selected<u64> {
        if let Some(&offset) = self.shared.globals.get(&id) {
            return Ok(u64::from(offset));
        }
        let address = self.addresses.globals.get(id.index()).copied().flatten();
        address.ok_or_else(|| {
            let name = self.module.variables.get(id.index()).map_or("?", |v| &v.name);
            Unsupported(format!("variable `{name}` has no address"))
        })
    }

    pub(super) fn global_space(&self, id: GlobalId) -> Space {
        self.module.variables.get(id.index()).map_or(Space::Global, |v| v.space)
    }

    fn special(&mut self, special: Special, bits: u32) -> Selected<Slot> {
        let fill = match special {
            Special::Tid(axis) if axis < 3 => Fill::Tid(axis),
            Special::Ntid(axis) if axis < 3 => Fill::Ntid(axis),
            Special::Ctaid(axis) if axis < 3 => Fill::Ctaid(axis),
            Special::Nctaid(axis) if axis < 3 => Fill::Nctaid(axis),
            Special::Tid(_) | Special::Ctaid(_) => Fill::Constant(0),
            Special::Ntid(_) | Special::Nctaid(_) => Fill::Constant(1),
            Special::Laneid => Fill::LaneId,
            Special::Warpid => Fill::WarpId,
            Special::Nwarpid => Fill::NwarpId,
            Special::Smid => Fill::SmId,
            Special::Nsmid => Fill::NsmId,
            Special::Gridid => Fill::GridId,
            // What a driver puts there is its own affair; `cooperative_groups.h` relies on these two.
            Special::Envreg(1) => Fill::GridWorkspaceHigh,
            Special::Envreg(2) => Fill::GridWorkspace,
            Special::LanemaskEq => Fill::LaneMaskEq,
            Special::LanemaskLt => Fill::LaneMaskLt,
            Special::LanemaskLe => Fill::LaneMaskLe,
            Special::LanemaskGt => Fill::LaneMaskGt,
            Special::LanemaskGe => Fill::LaneMaskGe,
            Special::TotalSmemSize => Fill::SharedSize,
            Special::AggrSmemSize => Fill::AllSharedSize,
            Special::ReservedSmem(what) => Fill::Constant(match what {
                ReservedSmem::Begin | ReservedSmem::Part(0) => 0,
                // Cooperative groups, whose part this is, need 288 bytes of it.
                ReservedSmem::Part(_) => u64::from(RESERVED_SHARED / 2),
                ReservedSmem::End | ReservedSmem::Cap => u64::from(RESERVED_SHARED),
            }),
            Special::DynamicSmemSize => Fill::DynamicSharedSize,
            Special::ClusterId(axis) if axis < 3 => Fill::ClusterId(axis),
            Special::NclusterId(axis) if axis < 3 => Fill::NclusterId(axis),
            Special::ClusterCtaid(axis) if axis < 3 => Fill::ClusterCtaid(axis),
            Special::ClusterNctaid(axis) if axis < 3 => Fill::ClusterNctaid(axis),
            Special::ClusterId(_) | Special::ClusterCtaid(_) => Fill::Constant(0),
            Special::NclusterId(_) | Special::ClusterNctaid(_) => Fill::Constant(1),
            Special::ClusterCtarank => Fill::ClusterCtarank,
            Special::ClusterNctarank => Fill::ClusterNctarank,
            Special::IsExplicitCluster => Fill::IsExplicitCluster,
            Special::Clock => return self.dynamic(Dynamic::Clock, 32, bits),
            Special::ClockHi => return self.dynamic(Dynamic::ClockHigh, 32, bits),
            Special::Clock64 => return self.dynamic(Dynamic::Clock64, 64, bits),
            Special::GlobalTimer => return self.dynamic(Dynamic::GlobalTimer, 64, bits),
            Special::GlobalTimerLo => return self.dynamic(Dynamic::GlobalTimer, 32, bits),
            Special::GlobalTimerHi => return self.dynamic(Dynamic::GlobalTimerHigh, 32, bits),
            // Performance counters, what the driver may tell a kernel, and the graph on the device that runs: nothing.
            Special::Envreg(_) | Special::Other => Fill::Constant(0),
        };
        Ok(self.frame.fill(fill, bits))
    }

    fn dynamic(&mut self, what: Dynamic, own: u32, bits: u32) -> Selected<Slot> {
        let d = self.frame.temporary(own);
        self.slow(SlowOp::Read { d, what });
        if (own == 64) == (bits == 64) {
            return Ok(d.slot);
        }
        let to = self.frame.temporary(bits).slot;
        let moved = D2 { d: to, a: d.slot };
        self.emit(if bits == 64 { MicroOp::ZeroExtend64(moved) } else { MicroOp::Truncate64(moved) });
        Ok(to)
    }

    fn try_select(&mut self, op: &Op) -> Selected {
        match op {
            Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Ternary { .. }
            | Op::Lop3Pred { .. }
            | Op::Quaternary { .. }
            | Op::Testp { .. }
            | Op::Set { .. }
            | Op::Setp { .. } => self.arithmetic(op),
            Op::Selp { .. }
            | Op::Slct { .. }
            | Op::Mov { .. }
            | Op::MovVector { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::Cvt { .. }
            | Op::Cvta { .. }
            | Op::Isspacep { .. } => self.data(op),
            Op::Ld { .. } | Op::St { .. } | Op::Prefetch { .. } | Op::Atom { .. } | Op::CpAsync { .. } => {
                self.memory(op)
            }
            Op::Mbarrier { .. } | Op::StoreAsync { .. } | Op::CopyBulk { .. } | Op::CopyTensor { .. } => {
                self.memory(op)
            }
            Op::MapAddress { .. } | Op::RankOf { .. } | Op::PendingCount { .. } => self.data(op),
            Op::LoadMatrix { .. } | Op::StoreMatrix { .. } | Op::MoveMatrix { .. } => self.matrix(op),
            Op::Mma { .. } | Op::WmmaLoad { .. } | Op::WmmaStore { .. } | Op::Wgmma { .. } => self.matrix(op),
            _ => self.control(op),
        }
    }
}
