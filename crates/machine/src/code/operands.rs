//! What a micro-operation reads and writes, for whoever follows values through registers.

use super::{AddressOf, Argument, Base, CARRY, Code, MicroOp, Reg, SlowOp, Target, double, flag, word};

/// The register of an address.
pub(crate) fn base(address: &AddressOf) -> Option<Reg> {
    match address.base {
        Base::None => None,
        Base::Word(slot) => Some(word(slot)),
        Base::Double(slot) => Some(double(slot)),
    }
}

/// Calls `read` for every register that `op` reads, and `write` for every one that it writes. Guards are not the operation's
/// own. A call's arguments and results go from frame to frame; only those of the runtime's functions are named here.
pub(crate) fn operands(code: &Code, op: &MicroOp, read: &mut dyn FnMut(Reg), write: &mut dyn FnMut(Reg)) {
    use MicroOp::*;
    match *op {
        Add32(s) | Sub32(s) | Mul32(s) | And32(s) | Or32(s) | Xor32(s) | Shl32(s) | ShrU32(s) | ShrS32(s)
        | MinU32(s) | MaxU32(s) | MinS32(s) | MaxS32(s) | AddF32(s) | SubF32(s) | MulF32(s) | DivF32(s)
        | AddF32Ftz(s) | SubF32Ftz(s) | MulF32Ftz(s) | MinF32(s) | MaxF32(s) | CopysignF32(s) | Pack16To32(s) => {
            read(word(s.a));
            read(word(s.b));
            write(word(s.d));
        }
        Mad32(s) | Lop3(s, _) | FmaF32(s) | FmaF32Ftz(s) => {
            read(word(s.a));
            read(word(s.b));
            read(word(s.c));
            write(word(s.d));
        }
        Not32(s)
        | Neg32(s)
        | NegF32(s)
        | AbsF32(s)
        | RcpF32(s)
        | RcpF32Ftz(s)
        | Ex2F32(s)
        | Ex2F32Ftz(s)
        | Mov32(s)
        | ZeroExtend32(s, _)
        | SignExtend32(s, _)
        | S32ToF32(s)
        | U32ToF32(s) => {
            read(word(s.a));
            write(word(s.d));
        }
        MulWideU(s) | MulWideS(s) | Pack32To64(s) => {
            read(word(s.a));
            read(word(s.b));
            write(double(s.d));
        }
        MadWideU(s) | MadWideS(s) => {
            read(word(s.a));
            read(word(s.b));
            read(double(s.c));
            write(double(s.d));
        }
        Add64(s) | Sub64(s) | Mul64(s) | And64(s) | Or64(s) | Xor64(s) | AddF64(s) | SubF64(s) | MulF64(s) => {
            read(double(s.a));
            read(double(s.b));
            write(double(s.d));
        }
        Mad64(s) | FmaF64(s) => {
            read(double(s.a));
            read(double(s.b));
            read(double(s.c));
            write(double(s.d));
        }
        Shl64(s) | ShrU64(s) | ShrS64(s) => {
            read(double(s.a));
            read(word(s.b));
            write(double(s.d));
        }
        Mov64(s) => {
            read(double(s.a));
            write(double(s.d));
        }
        Select32(s, p, _) => {
            read(word(s.a));
            read(word(s.b));
            read(flag(p));
            write(word(s.d));
        }
        Select64(s, p, _) => {
            read(double(s.a));
            read(double(s.b));
            read(flag(p));
            write(double(s.d));
        }
        ZeroExtend64(s) | SignExtend64(s) => {
            read(word(s.a));
            write(double(s.d));
        }
        Truncate64(s) => {
            read(double(s.a));
            write(word(s.d));
        }
        Unpack64To32 { low, high, a } => {
            read(double(a));
            write(word(low));
            write(word(high));
        }
        Unpack32To16 { low, high, a } => {
            read(word(a));
            write(word(low));
            write(word(high));
        }
        SetpS32(c) | SetpU32(c) | SetpF32(c) | SetpF32Ftz(c) => {
            read(word(c.a));
            read(word(c.b));
            write(flag(c.p));
        }
        SetpS64(c) | SetpU64(c) => {
            read(double(c.a));
            read(double(c.b));
            write(flag(c.p));
        }
        Setp(index) => {
            let c = &code.comparisons[index as usize];
            read(c.a);
            read(c.b);
            if let Some((_, slot, _)) = c.combine {
                read(flag(slot));
            }
            if let Some((reg, _)) = c.value {
                if c.keep != 0 {
                    read(reg);
                }
                write(reg);
            }
            c.p.into_iter().chain(c.q).for_each(|slot| write(flag(slot)));
        }
        LogicP(s, _) => {
            read(flag(s.a));
            read(flag(s.b));
            write(flag(s.d));
        }
        Unary(_, d, a) => {
            read(a);
            write(d);
        }
        Binary(_, d, a, b) => {
            read(a);
            read(b);
            write(d);
        }
        Ternary(index) => {
            let t = &code.ternaries[index as usize];
            [t.a, t.b, t.c].into_iter().for_each(read);
            write(t.d);
        }
        LoadParam(index) | Load(index) => {
            let access = &code.accesses[index as usize];
            base(&access.address).into_iter().for_each(read);
            access.regs.iter().flatten().copied().for_each(write);
        }
        Store(index) => {
            let access = &code.accesses[index as usize];
            base(&access.address).into_iter().for_each(&mut *read);
            access.regs.iter().flatten().copied().for_each(read);
        }
        Jump(_) => {}
        Branch { p, .. } => read(flag(p)),
        Slow(index) => match &code.slow[index as usize] {
            // What is wrapped is never a slow operation itself.
            SlowOp::Checked(checked) => operands(code, &checked.op, read, write),
            op => slow(op, read, write),
        },
    }
}

fn slow(op: &SlowOp, read: &mut dyn FnMut(Reg), write: &mut dyn FnMut(Reg)) {
    match op {
        SlowOp::Exit
        | SlowOp::Return
        | SlowOp::Trap
        | SlowOp::Breakpoint
        | SlowOp::Yield
        | SlowOp::Nothing
        | SlowOp::CopyCommit
        | SlowOp::CopyWait { .. }
        | SlowOp::Fence(_)
        | SlowOp::Checked(_)
        | SlowOp::Unsupported { .. } => {}
        SlowOp::BranchTable { index, .. } => read(word(*index)),
        SlowOp::Call { target, args, returns } => match target {
            Target::Direct(_) => {}
            Target::Indirect(slot) => read(double(*slot)),
            Target::Builtin(_) => {
                let registers = |args: &[Argument], f: &mut dyn FnMut(Reg)| {
                    for arg in args {
                        if let Argument::Register(reg) = arg {
                            f(*reg);
                        }
                    }
                };
                registers(args, read);
                registers(returns, write);
            }
        },
        SlowOp::Barrier { d, id, threads, p, .. } => {
            read(word(*id));
            threads.iter().for_each(|slot| read(word(*slot)));
            p.iter().for_each(|(slot, _)| read(flag(*slot)));
            d.iter().copied().for_each(write);
        }
        SlowOp::WarpSync { mask } => read(word(*mask)),
        SlowOp::Shuffle { d, p, a, b, c, mask, .. } => {
            [*a, *b, *c].into_iter().chain(*mask).for_each(|slot| read(word(slot)));
            d.iter().copied().for_each(&mut *write);
            p.iter().for_each(|slot| write(flag(*slot)));
        }
        SlowOp::Vote { d, p, mask, .. } => {
            read(flag(p.0));
            mask.iter().for_each(|slot| read(word(*slot)));
            d.iter().copied().for_each(write);
        }
        SlowOp::Match { d, p, a, mask, .. } => {
            read(*a);
            read(word(*mask));
            d.iter().copied().for_each(&mut *write);
            p.iter().for_each(|slot| write(flag(*slot)));
        }
        SlowOp::ActiveMask { d } => d.iter().copied().for_each(write),
        SlowOp::Redux { d, a, mask, .. } => {
            read(word(*a));
            read(word(*mask));
            d.iter().copied().for_each(write);
        }
        SlowOp::Elect { d, p, mask } => {
            read(word(*mask));
            d.iter().copied().for_each(&mut *write);
            write(flag(*p));
        }
        SlowOp::Atomic(atomic) => {
            base(&atomic.address).into_iter().chain(atomic.a.iter().copied()).chain(atomic.c).for_each(read);
            atomic.d.iter().flatten().copied().for_each(write);
        }
        SlowOp::CopyAsync { dst, src, src_size, .. } => {
            base(dst).into_iter().chain(base(src)).chain(src_size.map(word)).for_each(read);
        }
        SlowOp::Read { d, .. } => write(*d),
        SlowOp::FrameAddress { d, .. } => write(double(*d)),
        SlowOp::IsSpace { d, a, .. } => {
            read(double(*a));
            write(flag(*d));
        }
        SlowOp::Bfi { d, a, b, pos, len, .. } => {
            [*a, *b, word(*pos), word(*len)].into_iter().for_each(read);
            write(*d);
        }
        SlowOp::Pack { d, parts } => {
            parts.iter().copied().for_each(read);
            write(*d);
        }
        SlowOp::Unpack { parts, a, .. } => {
            read(*a);
            parts.iter().flatten().copied().for_each(write);
        }
        SlowOp::Carry(op) => {
            [op.a, op.b].into_iter().chain(op.c).chain(op.carry_in.then_some(flag(CARRY))).for_each(read);
            write(op.d);
            if op.carry_out {
                write(flag(CARRY));
            }
        }
        SlowOp::Lop3Predicate { d, p, q, .. } => {
            read(word(*d));
            read(flag(q.0));
            write(flag(*p));
        }
        SlowOp::SelectSign { d, a, b, c, .. } => {
            [*a, *b, *c].into_iter().for_each(read);
            write(*d);
        }
        SlowOp::TestProperty { d, a, .. } => {
            read(*a);
            write(flag(*d));
        }
    }
}
