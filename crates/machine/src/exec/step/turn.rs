//! A warp's turn: its splits run one after the other, until none can move.

use std::cmp::Reverse;

use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::Trapped;
use crate::exec::state::warp::{Split, State, Warp};
use crate::exec::step;
use crate::exec::sync::cluster;

/// Instructions that a split may spin while others of its warp are ready.
const PATIENCE: u64 = 1 << 20;
/// How long an overdue split runs before the order is by program counter again.
const SLICE: u64 = 256;

/// Runs until no split can move, or for about `quantum` instructions. Says whether anything ran.
pub(crate) fn run(worker: &mut Worker<'_>, common: &mut Common, warp: &mut Warp, quantum: u64) -> Trapped<bool> {
    let end = warp.clock + quantum;
    warp.waits = 0;
    for split in &mut warp.splits {
        split.waits = 0;
    }
    let mut ran = false;
    while warp.clock < end && warp.waits < 2 * common.patience {
        release(warp, common);
        let Some((at, slice)) = pick(warp, common) else { break };
        ran = true;
        let mut split = warp.splits.swap_remove(at);
        let limit = (end - warp.clock).min(slice);
        let meeting = warp.splits.iter().map(|s| s.pc).filter(|&pc| pc > split.pc).min().unwrap_or(u32::MAX);
        let (mask, before) = (split.mask, warp.clock);
        let outcome = step::run(worker, common, warp, &mut split, meeting, limit);
        worker.watch.ran(&split, mask, warp.alive, warp.clock - before);
        split.last_ran = warp.clock;
        if split.mask != 0 {
            warp.join(split);
        }
        outcome?;
    }
    Ok(ran)
}

/// Lets splits go on whose barrier has been completed.
fn release(warp: &mut Warp, common: &mut Common) {
    if let Some(barrier) = common.cluster.as_ref().map(|cluster| cluster.barrier) {
        release_cluster(warp, common, barrier.round);
    }
    for split in &mut warp.splits {
        if let State::Barrier { id, round, result, .. } = split.state {
            let barrier = &common.barriers[id as usize];
            if barrier.round == round {
                continue;
            }
            split.state = State::Ready;
            if let Some((reg, which)) = result {
                let value = barrier.result(which);
                warp.regs.view(split.bases).put(reg, split.mask, &[value; 32]);
            }
        }
    }
}

/// The same for the barrier of the cluster.
fn release_cluster(warp: &mut Warp, common: &mut Common, round: u64) {
    let mut passing = 0;
    for split in &mut warp.splits {
        if let State::Cluster { round: own, .. } = split.state
            && own != round
        {
            split.state = State::Ready;
            passing |= split.mask;
        }
    }
    if passing != 0 {
        cluster::pass(common, warp, passing, round.wrapping_sub(1));
    }
}

/// The split to run and for how long at most.
fn pick(warp: &mut Warp, common: &Common) -> Option<(usize, u64)> {
    if let [only] = warp.splits.as_slice() {
        return (only.state == State::Ready).then_some((0, u64::MAX));
    }
    let ready = || warp.splits.iter().enumerate().filter(|(_, s)| s.state == State::Ready);
    let first = ready().min_by_key(|(_, s)| (Reverse(s.callers.len()), s.pc))?;
    // Forward progress for the others: a lane that spins for what another lane will do must not keep it from doing so.
    let waited = |s: &Split| warp.clock - s.last_ran.min(warp.clock);
    let overdue = ready().filter(|s| s.0 != first.0).max_by_key(|s| waited(s.1));
    if let Some((other, split)) = overdue
        && (first.1.waits >= common.patience || waited(split) > PATIENCE)
    {
        let spinner = first.0;
        warp.splits[spinner].waits = 0;
        return Some((other, SLICE));
    }
    Some((first.0, PATIENCE))
}
