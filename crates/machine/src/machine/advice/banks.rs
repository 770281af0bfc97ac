//! `P-BANK-CONFLICT`: accesses to shared memory that go over its banks more than once.

use super::{Ended, each_lane, short};
use crate::code::Place;
use crate::exec::{Findings, Requests, Site, Stride, Trap, Who, fault};
use crate::machine::thresholds::{PASS_SHARE, PASSES};
use crate::report::Severity;

const BANKS: u64 = 32;

pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings) {
    let conflict = |shared: &Requests| shared.moved as f64 > PASSES * shared.ideal as f64;
    for (pc, shared) in &ended.sites(|_, row| conflict(&row.shared).then_some(row.shared)) {
        let (pc, Some(who)) = (*pc, shared.first_dear) else { continue };
        if ended.pass_ns(shared.waste()) >= PASS_SHARE * ended.times.longest() {
            let site = Site { code: "P-BANK-CONFLICT", pc, other: u32::MAX };
            findings.add(site, who.block, who.warp, shared.lanes, || (Severity::Advice, story(ended, pc, shared, who)));
        }
    }
}

impl Ended<'_> {
    /// What so many passes take on the busiest SM, which makes one a clock.
    fn pass_ns(&self, passes: u64) -> f64 {
        let all = self.counters.shared_load.sectors + self.counters.shared_store.sectors;
        self.times.shared * passes as f64 / all.max(1) as f64
    }
}

fn story(ended: &Ended<'_>, pc: u32, shared: &Requests, who: Who) -> Box<Trap> {
    let verb = ended.verb(pc);
    let each = each_lane(shared);
    let ways = shared.moved as f64 / shared.ideal.max(1) as f64;
    let mut better = ended.counters;
    let traffic = if ended.writes(pc) { &mut better.shared_store } else { &mut better.shared_load };
    traffic.sectors = traffic.sectors.saturating_sub(shared.waste());
    let mut trap =
        Trap::new("P-BANK-CONFLICT", who.lanes, format!("bank conflict: {} passes where 1 would do", short(ways)))
            .at(pc)
            .label(format!("{} lanes share a bank", short(ways)))
            .note(format!(
                "the {verb} takes {} passes over the 32 banks instead of {}: {} clocks more, on the SMs together",
                shared.moved,
                shared.ideal,
                shared.waste()
            ));
    let words = match shared.stride {
        Stride::Fixed(stride) if stride % 4 == 0 => Some(stride.unsigned_abs() / 4),
        _ => None,
    };
    if let Some(words) = words {
        let banks = BANKS / gcd(words, BANKS);
        trap = trap.note(format!(
            "neighbouring threads are {words} words apart, so that the warp hits {banks} of the 32 banks only (the bank is the word's number modulo 32)"
        ));
    }
    if let Some(saving) = ended.saving(&better) {
        trap = trap.note(saving);
    }
    let trap = match words {
        Some(words) if each == 4 && words >= BANKS && words.is_multiple_of(2) => trap
            .help(format!("pad the row by one element ([{words} + 1] instead of [{words}]), so that a column's elements lie in different banks"))
            .help("or swizzle: store column c of row r at column c ^ r"),
        Some(words @ (2 | 4)) if each == 4 => trap.help(format!(
            "let a thread take its {words} neighbouring elements at once (float{words}), or keep them in {words} arrays"
        )),
        Some(_) => trap
            .help("let consecutive threads take consecutive words, or pad so that the distance becomes odd"),
        None => trap.help("let the threads of a warp take different banks (word number modulo 32), or the same word"),
    };
    trap.about(fault::buffer(ended.run, Place::Shared, who.addr, each))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
