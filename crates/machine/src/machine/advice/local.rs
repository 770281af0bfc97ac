//! `P-LOCAL-MEMORY`: what a thread keeps in memory instead of registers.

use super::Ended;
use crate::exec::{Findings, Party, Site, Trap};
use crate::machine::thresholds::{LOCAL_BYTES, LOCAL_SHARE};
use crate::report::kind::{Share, Speed};
use crate::report::{Code, Role};

/// Other places that are shown.
const OTHERS: usize = 3;

pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings) {
    let counters = &ended.counters;
    let sectors = counters.local_load.sectors + counters.local_store.sectors;
    let global = counters.global_load.sectors + counters.global_store.sectors;
    let asked = counters.local_load.bytes + counters.local_store.bytes;
    let share = Share::new(sectors, sectors + global);
    if asked < LOCAL_BYTES || share.ratio() < LOCAL_SHARE {
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
    let site = Site { code: Code::LocalMemory, pc, other: u32::MAX };
    findings.add(site, who.block, who.warp, local.lanes, || {
        let kind = Speed::LocalMemory {
            indexed: varies,
            write: ended.writes(pc),
            bytes: local.bytes,
            read: counters.local_load.bytes,
            written: counters.local_store.bytes,
            share,
            saving: ended.saving(&without(ended)),
        };
        others.iter().take(OTHERS).fold(Trap::new(kind, who.lanes).at(pc), |trap, (pc, other)| {
            trap.party(Party::at(*pc, Role::Local { bytes: other.bytes, write: ended.writes(*pc) }))
        })
    });
}

fn without(ended: &Ended<'_>) -> crate::report::Counters {
    let none = crate::report::Traffic::default();
    crate::report::Counters { local_load: none, local_store: none, ..ended.counters }
}
