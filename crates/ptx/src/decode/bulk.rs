//! What goes to memory by itself and tells an mbarrier of its bytes: `st.async`, `red.async` and bulk copies (PTX ISA 9.7.9).

use super::operands::Width;
use super::{Decoder, Result, atomics};
use crate::ast::{NopKind, Op, ScalarType, Space};
use ScalarType::*;

const STORED: &[ScalarType] = &[B32, B64, U32, U64, S32, S64, F32, F64];
const BYTES: &str = "mbarrier::complete_tx::bytes";

/// `st.async` and `red.async`.
pub(super) fn store(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let op = if d.opcode == "red" { d.find(atomics::operation) } else { None };
    if d.opcode == "red" && op.is_none() {
        return d.incomplete("`red.async` needs an operation, such as `.add`");
    }
    d.ordering();
    d.scope();
    let mut space = d.space().unwrap_or(Space::SharedCluster);
    if !d.flag(BYTES) || space != Space::SharedCluster {
        return d.unsupported("asynchronous stores go to `.shared::cluster`, and tell an mbarrier");
    }
    let lanes = d.lanes();
    let ty = d.ty_of(if op.is_some() { &[B32, U32, S32, U64] } else { STORED })?;
    let addr = d.address(&mut space)?;
    let values = d.vector(lanes)?;
    let a = values.iter().map(|arg| d.as_operand(arg, ty, Width::Exact)).collect::<Result<_>>()?;
    let mbarrier = d.address(&mut Space::SharedCluster.clone())?;
    Ok(Op::StoreAsync { op, ty, addr, a, mbarrier })
}

/// `cp.async.bulk`, its groups and their waits.
pub(super) fn copy(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("commit_group") {
        return Ok(Op::CopyBulkGroup { wait: None });
    }
    if d.flag("wait_group") {
        d.flag("read");
        return Ok(Op::CopyBulkGroup { wait: Some(d.constant()?) });
    }
    if d.flag("prefetch") {
        d.ignore_modifiers();
        d.ignore_operands();
        return Ok(Op::Nop(NopKind::Other));
    }
    if d.find(|name| (name.starts_with("multicast") || name == "cp_mask" || name == "tensor").then_some(())).is_some() {
        return d.unsupported("bulk copies of tensors, to several blocks and under a mask are not emulated");
    }
    let (Some(mut to), Some(mut from)) = (d.space(), d.space()) else {
        return d.incomplete("`cp.async.bulk` needs two state spaces, such as `.shared::cluster.global`");
    };
    let told = d.flag(BYTES);
    let grouped = d.flag("bulk_group");
    d.cache();
    let towards_shared =
        matches!((to, from), (Space::SharedCluster, Space::Global | Space::Shared) | (Space::Shared, Space::Global));
    if told != towards_shared || grouped != ((to, from) == (Space::Global, Space::Shared)) {
        return d.invalid("`cp.async.bulk` has no such form");
    }
    let (space_to, space_from) = (to, from);
    let (dst, src) = (d.address(&mut to)?, d.address(&mut from)?);
    let size = d.src(U32)?;
    let mbarrier = if told { Some(d.address(&mut Space::SharedCluster.clone())?) } else { None };
    d.cache_policy();
    Ok(Op::CopyBulk { to: space_to, from: space_from, dst, src, size, mbarrier })
}
