//! Atomic operations and reductions on memory (PTX ISA 9.7.13.6, 9.7.13.7).

use super::modifiers::Flag;
use super::operands::Width;
use super::{Decoder, Result};
use crate::ast::{AtomicOp, Op, Ordering, ScalarType, Scope, Space};
use ScalarType::*;

pub(super) const OPCODES: &[&str] = &["atom", "red"];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("async") {
        return super::bulk::store(d);
    }
    let returns = d.opcode == "atom";
    let Some(op) = d.find(operation) else {
        return d.incomplete(format!("`{}` needs an operation, such as `.add`", d.opcode));
    };
    if !returns && matches!(op, AtomicOp::Exch | AtomicOp::Cas) {
        return d.invalid("`red` returns nothing, so it cannot exchange; use `atom`");
    }
    let ordering = d.ordering().unwrap_or(Ordering::Relaxed);
    let scope = d.scope().unwrap_or(Scope::Gpu);
    let mut space = d.space().unwrap_or(Space::Generic);
    // Half-precision atomics never flush subnormals; they have to say so.
    d.flag("noftz");
    d.cache();
    let lanes = d.lanes();
    let ty = d.ty_of(types(op))?;
    let mode = d.mode(&[Flag::Rounding]);
    let dsts = if returns {
        let dsts = d.vector(lanes)?;
        dsts.iter().map(|arg| d.as_dst(arg, ty, Width::Exact)).collect::<Result<_>>()?
    } else {
        Vec::new()
    };
    let addr = d.address(&mut space)?;
    let values = d.vector(lanes)?;
    let a = values.iter().map(|arg| d.as_operand(arg, ty, Width::Exact)).collect::<Result<_>>()?;
    let c = if op == AtomicOp::Cas { Some(d.src(ty)?) } else { None };
    d.cache_policy();
    Ok(Op::Atom { op, space, ordering, scope, ty, mode, d: dsts, addr, a, c })
}

pub(super) fn operation(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "exch" => AtomicOp::Exch,
        "cas" => AtomicOp::Cas,
        "add" => AtomicOp::Add,
        "inc" => AtomicOp::Inc,
        "dec" => AtomicOp::Dec,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        _ => return None,
    })
}

fn types(op: AtomicOp) -> &'static [ScalarType] {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[B32, B64],
        AtomicOp::Exch => &[B32, B64, B128],
        AtomicOp::Cas => &[B16, B32, B64, B128],
        AtomicOp::Add => &[U32, S32, U64, S64, F32, F64, F16, F16x2, Bf16, Bf16x2],
        AtomicOp::Inc | AtomicOp::Dec => &[U32],
        AtomicOp::Min | AtomicOp::Max => &[U32, S32, U64, S64, F16, F16x2, Bf16, Bf16x2],
    }
}
