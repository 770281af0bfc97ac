//! What the checks find while a launch goes on: one entry a site, however many threads do it.

use std::collections::{BTreeMap, BTreeSet};

use crate::exec::fault::trap::Trap;
use crate::report::{Code, Kind};

/// Sites of one launch that are kept. Whoever makes more different mistakes fixes some first.
const SITES: usize = 1024;

/// Where in the code, and which mistake. The order is that in which findings are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    pub(crate) code: Code,
    pub(crate) pc: u32,
    /// The other party's instruction, `u32::MAX` where there is none.
    pub(crate) other: u32,
}

/// One mistake, with the first thread that made it.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) block: u64,
    pub(crate) warp: u32,
    pub(crate) trap: Box<Trap>,
    /// How many times a thread did it.
    pub(crate) count: u64,
}

/// The findings of a worker, then of a launch.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    sites: BTreeMap<Site, Finding>,
}

impl Findings {
    /// Counts `count` more mistakes at a site; `make` tells the story when it is the first one there, or comes before
    /// the first one so far in the grid's order.
    pub(crate) fn add(&mut self, site: Site, block: u64, warp: u32, count: u64, make: impl FnOnce() -> Box<Trap>) {
        self.add_race(site, false, block, warp, count, make);
    }

    /// The same for a race, which threads of different warps tell better than those of one (`same_warp`): what orders the
    /// former orders the latter too.
    pub(crate) fn add_race(
        &mut self,
        site: Site,
        same_warp: bool,
        block: u64,
        warp: u32,
        count: u64,
        make: impl FnOnce() -> Box<Trap>,
    ) {
        if let Some(known) = self.sites.get_mut(&site) {
            known.count += count;
            if (same_warp, block, warp) < (within_warp(&known.trap), known.block, known.warp) {
                *known = Finding { block, warp, trap: make(), count: known.count };
            }
        } else if self.sites.len() < SITES {
            self.sites.insert(site, Finding { block, warp, trap: make(), count });
        }
    }

    /// Takes in what another worker found.
    pub(crate) fn merge(&mut self, other: Self) {
        for (site, finding) in other.sites {
            let Finding { block, warp, trap, count } = finding;
            self.add_race(site, within_warp(&trap), block, warp, count, || trap);
        }
    }

    /// By severity, worst first; then by code and place.
    pub(crate) fn sorted(mut self) -> impl Iterator<Item = Finding> {
        // Who uses memory that a copy may still use is told to wait for it. That the block ends before tells nothing more.
        let races = self.sites.keys().filter(|site| site.code == Code::RaceAsync);
        let used: BTreeSet<u32> = races.map(|site| site.other).collect();
        self.sites.retain(|site, found| !matches!(found.trap.kind, Kind::Unfinished(_)) || !used.contains(&site.pc));
        let mut all: Vec<(Site, Finding)> = self.sites.into_iter().collect();
        all.sort_by_key(|(site, finding)| (std::cmp::Reverse(finding.trap.code().severity()), *site));
        all.into_iter().map(|(_, finding)| finding)
    }
}

fn within_warp(trap: &Trap) -> bool {
    matches!(&trap.kind, Kind::Race(race) if race.same_warp)
}
