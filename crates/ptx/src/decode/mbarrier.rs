//! Objects that count arrivals, in shared memory (PTX ISA 9.7.13.15).

use super::{Decoder, Result};
use crate::ast::{Dst, MbarrierOp, Op, Operand, Ordering, ScalarType, Scope, Space};
use ScalarType::*;

pub(super) const OPCODES: &[&str] = &["mbarrier"];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("pending_count") {
        d.flag("b64");
        let dst = d.dst(U32)?;
        return Ok(Op::PendingCount { d: dst, a: d.src(B64)? });
    }
    let Some(op) = operation(d) else {
        return d.incomplete("`mbarrier` needs an operation, such as `.arrive`");
    };
    let waits = matches!(op, MbarrierOp::Wait { .. });
    let arrives = matches!(
        op,
        MbarrierOp::Arrive | MbarrierOp::ArriveDrop | MbarrierOp::ArriveExpectTx | MbarrierOp::ArriveDropExpectTx
    );
    let ordering = d.ordering().unwrap_or(match () {
        () if waits => Ordering::Acquire,
        () if arrives => Ordering::Release,
        () => Ordering::Relaxed,
    });
    let scope = d.scope().unwrap_or(Scope::Cta);
    let mut space = d.space().unwrap_or(Space::Generic);
    // Objects are words of 64 bits; the forms that count bytes need not say so.
    d.flag("b64");
    let dst: Dst = match () {
        () if waits => Some(d.pred_dst()?),
        // An arrival at a barrier of another block gives no state.
        () if arrives && !d.stands_address() => d.dst(B64)?,
        () => None,
    };
    let addr = d.address(&mut space)?;
    let a = match op {
        MbarrierOp::Wait { parity } => d.src(if parity { U32 } else { B64 })?,
        MbarrierOp::Invalidate => Operand::Imm(0),
        _ if arrives && d.remaining() == 0 => Operand::Imm(1),
        _ => d.src(U32)?,
    };
    if waits && d.remaining() > 0 {
        // For how long to try.
        d.src(U32)?;
    }
    Ok(Op::Mbarrier { op, space, ordering, scope, d: dst, addr, a })
}

/// `cp.async.mbarrier.arrive`.
pub(super) fn copied(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if !d.flag("arrive") {
        return d.incomplete("`cp.async.mbarrier` needs `.arrive`");
    }
    let op = MbarrierOp::ArriveCopied { counted: d.flag("noinc") };
    let mut space = d.space().unwrap_or(Space::Generic);
    d.flag("b64");
    let addr = d.address(&mut space)?;
    let (ordering, scope) = (Ordering::Release, Scope::Cta);
    Ok(Op::Mbarrier { op, space, ordering, scope, d: None, addr, a: Operand::Imm(1) })
}

fn operation(d: &mut Decoder<'_, '_>) -> Option<MbarrierOp> {
    let op = d.find(|name| {
        Some(match name {
            "init" => MbarrierOp::Init,
            "inval" => MbarrierOp::Invalidate,
            "arrive" => MbarrierOp::Arrive,
            "arrive_drop" => MbarrierOp::ArriveDrop,
            "expect_tx" => MbarrierOp::ExpectTx,
            "complete_tx" => MbarrierOp::CompleteTx,
            "test_wait" | "try_wait" => MbarrierOp::Wait { parity: false },
            _ => return None,
        })
    })?;
    Some(match op {
        MbarrierOp::Arrive if d.flag("expect_tx") => MbarrierOp::ArriveExpectTx,
        MbarrierOp::ArriveDrop if d.flag("expect_tx") => MbarrierOp::ArriveDropExpectTx,
        MbarrierOp::Arrive | MbarrierOp::ArriveDrop => {
            d.flag("noComplete");
            op
        }
        MbarrierOp::Wait { .. } => MbarrierOp::Wait { parity: d.flag("parity") },
        op => op,
    })
}
