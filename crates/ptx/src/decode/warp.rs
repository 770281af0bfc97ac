//! What the lanes of a warp do together (PTX ISA 9.7.9.6, 9.7.13).

use super::modifiers::Flag;
use super::{Decoder, Result};
use crate::ast::{Collective, Dst, Op, Operand, PredOperand, Redux, ReduxOp, ScalarType, ShuffleMode, VoteMode};
use ScalarType::*;

pub(super) const OPCODES: &[&str] = &["shfl", "vote", "match", "activemask", "redux", "elect"];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "shfl" => shuffle(d),
        "vote" => vote(d),
        "match" => matching(d),
        "redux" => redux(d),
        "activemask" => {
            let ty = d.ty_of(&[B32])?;
            let dst = d.dst(ty)?;
            Ok(Op::Collective { op: Collective::Activemask, d: dst, p: None, sources: Vec::new(), mask: None })
        }
        _ => elect(d),
    }
}

impl Decoder<'_, '_> {
    /// The sources, which have these types, and the mask, which all but the old forms without `.sync` have.
    pub(super) fn collective(
        &mut self,
        op: Collective,
        (d, p): (Dst, Dst),
        types: &[ScalarType],
        sync: bool,
    ) -> Result<Op> {
        let sources = types.iter().map(|ty| Ok((*ty, self.src(*ty)?))).collect::<Result<_>>()?;
        let mask = if sync { Some(self.src(U32)?) } else { None };
        Ok(Op::Collective { op, d, p, sources, mask })
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
    let results = d.dst_and_pred(ty)?;
    d.collective(Collective::Shuffle(mode), results, &[ty, U32, U32], sync)
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
    let dst = d.dst(ty)?;
    let (p, negated) = match d.pred()? {
        PredOperand::Reg { reg, negated } => (Operand::Reg(reg), negated),
        PredOperand::Constant(truth) => (Operand::Imm(truth.into()), false),
    };
    let mask = if sync { Some(d.src(U32)?) } else { None };
    let sources = vec![(Pred, p)];
    Ok(Op::Collective { op: Collective::Vote { mode, negated }, d: dst, p: None, sources, mask })
}

fn matching(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let all = d.flag("all");
    if !all && !d.flag("any") {
        return d.incomplete("`match` needs `.any` or `.all`");
    }
    sync(d)?;
    let ty = d.ty_of(&[B32, B64])?;
    let results = d.dst_and_pred(B32)?;
    if results.1.is_some() && !all {
        return d.invalid("only `match.all` writes a predicate");
    }
    d.collective(Collective::Match { all }, results, &[ty], true)
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
    let abs = d.flag("abs");
    let mode = d.mode(&[Flag::Nan]);
    let ty = d.ty_of(match op {
        ReduxOp::And | ReduxOp::Or | ReduxOp::Xor => &[B32],
        ReduxOp::Add => &[U32, S32],
        ReduxOp::Min | ReduxOp::Max => &[U32, S32, F32],
    })?;
    if (abs || mode.nan) && ty != F32 {
        return d.unsupported("`.abs` and `.NaN` of `redux` are for `.f32`");
    }
    let dst = d.dst(ty)?;
    d.collective(Collective::Redux(Redux { op, abs, ty, mode }), (dst, None), &[ty], true)
}

fn elect(d: &mut Decoder<'_, '_>) -> Result<Op> {
    sync(d)?;
    let results = d.dst_and_pred(B32)?;
    if results.1.is_none() {
        return d.invalid("`elect` writes a predicate: `d|p`");
    }
    d.collective(Collective::Elect, results, &[], true)
}

fn sync(d: &mut Decoder<'_, '_>) -> Result<()> {
    if d.flag("sync") {
        return Ok(());
    }
    d.ignore_modifiers();
    d.incomplete(format!("`{}` exists only with `.sync`", d.opcode))
}
