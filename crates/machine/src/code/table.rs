//! The form of the tables of operations.
//!
//! A table declares an enum of operations, or a structure that is a part of some, and says of each field that names registers
//! what is done with them. What follows values through registers is made from that: [`Operands`](super::Operands) and, with the last
//! column, [`Rule`](super::Rule).

use super::Slot;

/// The slots of an operation on lanes: the result's, and those of the operands.
pub(super) trait Slots<const N: usize> {
    fn slots(&self) -> (Slot, [Slot; N]);
}

/// What a table says of a field: nothing, if it names no registers; `Of table`, if it is an index into one of [`Code`]'s; `Own`,
/// if it has operands of its own; or the role and perhaps the width of its registers.
macro_rules! field {
    ($code:ident $f:ident $field:ident) => {};
    ($code:ident $f:ident $field:ident Of $table:ident) => {
        $crate::code::Operands::operands(&$code.$table[*$field as usize], $code, $f)
    };
    ($code:ident $f:ident $field:ident Own) => {
        $crate::code::Operands::operands($field, $code, $f)
    };
    ($code:ident $f:ident $field:ident $role:ident) => {
        field!($code $f $field $role word)
    };
    ($code:ident $f:ident $field:ident $role:ident $width:ident) => {
        $crate::code::operand::name($field, $crate::code::operand::$width, $crate::code::Role::$role, $f)
    };
}

/// Declares a structure with the roles of its fields: a part of operations.
macro_rules! part {
    ($(#[$about:meta])* pub(crate) struct $Part:ident {$(
        $(#[$doc:meta])* $field:ident: $ty:ty $(= $role:ident $($width:ident)?)?
    ),* $(,)?}) => {
        $(#[$about])*
        pub(crate) struct $Part {$($(#[$doc])* pub(crate) $field: $ty),*}

        impl $crate::code::Operands for $Part {
            fn operands(&self, code: &$crate::code::Code, f: &mut dyn FnMut($crate::code::Role, $crate::code::Reg)) {
                let Self { $($field),* } = self;
                // Fields that name no registers, in parts without an index.
                let _ = (code, $($field),*);
                $(field!(code f $field $($role $($width)?)?);)*
            }
        }
    };
}

/// Declares an enum of operations. In `lanes` each row has the slots, the widths of the result and of the operands, and how
/// undefined bits get from these to that; in `others` the fields, the roles of those that name registers, and the same. `code` stands
/// for the [`Code`](super::Code) whose tables a rule may look into.
macro_rules! table {
    (
        $(#[$about:meta])* pub(crate) enum $Op:ident |$code:ident|
        lanes {$(
            $(#[$doc:meta])*
            $lane:ident($s:ident: $shape:ty $(, $extra:ident: $of:ty)*) $to:ident <- $($from:ident)+ => $rule:expr;
        )*}
        others {$(
            $(#[$other_doc:meta])*
            $other:ident
            $(($($nth:ident: $nth_ty:ty $(= $nth_role:ident $($nth_width:ident)?)?),*))?
            $({$($field:ident: $ty:ty $(= $role:ident $($width:ident)?)?),* $(,)?})?
            => $other_rule:expr;
        )*}
    ) => {
        $(#[$about])*
        pub(crate) enum $Op {
            $($(#[$doc])* $lane($shape $(, $of)*),)*
            $($(#[$other_doc])* $other $(($($nth_ty),*))? $({$($field: $ty),*})?,)*
        }

        impl $crate::code::Operands for $Op {
            #[expect(unused_variables, reason = "a row names every field, and not every field names registers")]
            fn operands(&self, $code: &$crate::code::Code, f: &mut dyn FnMut($crate::code::Role, $crate::code::Reg)) {
                match self {
                    $(Self::$lane($s $(, $extra)*) => {
                        let (to, from) = $crate::code::table::Slots::slots($s);
                        let widths = [$($crate::code::operand::$from as fn($crate::code::Slot) -> $crate::code::Reg),+];
                        from.iter().zip(widths).for_each(|(slot, of)| f($crate::code::Role::Read, of(*slot)));
                        f($crate::code::Role::Write, $crate::code::operand::$to(to));
                    })*
                    $(Self::$other $(($($nth),*))? $({$($field),*})? => {
                        $($(field!($code f $nth $($nth_role $($nth_width)?)?);)*)?
                        $($(field!($code f $field $($role $($width)?)?);)*)?
                    })*
                }
            }
        }

        impl $Op {
            /// How undefined bits of its operands reach its results.
            #[expect(unused_variables, reason = "a row names every field, and its rule may need none")]
            pub(crate) fn rule(&self, $code: &$crate::code::Code) -> $crate::code::Rule {
                use $crate::code::Rule::*;
                match self {
                    $(Self::$lane($s $(, $extra)*) => $rule,)*
                    $(Self::$other $(($($nth),*))? $({$($field),*})? => $other_rule,)*
                }
            }
        }
    };
}

pub(super) use {field, part, table};
