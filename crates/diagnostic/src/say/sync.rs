//! Threads that wait for each other in vain, or wrongly, and kernels that do not end.

use fusion_machine::report::kind::{Crowd, Lanes, Standstill, Sync, Waits};

use super::Words;
use super::terms::lanes;
use crate::counted;

const ALLOW_MORE: &str = "if it only needs longer, allow more: `FUSION_EMULATOR_BUDGET=100000000000` in the environment, or `instruction_budget` and \
     `block_budget` of the emulator's options";

pub(super) fn words(kind: &Sync) -> Words {
    match kind {
        Sync::DivergentBarrier { waiting, another, standstill } => {
            let here = lanes(waiting.mask);
            let words = Words::new("a barrier in divergent code")
                .label(wait_here(*waiting, ""))
                .note(match another {
                    true => "two barriers, one on either side of a branch, are not one: each waits for all threads".to_owned(),
                    false => format!(
                        "{here} of warp {} {} at the barrier; the warp's other threads never come to it",
                        waiting.warp,
                        verb(waiting.mask, "waits", "wait")
                    ),
                })
                .note("every thread of the block must reach the same `__syncthreads()`")
                .help("move the barrier out of the condition, so that threads with nothing to do wait there too, and guard what follows it again");
            stuck(standstill, words)
        }
        Sync::BypassedBarrier { waiting } => Words::new("a barrier that part of a warp goes around")
            .label(wait_here(*waiting, ""))
            .note("every thread of the block must reach the same `__syncthreads()`")
            .help("move the barrier out of the condition or loop, so that threads with nothing to do wait there too"),
        Sync::BypassedByWarp { warp } => Words::new("a barrier that part of the block goes around")
            .label(format!("warp {warp} waits here"))
            .note("every thread of the block must reach the same `__syncthreads()`: the condition must be the same for all of them")
            .note("a barrier does not wait for threads that have exited: the others go on, but nothing orders them with this warp")
            .help("move the barrier out of the condition or loop, so that threads with nothing to do wait there too"),
        Sync::Mismatch { id, warp } => Words::new("warps of a block wait at different barriers")
            .label(format!("warp {warp} comes to this one"))
            .note(format!(
                "both are barrier {id}, and the hardware counts who arrives, not where: the two let each other go on, and \
                 later barriers may pair up wrongly too"
            ))
            .help("let every thread of the block reach the same `__syncthreads()`: put one behind the branches"),
        Sync::Miscount { id, warp, threads } => Words::new(format!("warps count different numbers of threads at barrier {id}"))
            .label(format!("warp {warp} counts {} here", counted((*threads).into(), "thread")))
            .note("a barrier completes when as many threads have come as it counts: who comes last decides here how many that are")
            .help("let all who come to the barrier count the same threads: everyone who comes, and nobody else"),
        Sync::MixedRounds { id, warp, threads, other } => {
            Words::new(format!("nothing keeps two rounds of barrier {id} apart"))
                .label(format!("warp {warp} comes to the next round here"))
                .note(format!(
                    "the hardware counts {threads} threads, and not which: nothing makes warp {warp} wait until warp {other} has come, \
                     and if it comes first it is in the round before, in the place of another"
                ))
                .help(
                    "let the barrier count all threads that come to it, or give each group of warps a barrier with a number of \
                     its own; a warp that only arrived must wait at a second barrier before it arrives here again",
                )
        }
        Sync::NoSuchBarrier { id } => Words::new(format!("there is no barrier {id}: a block has 16")),
        Sync::BarrierCount { threads } => Words::new(format!("a barrier of {}", counted((*threads).into(), "thread")))
            .note("the number of threads must be a positive multiple of the warp size, 32"),
        Sync::MaskExcludes { here, outside, mask } => {
            Words::new("a thread executes a warp operation whose mask leaves it out")
                .label(format!("{} {} here", lanes(*here), verb(*here, "comes", "come")))
                .note(format!("the mask is {mask:#010x}, which does not name {}", lanes(*outside)))
                .help("put every lane that executes the operation into the mask, and no other (call `__ballot_sync` before the branch)")
        }
        Sync::MaskNamesAbsent { waiting, standstill } => {
            let words = Words::new("a warp operation whose mask names threads that do not come to it")
                .label(wait_here(*waiting, " for the others that the mask names"))
                .note("every thread that the mask names must execute the same operation")
                .help("let the whole warp execute it, or put only the lanes that execute it into the mask (call `__ballot_sync` before the branch)");
            stuck(standstill, words)
        }
        Sync::PartialWarp { here, exited } => {
            let exited = exited & !here;
            Words::new("an instruction for a whole warp, executed by a part of it")
                .label(format!("{} {} here", lanes(*here), verb(*here, "is", "are")))
                .maybe((exited != 0).then(|| format!("{} of the warp {} exited", lanes(exited), verb(exited, "has", "have"))))
                .note("all 32 lanes of a warp execute `ldmatrix`, `stmatrix`, `movmatrix`, `mma` and `wmma` together: each holds a part of the matrices")
                .help("take it out of the condition and guard only loads and stores; let blocks have a multiple of 32 threads, and no thread return before it")
        }
        Sync::Deadlock { waiting: None, standstill, .. } => stuck(standstill, Words::new("the block cannot go on")),
        Sync::Deadlock { waiting: Some(waiting), barrier, standstill } => {
            let label = match barrier {
                Some(id) => format!("{} at barrier {id} here", wait(*waiting)),
                None => wait_here(*waiting, " for other lanes"),
            };
            let words = Words::new("every thread of the block waits for another")
                .label(label)
                .help("let all who take part come to the same barriers in the same order, as many threads as each counts");
            stuck(standstill, words)
        }
        Sync::NotCooperative => Words::new("a grid barrier in a launch that is not cooperative")
            .label("waits for all blocks, which nothing makes run at once here")
            .note("without a cooperative launch a grid has no barrier, and this code stops the kernel")
            .help("launch it with `launch_cooperative` instead of `launch`, with no more blocks than fit on the device at once"),
        Sync::Endless { limit, inside, others, crowd } => {
            let label = match inside {
                Some(Lanes { warp, mask }) => {
                    format!("{} of warp {warp} {} still in this loop", lanes(*mask), verb(*mask, "is", "are"))
                }
                None => "it was here then".to_owned(),
            };
            let others = match others {
                0 => None,
                1 => Some("another warp of the block is in it, too".to_owned()),
                n => Some(format!("{n} other warps of the block are in it, too")),
            };
            if let Some(Crowd { waiting, unstarted }) = *crowd {
                let unstarted = counted(unstarted, "block");
                return Words::new(format!("blocks wait for others, and {unstarted} cannot start before one of them ends"))
                    .label(label)
                    .maybe(others)
                    .note(format!(
                        "{} of this kernel fit on the device at once, and all of them wait: what waits for every block of the grid, \
                         such as a barrier made of atomics, then waits for ever",
                        counted(waiting, "block")
                    ))
                    .note(format!("they got nowhere in {limit} warp instructions"))
                    .help("launch no more blocks than fit at once, and let each do the work of several (a grid-stride loop)")
                    .help(
                        "`grid.sync()` in a cooperative launch is such a barrier, and a cooperative launch of too many blocks is refused \
                         instead",
                    );
            }
            Words::new(format!("the kernel did not end within {limit} warp instructions"))
                .label(label)
                .maybe(others)
                .note("a loop whose condition never becomes false, or that waits for what no other thread does?")
                .help(ALLOW_MORE)
        }
        Sync::TooMuchWork { blocks, budget } => Words::new("the launch executes more than its budget")
            .note(format!("{} may execute {budget} warp instructions together; this block ended, and others were still to come or running", counted(*blocks, "block")))
            .help("give every thread less to do, or the launch less data")
            .help(ALLOW_MORE),
    }
}

/// The label of others that wait.
pub(super) fn waiting(here: Lanes, waits: Waits, more: u32) -> String {
    let what = match waits {
        Waits::AtBarrier(id) => format!("at barrier {id}"),
        Waits::AtCluster => "at the barrier of the cluster".to_owned(),
        Waits::BeforeBarrier => "before this barrier for the rest of the warp".to_owned(),
        Waits::ForLanes => "for other lanes of the warp".to_owned(),
    };
    let more = match more {
        0 => String::new(),
        1 => ", and so does another warp".to_owned(),
        n => format!(", and so do {n} other warps"),
    };
    format!("{} {what}{more}", wait(here))
}

/// The label of those that went around.
pub(super) fn bypassing(mask: u32, barrier: bool) -> String {
    let (there, are) = (lanes(mask), verb(mask, "is", "are"));
    match barrier {
        true => format!("{there} of the same warp {are} here already, past the barrier, without having waited"),
        false => format!("{there} of the same warp {are} here already, without having taken part"),
    }
}

fn wait_here(waiting: Lanes, why: &str) -> String {
    format!("{} here{why}", wait(waiting))
}

fn wait(waiting: Lanes) -> String {
    let Lanes { warp, mask } = waiting;
    format!("{} of warp {warp} {}", lanes(mask), verb(mask, "waits", "wait"))
}

/// The form of a verb that fits so many lanes.
fn verb(mask: u32, one: &'static str, more: &'static str) -> &'static str {
    if mask.count_ones() == 1 { one } else { more }
}

/// Where the block stands that cannot go on.
fn stuck(standstill: &Standstill, words: Words) -> Words {
    let cluster = standstill.cluster.map(|(arrived, live)| {
        format!("the barrier of the cluster has {arrived} of the {} that it waits for", counted(live.into(), "thread"))
    });
    let words = words.maybe(cluster);
    let words = standstill.barriers.iter().fold(words, |words, barrier| {
        words.note(format!(
            "barrier {} has {} of the {} that it waits for",
            barrier.id,
            barrier.arrived,
            counted(barrier.expected.into(), "thread")
        ))
    });
    match standstill.exited {
        0 => words,
        1 => words.note("1 thread of the block has exited: nobody waits for it"),
        n => words.note(format!("{n} threads of the block have exited: nobody waits for them")),
    }
}
