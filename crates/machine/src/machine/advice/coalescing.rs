//! `P-UNCOALESCED`: accesses to global memory that move more sectors than their bytes need.

use std::collections::BTreeSet;

use super::{Ended, bytes, each_lane, percent, short};
use crate::code::Place;
use crate::exec::{Findings, Requests, SECTOR, Site, Stride, Trap, Who, fault};
use crate::machine::thresholds::{SECTOR_SHARE, SECTORS};
use crate::report::Severity;

pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings, told: &BTreeSet<u32>) {
    let all = ended.counters.global_load.sectors + ended.counters.global_store.sectors;
    let scattered = |global: &Requests| global.moved as f64 > SECTORS * global.ideal as f64;
    for (pc, global) in &ended.sites(|pc, row| (scattered(&row.global) && !told.contains(&pc)).then_some(row.global)) {
        let (pc, Some(who)) = (*pc, global.first_dear) else { continue };
        if global.waste() as f64 >= SECTOR_SHARE * all as f64 {
            let site = Site { code: "P-UNCOALESCED", pc, other: u32::MAX };
            findings.add(site, who.block, who.warp, global.lanes, || {
                (Severity::Advice, story(ended, pc, global, who, all))
            });
        }
    }
}

fn story(ended: &Ended<'_>, pc: u32, global: &Requests, who: Who, all: u64) -> Box<Trap> {
    let verb = ended.verb(pc);
    let each = each_lane(global);
    let (moved, needed) = (SECTOR * global.moved, SECTOR * global.ideal);
    let times = short(global.moved as f64 / global.ideal.max(1) as f64);
    let mut better = ended.counters;
    let traffic = if ended.writes(pc) { &mut better.global_store } else { &mut better.global_load };
    traffic.sectors = traffic.sectors.saturating_sub(global.waste());
    let mut trap = Trap::new("P-UNCOALESCED", who.lanes, format!("uncoalesced {verb}: {times} times the sectors needed"))
        .at(pc)
        .label(format!("moves {} for {} asked for", bytes(moved), bytes(global.bytes)))
        .note(format!(
            "a warp's {verb} touches {} sectors of {SECTOR} bytes where {} would do; the surplus is {}, {} of what the launch asks of L2",
            short(global.moved as f64 / global.requests.max(1) as f64),
            short(global.ideal as f64 / global.requests.max(1) as f64),
            bytes(moved - needed),
            percent(global.waste() as f64 / all.max(1) as f64)
        ));
    if let Stride::Fixed(stride) = global.stride {
        trap = trap.note(format!(
            "the addresses of neighbouring threads lie {} apart, and each thread uses {} there",
            bytes(stride.unsigned_abs()),
            bytes(each)
        ));
    }
    if let Some(saving) = ended.saving(&better) {
        trap = trap.note(saving);
    }
    let trap = match global.stride {
        Stride::Fixed(_) => trap
            .help("let consecutive threads (threadIdx.x) take consecutive elements: make the index that varies fastest in memory the one of the thread")
            .help("where the layout does not allow it, load a tile along its rows into shared memory and read it there in the other order"),
        _ => trap.help("gather through shared memory, or sort what the index is taken from, so that neighbouring threads take neighbouring elements"),
    };
    trap.about(fault::buffer(ended.run, Place::Global, who.addr, each))
}
