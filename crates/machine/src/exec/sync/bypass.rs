//! Threads that go around an operation at which others of their warp or block wait for them.
//!
//! A barrier and a warp operation do not wait for threads that have exited, so that an early `return` of those with nothing to
//! do is no mistake. But a thread that never comes and executes what stands *behind* the operation, while others wait there,
//! has gone around it (CUDA C++ Programming Guide, "Synchronization Functions" and "Warp Vote Functions").
//!
//! For lanes of one warp that is told by what was stored while others waited. Warps run one after the other, and the one that
//! goes around may be done before another one comes. So what counts there is where a warp's last store stood: whatever the
//! warp did after its last barrier, if that store can follow the barrier and the barrier can not follow it, the warp passed by.

use crate::code::{Collective, MicroOp, SlowOp};
use crate::exec::check::Watch;
use crate::exec::context::Common;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::{Party, Trap};
use crate::exec::state::barrier::Arrival;
use crate::exec::state::lanes::each;
use crate::exec::state::reach;
use crate::exec::state::stores::{Bypass, Elsewhere, Gone};
use crate::exec::state::warp::{Split, State, Warp};
use crate::report::kind::{Lanes, Standstill, Sync};
use crate::report::{Code, Role};

/// Lanes are about to exit: a finding, if others wait for them and they were busy behind that meanwhile. The hardware lets
/// it pass.
pub(crate) fn find(watch: &mut Watch<'_>, warp: &mut Warp, leaving: u32) {
    if !watch.run.checks.races {
        return;
    }
    if let Some((pc, other, trap)) = found(watch, warp, leaving) {
        let site = Site { code: trap.code(), pc, other };
        let count = u64::from(trap.lanes.count_ones());
        watch.findings.add(site, watch.block, watch.warp, count, || trap);
    }
}

fn found(watch: &Watch<'_>, warp: &mut Warp, leaving: u32) -> Option<(u32, u32, Box<Trap>)> {
    let code = watch.run.code;
    let Warp { splits, regs, bypass, .. } = warp;
    for split in splits.iter() {
        let Some((pc, since)) = split.waits_since.filter(|_| matches!(split.state, State::Gathering | State::Ready))
        else {
            continue;
        };
        let Some(MicroOp::Slow(index)) = code.insts.get(pc as usize).map(|i| i.op) else { continue };
        let Some(op) = code.slow.get(index as usize) else { continue };
        let is_barrier = matches!(op, SlowOp::Barrier { .. });
        let missing = match op {
            SlowOp::Collective(Collective { mask: Some(slot), .. }) => {
                let members = *regs.view(split.bases).word(*slot);
                each(split.mask).fold(0, |all, lane| all | members[lane]) & leaving
            }
            SlowOp::Barrier { .. } => leaving,
            _ => continue,
        };
        let busy = |e: &&Elsewhere| e.event > since && e.lanes & missing != 0 && reach::reaches(code, pc, e.pc);
        if let Some(store) = bypass.stores.iter().find(busy) {
            return Some((pc, store.pc, story(watch, split, pc, is_barrier, store, store.lanes & missing)));
        }
    }
    None
}

fn story(watch: &Watch<'_>, split: &Split, pc: u32, barrier: bool, store: &Elsewhere, gone: u32) -> Box<Trap> {
    let warp = watch.warp;
    let waiting = Lanes { warp, mask: split.mask };
    let kind = match barrier {
        true => Sync::BypassedBarrier { waiting },
        false => Sync::MaskNamesAbsent { waiting, standstill: Standstill::default() },
    };
    Trap::new(kind, split.mask).at(pc).party(Party {
        role: Role::Bypassing { lanes: gone, barrier },
        pc: store.pc,
        block: Some(watch.block),
        thread: Some(32 * warp + gone.trailing_zeros()),
    })
}

/// Threads come to a barrier of the whole block: a finding, if others of it have gone around it and exited.
pub(crate) fn arrive(watch: &mut Watch<'_>, common: &Common, bypass: &mut Bypass, arrival: Arrival) {
    bypass.stored = (0, 0);
    for gone in &common.gone {
        passed_by(watch, arrival, *gone);
    }
}

/// The last lanes of a warp are about to exit: remembers where it stored last, and is a finding where others of the block
/// already wait at a barrier that this is behind.
pub(crate) fn end(watch: &mut Watch<'_>, common: &mut Common, warp: &Warp) {
    let (store, lanes) = warp.bypass.stored;
    if lanes == 0 || !watch.run.checks.races || common.gone.iter().any(|gone| gone.store == store) {
        return;
    }
    let gone = Gone { thread: 32 * warp.index + lanes.trailing_zeros(), store };
    common.gone.push(gone);
    for barrier in &common.barriers {
        if let Some(arrival) = barrier.waits_for_all() {
            passed_by(watch, arrival, gone);
        }
    }
}

fn passed_by(watch: &mut Watch<'_>, arrival: Arrival, gone: Gone) {
    let (pc, thread) = (arrival.pc, arrival.thread);
    if !watch.reach.is_behind(watch.run.code, pc, gone.store) {
        return;
    }
    let (block, warp) = (watch.block, thread / 32);
    let site = Site { code: Code::BarrierDivergent, pc, other: gone.store };
    watch.findings.add(site, block, warp, 1, || {
        let role = Role::BypassingWarp { warp: gone.thread / 32 };
        let party = Party { role, pc: gone.store, block: Some(block), thread: Some(gone.thread) };
        Trap::new(Sync::BypassedByWarp { warp }, 1 << (thread % 32)).at(pc).party(party)
    });
}
