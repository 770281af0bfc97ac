//! How far an undefined bit of an operand reaches in a result that is computed by function.

use fusion_ptx::ast::{Binary, Op, Quaternary, ScalarType, Ternary, Unary};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Any bit of the result may depend on it.
    #[default]
    Whole,
    /// Every bit of the result is a bit of an operand, or known; the last so many operands say which.
    Routed {
        by: u8,
    },
    /// Two halves of 16 bits, each by itself; and the same of 32 bits.
    Halves,
    Words,
    /// The upper half comes from the first operand, the lower one from the second.
    Packed,
}

impl Spread {
    /// Of an instruction's result.
    pub(crate) fn of(op: &Op) -> Self {
        match op {
            Op::Unary { op: Unary::Brev | Unary::Not, .. } => Self::Routed { by: 0 },
            Op::Binary { op: Binary::And | Binary::Or | Binary::Xor, .. } => Self::Routed { by: 0 },
            Op::Binary { op: Binary::Shl | Binary::Shr, .. } => Self::Routed { by: 1 },
            Op::Ternary { op: Ternary::Prmt(_) | Ternary::ShfL { .. } | Ternary::ShfR { .. }, .. } => {
                Self::Routed { by: 1 }
            }
            Op::Ternary { op: Ternary::Bfe, .. } | Op::Quaternary { op: Quaternary::Bfi, .. } => Self::Routed { by: 2 },
            Op::Unary { ty, .. }
            | Op::Binary { ty, .. }
            | Op::Ternary { ty, .. }
            | Op::Setp { ty, .. }
            | Op::Set { ty, .. } => Self::packed(*ty),
            Op::Cvt { b: Some(_), .. } => Self::Packed,
            Op::Cvt { dty, sty, mode, .. } if !dty.is_float() && !sty.is_float() && !mode.sat => Self::Routed { by: 0 },
            _ => Self::Whole,
        }
    }

    fn packed(ty: ScalarType) -> Self {
        use ScalarType::*;
        match ty {
            F16x2 | Bf16x2 | U16x2 | S16x2 => Self::Halves,
            F32x2 => Self::Words,
            _ => Self::Whole,
        }
    }
}
