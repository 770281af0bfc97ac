//! What an instruction reads and writes.

use fusion_ptx::ast::{CallArg, Callee, Dst, Op, Operand, PredOperand, RegId};

/// Calls `read` for every operand that `op` reads and `write` for every register that it writes.
pub(crate) fn visit(op: &Op, read: &mut dyn FnMut(&Operand), write: &mut dyn FnMut(RegId)) {
    fn dst(d: &Dst, write: &mut dyn FnMut(RegId)) {
        if let Some(d) = d {
            write(*d);
        }
    }
    fn pred(p: &PredOperand, read: &mut dyn FnMut(&Operand)) {
        if let PredOperand::Reg { reg, .. } = p {
            read(&Operand::Reg(*reg));
        }
    }
    match op {
        Op::Unary { d, a, .. } | Op::Mov { d, a, .. } | Op::Cvta { d, a, .. } => {
            read(a);
            dst(d, write);
        }
        Op::Binary { d, a, b, .. } => {
            read(a);
            read(b);
            dst(d, write);
        }
        Op::Ternary { d, a, b, c, .. } | Op::Slct { d, a, b, c, .. } => {
            read(a);
            read(b);
            read(c);
            dst(d, write);
        }
        Op::Lop3Pred { d, p, a, b, c, q, .. } => {
            read(a);
            read(b);
            read(c);
            pred(q, read);
            dst(d, write);
            write(*p);
        }
        Op::Bfi { d, a, b, pos, len, .. } => {
            for operand in [a, b, pos, len] {
                read(operand);
            }
            dst(d, write);
        }
        Op::Testp { d, a, .. } | Op::Isspacep { d, a, .. } => {
            read(a);
            write(*d);
        }
        Op::Set { combine, d, a, b, .. } => {
            read(a);
            read(b);
            if let Some((_, c)) = combine {
                pred(c, read);
            }
            dst(d, write);
        }
        Op::Setp { combine, p, q, a, b, .. } => {
            read(a);
            read(b);
            if let Some((_, c)) = combine {
                pred(c, read);
            }
            dst(p, write);
            dst(q, write);
        }
        Op::Selp { d, a, b, p, .. } => {
            read(a);
            read(b);
            pred(p, read);
            dst(d, write);
        }
        Op::MovVector { d, a, .. } => {
            a.iter().for_each(read);
            d.iter().for_each(|d| dst(d, write));
        }
        Op::Pack { d, parts, .. } => {
            parts.iter().for_each(read);
            dst(d, write);
        }
        Op::Unpack { parts, a, .. } => {
            read(a);
            parts.iter().for_each(|d| dst(d, write));
        }
        Op::Cvt { d, a, b, .. } => {
            read(a);
            b.iter().for_each(read);
            dst(d, write);
        }
        Op::Ld { d, addr, .. } => {
            read(&addr.base);
            d.iter().for_each(|d| dst(d, write));
        }
        Op::St { addr, a, .. } => {
            read(&addr.base);
            a.iter().for_each(read);
        }
        Op::Prefetch { addr, .. } => read(&addr.base),
        Op::Atom { d, addr, a, c, .. } => {
            read(&addr.base);
            a.iter().for_each(&mut *read);
            c.iter().for_each(read);
            d.iter().for_each(|d| dst(d, write));
        }
        Op::CpAsync { dst, src, src_size, .. } => {
            read(&dst.base);
            read(&src.base);
            src_size.iter().for_each(read);
        }
        Op::Shfl { d, p, a, b, c, mask, .. } => {
            for operand in [a, b, c] {
                read(operand);
            }
            mask.iter().for_each(read);
            dst(d, write);
            dst(p, write);
        }
        Op::Vote { d, p, mask, .. } => {
            pred(p, read);
            mask.iter().for_each(read);
            dst(d, write);
        }
        Op::Match { d, p, a, mask, .. } => {
            read(a);
            read(mask);
            dst(d, write);
            dst(p, write);
        }
        Op::Activemask { d } => dst(d, write),
        Op::Redux { d, a, mask, .. } => {
            read(a);
            read(mask);
            dst(d, write);
        }
        Op::Elect { d, p, mask } => {
            read(mask);
            dst(d, write);
            write(*p);
        }
        Op::Barrier { d, barrier, threads, p, .. } => {
            read(barrier);
            threads.iter().for_each(&mut *read);
            if let Some(p) = p {
                pred(p, read);
            }
            dst(d, write);
        }
        Op::WarpSync { mask } => read(mask),
        Op::BrxIdx { index, .. } => read(index),
        Op::Call { callee, args, returns, .. } => {
            if let Callee::Indirect(reg) = callee {
                read(&Operand::Reg(*reg));
            }
            for arg in args {
                match arg {
                    CallArg::Value(operand) => read(operand),
                    CallArg::Param(local) => read(&Operand::Local(*local, 0)),
                }
            }
            for ret in returns {
                if let CallArg::Value(Operand::Reg(reg)) = ret {
                    write(*reg);
                }
            }
        }
        Op::CpAsyncCommit
        | Op::CpAsyncWait { .. }
        | Op::ClusterBarrier { .. }
        | Op::Fence { .. }
        | Op::Bra { .. }
        | Op::Ret
        | Op::Exit
        | Op::Trap
        | Op::Brkpt
        | Op::Nop(_)
        | Op::Unsupported { .. } => {}
    }
}
