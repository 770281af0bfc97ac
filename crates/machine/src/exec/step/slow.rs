//! Operations that reach beyond a lane's registers: control flow, barriers, memory that is shared.

use fusion_ptx::ast::{BoolOp, Collective, WarpgroupOp};

use super::{call, matrix, warpgroup};
use crate::arith;
use crate::code::{CarryKind, CarryOp, Comparison, Dynamic, Place, QuaternaryOp, SlowOp, window};
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::memory::cluster::{Does, own};
use crate::exec::memory::{self, atomic, copy, shared};
use crate::exec::state::address::{addresses, resolve};
use crate::exec::state::lanes::{FULL, View, each, lanes};
use crate::exec::state::warp::{Flow, Split, Warp};
use crate::exec::sync::{aligned, barrier, bulk, cluster, collective, exit, mbarrier, tensor};
use crate::report::kind::{Stop, Sync, Unsupported};

/// `setp` and `set` by function.
pub(crate) fn compare(regs: &mut View<'_>, c: &Comparison, mask: u32) {
    let (a, b) = (regs.get(c.a), regs.get(c.b));
    let shift = if c.upper { 16 } else { 0 };
    let mut truth = 0u32;
    for lane in each(mask) {
        truth |= u32::from((c.test)(a[lane] >> shift, b[lane] >> shift)) << lane;
    }
    let combined = |truth: u32| match c.combine {
        None => truth,
        Some((op, slot, negated)) => {
            let other = regs.predicate(slot, negated);
            match op {
                BoolOp::And => truth & other,
                BoolOp::Or => truth | other,
                BoolOp::Xor => truth ^ other,
            }
        }
    };
    let (p, q) = (combined(truth), combined(!truth));
    if let Some(slot) = c.p {
        regs.put_predicate(slot, mask, p);
    }
    if let Some(slot) = c.q {
        regs.put_predicate(slot, mask, q);
    }
    if let Some((reg, value)) = c.value {
        let before = regs.get(reg);
        regs.put(reg, mask, &lanes(|i| before[i] & c.keep | if p >> i & 1 == 1 { value } else { 0 }));
    }
}

/// Instructions of four operands.
pub(crate) fn quaternary(regs: &mut View<'_>, op: &QuaternaryOp, mask: u32) {
    let [a, b, c, e] = op.sources.map(|reg| regs.get(reg));
    regs.put(op.d, mask, &lanes(|i| (op.f)(a[i], b[i], c[i], e[i])));
}

/// An instruction by which one waits for others: they get their turn when there have been many.
pub(crate) fn waited(common: &mut Common, warp: &mut Warp, split: &mut Split) -> Flow {
    split.waits += 1;
    warp.waits += 1;
    if split.waits < common.patience {
        return Flow::Next;
    }
    common.waits += 1;
    split.pc += 1;
    Flow::Leave
}

/// How often a block lets others take theirs first. Later its share of instructions sees to that.
const TAKES: u32 = 16;

/// One thread has counted something and has the old count: it may have taken work from a queue, or its place in a line.
/// The other blocks take theirs before it takes more, as they do where all of them run at once.
fn take(common: &mut Common, warp: &mut Warp, split: &mut Split) -> Flow {
    common.took = true;
    common.takes += 1;
    warp.waits = u32::MAX / 2;
    split.pc += 1;
    Flow::Leave
}

#[inline(never)]
pub(crate) fn execute(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &mut Split,
    op: &SlowOp,
    mask: u32,
) -> Trapped<Flow> {
    match op {
        SlowOp::Exit => return exit::exit(&mut worker.watch, common, warp, split, mask),
        SlowOp::Return => return call::ret(worker, common, warp, split, mask),
        SlowOp::Call(call) => return call::call(worker, common, warp, split, mask, call),
        SlowOp::Trap if worker.run.is_grid_barrier(worker.watch.pc) => {
            return Err(Trap::new(Sync::NotCooperative, mask));
        }
        SlowOp::Trap | SlowOp::Breakpoint => return Err(Trap::new(Stop::Trap, mask)),
        SlowOp::Yield => return Ok(waited(common, warp, split)),
        SlowOp::Nothing => {}
        SlowOp::Unsupported { opcode, reason } => {
            let (opcode, reason) = (opcode.clone(), reason.clone());
            return Err(Trap::new(Unsupported::Instruction { opcode, reason }, mask));
        }
        SlowOp::BranchTable { index, targets } => {
            let chosen = *warp.regs.view(split.bases).word(*index);
            let Some(first) = each(mask).next() else { return Ok(Flow::Next) };
            let same = each(mask).fold(0, |same, lane| same | u32::from(chosen[lane] == chosen[first]) << lane);
            let Some(&target) = targets.get(chosen[first] as usize) else {
                let (index, targets) = (chosen[first], targets.len() as u64);
                return Err(Trap::new(Stop::BranchTable { index, targets }, same));
            };
            // Lanes that the guard excludes go on behind; those with another index come back here.
            warp.detach(split, mask);
            let here = split.pc;
            warp.detach_to(split, same, here);
            split.pc = target;
            return Ok(Flow::Leave);
        }
        SlowOp::Barrier { op, aligned, d, id, threads, p } => {
            return barrier::execute(worker, common, warp, split, mask, (*op, *aligned, *d, *id, *threads, *p));
        }
        SlowOp::Collective(collective) => {
            let flow = collective::execute(&mut worker.watch, &mut common.checks, warp, split, collective, mask)?;
            if flow == Flow::Next {
                match collective.op {
                    Collective::Sync => {
                        let members = collective::members(warp, split, collective, mask);
                        common.checks.warp_sync(warp, &members, mask);
                    }
                    Collective::Activemask => {}
                    _ => common.checks.meet_in_registers(warp.index, mask),
                }
            }
            return Ok(flow);
        }
        SlowOp::Checked(checked) => worker.watch.suspect(&mut warp.regs.view(split.bases), checked, mask),
        SlowOp::Atomic(atomic) => {
            let changed = atomic::execute(worker, common, warp, split, atomic, mask)?;
            warp.bypass.stores(split.pc, mask);
            if warp.bypass.waited_for {
                warp.bypass.store(&warp.splits, split.pc, mask);
            }
            if atomic.answers && !changed {
                return Ok(waited(common, warp, split));
            }
            if atomic.takes && mask.is_power_of_two() && common.takes < TAKES {
                return Ok(take(common, warp, split));
            }
        }
        SlowOp::Mbarrier(op) => {
            if !mbarrier::execute(worker, common, warp, split, op, mask)? {
                // It would look in vain until others have had their turn.
                split.waits = split.waits.max(common.patience);
                warp.waits += common.patience;
                return Ok(waited(common, warp, split));
            }
        }
        SlowOp::ClusterBarrier { wait, aligned, relaxed } => {
            if *aligned && mask != warp.alive {
                worker.watch.gathers();
                return Ok(warp.gather(split, mask));
            }
            split.waits_since = None;
            match wait {
                true => return cluster::wait(common, warp, split, mask),
                false => cluster::arrive(worker, common, warp, mask, *relaxed)?,
            }
        }
        SlowOp::MapAddress { generic, d, a, rank } => {
            let mut regs = warp.regs.view(split.bases);
            let (a, rank) = (regs.get(*a), *regs.word(*rank));
            // A generic address that is not of shared memory has no place in another block's.
            let mapped = |lane: usize| match *generic && a[lane] >> 32 != window::SHARED >> 32 {
                true => a[lane],
                false => memory::cluster::map(a[lane], rank[lane]),
            };
            let mapped = lanes(mapped);
            regs.put(*d, mask, &mapped);
        }
        SlowOp::RankOf { d, a, .. } => {
            let mut regs = warp.regs.view(split.bases);
            let a = regs.get(*a);
            regs.put(*d, mask, &lanes(|lane| u64::from(memory::cluster::rank_of(a[lane]))));
        }
        SlowOp::PendingCount { d, a } => {
            let mut regs = warp.regs.view(split.bases);
            let a = regs.get(*a);
            regs.put(*d, mask, &lanes(|lane| mbarrier::pending(a[lane])));
        }
        SlowOp::StoreAsync(store) => bulk::store(worker, common, warp, split, store, mask)?,
        SlowOp::Wgmma(product) => {
            if !aligned::is_whole(&mut worker.watch, warp, split, mask)? {
                return Ok(Flow::Leave);
            }
            warpgroup::multiply(worker, common, warp, split.bases, product)?;
        }
        SlowOp::Warpgroup(op) => {
            if !aligned::is_whole(&mut worker.watch, warp, split, mask)? {
                return Ok(Flow::Leave);
            }
            match op {
                WarpgroupOp::Fence => common.checks.warpgroup_fence(warp.index),
                WarpgroupOp::Commit => common.checks.warpgroup_commit(warp.index),
                WarpgroupOp::Wait(left) => worker.watch.waits_for_products(&mut common.checks, *left),
            }
        }
        SlowOp::Together | SlowOp::Matrix(_) | SlowOp::MoveMatrix { .. } | SlowOp::Product(_) => {
            if !aligned::is_whole(&mut worker.watch, warp, split, mask)? {
                return Ok(Flow::Leave);
            }
            let mut regs = warp.regs.view(split.bases);
            match op {
                SlowOp::Matrix(access) => memory::matrix::execute(worker, common, &mut regs, access, split.local_base)?,
                SlowOp::MoveMatrix { d, a } => {
                    let moved = matrix::transposed(&regs.get(*a));
                    regs.put(*d, mask, &moved);
                }
                SlowOp::Product(product) => matrix::multiply(worker, &mut regs, product),
                _ => {}
            }
            if matches!(op, SlowOp::Matrix(access) if access.row.stores) {
                warp.bypass.stores(split.pc, mask);
            }
            common.checks.meet_in_registers(warp.index, mask);
        }
        SlowOp::CopyBulk(copy) => bulk::copy(worker, common, warp, split, copy, mask)?,
        SlowOp::CopyTensor(copy) => tensor::copy(worker, common, warp, split, copy, mask)?,
        SlowOp::BulkCommit => common.checks.bulk_commit(warp.index, mask),
        SlowOp::BulkWait { groups } => common.checks.bulk_wait(warp.index, mask, *groups),
        SlowOp::ProxyFence => common.checks.proxy_fence(warp.index, mask),
        SlowOp::CopyAsync { dst, src, size, src_size } => {
            let local_base = split.local_base;
            let regs = warp.regs.view(split.bases);
            let to = addresses(&regs, dst, local_base);
            let does = Does { write: true, bytes: u64::from(*size) };
            let to = own(worker, common, mask, dst, &to, does)?;
            let from = addresses(&regs, src, local_base);
            let take = src_size.map_or([*size; 32], |s| *regs.word(s));
            copy::execute(worker, common, mask, &to, &from, *size, &take)?;
            shared::check_array(&mut worker.watch, dst, mask, &to, u64::from(*size), false, true);
        }
        SlowOp::CopyCommit => common.checks.copies_commit(warp.index, mask),
        SlowOp::CopyWait { groups } => common.checks.copies_wait(warp.index, worker.watch.pc, mask, *groups),
        SlowOp::Fence(order) => common.checks.fence(warp, mask, worker.watch.reach_of(*order)),
        SlowOp::Read { d, what } => {
            let cycles = warp.clock;
            let nanoseconds = (cycles as f64 * 1e6 / f64::from(worker.run.clock_khz.max(1))) as u64;
            let value = match what {
                Dynamic::Clock | Dynamic::Clock64 => cycles,
                Dynamic::ClockHigh => cycles >> 32,
                Dynamic::GlobalTimer => nanoseconds,
                Dynamic::GlobalTimerHigh => nanoseconds >> 32,
            };
            warp.regs.view(split.bases).put(*d, mask, &[value; 32]);
        }
        SlowOp::FrameAddress { d, offset } => {
            let address = u64::from(split.local_base).wrapping_add_signed(*offset);
            warp.regs.view(split.bases).put_double(*d, mask, &[address; 32]);
        }
        SlowOp::IsSpace { place, d, a } => {
            let mut regs = warp.regs.view(split.bases);
            let a = *regs.double(*a);
            let mut truth = 0;
            for lane in each(mask) {
                let (found, addr) = resolve(common.rank, a[lane]);
                let is = match place {
                    Place::Constant => worker.window_of(addr).is_some_and(|w| worker.windows[w].constant),
                    Place::Global => found == Place::Global,
                    // The own block's shared memory is part of the cluster's.
                    Place::Cluster => matches!(found, Place::Shared | Place::Cluster),
                    other => found == *other,
                };
                truth |= u32::from(is) << lane;
            }
            regs.put_predicate(*d, mask, truth);
        }
        SlowOp::Pack { d, parts } => {
            let mut regs = warp.regs.view(split.bases);
            let mut value = [0u64; 32];
            let mut shift = 0;
            for part in parts {
                let bits = regs.get(*part);
                let keep = u64::MAX >> (64 - u32::from(part.bits));
                value = lanes(|i| value[i] | (bits[i] & keep) << shift);
                shift += u32::from(part.bits);
            }
            regs.put(*d, mask, &value);
        }
        SlowOp::Unpack { parts, a } => {
            let mut regs = warp.regs.view(split.bases);
            let a = regs.get(*a);
            let mut shift = 0;
            for part in parts {
                regs.put(*part, mask, &lanes(|i| a[i] >> shift));
                shift += u32::from(part.bits);
            }
        }
        SlowOp::Carry(op) => carry(&mut warp.regs.view(split.bases), op, mask),
        SlowOp::Lop3Predicate { d, p, or, q: (q, negated) } => {
            let mut regs = warp.regs.view(split.bases);
            let d = *regs.word(*d);
            let set = (0..32).fold(0, |set, i| set | u32::from(d[i] != 0) << i);
            let q = regs.predicate(*q, *negated);
            regs.put_predicate(*p, mask, if *or { set | q } else { set & q });
        }
        SlowOp::SelectSign { test, d, a, b, c } => {
            let mut regs = warp.regs.view(split.bases);
            let (a, b, c) = (regs.get(*a), regs.get(*b), regs.get(*c));
            regs.put(*d, mask, &lanes(|i| if test(c[i]) { a[i] } else { b[i] }));
        }
        SlowOp::TestProperty { test, d, a } => {
            let mut regs = warp.regs.view(split.bases);
            let a = regs.get(*a);
            let truth = (0..32).fold(0, |truth, i| truth | u32::from(test(a[i])) << i);
            regs.put_predicate(*d, mask, truth);
        }
    }
    Ok(Flow::Next)
}

fn carry(regs: &mut View<'_>, op: &CarryOp, mask: u32) {
    let (a, b) = (regs.get(op.a), regs.get(op.b));
    let c = op.c.map_or([0; 32], |c| regs.get(c));
    // Without a carry in, nothing is added to a sum, and to a difference what makes the complement a negation.
    let flags = match (op.carry_in, op.kind) {
        (Some(slot), _) => regs.predicate(slot, false),
        (None, CarryKind::Sub) => FULL,
        (None, CarryKind::Add | CarryKind::Mad { .. }) => 0,
    };
    let mut out = 0u32;
    let mut value = [0; 32];
    for lane in 0..32 {
        let flag = flags >> lane & 1 == 1;
        let (v, f) = match op.kind {
            CarryKind::Add => arith::add_carry(op.ty, a[lane], b[lane], flag),
            CarryKind::Sub => arith::sub_carry(op.ty, a[lane], b[lane], flag),
            CarryKind::Mad { high } => arith::mad_carry(op.ty, high, a[lane], b[lane], c[lane], flag),
        };
        value[lane] = v;
        out |= u32::from(f) << lane;
    }
    regs.put(op.d, mask, &value);
    if let Some(slot) = op.carry_out {
        regs.put_predicate(slot, mask, out);
    }
}
