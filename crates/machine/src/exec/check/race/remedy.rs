//! What the code around two accesses that race says of the remedy: a lock that wants fences, a barrier that already stands there.
//!
//! These are advice, not judgement, so that the order of the code's instructions is enough.

use fusion_ptx::ast::{AtomicOp, BarrierOp, Collective};

use super::decides::{decides, function};
use super::idiom::comparable;
use crate::code::{AddressOf, Code, SlowOp};
use crate::exec::state::reach::reaches;
use crate::exec::state::run::Run;
use crate::report::kind::Lock;

/// The lock that both accesses are made under, if one does not hand on what is written there.
pub(super) fn lock(run: &Run<'_>, one: u32, other: u32, same_block: bool) -> Option<Lock> {
    let (first, its) = around(run.code, one, same_block)?;
    let (second, other) = around(run.code, other, same_block)?;
    let lock = Lock { taken: its.taken && other.taken, given: its.given && other.given };
    (first == second && !(lock.taken && lock.given)).then_some(lock)
}

/// The place of a lock that is taken before an instruction and given back behind it, and the fences on the way.
fn around(code: &Code, pc: u32, same_block: bool) -> Option<(AddressOf, Lock)> {
    let function = function(code, pc)?;
    let takes = |at: &u32| matches!(code.slow_at(*at), Some(SlowOp::Atomic(a)) if a.answers && swaps(a.op) && decides(code, *at));
    let taken = (function.start..pc).rev().find(takes)?;
    let Some(SlowOp::Atomic(atomic)) = code.slow_at(taken) else { return None };
    let place = comparable(code, function, atomic.address);
    let gives = |at: &u32| written(code, *at).is_some_and(|address| comparable(code, function, address) == place);
    let given = (pc + 1..function.end).find(gives)?;
    let ordered = |mut within: std::ops::Range<u32>, ends: u32| {
        let atomic = matches!(code.slow_at(ends), Some(SlowOp::Atomic(a)) if a.order.acquire || a.order.release);
        atomic || within.any(|at| matches!(code.slow_at(at), Some(SlowOp::Fence(order)) if same_block || !order.narrow))
    };
    Some((place, Lock { taken: ordered(taken..pc, taken), given: ordered(pc..given, given) }))
}

fn swaps(op: AtomicOp) -> bool {
    matches!(op, AtomicOp::Cas | AtomicOp::Exch)
}

/// The place that an instruction writes.
fn written(code: &Code, pc: u32) -> Option<AddressOf> {
    match code.slow_at(pc) {
        Some(SlowOp::Atomic(atomic)) => Some(atomic.address),
        _ => code.access(pc).filter(|access| access.stores).map(|access| access.address),
    }
}

/// The barrier that stands between a write and a read, where it is a loop's next round that overwrites what is read. A loop may
/// be unrolled: then the lines of the source tell. Another call of the same function is no round.
pub(super) fn round(run: &Run<'_>, read: u32, write: u32, same_warp: bool) -> Option<u32> {
    let code = run.code;
    let function = function(code, read)?;
    let same = |at: u32| match (run.location(at), run.location(write)) {
        (Some(one), Some(other)) => (one.file, one.line, one.inlined_at) == (other.file, other.line, other.inlined_at),
        _ => at == write,
    };
    let first = (function.start..read).find(|&at| written(code, at).is_some() && same(at))?;
    let before = |one: u32, other: u32| match (run.location(one), run.location(other)) {
        (Some(one), Some(other)) => one.file == other.file && one.line < other.line,
        _ => one < other,
    };
    let orders = |at: &u32| match code.slow_at(*at) {
        Some(SlowOp::Barrier { op: BarrierOp::Sync, threads: None, .. }) => true,
        Some(SlowOp::Collective(collective)) => same_warp && collective.op == Collective::Sync,
        _ => false,
    };
    let stands = |at: &u32| orders(at) && before(write, *at) && before(*at, read);
    let barrier = (first..read).rev().find(stands)?;
    reaches(code, read, write).then_some(barrier)
}
