//! `P-SCALAR-ACCESS`: accesses of up to four bytes where 16 at once were possible.
//!
//! There are two ways to make them. A thread that takes neighbouring elements one by one spreads each request of its
//! warp over as many sectors as all of them together would need. A thread that takes one element is coalesced; but a
//! GPU of this day keeps its memory busy only if enough bytes are under way (bandwidth times latency, Little's law),
//! and threads that each wait for 4 bytes may be too few.

use std::collections::{BTreeMap, BTreeSet};

use super::{Ended, each_lane};
use crate::code::{Base, Place};
use crate::exec::{Findings, Party, Requests, Row, Site, Stride, Trap, WIDEST, fault};
use crate::machine::thresholds::{ALIGNED_SHARE, SCALAR_SHARE, SECTOR_SHARE};
use crate::occupancy::bytes_needed;
use crate::report::kind::{Share, Speed};
use crate::report::{Code, Role};

/// Other places that are shown.
const OTHERS: usize = 3;

/// Returns the instructions that it has dealt with.
pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings) -> BTreeSet<u32> {
    let mut done = BTreeSet::new();
    for group in groups(ended) {
        done.extend(group.iter().copied());
        neighbours(ended, findings, &group);
    }
    if done.is_empty() {
        one_each(ended, findings);
    }
    done
}

/// A load or store of one element of up to four bytes from global memory: with its base and offset.
fn scalar(ended: &Ended<'_>, pc: u32, row: &Row) -> Option<(Base, i64)> {
    let access = ended.access(pc)?;
    let narrow = access.regs.len() == 1 && access.element <= 4 && row.global.requests > 0;
    (narrow && access.place == Place::Global).then_some((access.address.base, access.address.offset))
}

/// Accesses of a thread to neighbouring elements, each group in order of address.
fn groups(ended: &Ended<'_>) -> Vec<Vec<u32>> {
    // By base register, kind of access, element and number of requests: offsets and instructions.
    let mut by_base = BTreeMap::<_, Vec<(i64, u32)>>::new();
    for (pc, row) in ended.rows() {
        let (Some((Base::Double(slot), offset)), Stride::Fixed(stride)) = (scalar(ended, pc, row), row.global.stride)
        else {
            continue;
        };
        let each = each_lane(&row.global);
        if stride >= 2 * each as i64 && stride <= 4 * WIDEST as i64 {
            let key = (slot, ended.writes(pc), each, row.global.requests);
            by_base.entry(key).or_default().push((offset, pc));
        }
    }
    let all = ended.counters.global_load.sectors + ended.counters.global_store.sectors;
    let mut groups = Vec::new();
    for ((_, _, each, _), mut members) in by_base {
        members.sort_unstable();
        members.dedup_by_key(|(offset, _)| *offset);
        let side_by_side = members.windows(2).all(|pair| pair[1].0 - pair[0].0 == each as i64);
        let waste: u64 = members.iter().map(|(_, pc)| ended.row(*pc).global.waste()).sum();
        if members.len() > 1 && side_by_side && waste as f64 >= SECTOR_SHARE * all as f64 {
            groups.push(members.into_iter().map(|(_, pc)| pc).collect());
        }
    }
    groups
}

fn neighbours(ended: &Ended<'_>, findings: &mut Findings, group: &[u32]) {
    let Some((&pc, others)) = group.split_first() else { return };
    let mut sum = Requests::default();
    for &pc in group {
        sum.merge(&ended.row(pc).global);
    }
    let Some(who) = ended.row(pc).global.first else { return };
    let each = each_lane(&sum);
    let together = each * group.len() as u64;
    let wide = [16, 8, 4].into_iter().find(|wide| together.is_multiple_of(*wide) && who.addr.is_multiple_of(*wide));
    let site = Site { code: Code::ScalarAccess, pc, other: u32::MAX };
    findings.add(site, who.block, who.warp, sum.lanes, || {
        let write = ended.writes(pc);
        let mut better = ended.counters;
        let traffic = if write { &mut better.global_store } else { &mut better.global_load };
        traffic.sectors = traffic.sectors.saturating_sub(sum.waste());
        let kind = Speed::OneByOne {
            write,
            elements: group.len() as u64,
            each,
            requests: sum.requests,
            moved: sum.moved,
            ideal: sum.ideal,
            wide,
            saving: ended.saving(&better),
        };
        let trap = Trap::new(kind, who.lanes).at(pc);
        let trap = trap.about(fault::buffer(ended.run, Place::Global, who.addr, each));
        others.iter().take(OTHERS).fold(trap, |trap, &other| trap.party(Party::at(other, Role::Neighbour)))
    });
}

/// One element per thread, when that leaves memory waiting.
fn one_each(ended: &Ended<'_>, findings: &mut Findings) {
    let aligned = |row: &Row| row.global.rows as f64 >= ALIGNED_SHARE * row.global.requests as f64;
    let sites = ended.sites(|pc, row| (scalar(ended, pc, row).is_some() && aligned(row)).then_some(row.global));
    let all = ended.counters.global_load.bytes + ended.counters.global_store.bytes;
    let asked: u64 = sites.iter().map(|(_, global)| global.bytes).sum();
    let Some((&(pc, global), others)) = sites.split_first() else { return };
    let bound_by_memory = || {
        let times = ended.times();
        times.dram.max(times.l2) >= times.longest()
    };
    // With less than a wave of blocks, more work a thread means fewer threads and as many bytes under way.
    let sms = u64::from(ended.profile.sms);
    if ended.run.blocks < sms || (asked as f64) < SCALAR_SHARE * all as f64 || !bound_by_memory() {
        return;
    }
    let shape = ended.residency.shape();
    let resident = u64::from(shape.blocks_per_sm) * u64::from(shape.threads_per_block);
    if shape.blocks < sms * u64::from(shape.blocks_per_sm) {
        return;
    }
    let loads = ended.rows().filter(|(pc, row)| scalar(ended, *pc, row).is_some() && !ended.writes(*pc));
    let each: u64 = loads.map(|(_, row)| each_lane(&row.global)).sum();
    let needed = bytes_needed(ended.profile.dram_bandwidth, ended.profile.dram_latency_ns, ended.profile.sms) as u64;
    let Some(who) = global.first else { return };
    if each == 0 || resident * each >= needed {
        return;
    }
    let site = Site { code: Code::ScalarAccess, pc, other: u32::MAX };
    findings.add(site, who.block, who.warp, global.lanes, || {
        let element = each_lane(&global);
        let share = Share::new(asked, all);
        let kind = Speed::OneEach { element, wide: WIDEST, share, threads: resident, each, needed };
        let trap = Trap::new(kind, who.lanes).at(pc);
        let trap = trap.about(fault::buffer(ended.run, Place::Global, who.addr, element));
        others.iter().take(OTHERS).fold(trap, |trap, (other, _)| {
            trap.party(Party::at(*other, Role::Likewise { write: ended.writes(*other) }))
        })
    });
}
