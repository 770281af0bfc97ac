//! What the lanes of a warp tell each other: shuffles, votes, matches, reductions (PTX ISA 9.7.9.6, 9.7.13).

use crate::arith::{Reduction, shuffle_source};
use crate::code::{Collective, Reg};
use crate::exec::check::{BlockChecks, Watch};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::lanes::{FULL, View, each, lanes};
use crate::exec::state::warp::{Flow, Split, Warp};
use crate::report::kind::{Absent, Sync};
use fusion_ptx::ast::{self, ShuffleMode, VoteMode};

/// Whether every lane that takes part is here.
enum Presence {
    Complete,
    Missing,
}

/// Whether a whole warp is here, and names itself: the rule.
#[inline(always)]
fn is_whole(members: &[u32; 32], mask: u32) -> bool {
    mask == FULL && *members == [FULL; 32]
}

/// Checks the member masks of the executing lanes. Lanes that have exited need not come (CUDA C++ Programming Guide,
/// warp functions: "all non-exited threads named in mask must execute").
fn presence(warp: &Warp, members: &[u32; 32], mask: u32) -> Trapped<Presence> {
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
    let whole = is_whole(&members, mask);
    if !whole && let Presence::Missing = presence(warp, &members, mask)? {
        watch.gathers();
        return Ok(warp.gather(split, mask));
    }
    split.waits_since = None;
    if whole
        && let ast::Collective::Shuffle(mode) = op.op
        && shuffle_of_all(&mut warp.regs.view(split.bases), op, mode)
    {
        return Ok(Flow::Next);
    }
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
            let takes_part = |i: usize| whole || group(i) >> sources[i].0 & 1 == 1;
            // A source that does not take part gives an undefined value; here, the lane's own.
            value = lanes(|i| a[if takes_part(i) { sources[i].0 as usize & 31 } else { i }]);
            let nothing = each(mask).filter(|&i| !takes_part(i)).fold(0u32, |found, i| found | 1 << i);
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

/// The quick way of a shuffle: a whole warp's, by the same distance for all lanes. Whether it was one.
fn shuffle_of_all(regs: &mut View<'_>, op: &Collective, mode: ShuffleMode) -> bool {
    let word = |reg: &Reg| (reg.bits == 32).then_some(reg.slot);
    let same = |values: &[u32; 32]| values.iter().all(|value| *value == values[0]).then_some(values[0]);
    let [a, b, c] = &op.sources[..] else { return false };
    let (Some(a), Some(b), Some(c), Some(d)) = (word(a), word(b), word(c), op.d.as_ref().and_then(word)) else {
        return false;
    };
    let (Some(b), Some(c)) = (same(regs.word(b)), same(regs.word(c))) else { return false };
    // One loop for each mode, without a choice in it.
    let sources: [(u32, bool); 32] = match mode {
        ShuffleMode::Up => lanes(|i| shuffle_source(ShuffleMode::Up, i as u32, b, c)),
        ShuffleMode::Down => lanes(|i| shuffle_source(ShuffleMode::Down, i as u32, b, c)),
        ShuffleMode::Bfly => lanes(|i| shuffle_source(ShuffleMode::Bfly, i as u32, b, c)),
        ShuffleMode::Idx => lanes(|i| shuffle_source(ShuffleMode::Idx, i as u32, b, c)),
    };
    let a = *regs.word(a);
    regs.put_word(d, FULL, &lanes(|i| a[sources[i].0 as usize & 31]));
    if let Some(p) = op.p {
        regs.put_predicate(p, FULL, (0..32).fold(0u32, |inside, i| inside | u32::from(sources[i].1) << i));
    }
    true
}
