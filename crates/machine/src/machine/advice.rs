//! Advice on speed: what the counts of a launch say about how it could be faster.
//!
//! Advice costs its reader's time, so that each kind has a threshold below which nothing is said:
//! [`super::thresholds`].

mod banks;
mod coalescing;
mod divergence;
mod local;
pub(super) mod round_trip;
mod scalar;
pub(super) mod unused_shared;

use std::collections::BTreeMap;

use super::residency::Residency;
use crate::code::{Access, MicroOp};
use crate::exec::{Findings, Requests, Row, Run, Tally};
use crate::profile::Profile;
use crate::report::Counters;
use crate::report::kind::Saving;
use crate::timing::Times;

/// A launch that has ended, as the advice sees it.
pub(super) struct Ended<'a> {
    run: &'a Run<'a>,
    profile: &'a Profile,
    residency: &'a Residency<'a>,
    counters: Counters,
    tally: &'a Tally,
}

impl<'a> Ended<'a> {
    pub(super) fn new(run: &'a Run<'a>, residency: &'a Residency<'a>, counters: Counters, tally: &'a Tally) -> Self {
        Self { run, profile: residency.profile, residency, counters, tally }
    }

    /// The model's times. Only advice that has something to say asks for them: they may take the assembler's time.
    fn times(&self) -> Times {
        self.residency.times(&self.counters)
    }

    /// The instructions with counts of their own.
    fn rows(&self) -> impl Iterator<Item = (u32, &Row)> {
        self.tally.rows.iter().enumerate().map(|(pc, row)| (pc as u32, row))
    }

    fn row(&self, pc: u32) -> Row {
        self.tally.rows.get(pc as usize).copied().unwrap_or_default()
    }

    /// Requests by place in the source: what an unrolled loop does at one line is one matter. Only those instructions
    /// count for which `of` gives something.
    fn sites(&self, of: impl Fn(u32, &Row) -> Option<Requests>) -> Vec<(u32, Requests)> {
        let mut sites = BTreeMap::new();
        for (pc, row) in self.rows() {
            let Some(requests) = of(pc, row) else { continue };
            let loc = self.run.code.origins.get(pc as usize).and_then(|origin| origin.loc);
            let key = (loc.ok_or(pc), self.writes(pc));
            sites.entry(key).or_insert((pc, Requests::default())).1.merge(&requests);
        }
        sites.into_values().collect()
    }

    /// The load or store of an instruction, where it is one.
    fn access(&self, pc: u32) -> Option<&Access> {
        match self.run.code.insts.get(pc as usize)?.op {
            MicroOp::Load(index) | MicroOp::Store(index) => self.run.code.accesses.get(index as usize),
            _ => None,
        }
    }

    fn writes(&self, pc: u32) -> bool {
        matches!(self.run.code.insts.get(pc as usize).map(|i| i.op), Some(MicroOp::Store(_)))
    }

    /// What the model would save if the counters were these; `None` where it is next to nothing.
    fn saving(&self, better: &Counters) -> Option<Saving> {
        self.saving_to(self.residency.times(better))
    }

    /// The same if the times were these.
    fn saving_to(&self, better: Times) -> Option<Saving> {
        let (with_ns, without_ns) = (self.times().longest(), better.longest());
        (without_ns < 0.97 * with_ns).then_some(Saving { with_ns, without_ns })
    }
}

/// Adds the advice on a launch to what else was found.
pub(super) fn advise(ended: &Ended<'_>, findings: &mut Findings) {
    if ended.tally.rows.is_empty() {
        return;
    }
    let told = scalar::advise(ended, findings);
    coalescing::advise(ended, findings, &told);
    banks::advise(ended, findings);
    local::advise(ended, findings);
    divergence::advise(ended, findings);
}

/// Bytes of one lane's access.
fn each_lane(requests: &Requests) -> u64 {
    requests.bytes / requests.lanes.max(1)
}
