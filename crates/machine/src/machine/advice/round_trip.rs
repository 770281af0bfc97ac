//! `P-ROUND-TRIP`: what one launch writes only for the next one to read.

use std::sync::atomic::Ordering::Relaxed;

use super::Ended;
use crate::code::Place;
use crate::exec::{Finding, Trap, fault};
use crate::machine::blame;
use crate::machine::thresholds::{READ_AGAIN, ROUND_TRIP_SHARE};
use crate::memory::Region;
use crate::report::kind::{Share, Speed};
use crate::report::{Fault, Related, Role};

const SECTOR: u64 = 32;

/// An allocation that a launch has used: its index in the launch's regions, and sectors read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) region: usize,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

/// What a launch leaves behind for the next one to be compared with.
#[derive(Debug, Default)]
pub(crate) struct Left {
    kernel: String,
    /// Bytes of DRAM traffic.
    traffic: u64,
    buffers: Vec<Written>,
}

/// An allocation that the launch has written.
#[derive(Debug)]
struct Written {
    allocation: u64,
    sectors: u64,
    /// Where.
    place: Related,
}

fn traffic(ended: &Ended<'_>) -> u64 {
    ended.counters.dram_read_bytes + ended.counters.dram_write_bytes
}

/// The first instruction that loads from, or stores to, an allocation.
fn toucher(ended: &Ended<'_>, region: &Region, writes: bool) -> Option<u32> {
    let inside = |addr: u64| addr >= region.allocation.base && addr < region.allocation.end();
    let mut rows = ended.rows().filter(|(pc, _)| ended.writes(*pc) == writes);
    rows.find(|(_, row)| row.global.first.is_some_and(|who| inside(who.addr))).map(|(pc, _)| pc)
}

/// What the launch leaves behind. From now on the host's accesses to it are noted.
pub(crate) fn leave(ended: &Ended<'_>, source: &str, kernel: &str, used: &[Used]) -> Left {
    let mut left = Left { kernel: kernel.into(), traffic: traffic(ended), buffers: Vec::new() };
    for used in used.iter().filter(|used| used.written > 0) {
        let Some(region) = ended.run.regions.get(used.region) else { continue };
        region.host.store(false, Relaxed);
        let (source, ptx) = toucher(ended, region, true)
            .map(|pc| blame::place(ended.run.code, ended.run.module, source, pc))
            .unwrap_or_default();
        let place = Related { source, ptx, ..Related::new(Role::Writer { kernel: kernel.into() }) };
        left.buffers.push(Written { allocation: region.allocation.id, sectors: used.written, place });
    }
    left
}

/// Buffers that the launch before wrote, that nobody has used since, and that this one reads.
pub(crate) fn advise(ended: &Ended<'_>, source: &str, kernel: &str, used: &[Used], before: &Left) -> Vec<Fault> {
    // A kernel that is launched again and again takes turns with itself: its steps depend on each other.
    if before.kernel == kernel {
        return Vec::new();
    }
    let both = traffic(ended) + before.traffic;
    let mut faults = Vec::new();
    for used in used {
        let Some(region) = ended.run.regions.get(used.region) else { continue };
        let Some(written) = before.buffers.iter().find(|b| b.allocation == region.allocation.id) else { continue };
        let moved = Share::new(SECTOR * (written.sectors + used.read), both);
        let entirely = used.read as f64 >= READ_AGAIN * written.sectors as f64;
        if !entirely || moved.ratio() < ROUND_TRIP_SHARE || region.host.load(Relaxed) {
            continue;
        }
        let Some(pc) = toucher(ended, region, false) else { continue };
        let Some(who) = ended.row(pc).global.first else { continue };
        let each = super::each_lane(&ended.row(pc).global);
        let buffer = fault::buffer(ended.run, Place::Global, who.addr, each);
        let kind = Speed::RoundTrip {
            writer: before.kernel.clone(),
            written: SECTOR * written.sectors,
            read: SECTOR * used.read,
            moved,
        };
        let trap = Trap::new(kind, who.lanes).at(pc).about(buffer);
        let count = ended.row(pc).global.lanes;
        let finding = Finding { block: who.block, warp: who.warp, trap, count };
        let mut fault = blame::finding(ended.run, source, kernel, finding);
        fault.related.push(written.place.clone());
        faults.push(fault);
    }
    faults
}
