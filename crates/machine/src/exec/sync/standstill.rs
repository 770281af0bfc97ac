//! A block of which nobody can move.

use crate::code::{MicroOp, SlowOp};
use crate::exec::check::Watch;
use crate::exec::context::Common;
use crate::exec::fault::trap::{Party, Trap};
use crate::exec::state::cluster::ClusterBarrier;
use crate::exec::state::warp::{Split, State, Warp};
use crate::report::Role;
use crate::report::kind::{Arrivals, Lanes, Standstill, Sync, Waits};

/// A block of which nobody can move.
#[derive(Clone, Copy)]
pub(crate) struct Stand<'s> {
    pub(crate) block: u64,
    pub(crate) common: &'s Common,
    pub(crate) warps: &'s [Warp],
}

/// Nobody can move in the blocks of a cluster, or in the only one: says where everyone stands.
pub(crate) fn trap(watch: &mut Watch<'_>, blocks: &[Stand<'_>], cluster: Option<ClusterBarrier>) -> Box<Trap> {
    // Whoever waits for the cluster waits for the others.
    let waits_within = |stand: &&Stand<'_>| {
        stand.warps.iter().flat_map(|w| &w.splits).any(|s| !matches!(s.state, State::Cluster { .. }))
    };
    let unfinished = |stand: &&Stand<'_>| stand.warps.iter().any(|w| !w.done());
    let Some(stand) = blocks.iter().find(waits_within).or(blocks.iter().find(unfinished)) else {
        let standstill = Standstill::default();
        return Trap::new(Sync::Deadlock { waiting: None, barrier: None, standstill }, 0);
    };
    let Stand { block, common, warps } = *stand;
    watch.enter(block);
    let splits = || warps.iter().flat_map(|w| w.splits.iter().map(move |s| (w, s)));
    let code = watch.run.code;
    let op = |split: &Split| match code.insts.get(split.pc as usize).map(|i| i.op) {
        Some(MicroOp::Slow(index)) => code.slow.get(index as usize),
        _ => None,
    };
    let before_barrier = |split: &Split| matches!(op(split), Some(SlowOp::Barrier { .. }));
    let gathering = || splits().filter(|(_, s)| s.state == State::Gathering);
    let at_barrier = gathering().find(|(_, s)| before_barrier(s));
    // Lanes that a warp operation waits for while they stand before a barrier: the mask is wrong, not the barrier.
    let in_vain = at_barrier.and_then(|(w, _)| gathering().find(|(v, s)| v.index == w.index && !before_barrier(s)));
    let first = in_vain.or(at_barrier).or(gathering().next()).or(splits().next());
    let standstill = standstill(common, warps, cluster);
    let Some((warp, split)) = first else {
        return Trap::new(Sync::Deadlock { waiting: None, barrier: None, standstill }, 0);
    };
    watch.warp = warp.index;
    let waiting = Lanes { warp: warp.index, mask: split.mask };
    let whole = split.state == State::Gathering
        && matches!(
            op(split),
            Some(SlowOp::Together | SlowOp::Matrix(_) | SlowOp::MoveMatrix { .. } | SlowOp::Product(_))
        );
    let kind = if whole {
        Sync::PartialWarp { here: split.mask, exited: warp.exited() }
    } else if in_vain.is_some() {
        Sync::MaskNamesAbsent { waiting, standstill }
    } else if at_barrier.is_some() {
        let another = gathering().any(|(_, s)| before_barrier(s) && s.pc != split.pc);
        Sync::DivergentBarrier { waiting, another, standstill }
    } else {
        let barrier = match split.state {
            State::Barrier { id, .. } => Some(id),
            _ => None,
        };
        Sync::Deadlock { waiting: Some(waiting), barrier, standstill }
    };
    let here = |s: &Split| match s.state {
        State::Barrier { at, .. } | State::Cluster { at, .. } => at,
        _ => s.pc,
    };
    let mut trap = Trap::new(kind, split.mask).at(here(split));
    let everyone = blocks
        .iter()
        .flat_map(|stand| stand.warps.iter().flat_map(move |w| w.splits.iter().map(move |s| (stand.block, w, s))));
    let others = everyone.filter(|(b, w, s)| (*b, w.index, s.mask) != (block, warp.index, split.mask));
    // Warps that wait together are one party.
    let mut told: Vec<(u32, Waits, u64, Lanes, u32)> = Vec::new();
    for (block, w, s) in others {
        let waits = match s.state {
            State::Barrier { id, .. } => Waits::AtBarrier(id),
            State::Cluster { .. } => Waits::AtCluster,
            _ if before_barrier(s) => Waits::BeforeBarrier,
            _ => Waits::ForLanes,
        };
        let at = here(s);
        match told.iter_mut().find(|t| (t.0, t.1) == (at, waits)) {
            Some(same) => same.4 += 1,
            None => told.push((at, waits, block, Lanes { warp: w.index, mask: s.mask }, 0)),
        }
    }
    for (pc, waits, block, lanes, more) in told.into_iter().take(8) {
        let thread = Some(32 * lanes.warp + lanes.mask.trailing_zeros());
        let role = Role::Waiting { lanes, waits, more };
        trap = trap.party(Party { role, pc, block: Some(block), thread });
    }
    trap
}

fn standstill(common: &Common, warps: &[Warp], cluster: Option<ClusterBarrier>) -> Standstill {
    let barriers = common.barriers.iter().enumerate().filter(|(_, b)| b.arrived > 0);
    Standstill {
        barriers: barriers
            .map(|(id, barrier)| Arrivals {
                id: id as u32,
                arrived: barrier.arrived,
                expected: barrier.expected.unwrap_or(common.live),
            })
            .collect(),
        cluster: cluster.filter(|barrier| barrier.arrived > 0).map(|barrier| (barrier.arrived, barrier.live)),
        exited: warps.iter().map(|w| w.exited().count_ones()).sum(),
    }
}
