//! What an instruction reads and writes.
//!
//! No list says it: the type of each field of [`Op`] does. An [`Operand`] is read, a [`RegId`] (or [`Dst`]) is
//! written, and so on below. [`operations`] declares the enum and derives [`Op::operands`] from its fields.
//!
//! [`Op`]: super::Op
//! [`Op::operands`]: super::Op::operands
//! [`Dst`]: super::Dst

use super::*;

/// A field of an operation: calls `read` for each operand in it that is read, `write` for each register that is written.
pub(super) trait Field {
    fn visit(&self, _read: &mut dyn FnMut(&Operand), _write: &mut dyn FnMut(RegId)) {}
}

impl Field for Operand {
    fn visit(&self, read: &mut dyn FnMut(&Operand), _: &mut dyn FnMut(RegId)) {
        read(self);
    }
}

impl Field for PredOperand {
    fn visit(&self, read: &mut dyn FnMut(&Operand), _: &mut dyn FnMut(RegId)) {
        if let Self::Reg { reg, .. } = self {
            read(&Operand::Reg(*reg));
        }
    }
}

impl Field for Address {
    fn visit(&self, read: &mut dyn FnMut(&Operand), _: &mut dyn FnMut(RegId)) {
        read(&self.base);
    }
}

impl Field for RegId {
    fn visit(&self, _: &mut dyn FnMut(&Operand), write: &mut dyn FnMut(RegId)) {
        write(*self);
    }
}

impl Field for Callee {
    fn visit(&self, read: &mut dyn FnMut(&Operand), _: &mut dyn FnMut(RegId)) {
        if let Self::Indirect(reg) = self {
            read(&Operand::Reg(*reg));
        }
    }
}

impl Field for CallArg {
    fn visit(&self, read: &mut dyn FnMut(&Operand), _: &mut dyn FnMut(RegId)) {
        match self {
            Self::Value(operand) => read(operand),
            Self::Param(local) => read(&Operand::Local(*local, 0)),
        }
    }
}

impl Field for CallResult {
    fn visit(&self, _: &mut dyn FnMut(&Operand), write: &mut dyn FnMut(RegId)) {
        if let Self::Register(reg) = self {
            write(*reg);
        }
    }
}

impl<T: Field> Field for Option<T> {
    fn visit(&self, read: &mut dyn FnMut(&Operand), write: &mut dyn FnMut(RegId)) {
        self.iter().for_each(|field| field.visit(read, write));
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    fn visit(&self, read: &mut dyn FnMut(&Operand), write: &mut dyn FnMut(RegId)) {
        self.iter().for_each(|field| field.visit(read, write));
    }
}

impl<T: Field> Field for Vec<T> {
    fn visit(&self, read: &mut dyn FnMut(&Operand), write: &mut dyn FnMut(RegId)) {
        self.iter().for_each(|field| field.visit(read, write));
    }
}

impl<T: Field, U: Field> Field for (T, U) {
    fn visit(&self, read: &mut dyn FnMut(&Operand), write: &mut dyn FnMut(RegId)) {
        self.0.visit(read, write);
        self.1.visit(read, write);
    }
}

/// What belongs to an instruction and is no operand.
macro_rules! no_operands {
    ($($ty:ty)*) => {$(impl Field for $ty {})*};
}

no_operands! {
    bool u8 u32 String ScalarType Mode Rounding Space Scope Ordering Cache Compare BoolOp LabelId
    Unary Binary Ternary Quaternary Collective AtomicOp BarrierOp MbarrierOp TestProperty Fragment Mma Wgmma WarpgroupOp
}

/// Declares the operations, and [`Op::operands`](super::Op::operands) by their fields.
macro_rules! operations {
    ($(#[$about:meta])* pub enum $Op:ident {$(
        $(#[$doc:meta])* $variant:ident $(($($inner:ty),*))? $({$($(#[$of:meta])* $field:ident: $ty:ty),* $(,)?})?
    ),* $(,)?}) => {
        $(#[$about])*
        pub enum $Op {$(
            $(#[$doc])* $variant $(($($inner),*))? $({$($(#[$of])* $field: $ty),*})?
        ),*}

        impl $Op {
            /// Calls `read` for every operand that the operation reads and `write` for every register that it writes.
            /// A guard is not the operation's own.
            pub fn operands(&self, read: &mut dyn FnMut(&Operand), write: &mut dyn FnMut(RegId)) {
                match self {$(
                    Self::$variant { $($($field,)*)? .. } => {
                        $($($crate::ast::operands::Field::visit($field, read, write);)*)?
                    }
                )*}
            }
        }
    };
}

pub(super) use operations;
