//! `P-LOCAL-MEMORY`: what a thread keeps in memory instead of registers.

use super::{Ended, bytes, percent};
use crate::exec::{Findings, Party, Requests, Site, Trap};
use crate::machine::thresholds::{LOCAL_BYTES, LOCAL_SHARE};
use crate::report::Severity;

/// Other places that are shown.
const OTHERS: usize = 3;

pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings) {
    let counters = &ended.counters;
    let sectors = counters.local_load.sectors + counters.local_store.sectors;
    let global = counters.global_load.sectors + counters.global_store.sectors;
    let asked = counters.local_load.bytes + counters.local_store.bytes;
    let share = sectors as f64 / (sectors + global).max(1) as f64;
    if asked < LOCAL_BYTES || share < LOCAL_SHARE {
        return;
    }
    // First what makes the others necessary: an index that is not known before.
    let mut indexed = ended.sites(|_, row| row.local.varies.then_some(row.local));
    let mut others = ended.sites(|_, row| (row.local.requests > 0 && !row.local.varies).then_some(row.local));
    let varies = !indexed.is_empty();
    for sites in [&mut indexed, &mut others] {
        sites.sort_by_key(|(pc, local)| (std::cmp::Reverse(local.bytes), *pc));
    }
    let sites: Vec<_> = indexed.into_iter().chain(others).collect();
    let Some((first, others)) = sites.split_first() else { return };
    let (pc, local) = *first;
    let Some(who) = local.first else { return };
    let site = Site { code: "P-LOCAL-MEMORY", pc, other: u32::MAX };
    findings.add(site, who.block, who.warp, local.lanes, || {
        let title = match varies {
            true => "an array that is indexed at run time lies in memory, not in registers",
            false => "a local variable lies in memory, not in registers",
        };
        let mut trap = Trap::new("P-LOCAL-MEMORY", who.lanes, title)
            .at(pc)
            .label(label(ended, &local, pc))
            .note(format!(
                "local memory: {} read and {} written in all, {} of the launch's sectors",
                bytes(counters.local_load.bytes),
                bytes(counters.local_store.bytes),
                percent(share)
            ))
            .note("local memory is DRAM behind the caches; registers are quicker by far");
        if let Some(saving) = ended.saving(&without(ended)) {
            trap = trap.note(saving);
        }
        trap = match varies {
            true => trap
                .help("unroll the loop (`#pragma unroll`) so that every index is a constant; then the array can live in registers")
                .help("where the index depends on the data, keep the array in shared memory, one column a thread"),
            false => trap
                .help("where it is an array, let every index be a constant when the kernel is compiled (`#pragma unroll`): registers have no index")
                .help("where it is one variable, do not take its address: return a value instead of filling in what a pointer names"),
        };
        for (pc, other) in others.iter().take(OTHERS) {
            trap = trap.party(Party { label: label(ended, other, *pc), pc: *pc, block: None, thread: None });
        }
        (Severity::Advice, trap)
    });
}

fn label(ended: &Ended<'_>, local: &Requests, pc: u32) -> String {
    let verb = if ended.writes(pc) { "written" } else { "read" };
    format!("{} {verb} here", bytes(local.bytes))
}

fn without(ended: &Ended<'_>) -> crate::report::Counters {
    let none = crate::report::Traffic::default();
    crate::report::Counters { local_load: none, local_store: none, ..ended.counters }
}
