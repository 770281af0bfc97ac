//! `P-DIVERGENT`: branches on which the lanes of a warp disagree, so that one side waits for the other.

use super::Ended;
use crate::exec::{Findings, Parting, Site, Trap, Who};
use crate::machine::thresholds::{IDLE_SHARE, ISSUE_SHARE};
use crate::report::Code;
use crate::report::kind::{Share, Speed};

pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings) {
    let slots = 32 * ended.counters.warp_instructions.max(1);
    for (pc, row) in ended.rows() {
        let branch = &row.branch;
        let Some(who) = branch.first else { continue };
        // A guard that parts one warp is the end of the data.
        if branch.times > 1 && branch.idle as f64 >= IDLE_SHARE * slots as f64 && matters(ended) {
            let site = Site { code: Code::Divergent, pc, other: u32::MAX };
            findings.add(site, who.block, who.warp, branch.times, || story(ended, pc, branch, who, slots));
        }
    }
}

/// Whether instructions are what the launch waits for.
fn matters(ended: &Ended<'_>) -> bool {
    let times = ended.times();
    times.issue >= ISSUE_SHARE * times.longest()
}

fn story(ended: &Ended<'_>, pc: u32, branch: &Parting, who: Who, slots: u64) -> Box<Trap> {
    let mut better = ended.counters;
    better.warp_instructions = better.warp_instructions.saturating_sub(branch.idle / 32);
    let idle = Share::new(branch.idle, slots);
    Trap::new(Speed::Divergent { times: branch.times, idle, saving: ended.saving(&better) }, who.lanes).at(pc)
}
