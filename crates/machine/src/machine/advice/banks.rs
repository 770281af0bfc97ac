//! `P-BANK-CONFLICT`: accesses to shared memory that go over its banks more than once.

use super::{Ended, each_lane};
use crate::code::Place;
use crate::exec::{Findings, Requests, Site, Stride, Trap, Who, fault};
use crate::machine::thresholds::{PASS_SHARE, PASSES};
use crate::report::Code;
use crate::report::kind::Speed;

pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings) {
    let conflict = |shared: &Requests| shared.moved as f64 > PASSES * shared.ideal as f64;
    for (pc, shared) in &ended.sites(|_, row| conflict(&row.shared).then_some(row.shared)) {
        let (pc, Some(who)) = (*pc, shared.first_dear) else { continue };
        if ended.pass_ns(shared.waste()) >= PASS_SHARE * ended.times().longest() {
            let site = Site { code: Code::BankConflict, pc, other: u32::MAX };
            findings.add(site, who.block, who.warp, shared.lanes, || story(ended, pc, shared, who));
        }
    }
}

impl Ended<'_> {
    /// What so many passes take on the busiest SM, which makes one a clock.
    fn pass_ns(&self, passes: u64) -> f64 {
        let all = self.counters.shared_load.sectors + self.counters.shared_store.sectors;
        self.times().shared * passes as f64 / all.max(1) as f64
    }
}

fn story(ended: &Ended<'_>, pc: u32, shared: &Requests, who: Who) -> Box<Trap> {
    let (write, each) = (ended.writes(pc), each_lane(shared));
    let mut better = ended.counters;
    let traffic = if write { &mut better.shared_store } else { &mut better.shared_load };
    traffic.sectors = traffic.sectors.saturating_sub(shared.waste());
    let stride = match shared.stride {
        Stride::Fixed(stride) if stride % 4 == 0 => Some(stride.unsigned_abs() / 4),
        _ => None,
    };
    let (moved, ideal, saving) = (shared.moved, shared.ideal, ended.saving(&better));
    let kind = Speed::BankConflict { write, moved, ideal, each, stride, saving };
    Trap::new(kind, who.lanes).at(pc).about(fault::buffer(ended.run, Place::Shared, who.addr, each))
}
