//! What the lanes of a warp do together (PTX ISA 9.7.9.6, 9.7.13).

use super::modifiers::Flag;
use super::{Decoder, Result};
use crate::ast::{Op, ReduxOp, ScalarType, ShuffleMode, VoteMode};
use ScalarType::*;

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "shfl" => shuffle(d),
        "vote" => vote(d),
        "match" => matching(d),
        "redux" => redux(d),
        "activemask" => {
            let ty = d.ty_of(&[B32])?;
            Ok(Op::Activemask { d: d.dst(ty)? })
        }
        _ => elect(d),
    }
}

fn shuffle(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let sync = d.flag("sync");
    let mode = d.find(|name| {
        Some(match name {
            "up" => ShuffleMode::Up,
            "down" => ShuffleMode::Down,
            "bfly" => ShuffleMode::Bfly,
            "idx" => ShuffleMode::Idx,
            _ => return None,
        })
    });
    let Some(mode) = mode else {
        return d.incomplete("`shfl` needs `.up`, `.down`, `.bfly` or `.idx`");
    };
    let ty = d.ty_of(&[B32])?;
    let (dst, p) = d.dst_and_pred(ty)?;
    let (a, b, c) = (d.src(ty)?, d.src(U32)?, d.src(U32)?);
    Ok(Op::Shfl { mode, d: dst, p, a, b, c, mask: if sync { Some(d.src(U32)?) } else { None } })
}

fn vote(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let sync = d.flag("sync");
    let mode = d.find(|name| {
        Some(match name {
            "all" => VoteMode::All,
            "any" => VoteMode::Any,
            "uni" => VoteMode::Uni,
            "ballot" => VoteMode::Ballot,
            _ => return None,
        })
    });
    let Some(mode) = mode else {
        return d.incomplete("`vote` needs `.all`, `.any`, `.uni` or `.ballot`");
    };
    let ty = d.ty_of(if mode == VoteMode::Ballot { &[B32] } else { &[Pred] })?;
    Ok(Op::Vote { mode, d: d.dst(ty)?, p: d.pred()?, mask: if sync { Some(d.src(U32)?) } else { None } })
}

fn matching(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let all = d.flag("all");
    if !all && !d.flag("any") {
        return d.incomplete("`match` needs `.any` or `.all`");
    }
    sync(d)?;
    let ty = d.ty_of(&[B32, B64])?;
    let (dst, p) = d.dst_and_pred(B32)?;
    if p.is_some() && !all {
        return d.invalid("only `match.all` writes a predicate");
    }
    Ok(Op::Match { all, ty, d: dst, p, a: d.src(ty)?, mask: d.src(U32)? })
}

fn redux(d: &mut Decoder<'_, '_>) -> Result<Op> {
    sync(d)?;
    let op = d.find(|name| {
        Some(match name {
            "and" => ReduxOp::And,
            "or" => ReduxOp::Or,
            "xor" => ReduxOp::Xor,
            "add" => ReduxOp::Add,
            "min" => ReduxOp::Min,
            "max" => ReduxOp::Max,
            _ => return None,
        })
    });
    let Some(op) = op else {
        return d.incomplete("`redux` needs an operation, such as `.add`");
    };
    let mode = d.mode(&[Flag::Nan]);
    let ty = d.ty_of(match op {
        ReduxOp::And | ReduxOp::Or | ReduxOp::Xor => &[B32],
        ReduxOp::Add => &[U32, S32],
        ReduxOp::Min | ReduxOp::Max => &[U32, S32, F32],
    })?;
    if d.flag("abs") {
        return d.unsupported("`redux` of absolute values is not emulated");
    }
    Ok(Op::Redux { op, ty, mode, d: d.dst(ty)?, a: d.src(ty)?, mask: d.src(U32)? })
}

fn elect(d: &mut Decoder<'_, '_>) -> Result<Op> {
    sync(d)?;
    match d.dst_and_pred(B32)? {
        (dst, Some(p)) => Ok(Op::Elect { d: dst, p, mask: d.src(U32)? }),
        _ => d.invalid("`elect` writes a predicate: `d|p`"),
    }
}

fn sync(d: &mut Decoder<'_, '_>) -> Result<()> {
    if d.flag("sync") {
        return Ok(());
    }
    d.ignore_modifiers();
    d.incomplete(format!("`{}` exists only with `.sync`", d.opcode))
}
