//! What goes to memory by itself and tells an mbarrier of its bytes: `st.async`, `red.async` and bulk copies (PTX ISA 9.7.9).

use super::operands::Width;
use super::{Decoder, Result, atomics};
use crate::ast::{AtomicOp, NopKind, Op, ScalarType, Space};
use ScalarType::*;

const STORED: &[ScalarType] = &[B32, B64, U32, U64, S32, S64, F32, F64];
const BYTES: &str = "mbarrier::complete_tx::bytes";
const RANKS: [&str; 5] = ["1d", "2d", "3d", "4d", "5d"];

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

/// `cp.async.bulk` and `cp.reduce.async.bulk`, their groups and waits.
pub(super) fn copy(d: &mut Decoder<'_, '_>, reduces: bool) -> Result<Op> {
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
    if d.find(|name| matches!(name, "cp_mask" | "ignore_oob").then_some(())).is_some() {
        return d.unsupported("bulk copies under a mask are not emulated");
    }
    let tensor = d.flag("tensor");
    let rank = if tensor { d.find(|name| RANKS.iter().position(|rank| *rank == name)) } else { None };
    let reduce = if reduces { d.find(atomics::operation) } else { None };
    if reduces && reduce.is_none_or(|op| matches!(op, AtomicOp::Exch | AtomicOp::Cas)) {
        return d.incomplete("`cp.reduce.async.bulk` needs an operation, such as `.add`");
    }
    let (Some(to), Some(from)) = (d.space(), d.space()) else {
        return d.incomplete("`cp.async.bulk` needs two state spaces, such as `.shared::cluster.global`");
    };
    let form =
        Form { to, from, told: d.flag(BYTES), grouped: d.flag("bulk_group"), multicast: d.flag("multicast::cluster") };
    d.cache();
    if !form.exists(tensor, reduces) {
        return d.invalid(format!("`cp{}.async.bulk` has no such form", if reduces { ".reduce" } else { "" }));
    }
    match (tensor, rank) {
        (true, Some(rank)) => copy_tensor(d, form, rank + 1, reduce),
        (true, None) => d.incomplete("`cp.async.bulk.tensor` needs a number of dimensions, such as `.2d`"),
        (false, _) => copy_bytes(d, form, reduce),
    }
}

/// From where a bulk copy goes to where, and how it tells that it is complete.
struct Form {
    to: Space,
    from: Space,
    told: bool,
    grouped: bool,
    multicast: bool,
}

impl Form {
    fn exists(&self, tensor: bool, reduces: bool) -> bool {
        let out = (self.to, self.from) == (Space::Global, Space::Shared);
        let into = match (self.to, self.from) {
            (Space::SharedCluster, Space::Shared) => !tensor,
            (Space::SharedCluster | Space::Shared, Space::Global) => !reduces,
            _ => false,
        };
        let multicast = (self.to, self.from) == (Space::SharedCluster, Space::Global);
        self.told == into && self.grouped == out && (into || out) && (multicast || !self.multicast)
    }
}

fn copy_bytes(d: &mut Decoder<'_, '_>, form: Form, reduce: Option<AtomicOp>) -> Result<Op> {
    let Form { mut to, mut from, told, multicast, .. } = form;
    let reduce = match reduce {
        Some(op) => {
            d.flag("noftz");
            Some((op, d.ty_of(reduced(op, to))?))
        }
        None => None,
    };
    let (dst, src) = (d.address(&mut to)?, d.address(&mut from)?);
    let size = d.src(U32)?;
    let mbarrier = if told { Some(d.address(&mut Space::SharedCluster.clone())?) } else { None };
    let multicast = if multicast { Some(d.src(U16)?) } else { None };
    d.cache_policy();
    Ok(Op::CopyBulk { to: form.to, from: form.from, reduce, dst, src, size, mbarrier, multicast })
}

/// The types that an operation is for (PTX ISA, `cp.reduce.async.bulk`).
fn reduced(op: AtomicOp, to: Space) -> &'static [ScalarType] {
    match (op, to) {
        (AtomicOp::And | AtomicOp::Or | AtomicOp::Xor, Space::Global) => &[B32, B64],
        (AtomicOp::And | AtomicOp::Or | AtomicOp::Xor, _) => &[B32],
        (AtomicOp::Add, Space::Global) => &[U32, S32, U64, F32, F64, F16, Bf16],
        (AtomicOp::Add, _) => &[U32, S32, U64],
        (AtomicOp::Min | AtomicOp::Max, Space::Global) => &[U32, S32, U64, S64, F16, Bf16],
        (AtomicOp::Min | AtomicOp::Max, _) => &[U32, S32],
        (AtomicOp::Inc | AtomicOp::Dec, _) => &[U32],
        _ => &[],
    }
}

fn copy_tensor(d: &mut Decoder<'_, '_>, form: Form, rank: usize, reduce: Option<AtomicOp>) -> Result<Op> {
    let other = |name: &str| name.starts_with("im2col") || name.starts_with("tile::") || name.starts_with("cta_group");
    if d.find(|name| other(name).then_some(())).is_some() {
        return d.unsupported("copies of tensors by `im2col`, by chosen rows and for pairs of blocks are not emulated");
    }
    d.flag("tile");
    let out = form.to == Space::Global;
    let mut space = if out { form.from } else { form.to };
    let own = space;
    let first = if out { None } else { Some(d.address(&mut space)?) };
    let (map_space, map, coordinates) = d.tensor(rank)?;
    let (shared, mbarrier) = match first {
        Some(shared) => (shared, Some(d.address(&mut Space::SharedCluster.clone())?)),
        None => (d.address(&mut space)?, None),
    };
    let multicast = if form.multicast { Some(d.src(U16)?) } else { None };
    d.cache_policy();
    Ok(Op::CopyTensor { reduce, map_space, map, coordinates, space: own, shared, mbarrier, multicast })
}
