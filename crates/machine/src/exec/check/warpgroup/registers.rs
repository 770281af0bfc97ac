//! Registers of products: who may access them when.
//!
//! A move from register to register is no access here. The compiler makes moves of its own, of which the source has
//! nothing, and the assembler drops them again: so a register that is moved hands on what is known of it.

use super::{Multiplied, is_of_warpgroups};
use crate::code::{MicroOp, Operands, Reg, Role as Of, word};
use crate::exec::check::{BlockChecks, Watch};
use crate::exec::state::lanes::Bases;
use crate::report::Role;
use crate::report::kind::Warpgroup;

/// What is known of a warp's registers of up to 32 bits, by slot.
#[derive(Debug, Default)]
pub(super) struct Registers {
    slots: Vec<Slot>,
    /// Of `wgmma.fence`, so far.
    fences: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The last product that writes it, or reads it as A, and where that was issued.
    product: u32,
    issued: u32,
    /// It is one of A.
    factor: bool,
    /// The last access by any other instruction, after how many fences it was, and whether it wrote.
    access: Option<u32>,
    fences: u32,
    written: bool,
}

impl Registers {
    pub(super) fn fence(&mut self) {
        self.fences += 1;
    }

    fn slot(&mut self, bases: Bases, reg: Reg) -> &mut Slot {
        let at = (bases.words + reg.slot) as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, Slot::default());
        }
        &mut self.slots[at]
    }

    /// An access to a register of a product that no fence separates from it, and whether it wrote; no access where
    /// there was no fence at all.
    pub(super) fn unfenced(&mut self, multiplied: &Multiplied<'_>) -> Option<(Option<u32>, bool)> {
        let fences = self.fences;
        if fences == 0 {
            return Some((None, false));
        }
        let product = multiplied.product;
        product.d.iter().flatten().chain(&product.a).find_map(|reg| {
            let slot = self.slot(multiplied.bases, *reg);
            slot.access.filter(|_| slot.fences == fences).map(|access| (Some(access), slot.written))
        })
    }

    /// A product is under way.
    pub(super) fn issue(&mut self, multiplied: &Multiplied<'_>, number: u32, pc: u32) {
        let product = multiplied.product;
        for (reg, factor) in product.a.iter().map(|a| (*a, true)).chain(product.d.iter().flatten().map(|d| (*d, false)))
        {
            let slot = self.slot(multiplied.bases, reg);
            (slot.product, slot.issued, slot.factor) = (number, pc, factor);
        }
    }
}

impl Watch<'_> {
    /// Before an instruction of a kernel with products of warp groups.
    #[inline(never)]
    pub(crate) fn accesses_registers(&mut self, checks: &mut BlockChecks, bases: Bases, pc: u32) {
        let code = self.run.code;
        let op = &code.insts[pc as usize].op;
        let warp = self.warp;
        let Some(own) = checks.warpgroups.as_mut().and_then(|groups| groups.warps.get_mut(warp as usize)) else {
            return;
        };
        if let MicroOp::Mov32(moved) = op {
            let from = *own.registers.slot(bases, word(moved.a));
            let to = own.registers.slot(bases, word(moved.d));
            // That a register was only read says nothing of its copy.
            *to = Slot { access: from.access.filter(|_| from.written), ..from };
            return;
        }
        if is_of_warpgroups(code, pc) {
            return;
        }
        let complete = own.complete;
        let fences = own.registers.fences;
        let mut early = None;
        op.operands(code, &mut |role, reg| {
            if matches!(reg.bits, 1 | 64) {
                return;
            }
            let written = role == Of::Write;
            let slot = own.registers.slot(bases, reg);
            if slot.product > complete && (written || !slot.factor) {
                early = early.or(Some((slot.issued, slot.product, slot.factor, written)));
            }
            // Of a register that is read and written, the latter counts.
            (slot.access, slot.fences, slot.written) =
                (Some(pc), fences, written || slot.written && slot.access == Some(pc));
            if written {
                slot.product = 0;
            }
        });
        if let Some((issued, product, factor, written)) = early {
            let committed = own.groups.back().is_some_and(|last| *last >= product);
            let party = self.party(Role::Product, issued, 32 * warp);
            self.warpgroup_finding(Warpgroup::Register { written, factor, committed }, pc, Some(party));
        }
    }
}
