//! Barriers of a block (PTX ISA 9.7.13.1), and what is wrong with who comes to them.

use fusion_ptx::ast::BarrierOp;

use super::bypass;
use crate::code::Reg;
use crate::exec::check::{AtBarrier, Came, Watch};
use crate::exec::context::{Common, Worker};
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::{Party, Trap, Trapped};
use crate::exec::state::barrier::Arrival;
use crate::exec::state::lanes::FULL;
use crate::exec::state::warp::{BarrierResult, Flow, Split, State, Warp};
use crate::report::kind::Sync;
use crate::report::{Code, Role};

type BarrierArgs = (BarrierOp, bool, Option<Reg>, u32, Option<u32>, Option<(u32, bool)>);

/// Threads come to a barrier.
pub(crate) fn execute(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &mut Split,
    mask: u32,
    args: BarrierArgs,
) -> Trapped<Flow> {
    let (op, aligned, d, id, threads, p) = args;
    if aligned && mask != warp.alive {
        worker.watch.gathers();
        return Ok(warp.gather(split, mask));
    }
    split.waits_since = None;
    let regs = warp.regs.view(split.bases);
    let lane = mask.trailing_zeros() as usize & 31;
    let id = regs.word(id)[lane];
    let expected = threads.map(|t| regs.word(t)[lane]);
    if id >= 16 {
        return Err(Trap::new(Sync::NoSuchBarrier { id }, mask));
    }
    if let Some(threads) = expected
        && (threads == 0 || threads % 32 != 0)
    {
        return Err(Trap::new(Sync::BarrierCount { threads }, mask));
    }
    let truths = p.map_or(FULL, |(slot, negated)| regs.predicate(slot, negated)) & mask;
    // With a count, a warp counts whole (PTX ISA 9.7.13.1); without, its live threads do.
    let arriving = match expected {
        Some(_) if aligned => 32,
        _ => mask.count_ones(),
    };
    warp.detach(split, mask);
    worker.counters.barriers += 1;
    let barrier = &mut common.barriers[id as usize];
    let round = barrier.round;
    let waits = op != BarrierOp::Arrive;
    worker.watch.arrives(|| {
        let is_here = |other: &Split| match other.state {
            State::Barrier { id: at, round: then, .. } => (at, then) == (id, round),
            _ => false,
        };
        let whole = warp.splits.iter().all(is_here);
        let counts = expected.map_or(if whole { 32 } else { 0 }, |_| arriving);
        AtBarrier { id: id as u8, threads: expected, counts, waits: waits && whole }
    });
    let open = barrier.open();
    barrier.arrive(arriving, mask.count_ones(), truths.count_ones(), expected, waits);
    let at = split.pc;
    split.pc += 1;
    let thread = 32 * warp.index + mask.trailing_zeros();
    let arrival = Arrival { pc: at, thread };
    let first = *barrier.first.get_or_insert(arrival);
    // No count, or that of the whole block, means all threads that have not exited.
    let counts = |n: Option<u32>| n.filter(|&n| n != common.threads).unwrap_or(common.live);
    if let Some((first, others)) = open.filter(|open| counts(open.1) != counts(expected)) {
        miscount(&mut worker.watch, mask, at, id, [counts(expected), counts(others)], first);
    } else if let Some(other) = common.checks.overtaken(id, worker.watch.block, warp.index, mask) {
        overtaken(&mut worker.watch, mask, at, other);
    }
    if let Some(threads) = expected {
        common.checks.arrive(Came::new(id, warp.index, threads, waits, arrival));
    }
    if expected.is_none() {
        if first.pc != at {
            mismatch(&mut worker.watch, mask, id, at, first);
        }
        bypass::arrive(&mut worker.watch, common, &mut warp.bypass, arrival);
    }
    if waits {
        let which = match op {
            BarrierOp::RedAnd => BarrierResult::And,
            BarrierOp::RedOr => BarrierResult::Or,
            _ => BarrierResult::Popc,
        };
        let result = d.map(|d| (d, which));
        split.state = State::Barrier { id, round, result, at };
    }
    common.settle();
    Ok(Flow::Leave)
}

/// Two warps at different barriers of the source that are one to the hardware.
fn mismatch(watch: &mut Watch<'_>, lanes: u32, id: u32, at: u32, first: Arrival) {
    let run = watch.run;
    let location = |pc: u32| {
        let loc = run.code.origins.get(pc as usize)?.loc?;
        run.module.locations.get(loc.index()).map(|l| (l.file, l.line, l.column))
    };
    // A barrier that the compiler has made two of.
    if location(at).is_some() && location(at) == location(first.pc) {
        return;
    }
    let site = Site { code: Code::BarrierMismatch, pc: at, other: first.pc };
    let (block, warp) = (watch.block, watch.warp);
    watch.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
        Trap::new(Sync::Mismatch { id, warp }, lanes).at(at).party(Party {
            role: Role::OtherBarrier { warp: first.thread / 32 },
            pc: first.pc,
            block: Some(block),
            thread: Some(first.thread),
        })
    });
}

/// Warps at one barrier of which each counts other threads.
fn miscount(watch: &mut Watch<'_>, lanes: u32, at: u32, id: u32, [threads, others]: [u32; 2], first: Arrival) {
    let site = Site { code: Code::BarrierRounds, pc: at, other: first.pc };
    let (block, warp) = (watch.block, watch.warp);
    watch.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
        Trap::new(Sync::Miscount { id, warp, threads }, lanes).at(at).party(Party {
            role: Role::OtherCount { warp: first.thread / 32, threads: others },
            pc: first.pc,
            block: Some(block),
            thread: Some(first.thread),
        })
    });
}

/// A warp comes to a round of a barrier, and could have come to the one before in the place of another.
fn overtaken(watch: &mut Watch<'_>, lanes: u32, at: u32, other: Came) {
    let site = Site { code: Code::BarrierRounds, pc: at, other: other.pc };
    let (block, warp) = (watch.block, watch.warp);
    let Came { barrier: id, threads, pc, thread, .. } = other;
    watch.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
        Trap::new(Sync::MixedRounds { id, warp, threads, other: other.warp }, lanes).at(at).party(Party {
            role: Role::RoundBefore { warp: other.warp },
            pc,
            block: Some(block),
            thread: Some(thread),
        })
    });
}
