//! Control flow, barriers, and what the lanes of a warp tell each other.

use fusion_ptx::ast::{CallArg, CallResult, Callee, Collective, LocalId, NopKind, Op, Operand, ScalarType};

use super::super::frame::Home;
use super::super::runtime_function;
use super::{Selected, Selector, unsupported};
use crate::arith;
use crate::code::{self, Argument, Order, SlowOp, Target};
use crate::exec::builtin;

impl Selector<'_> {
    pub(super) fn control(&mut self, op: &Op) -> Selected {
        match op {
            Op::Collective { op, d, p, sources, mask } => {
                let reduction = match op {
                    Collective::Redux(redux) => match arith::redux(*redux) {
                        Some(reduction) => Some(reduction),
                        None => return unsupported(format!("redux.{:?} of {:?}", redux.op, redux.ty)),
                    },
                    _ => None,
                };
                let sources = sources.iter().map(|(ty, a)| self.typed(*ty, a)).collect::<Selected<_>>()?;
                let mask = mask.as_ref().map(|m| self.source(m, 32)).transpose()?;
                let (d, p) = (self.optional(*d)?, self.optional_flag(*p)?);
                self.slow(SlowOp::Collective(code::Collective { op: *op, reduction, d, p, sources, mask }));
            }
            Op::Barrier { op, aligned, d, barrier, threads, p } => {
                let id = self.source(barrier, 32)?;
                let threads = threads.as_ref().map(|t| self.source(t, 32)).transpose()?;
                let p = p.map(|p| self.pred(p)).transpose()?;
                let d = self.optional(*d)?;
                self.slow(SlowOp::Barrier { op: *op, aligned: *aligned, d, id, threads, p });
            }
            Op::ClusterBarrier { wait, aligned, relaxed } => {
                let (wait, aligned, relaxed) = (*wait, *aligned, *relaxed);
                self.slow(SlowOp::ClusterBarrier { wait, aligned, relaxed });
            }
            // What a bulk copy does is done when it is issued: these are for the checks only.
            Op::CopyBulkGroup { wait: None } => self.slow(SlowOp::BulkCommit),
            Op::CopyBulkGroup { wait: Some(groups) } => self.slow(SlowOp::BulkWait { groups: *groups }),
            Op::ProxyFence => self.slow(SlowOp::ProxyFence),
            // A copy is made when it is issued, and memory is sequentially consistent: these are for the checks only.
            Op::CpAsyncCommit => self.slow(SlowOp::CopyCommit),
            Op::CpAsyncWait { n } => self.slow(SlowOp::CopyWait { groups: *n }),
            Op::Warpgroup(op) => self.slow(SlowOp::Warpgroup(*op)),
            // How many registers a warp has matters to the assembler alone. It is `.aligned`: the whole warp must be here.
            Op::SetMaxRegisters(_) => self.slow(SlowOp::Together),
            Op::Fence { ordering, scope } => self.slow(SlowOp::Fence(Order::new(*ordering, *scope))),
            Op::BrxIdx { index, targets } => {
                let index = self.source(index, 32)?;
                // Labels for now; lowering the function resolves them once it is laid out.
                let targets = targets.iter().map(|l| l.0).collect();
                self.slow(SlowOp::BranchTable { index, targets });
            }
            Op::Call { callee, args, returns, .. } => {
                let args = args.iter().map(|a| self.argument(a)).collect::<Selected<_>>()?;
                let returns = returns.iter().map(|a| self.result(a)).collect::<Selected<_>>()?;
                let target = match (runtime_function(self.module, callee), callee) {
                    (Some(name), _) if builtin::NAMES.contains(&name) => Target::Builtin(name.to_string()),
                    (Some(name), _) => return unsupported(format!("the device function `{name}` is not emulated")),
                    (None, Callee::Indirect(reg)) => Target::Indirect(self.source(&Operand::Reg(*reg), 64)?),
                    (None, Callee::Direct(id)) => Target::Direct(*id),
                    (None, Callee::Builtin(_)) => return unsupported("call of an unknown function"),
                };
                self.slow(SlowOp::Call(code::Call { target, args, returns }));
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
            CallArg::Param(local) => self.variable(*local),
        }
    }

    fn result(&self, result: &CallResult) -> Selected<Argument> {
        match result {
            CallResult::Register(id) => Ok(Argument::Register(self.reg(*id)?)),
            CallResult::Param(local) => self.variable(*local),
        }
    }

    fn variable(&self, local: LocalId) -> Selected<Argument> {
        match self.home(local)? {
            Home::Frame(offset) => {
                let size = self.function.variables[local.index()].size;
                Ok(Argument::Frame { offset, size: u32::try_from(size).unwrap_or(u32::MAX) })
            }
            _ => unsupported("this argument is no parameter variable"),
        }
    }
}
