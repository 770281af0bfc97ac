//! Operands: names to registers, constants to bits, and the check that sizes fit.

use super::{Decoder, Problem, Result};
use crate::Diagnostic;
use crate::ast::{Address, Dst, Operand, PredOperand, RegId, ReservedSmem, ScalarType, Space, Span, Special};
use crate::literal::unsuited;
use crate::names::Symbol;
use crate::parser::{Arg, ArgKind, quote};

/// Said where only copies of tensors may name an element.
const COORDINATES: &str = "this instruction takes no coordinates in its address";

/// Which registers may hold an operand (PTX ISA 9.4.1, 9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Those of the operand's size.
    Exact,
    /// Wider ones too: loads, stores and conversions.
    AtLeast,
}

impl<'a> Decoder<'_, 'a> {
    pub(super) fn next(&mut self) -> Result<Arg<'a>> {
        match self.args.next() {
            Some(arg) => Ok(arg),
            None => self.invalid(format!("`{}` needs more operands than these", self.opcode)),
        }
    }

    /// How many operands are left.
    pub(super) fn remaining(&self) -> usize {
        self.args.len()
    }

    /// Whether the next one is an address.
    pub(super) fn stands_address(&self) -> bool {
        self.args.as_slice().first().is_some_and(|arg| matches!(arg.kind, ArgKind::Address(_)))
    }

    pub(super) fn ignore_operands(&mut self) {
        self.args = Vec::new().into_iter();
    }

    pub(super) fn dst(&mut self, ty: ScalarType) -> Result<Dst> {
        let arg = self.next()?;
        self.as_dst(&arg, ty, Width::Exact)
    }

    /// `d` or `d|p` with a predicate.
    pub(super) fn dst_and_pred(&mut self, ty: ScalarType) -> Result<(Dst, Dst)> {
        let arg = self.next()?;
        match &arg.kind {
            ArgKind::Pair(pair) => {
                Ok((self.as_dst(&pair[0], ty, Width::Exact)?, self.as_dst(&pair[1], ScalarType::Pred, Width::Exact)?))
            }
            _ => Ok((self.as_dst(&arg, ty, Width::Exact)?, None)),
        }
    }

    /// A predicate that must be there.
    pub(super) fn pred_dst(&mut self) -> Result<RegId> {
        let arg = self.next()?;
        let dst = self.as_dst(&arg, ScalarType::Pred, Width::Exact)?;
        dst.ok_or_else(|| Diagnostic::error(arg.span, "a predicate register must stand here, not `_`").into())
    }

    pub(super) fn src(&mut self, ty: ScalarType) -> Result<Operand> {
        let arg = self.next()?;
        self.as_operand(&arg, ty, Width::Exact)
    }

    pub(super) fn pred(&mut self) -> Result<PredOperand> {
        let arg = self.next()?;
        match self.as_operand(&arg, ScalarType::Pred, Width::Exact)? {
            Operand::Reg(reg) => Ok(PredOperand::Reg { reg, negated: false }),
            Operand::Not(reg) => Ok(PredOperand::Reg { reg, negated: true }),
            Operand::Imm(value) => Ok(PredOperand::Constant(value != 0)),
            _ => Err(Diagnostic::error(arg.span, "a predicate must stand here").into()),
        }
    }

    /// A constant of the instruction itself, such as the look-up table of `lop3`.
    pub(super) fn constant(&mut self) -> Result<u32> {
        let arg = self.next()?;
        match arg.kind {
            ArgKind::Constant(constant) if constant.as_int().is_some_and(|value| u32::try_from(value).is_ok()) => {
                Ok(constant.bits(ScalarType::U32) as u32)
            }
            _ => Err(Diagnostic::error(arg.span, "an integer constant must stand here").into()),
        }
    }

    pub(super) fn as_dst(&mut self, arg: &Arg<'a>, ty: ScalarType, width: Width) -> Result<Dst> {
        match arg.kind {
            ArgKind::Sink => Ok(None),
            ArgKind::Name { .. } => match self.as_operand(arg, ty, width)? {
                Operand::Reg(reg) => Ok(Some(reg)),
                _ => Err(Diagnostic::error(arg.span, "a result must go to a register").into()),
            },
            _ => Err(Diagnostic::error(arg.span, "a result must go to a register").into()),
        }
    }

    pub(super) fn as_operand(&mut self, arg: &Arg<'a>, ty: ScalarType, width: Width) -> Result<Operand> {
        match &arg.kind {
            ArgKind::Constant(constant) if constant.suits(ty) => Ok(Operand::Imm(constant.bits(ty))),
            ArgKind::Constant(_) => Err(Diagnostic::error(arg.span, unsuited(ty)).into()),
            ArgKind::Name { .. } => self.named(arg, ty, width),
            ArgKind::Not(name) if ty == ScalarType::Pred => match self.names.resolve(name, self.function) {
                Some(Symbol::Reg(reg)) => {
                    self.check_width(arg.span, reg, ty, width)?;
                    Ok(Operand::Not(reg))
                }
                Some(_) => Err(Diagnostic::error(arg.span, "`!` is for predicate registers").into()),
                None => Err(self.undeclared(name, arg.span)),
            },
            ArgKind::Not(_) => Err(Diagnostic::error(arg.span, "`!` is for predicate registers").into()),
            ArgKind::Sink => Err(Diagnostic::error(arg.span, "`_` can only take a result").into()),
            ArgKind::Vector(_) => Err(Diagnostic::error(arg.span, "a vector cannot stand here").into()),
            ArgKind::Address(_) => {
                Err(Diagnostic::error(arg.span, "memory is read with `ld`; no address can stand here").into())
            }
            ArgKind::Tensor(..) => Err(Diagnostic::error(arg.span, COORDINATES).into()),
            ArgKind::Pair(_) | ArgKind::List(_) => {
                Err(Diagnostic::error(arg.span, "one operand must stand here").into())
            }
        }
    }

    /// A register, a lane of one, a special register, or the address of a variable or function.
    fn named(&mut self, arg: &Arg<'a>, ty: ScalarType, width: Width) -> Result<Operand> {
        let span = arg.span;
        let ArgKind::Name { name, member, index, offset } = arg.kind else {
            return Err(Diagnostic::error(span, "a name must stand here").into());
        };
        let Some(symbol) = self.names.resolve(name, self.function) else {
            return match special(name, member) {
                Some(special) => Ok(Operand::Special(special)),
                None => Err(self.undeclared(name, span)),
            };
        };
        let reg = match (symbol, member) {
            (Symbol::Reg(reg), None) => reg,
            (Symbol::Vector(first, lanes), Some(member)) => match lane(member).filter(|&lane| lane < lanes) {
                Some(lane) => RegId(first.0 + u32::from(lane)),
                None => return Err(Diagnostic::error(span, format!("{} has no lane `.{member}`", quote(name))).into()),
            },
            (Symbol::Global(id), None) => {
                let bytes = self.module.variables.get(id.index()).map_or(1, |variable| variable.ty.bytes());
                return Ok(Operand::Global(id, element(index, bytes, offset)));
            }
            (Symbol::Local(id), None) => {
                let bytes = self.function.variables.get(id.index()).map_or(1, |variable| variable.ty.bytes());
                return Ok(Operand::Local(id, element(index, bytes, offset)));
            }
            (Symbol::Function(id), None) if offset == 0 && index.is_none() => return Ok(Operand::Function(id)),
            _ => return Err(Diagnostic::error(span, format!("{} cannot stand here", quote(name))).into()),
        };
        if offset != 0 || index.is_some() {
            return self.unsupported("a register takes an offset only inside the brackets of an address");
        }
        self.check_width(span, reg, ty, width)?;
        Ok(Operand::Reg(reg))
    }

    fn check_width(&self, span: Span, reg: RegId, ty: ScalarType, width: Width) -> Result<()> {
        let register = &self.function.registers[reg.index()];
        let (is_pred, wants_pred) = (register.ty == ScalarType::Pred, ty == ScalarType::Pred);
        let fits = match width {
            Width::Exact => register.ty.bits() == ty.bits(),
            Width::AtLeast => register.ty.bits() >= ty.bits(),
        };
        let clash = !register.ty.is_untyped() && !ty.is_untyped() && register.ty.is_float() != ty.is_float();
        if is_pred == wants_pred && fits && !clash {
            return Ok(());
        }
        let message = format!(
            "{} is a register of type `.{}`, but `.{}` is needed here",
            quote(&register.name),
            register.ty.name(),
            ty.name()
        );
        Err(Problem::Invalid(Diagnostic::error(span, message)))
    }

    /// A vector in braces, or a register declared as a vector, of `lanes` operands; or one operand.
    pub(super) fn vector(&mut self, lanes: usize) -> Result<Vec<Arg<'a>>> {
        let arg = self.next()?;
        let span = arg.span;
        let parts = match arg.kind {
            // `%tid` and its like are vectors of four.
            ArgKind::Name { name, member: None, index: None, offset: 0 }
                if lanes == 4
                    && self.names.resolve(name, self.function).is_none()
                    && special(name, Some("w")).is_some() =>
            {
                members(span, name, 4)
            }
            _ => self.parts(arg),
        };
        if parts.len() != lanes {
            let message = format!("{lanes} operands are needed here, not {}", parts.len());
            return Err(Diagnostic::error(span, message).into());
        }
        Ok(parts)
    }

    /// What a vector consists of; anything else is its own only part.
    pub(super) fn parts(&mut self, arg: Arg<'a>) -> Vec<Arg<'a>> {
        match arg.kind {
            ArgKind::Vector(parts) => parts,
            ArgKind::Name { name, member: None, index: None, offset: 0 } => {
                match self.names.resolve(name, self.function) {
                    Some(Symbol::Vector(_, lanes)) => members(arg.span, name, lanes),
                    _ => vec![arg],
                }
            }
            _ => vec![arg],
        }
    }

    /// `[base + offset]`. The name of a variable stands for an address in its own space: a generic
    /// access through it gets that space, and any other space is a mistake.
    pub(super) fn address(&mut self, space: &mut Space) -> Result<Address> {
        let arg = self.next()?;
        self.as_address(arg, space)
    }

    /// `[map, {x, y}]`: the address of a tensor map, and `rank` coordinates.
    pub(super) fn tensor(&mut self, rank: usize) -> Result<(Space, Address, Vec<Operand>)> {
        let arg = self.next()?;
        let ArgKind::Tensor(base, coordinates) = arg.kind else {
            return Err(
                Diagnostic::error(arg.span, "a tensor map and coordinates must stand here: `[map, {x}]`").into()
            );
        };
        if coordinates.len() != rank {
            let message = format!("{rank} coordinates are needed here, not {}", coordinates.len());
            return Err(Diagnostic::error(arg.span, message).into());
        }
        let mut space = Space::Generic;
        let map = self.as_address(Arg { span: arg.span, kind: ArgKind::Address(base) }, &mut space)?;
        let coordinates = coordinates.iter().map(|arg| self.as_operand(arg, ScalarType::S32, Width::Exact));
        Ok((space, map, coordinates.collect::<Result<_>>()?))
    }

    fn as_address(&mut self, arg: Arg<'a>, space: &mut Space) -> Result<Address> {
        let (mut base, mut offset) = match arg.kind {
            ArgKind::Address(inner) => (inner, 0),
            ArgKind::Tensor(..) => return Err(Diagnostic::error(arg.span, COORDINATES).into()),
            // An element of an array is memory without further brackets.
            ArgKind::Name { index: Some(_), .. } => (Box::new(arg.clone()), 0),
            _ => return Err(Diagnostic::error(arg.span, "an address in brackets must stand here").into()),
        };
        // Addresses of shared, local and parameter memory may be 32 bits wide.
        let mut ty = ScalarType::B64;
        if let ArgKind::Name { name, offset: written, .. } = &mut base.kind
            && let Some(Symbol::Reg(reg) | Symbol::Vector(reg, _)) = self.names.resolve(name, self.function)
        {
            offset = std::mem::take(written);
            if self.function.registers[reg.index()].ty.bits() == 32 {
                ty = ScalarType::B32;
            }
        }
        let base = self.as_operand(&base, ty, Width::Exact)?;
        let (base, own) = match base {
            Operand::Global(id, at) => {
                offset = at;
                (Operand::Global(id, 0), self.module.variables.get(id.index()).map(|variable| variable.space))
            }
            Operand::Local(id, at) => {
                offset = at;
                (Operand::Local(id, 0), self.function.variables.get(id.index()).map(|variable| variable.space))
            }
            Operand::Reg(_) | Operand::Imm(_) => (base, None),
            _ => return Err(Diagnostic::error(arg.span, "this is not an address").into()),
        };
        match (own, *space) {
            (Some(own), Space::Generic) => *space = own,
            (Some(own), wanted) if own != wanted && !(own == Space::Shared && wanted == Space::SharedCluster) => {
                let message =
                    format!("this variable is in `.{}` memory, but `.{}` is accessed", own.name(), wanted.name());
                return Err(Diagnostic::error(arg.span, message).into());
            }
            _ => {}
        }
        Ok(Address { base, offset, span: arg.span })
    }
}

/// The lanes of a vector by their names.
fn members<'a>(span: Span, name: &'a str, lanes: u8) -> Vec<Arg<'a>> {
    let lane = |lane| Arg { span, kind: ArgKind::Name { name, member: Some(lane), index: None, offset: 0 } };
    ["x", "y", "z", "w"].into_iter().take(lanes.into()).map(lane).collect()
}

/// The byte offset of `name[index] + offset`.
fn element(index: Option<i64>, bytes: u32, offset: i64) -> i64 {
    offset.wrapping_add(index.unwrap_or(0).wrapping_mul(bytes.into()))
}

fn lane(member: &str) -> Option<u8> {
    match member {
        "x" | "r" => Some(0),
        "y" | "g" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    }
}

/// Special registers (PTX ISA 10).
fn special(name: &str, member: Option<&str>) -> Option<Special> {
    let name = name.strip_prefix('%')?;
    let axis = match member {
        // Before PTX 2.0 the whole vector could stand for its first lane.
        None => 0,
        Some(member) => lane(member)?,
    };
    let vector = match name {
        "tid" => Some(Special::Tid(axis)),
        "ntid" => Some(Special::Ntid(axis)),
        "ctaid" => Some(Special::Ctaid(axis)),
        "nctaid" => Some(Special::Nctaid(axis)),
        "clusterid" => Some(Special::ClusterId(axis)),
        "nclusterid" => Some(Special::NclusterId(axis)),
        "cluster_ctaid" => Some(Special::ClusterCtaid(axis)),
        "cluster_nctaid" => Some(Special::ClusterNctaid(axis)),
        _ => None,
    };
    if vector.is_some() || member.is_some() {
        return vector;
    }
    Some(match name {
        "laneid" => Special::Laneid,
        "warpid" => Special::Warpid,
        "nwarpid" => Special::Nwarpid,
        "smid" => Special::Smid,
        "nsmid" => Special::Nsmid,
        "gridid" => Special::Gridid,
        "lanemask_eq" => Special::LanemaskEq,
        "lanemask_lt" => Special::LanemaskLt,
        "lanemask_le" => Special::LanemaskLe,
        "lanemask_gt" => Special::LanemaskGt,
        "lanemask_ge" => Special::LanemaskGe,
        "clock" => Special::Clock,
        "clock_hi" => Special::ClockHi,
        "clock64" => Special::Clock64,
        "globaltimer" => Special::GlobalTimer,
        "globaltimer_lo" => Special::GlobalTimerLo,
        "globaltimer_hi" => Special::GlobalTimerHi,
        "total_smem_size" => Special::TotalSmemSize,
        "dynamic_smem_size" => Special::DynamicSmemSize,
        "aggr_smem_size" => Special::AggrSmemSize,
        "cluster_ctarank" => Special::ClusterCtarank,
        "cluster_nctarank" => Special::ClusterNctarank,
        "is_explicit_cluster" => Special::IsExplicitCluster,
        "current_graph_exec" => Special::Other,
        "reserved_smem_offset_begin" => Special::ReservedSmem(ReservedSmem::Begin),
        "reserved_smem_offset_end" => Special::ReservedSmem(ReservedSmem::End),
        "reserved_smem_offset_cap" => Special::ReservedSmem(ReservedSmem::Cap),
        "reserved_smem_offset_0" => Special::ReservedSmem(ReservedSmem::Part(0)),
        "reserved_smem_offset_1" => Special::ReservedSmem(ReservedSmem::Part(1)),
        _ if name.starts_with("pm") => Special::Other,
        _ => match name.strip_prefix("envreg")?.parse() {
            Ok(n) if n < 32 => Special::Envreg(n),
            _ => return None,
        },
    })
}
