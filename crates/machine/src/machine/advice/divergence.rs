//! `P-DIVERGENT`: branches on which the lanes of a warp disagree, so that one side waits for the other.

use super::{Ended, percent};
use crate::exec::{Findings, Parting, Site, Trap, Who};
use crate::machine::thresholds::{IDLE_SHARE, ISSUE_SHARE};
use crate::report::Severity;

pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings) {
    if ended.times.issue < ISSUE_SHARE * ended.times.longest() {
        return;
    }
    let slots = 32 * ended.counters.warp_instructions.max(1);
    for (pc, row) in ended.rows() {
        let branch = &row.branch;
        let Some(who) = branch.first else { continue };
        // A guard that parts one warp is the end of the data.
        if branch.times > 1 && branch.idle as f64 >= IDLE_SHARE * slots as f64 {
            let site = Site { code: "P-DIVERGENT", pc, other: u32::MAX };
            let share = branch.idle as f64 / slots as f64;
            findings.add(site, who.block, who.warp, branch.times, || {
                (Severity::Advice, story(ended, pc, branch, who, share))
            });
        }
    }
}

fn story(ended: &Ended<'_>, pc: u32, branch: &Parting, who: Who, share: f64) -> Box<Trap> {
    let mut better = ended.counters;
    better.warp_instructions = better.warp_instructions.saturating_sub(branch.idle / 32);
    let trap = Trap::new("P-DIVERGENT", who.lanes, "a branch on which threads of the same warp disagree")
        .at(pc)
        .label(format!("{} of the warps' lanes wait for others here", percent(share)))
        .note(format!(
            "warps parted here {} times; a warp executes one side after the other, and {} instructions times lanes were spent on waiting, {} of all",
            branch.times,
            branch.idle,
            percent(share)
        ));
    let trap = match ended.saving(&better) {
        Some(saving) => trap.note(saving),
        None => trap,
    };
    trap.help("let the condition be the same for the 32 threads of a warp: decide by `threadIdx.x / 32`, or by what a whole warp works on")
        .help("where it depends on the data: sort it, give a thread's work to the whole warp, or compute both sides and select (`c ? a : b`)")
}
