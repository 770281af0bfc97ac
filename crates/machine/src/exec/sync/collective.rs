//! What the lanes of a warp tell each other: shuffles, votes, matches, reductions (PTX ISA 9.7.9.6, 9.7.13).

use crate::arith::{Reduction, shuffle_source};
use crate::code::Collective;
use crate::exec::check::{BlockChecks, Watch};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::lanes::{FULL, each, lanes};
use crate::exec::state::warp::{Flow, Split, Warp};
use crate::report::kind::{Absent, Sync};
use fusion_ptx::ast::{self, VoteMode};

/// Whether every lane that takes part is here.
enum Presence {
    Complete,
    Missing,
}

/// Checks the member masks of the executing lanes. Lanes that have exited need not come (CUDA C++ Programming Guide,
/// warp functions: "all non-exited threads named in mask must execute").
fn presence(warp: &Warp, members: &[u32; 32], mask: u32) -> Trapped<Presence> {
    // The rule: a whole warp that names itself.
    if mask == FULL && *members == [FULL; 32] {
        return Ok(Presence::Complete);
    }
    let mut missing = 0;
    let mut outside = 0;
    for lane in each(mask) {
        outside |= u32::from(members[lane] >> lane & 1 == 0) << lane;
        missing |= members[lane] & warp.alive & !mask;
    }
    if outside != 0 {
        let lane = outside.trailing_zeros() as usize & 31;
        return Err(Trap::new(Sync::MaskExcludes { here: mask, outside, mask: members[lane] }, outside));
    }
    Ok(if missing == 0 { Presence::Complete } else { Presence::Missing })
}

/// The members that each lane names.
pub(crate) fn members(warp: &mut Warp, split: &Split, op: &Collective, mask: u32) -> [u32; 32] {
    match op.mask {
        Some(slot) => *warp.regs.view(split.bases).word(slot),
        None => [mask; 32],
    }
}

pub(crate) fn execute(
    watch: &mut Watch<'_>,
    checks: &mut BlockChecks,
    warp: &mut Warp,
    split: &mut Split,
    op: &Collective,
    mask: u32,
) -> Trapped<Flow> {
    let members = members(warp, split, op, mask);
    if let Presence::Missing = presence(warp, &members, mask)? {
        return Ok(warp.gather(split, mask));
    }
    split.waits_since = None;
    let (exited, threads) = (warp.exited(), warp.threads);
    let mut regs = warp.regs.view(split.bases);
    // The lanes that a lane works with: those of its mask that are here.
    let group = |lane: usize| members[lane] & mask;
    // The decoder gives each operation its sources.
    let source = |i: usize| op.sources.get(i).map_or([0; 32], |reg| regs.get(*reg));
    // What each lane is told, and in which of them the predicate is true.
    let mut value = [0u64; 32];
    let mut truth = 0u32;
    match op.op {
        ast::Collective::Shuffle(mode) => {
            let (a, b, c) = (source(0), source(1), source(2));
            let sources: [(u32, bool); 32] = lanes(|i| shuffle_source(mode, i as u32, b[i] as u32, c[i] as u32));
            truth = (0..32).fold(0u32, |inside, i| inside | u32::from(sources[i].1) << i);
            // The rule, and the quick way: a whole warp that names itself.
            let whole = mask == FULL && members == [FULL; 32];
            let takes_part = |i: usize| whole || group(i) >> sources[i].0 & 1 == 1;
            // A source that does not take part gives an undefined value; here, the lane's own.
            value = lanes(|i| a[if takes_part(i) { sources[i].0 as usize & 31 } else { i }]);
            let nothing = match whole {
                true => 0,
                false => each(mask).filter(|&i| !takes_part(i)).fold(0u32, |found, i| found | 1 << i),
            };
            if nothing != 0 {
                watch.shuffled_nothing(checks, nothing, |i| {
                    let lane = sources[i].0;
                    let absent = match () {
                        () if threads >> lane & 1 == 0 => Absent::NoThread,
                        () if exited >> lane & 1 == 1 => Absent::Exited,
                        () => Absent::Unnamed,
                    };
                    (lane, absent)
                });
            }
        }
        ast::Collective::Vote { mode, negated } => {
            let p = source(0);
            let votes = each(mask).fold(0u32, |votes, i| votes | u32::from((p[i] == 1) != negated) << i);
            for lane in each(mask) {
                let group = group(lane);
                value[lane] = match mode {
                    VoteMode::All => u64::from(votes & group == group),
                    VoteMode::Any => u64::from(votes & group != 0),
                    VoteMode::Uni => u64::from(votes & group == group || votes & group == 0),
                    VoteMode::Ballot => u64::from(votes & group),
                };
            }
        }
        ast::Collective::Match { all } => {
            let a = source(0);
            for lane in each(mask) {
                let group = group(lane);
                let same = each(group).fold(0u32, |same, l| same | u32::from(a[l] == a[lane]) << l);
                truth |= u32::from(same == group) << lane;
                value[lane] = u64::from(match all {
                    true if same == group => group,
                    true => 0,
                    false => same,
                });
            }
        }
        ast::Collective::Redux(_) => {
            let a = source(0);
            if let Some(Reduction { start, step }) = op.reduction {
                each(mask).for_each(|lane| value[lane] = each(group(lane)).map(|l| a[l]).fold(start, step));
            }
        }
        ast::Collective::Elect => {
            for lane in each(mask) {
                let first = group(lane).trailing_zeros();
                value[lane] = u64::from(first);
                truth |= u32::from(first as usize == lane) << lane;
            }
        }
        ast::Collective::Activemask => value = [u64::from(mask); 32],
        ast::Collective::Sync => {}
    }
    if let Some(d) = op.d {
        regs.put(d, mask, &value);
    }
    if let Some(p) = op.p {
        regs.put_predicate(p, mask, truth);
    }
    Ok(Flow::Next)
}
