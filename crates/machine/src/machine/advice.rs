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

use std::collections::BTreeMap;

use crate::code::{Access, MicroOp};
use crate::exec::{Findings, Requests, Row, Run, Tally};
use crate::profile::Profile;
use crate::report::Counters;
use crate::timing::{Shape, Times};

/// A launch that has ended, as the advice sees it.
pub(super) struct Ended<'a> {
    run: &'a Run<'a>,
    profile: &'a Profile,
    shape: Shape,
    counters: Counters,
    times: Times,
    tally: &'a Tally,
}

impl<'a> Ended<'a> {
    pub(super) fn new(
        run: &'a Run<'a>,
        profile: &'a Profile,
        shape: Shape,
        counters: Counters,
        tally: &'a Tally,
    ) -> Self {
        Self { run, profile, shape, counters, times: Times::of(profile, &shape, &counters), tally }
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

    /// `load` or `store`.
    fn verb(&self, pc: u32) -> &'static str {
        if self.writes(pc) { "store" } else { "load" }
    }

    /// What the model would save if the counters were these, in words; `None` where it is next to nothing.
    fn saving(&self, better: &Counters) -> Option<String> {
        let (now, then) = (self.times.longest(), Times::of(self.profile, &self.shape, better).longest());
        (then < 0.97 * now).then(|| {
            format!(
                "the launch's work takes {} with it and {} without it (predicted by a model, not measured)",
                nanoseconds(now),
                nanoseconds(then)
            )
        })
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

/// `96 bytes`, `12 KiB`, `1.5 MiB`.
fn bytes(n: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| n >= *unit) {
        Some((unit, name)) => format!("{} {name}", short(n as f64 / *unit as f64)),
        None if n == 1 => "1 byte".into(),
        None => format!("{n} bytes"),
    }
}

fn nanoseconds(ns: f64) -> String {
    match ns {
        ns if ns >= 1e6 => format!("{} ms", short(ns / 1e6)),
        ns if ns >= 1e3 => format!("{} us", short(ns / 1e3)),
        ns => format!("{} ns", short(ns)),
    }
}

/// Three digits at most before they say nothing: `1.5`, `12`, `128`.
fn short(x: f64) -> String {
    let text = if x < 9.95 { format!("{x:.1}") } else { format!("{x:.0}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}
