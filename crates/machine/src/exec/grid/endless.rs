//! A block that has used up its instructions: which loop it is in, and who still is.

use super::block::Block;
use crate::code::{Code, MicroOp};
use crate::exec::context::Worker;
use crate::exec::fault::trap::Trap;
use crate::exec::state::warp::{Split, State, Warp};
use crate::exec::step::turn;
use crate::report::Kind;
use crate::report::kind::{Crowd, Lanes, Sync};

/// Looks at where a warp is, and the instructions between two of them: a loop inside of the one that does not end has
/// ended by then, if it is not too long.
const LOOKS: usize = 64;
const BETWEEN: u64 = 509;

/// The fault of a block that did not end within `limit` instructions.
pub(crate) fn trap(block: &mut Block, worker: &mut Worker<'_>, limit: u64) -> Box<Trap> {
    let busiest =
        block.warps.iter().filter(|w| runs(w).is_some()).max_by_key(|w| (w.clock, std::cmp::Reverse(w.index)));
    let Some(index) = busiest.or(block.warps.iter().find(|w| !w.done())).map(|w| w.index as usize) else {
        return Trap::new(Sync::Endless { limit, inside: None, others: 0, crowd: None }, 0);
    };
    worker.watch.warp = index as u32;
    let mut places = Vec::with_capacity(LOOKS);
    for _ in 0..LOOKS {
        let warp = &mut block.warps[index];
        places.extend(runs(warp).map(chain));
        match turn::run(worker, &mut block.common, warp, BETWEEN) {
            Ok(true) => {}
            // What may be wrong there comes later than the budget's end.
            Ok(false) | Err(_) => break,
        }
    }
    let warp = &block.warps[index];
    // The outermost function in which they differ is the one with the loop.
    let depth = places.iter().map(Vec::len).min().unwrap_or(0);
    let level = (0..depth).find(|&k| places.iter().any(|p| p[k] != places[0][k])).or(depth.checked_sub(1));
    let pcs: Vec<u32> = level.map_or(Vec::new(), |k| places.iter().map(|p| p[k]).collect());
    let found = innermost(worker.run.code, &pcs);
    let inside = |split: &&Split| {
        let at = level.and_then(|k| chain(split).get(k).copied()).unwrap_or(split.pc);
        found.is_some_and(|(start, end)| (start..=end).contains(&at))
    };
    let lanes = warp.splits.iter().filter(inside).fold(0, |all, split| all | split.mask);
    let Some((_, end)) = found.filter(|_| lanes != 0) else {
        let split = warp.splits.iter().max_by_key(|s| s.last_ran);
        let (pc, mask) = split.map_or((0, 0), |s| (s.pc, s.mask));
        return Trap::new(Sync::Endless { limit, inside: None, others: 0, crowd: None }, mask).at(pc);
    };
    let here = block.warps.iter().filter(|w| w.splits.iter().any(|s| inside(&s))).count() as u32;
    let still = Lanes { warp: warp.index, mask: lanes };
    let others = here.saturating_sub(1);
    Trap::new(Sync::Endless { limit, inside: Some(still), others, crowd: None }, lanes).at(end)
}

/// Says that blocks wait while others have no room to begin.
pub(super) fn crowded(mut trap: Box<Trap>, waiting: u64, unstarted: u64) -> Box<Trap> {
    if let Kind::Sync(Sync::Endless { crowd, .. }) = &mut trap.kind {
        *crowd = (unstarted > 0).then_some(Crowd { waiting, unstarted });
    }
    trap
}

/// What a warp ran last, if it can go on.
fn runs(warp: &Warp) -> Option<&Split> {
    warp.splits.iter().filter(|s| s.state == State::Ready).max_by_key(|s| s.last_ran)
}

/// Where it stands in each function, the outermost first.
fn chain(split: &Split) -> Vec<u32> {
    split.callers.iter().map(|frame| frame.call).chain([split.pc]).collect()
}

/// The smallest loop around these instructions: its first and its last one. A loop is what lies between a jump
/// backwards and its target, as the layout of blocks keeps loops in one piece.
fn innermost(code: &Code, pcs: &[u32]) -> Option<(u32, u32)> {
    let (low, high) = (*pcs.iter().min()?, *pcs.iter().max()?);
    let back = |(at, inst): (usize, &crate::code::Inst)| match inst.op {
        MicroOp::Jump(target) | MicroOp::Branch { target, .. } if target <= at as u32 => Some((target, at as u32)),
        _ => None,
    };
    let loops = code.insts.iter().enumerate().filter_map(back);
    loops.filter(|&(start, end)| start <= low && high <= end).min_by_key(|&(start, end)| (end - start, start))
}
