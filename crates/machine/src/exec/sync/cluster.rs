//! The barrier of a cluster: threads arrive, go on, and wait later.

use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::warp::{Flow, Split, State, Warp};
use crate::report::kind::Cluster;

/// Threads arrive. What they have done is ordered before what those do who wait, unless the arrival is relaxed.
pub(crate) fn arrive(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    mask: u32,
    relaxed: bool,
) -> Trapped {
    let twice = (warp.arrived[0] | warp.arrived[1]) & mask;
    if twice != 0 {
        return Err(Trap::new(Cluster::ArrivesTwice, twice));
    }
    let Common { checks, cluster, .. } = common;
    let Some(cluster) = cluster else { return Ok(()) };
    let round = cluster.barrier.round;
    warp.arrived[(round & 1) as usize] |= mask;
    if !relaxed || worker.run.code.fences {
        checks.cluster_arrive(warp, mask, round);
    }
    cluster.barrier.arrive(mask.count_ones());
    worker.counters.barriers += 1;
    common.passed |= cluster.settle(checks);
    Ok(())
}

/// Threads wait until all have arrived.
pub(crate) fn wait(common: &mut Common, warp: &mut Warp, split: &mut Split, mask: u32) -> Trapped<Flow> {
    let early = mask & !(warp.arrived[0] | warp.arrived[1]);
    if early != 0 {
        return Err(Trap::new(Cluster::WaitsFirst, early));
    }
    let Some(cluster) = &common.cluster else { return Ok(Flow::Next) };
    let round = cluster.barrier.round;
    let present = (round & 1) as usize;
    warp.detach(split, mask);
    // Those whose round is complete and those whose round is not go on apart.
    let waiting = warp.arrived[present] & mask;
    if waiting != 0 && waiting != mask {
        let here = split.pc;
        warp.detach_to(split, waiting, here);
    }
    let at = split.pc;
    split.pc += 1;
    match waiting {
        0 => pass(common, warp, mask, round.wrapping_sub(1)),
        _ => split.state = State::Cluster { round, at },
    }
    Ok(Flow::Leave)
}

/// Lanes have waited for a round that is complete.
pub(crate) fn pass(common: &mut Common, warp: &mut Warp, lanes: u32, round: u64) {
    warp.arrived[(round & 1) as usize] &= !lanes;
    common.checks.cluster_wait(warp, lanes, round);
}

/// Lanes exit: nobody waits for them any more.
pub(crate) fn exit(common: &mut Common, warp: &Warp, lanes: u32) {
    let Common { checks, cluster, .. } = common;
    let Some(cluster) = cluster else { return };
    let arrived = warp.arrived[(cluster.barrier.round & 1) as usize] & lanes;
    cluster.barrier.exit(lanes.count_ones(), arrived.count_ones());
    common.passed |= cluster.settle(checks);
}
