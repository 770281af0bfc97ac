//! Control flow, barriers, and what the lanes of a warp tell each other.

use fusion_ptx::ast::{CallArg, Callee, NopKind, Op, Operand, ScalarType, VoteMode};

use super::super::frame::Home;
use super::{Selected, Selector, unsupported};
use crate::arith;
use crate::code::{Argument, Order, SlowOp, Target};

impl Selector<'_> {
    pub(super) fn control(&mut self, op: &Op) -> Selected {
        match op {
            Op::Shfl { mode, d, p, a, b, c, mask } => {
                let (a, b, c) = (self.source(a, 32)?, self.source(b, 32)?, self.source(c, 32)?);
                let mask = mask.as_ref().map(|m| self.source(m, 32)).transpose()?;
                let d = d.map(|d| self.destination(Some(d), 32)).transpose()?;
                let p = self.optional_flag(*p)?;
                self.slow(SlowOp::Shuffle { mode: *mode, d, p, a, b, c, mask });
            }
            Op::Vote { mode, d, p, mask } => {
                let mask = mask.as_ref().map(|m| self.source(m, 32)).transpose()?;
                let p = self.pred(*p)?;
                let d = self.optional(*d)?;
                if d.is_some_and(|d| (d.bits == 1) == (*mode == VoteMode::Ballot)) {
                    return unsupported("the vote's destination has the wrong type");
                }
                self.slow(SlowOp::Vote { mode: *mode, d, p, mask });
            }
            Op::Match { all, ty, d, p, a, mask } => {
                let a = self.value(a, ty.bits())?;
                let mask = self.source(mask, 32)?;
                let d = self.optional(*d)?;
                let p = self.optional_flag(*p)?;
                self.slow(SlowOp::Match { all: *all, d, p, a, mask });
            }
            Op::Activemask { d } => {
                let d = self.optional(*d)?;
                self.slow(SlowOp::ActiveMask { d });
            }
            Op::Redux { op, ty, mode, d, a, mask } => {
                let Some(f) = arith::redux(*op, *ty, *mode) else {
                    return unsupported(format!("redux.{op:?} of {ty:?}"));
                };
                let (a, mask) = (self.source(a, 32)?, self.source(mask, 32)?);
                let d = self.optional(*d)?;
                self.slow(SlowOp::Redux { f, d, a, mask });
            }
            Op::Elect { d, p, mask } => {
                let mask = self.source(mask, 32)?;
                let d = self.optional(*d)?;
                let p = self.flag(*p)?;
                self.slow(SlowOp::Elect { d, p, mask });
            }
            Op::Barrier { op, aligned, d, barrier, threads, p } => {
                let id = self.source(barrier, 32)?;
                let threads = threads.as_ref().map(|t| self.source(t, 32)).transpose()?;
                let p = p.map(|p| self.pred(p)).transpose()?;
                let d = self.optional(*d)?;
                self.slow(SlowOp::Barrier { op: *op, aligned: *aligned, d, id, threads, p });
            }
            Op::WarpSync { mask } => {
                let mask = self.source(mask, 32)?;
                self.slow(SlowOp::WarpSync { mask });
            }
            // A cluster has one block: nothing to wait for.
            Op::ClusterBarrier { .. } => self.slow(SlowOp::Nothing),
            // A copy is made when it is issued, and memory is sequentially consistent: these are for the checks only.
            Op::CpAsyncCommit => self.slow(SlowOp::CopyCommit),
            Op::CpAsyncWait { n } => self.slow(SlowOp::CopyWait { groups: *n }),
            Op::Fence { ordering, scope } => self.slow(SlowOp::Fence(Order::new(*ordering, *scope))),
            Op::BrxIdx { index, targets } => {
                let index = self.source(index, 32)?;
                // Labels for now; lowering the function resolves them once it is laid out.
                let targets = targets.iter().map(|l| l.0).collect();
                self.slow(SlowOp::BranchTable { index, targets });
            }
            Op::Call { callee, args, returns, .. } => {
                let args = args.iter().map(|a| self.argument(a)).collect::<Selected<_>>()?;
                let returns = returns.iter().map(|a| self.argument(a)).collect::<Selected<_>>()?;
                let target = match callee {
                    Callee::Direct(id) => match self.module.functions.get(id.index()) {
                        Some(f) if f.has_body => Target::Direct(*id),
                        Some(f) => Target::Builtin(f.name.clone()),
                        None => return unsupported("call of an unknown function"),
                    },
                    Callee::Indirect(reg) => Target::Indirect(self.source(&Operand::Reg(*reg), 64)?),
                    Callee::Builtin(name) => Target::Builtin(name.clone()),
                };
                if let Target::Builtin(name) = &target
                    && !matches!(name.as_str(), "vprintf" | "__assertfail")
                {
                    return unsupported(format!("the device function `{name}` is not emulated"));
                }
                self.slow(SlowOp::Call { target, args, returns });
            }
            Op::Ret => self.slow(SlowOp::Return),
            Op::Exit => self.slow(SlowOp::Exit),
            Op::Trap => self.slow(SlowOp::Trap),
            Op::Brkpt => self.slow(SlowOp::Breakpoint),
            Op::Nop(NopKind::Nanosleep) => self.slow(SlowOp::Yield),
            Op::Nop(NopKind::Other) => self.slow(SlowOp::Nothing),
            Op::Unsupported { reason, .. } => return unsupported(reason.clone()),
            _ => return unsupported("this instruction is not emulated"),
        }
        Ok(())
    }

    fn argument(&mut self, arg: &CallArg) -> Selected<Argument> {
        match arg {
            CallArg::Value(Operand::Reg(id)) => Ok(Argument::Register(self.reg(*id)?)),
            CallArg::Value(operand) => Ok(Argument::Register(self.value(operand, ScalarType::B64.bits())?)),
            CallArg::Param(local) => match self.home(*local)? {
                Home::Frame(offset) => {
                    let size = self.function.variables[local.index()].size;
                    Ok(Argument::Frame { offset, size: u32::try_from(size).unwrap_or(u32::MAX) })
                }
                _ => unsupported("this argument is no parameter variable"),
            },
        }
    }
}
