//! Operands: what an operation does with the registers that it names.
//!
//! Every operation says so once, in the table of its kind ([`super::micro`], [`super::slow`]): a field that names registers
//! has a role and, where its type does not tell it, a width. Whoever follows values through registers asks
//! [`Operands::operands`], which is made from those tables.

use fusion_ptx::ast::BoolOp;

use super::{AddressOf, Argument, Base, Code};

/// Index into one of the register files, relative to the frame.
pub(crate) type Slot = u32;

/// The predicate slot that is true in every lane.
pub(crate) const TRUE: Slot = 0;
/// The predicate slot of the carry flag `CC.CF`.
pub(crate) const CARRY: Slot = 1;

/// A slot with its width in bits, which tells its file: 1, 8, 16, 32 or 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reg {
    pub(crate) slot: Slot,
    pub(crate) bits: u8,
}

pub(crate) fn word(slot: Slot) -> Reg {
    Reg { slot, bits: 32 }
}

pub(crate) fn half(slot: Slot) -> Reg {
    Reg { slot, bits: 16 }
}

pub(crate) fn double(slot: Slot) -> Reg {
    Reg { slot, bits: 64 }
}

pub(crate) fn flag(slot: Slot) -> Reg {
    Reg { slot, bits: 1 }
}

/// What an operation does with a register. All but `Read` and `Write` are reads where an undefined value is a mistake by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Read,
    Write,
    /// Decides where to go on.
    Branch,
    /// Says which memory, or which function.
    Address,
    /// Goes into an atomic.
    Atomic,
    /// Says which lanes take part in a warp operation.
    Mask,
    /// Says at which barrier how many wait, and what they vote.
    Barrier,
    /// Leaves the device: an argument of the runtime's functions.
    Printed,
}

/// An operation, or a part of one that has operands.
pub(crate) trait Operands {
    /// Calls `f` for every register that is named, in the order of the table. Guards are not the operation's own. Arguments and
    /// results of the program's own functions go from frame to frame and are not named; those of the runtime's are.
    fn operands(&self, code: &Code, f: &mut dyn FnMut(Role, Reg));

    fn reads(&self, code: &Code, f: &mut dyn FnMut(Reg)) {
        self.operands(code, &mut |role, reg| {
            if role != Role::Write {
                f(reg);
            }
        });
    }

    fn writes(&self, code: &Code, f: &mut dyn FnMut(Reg)) {
        self.operands(code, &mut |role, reg| {
            if role == Role::Write {
                f(reg);
            }
        });
    }
}

/// What a field may be that names registers; `of` makes one of a slot whose width the table tells.
pub(crate) trait Registers {
    fn registers(&self, of: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg));
}

impl Registers for Reg {
    fn registers(&self, _: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        f(*self);
    }
}

impl Registers for Slot {
    fn registers(&self, of: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        f(of(*self));
    }
}

/// A predicate that may be complemented.
impl Registers for (Slot, bool) {
    fn registers(&self, of: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        f(of(self.0));
    }
}

/// One that another is combined with.
impl Registers for (BoolOp, Slot, bool) {
    fn registers(&self, of: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        f(of(self.1));
    }
}

/// The register of an address.
impl Registers for AddressOf {
    fn registers(&self, _: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        match self.base {
            Base::None => {}
            Base::Word(slot) => f(word(slot)),
            Base::Double(slot) => f(double(slot)),
        }
    }
}

impl Registers for Argument {
    fn registers(&self, _: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        if let Argument::Register(reg) = self {
            f(*reg);
        }
    }
}

impl<T: Registers> Registers for Option<T> {
    fn registers(&self, of: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        self.iter().for_each(|named| named.registers(of, f));
    }
}

impl<T: Registers, const N: usize> Registers for [T; N] {
    fn registers(&self, of: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        self.iter().for_each(|named| named.registers(of, f));
    }
}

impl<T: Registers> Registers for Vec<T> {
    fn registers(&self, of: fn(Slot) -> Reg, f: &mut dyn FnMut(Reg)) {
        self.iter().for_each(|named| named.registers(of, f));
    }
}

/// Hands the registers that `field` names to `f`, in a role.
pub(super) fn name(field: &impl Registers, of: fn(Slot) -> Reg, role: Role, f: &mut dyn FnMut(Role, Reg)) {
    field.registers(of, &mut |reg| f(role, reg));
}
