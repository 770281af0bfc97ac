//! `P-UNCOALESCED`: accesses to global memory that move more sectors than their bytes need.

use std::collections::BTreeSet;

use super::{Ended, each_lane};
use crate::code::Place;
use crate::exec::{Findings, Requests, Site, Stride, Trap, Who, fault};
use crate::machine::thresholds::{SECTOR_SHARE, SECTORS};
use crate::report::Code;
use crate::report::kind::{Share, Speed};

pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings, told: &BTreeSet<u32>) {
    let all = ended.counters.global_load.sectors + ended.counters.global_store.sectors;
    let scattered = |global: &Requests| global.moved as f64 > SECTORS * global.ideal as f64;
    for (pc, global) in &ended.sites(|pc, row| (scattered(&row.global) && !told.contains(&pc)).then_some(row.global)) {
        let (pc, Some(who)) = (*pc, global.first_dear) else { continue };
        if global.waste() as f64 >= SECTOR_SHARE * all as f64 {
            let site = Site { code: Code::Uncoalesced, pc, other: u32::MAX };
            findings.add(site, who.block, who.warp, global.lanes, || story(ended, pc, global, who, all));
        }
    }
}

fn story(ended: &Ended<'_>, pc: u32, global: &Requests, who: Who, all: u64) -> Box<Trap> {
    let (write, each) = (ended.writes(pc), each_lane(global));
    let mut better = ended.counters;
    let traffic = if write { &mut better.global_store } else { &mut better.global_load };
    traffic.sectors = traffic.sectors.saturating_sub(global.waste());
    let kind = Speed::Uncoalesced {
        write,
        requests: global.requests,
        moved: global.moved,
        ideal: global.ideal,
        bytes: global.bytes,
        each,
        stride: match global.stride {
            Stride::Fixed(stride) => Some(stride.unsigned_abs()),
            _ => None,
        },
        surplus: Share::new(global.waste(), all),
        saving: ended.saving(&better),
    };
    Trap::new(kind, who.lanes).at(pc).about(fault::buffer(ended.run, Place::Global, who.addr, each))
}
