//! The frame of a function: slots for its registers and constants, and its part of local memory.

use std::collections::HashMap;
use std::ops::Range;

use fusion_ptx::ast::{Function, LocalId, Operand, ParamPlace, RegId, ScalarType, Space, Variable};

use crate::code::{self, Argument, Fill, Reg, Slot};

/// Where a variable of the function lives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    /// Offset in the frame's part of local memory.
    Frame(u32),
    /// Offset in the launch's parameter buffer.
    Param(u32),
    /// In shared memory, which the kernel lays out.
    Shared,
}

pub(crate) struct Frame {
    pub(crate) registers: Vec<Option<Reg>>,
    /// The two doubles of each 128-bit register, the less significant first.
    pub(crate) wide: HashMap<RegId, [Reg; 2]>,
    pub(crate) homes: Vec<Home>,
    pub(crate) bytes: u32,
    /// Which part of it local addresses lead to. It is the last one but for what aligns the next frame.
    locals: Range<u32>,
    /// The address of something else in it is taken, too.
    pub(crate) exposed: bool,
    pub(crate) words: u32,
    pub(crate) doubles: u32,
    pub(crate) predicates: u32,
    fills: HashMap<(Fill, u8), Slot>,
}

impl Frame {
    /// The `.local` variables of the module, so many bytes, lie before the frame of the kernel, which is the first.
    pub(crate) fn new(function: &Function, module_bytes: u32) -> Self {
        let mut frame = Self {
            registers: Vec::new(),
            wide: HashMap::new(),
            homes: Vec::new(),
            bytes: if function.is_entry { module_bytes } else { 0 },
            locals: 0..0,
            exposed: function.is_entry && module_bytes > 0,
            words: 0,
            doubles: 0,
            // The first two are TRUE and CARRY.
            predicates: 2,
            fills: HashMap::new(),
        };
        // A declaration may name far more registers than the code uses.
        let used = used(function);
        for (i, (register, used)) in function.registers.iter().zip(used).enumerate() {
            let slot = if used { frame.register(RegId(i as u32), register.ty) } else { None };
            frame.registers.push(slot);
        }
        let mut entry_offsets = HashMap::new();
        if function.is_entry {
            for param in &function.params {
                if let ParamPlace::Memory(local) = param.place {
                    entry_offsets.insert(local, param.offset);
                }
            }
        }
        for (i, variable) in function.variables.iter().enumerate() {
            let home = if let Some(&offset) = entry_offsets.get(&LocalId(i as u32)) {
                Home::Param(offset)
            } else if matches!(variable.space, Space::Shared | Space::SharedCluster) {
                Home::Shared
            } else {
                Home::Frame(if variable.space == Space::Local { 0 } else { frame.place(variable) })
            };
            frame.homes.push(home);
        }
        // Last, so that what goes past the end of an array hits nothing.
        frame.locals = frame.bytes..frame.bytes;
        for (i, variable) in function.variables.iter().enumerate().filter(|(_, v)| v.space == Space::Local) {
            let at = frame.place(variable);
            frame.homes[i] = Home::Frame(at);
            if frame.locals.is_empty() {
                frame.locals.start = at;
            }
            frame.locals.end = frame.bytes;
        }
        // Frames stack up: the next one begins as aligned as the largest alignment that occurs in practice.
        frame.bytes = frame.bytes.next_multiple_of(16);
        frame
    }

    /// A place for a variable, behind those that have one.
    fn place(&mut self, variable: &Variable) -> u32 {
        let align = variable.align.clamp(4, 4096).next_power_of_two();
        let offset = self.bytes.next_multiple_of(align);
        let size = u32::try_from(variable.size).unwrap_or(u32::MAX).min(1 << 24);
        self.bytes = offset.saturating_add(size).min(1 << 26);
        offset
    }

    fn register(&mut self, id: RegId, ty: ScalarType) -> Option<Reg> {
        match ty {
            // No slot is so wide. The few instructions that have such operands ask for their halves.
            ScalarType::B128 => {
                let halves = [self.temporary(64), self.temporary(64)];
                self.wide.insert(id, halves);
                None
            }
            ScalarType::Pred => Some(Reg { slot: self.predicate(), bits: 1 }),
            ty => Some(self.temporary(ty.bits())),
        }
    }

    /// Where a register lives: nowhere if the code does not use it, in two places if it has 128 bits.
    fn slots(&self, id: RegId) -> impl Iterator<Item = Reg> {
        let one = self.registers.get(id.index()).copied().flatten();
        one.into_iter().chain(self.wide.get(&id).copied().into_iter().flatten())
    }

    /// A new slot for a value of so many bits (8 to 64).
    pub(crate) fn temporary(&mut self, bits: u32) -> Reg {
        let file = if bits == 64 { &mut self.doubles } else { &mut self.words };
        *file += 1;
        Reg { slot: *file - 1, bits: bits as u8 }
    }

    pub(crate) fn predicate(&mut self) -> Slot {
        self.predicates += 1;
        self.predicates - 1
    }

    /// The slot that holds `fill` in the file for so many bits.
    pub(crate) fn fill(&mut self, fill: Fill, bits: u32) -> Slot {
        let file = match bits {
            1 => 1,
            64 => 64,
            _ => 32,
        };
        if let Some(&slot) = self.fills.get(&(fill, file)) {
            return slot;
        }
        let slot = match file {
            1 => self.predicate(),
            _ => self.temporary(u32::from(file)).slot,
        };
        self.fills.insert((fill, file), slot);
        slot
    }

    /// Where formal parameters or return values arrive.
    pub(crate) fn arguments(&self, params: &[fusion_ptx::ast::Param]) -> Vec<Argument> {
        let place = |param: &fusion_ptx::ast::Param| match param.place {
            ParamPlace::Register(reg) => {
                let reg = self.registers.get(reg.index()).copied().flatten();
                reg.map(Argument::Register).unwrap_or(Argument::Frame { offset: 0, size: 0 })
            }
            ParamPlace::Memory(local) => match self.homes.get(local.index()) {
                Some(Home::Frame(offset)) => Argument::Frame { offset: *offset, size: param.size },
                _ => Argument::Frame { offset: 0, size: 0 },
            },
        };
        params.iter().map(place).collect()
    }

    pub(crate) fn finish(self, function: &Function, at_entry: &[RegId], live: u32) -> code::Function {
        let params = self.arguments(&function.params);
        let returns = self.arguments(&function.returns);
        let mut fills: Vec<(Fill, Reg)> =
            self.fills.iter().map(|(&(fill, bits), &slot)| (fill, Reg { slot, bits })).collect();
        fills.sort_unstable_by_key(|(_, reg)| (reg.bits, reg.slot));
        code::Function {
            name: function.name.clone(),
            start: 0,
            end: 0,
            words: self.words,
            doubles: self.doubles,
            predicates: self.predicates,
            fills,
            nounroll: Vec::new(),
            cleared: at_entry.iter().flat_map(|r| self.slots(*r)).collect(),
            frame_bytes: self.bytes,
            locals: if self.exposed { 0..self.locals.end } else { self.locals },
            params,
            returns,
            live,
        }
    }
}

/// Which registers occur in a function.
fn used(function: &Function) -> Vec<bool> {
    let mut used = vec![false; function.registers.len()];
    let mut mark = |id: RegId| {
        if let Some(u) = used.get_mut(id.index()) {
            *u = true;
        }
    };
    for param in function.params.iter().chain(&function.returns) {
        if let ParamPlace::Register(id) = param.place {
            mark(id);
        }
    }
    for instruction in &function.body {
        if let Some(guard) = instruction.guard {
            mark(guard.reg);
        }
        let mut found = Vec::new();
        let mut written = Vec::new();
        let mut read = |operand: &Operand| {
            if let Operand::Reg(id) | Operand::Not(id) = operand {
                found.push(*id);
            }
        };
        instruction.op.operands(&mut read, &mut |id| written.push(id));
        found.into_iter().chain(written).for_each(&mut mark);
    }
    used
}
