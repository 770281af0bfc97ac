//! What arrivals at objects that count them tell those who wait there (PTX ISA 9.7.13.15): an arrival releases, a wait that finds
//! its phase complete acquires what all of that phase's arrivals have released, and those before it.
//!
//! Most often whole warps arrive and wait, so that a time for each warp says it. What parts of warps say is a view.

use std::collections::HashMap;

use super::clocks::Clocks;
use super::view::{Seen, View};
use super::views::Views;

/// What the arrivals of a phase have released.
#[derive(Clone, Debug, Default)]
struct Released {
    /// By warp: what it did before then.
    warps: Vec<u32>,
    view: View,
}

impl Released {
    fn join(&mut self, block: u32, other: &Self) {
        learn(&mut self.warps, &other.warps);
        self.view.join(block, &other.view);
    }
}

/// Later times take the place of earlier ones.
fn learn(known: &mut Vec<u32>, other: &[u32]) {
    if known.len() < other.len() {
        known.resize(other.len(), 0);
    }
    for (known, other) in known.iter_mut().zip(other) {
        *known = (*known).max(*other);
    }
}

/// Lanes of a warp at an object, in one of its phases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) object: u64,
    pub(crate) phase: bool,
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
    /// All live lanes of the warp.
    pub(crate) whole: bool,
}

/// A block's objects, each with its phases of either parity.
#[derive(Debug, Default)]
pub(super) struct Phases {
    objects: HashMap<u64, [Released; 2]>,
}

impl Phases {
    pub(super) fn clear(&mut self) {
        self.objects.clear();
    }

    pub(super) fn arrive(&mut self, clocks: &mut Clocks, views: &Views, visit: Visit, completes: bool) {
        let now = clocks.tick();
        let Visit { warp, lanes, .. } = visit;
        let phases = self.objects.entry(visit.object).or_default();
        let released = &mut phases[usize::from(visit.phase)];
        let mut warps = vec![0; clocks.warps.len()];
        for (of, stamp) in clocks.known_warps(warp) {
            if let Some(known) = warps.get_mut(of as usize) {
                *known = stamp;
            }
        }
        if visit.whole
            && let Some(own) = warps.get_mut(warp as usize)
        {
            *own = now;
        }
        learn(&mut released.warps, &warps);
        views.release(clocks, warp, lanes, (!visit.whole).then_some(now), &mut released.view);
        if completes {
            // Arrivals follow each other in one order: whoever sees one has seen those before it.
            let [even, odd] = phases;
            if visit.phase { even.join(views.block, odd) } else { odd.join(views.block, even) }
        }
    }

    /// What arrivals of a phase have released: of the own block, and of others.
    pub(super) fn said(&self, object: u64, phase: bool) -> (Seen, View) {
        let Some(phases) = self.objects.get(&object) else { return Default::default() };
        let released = &phases[usize::from(phase)];
        let known = released.warps.iter().enumerate().filter(|(_, stamp)| **stamp > 0);
        let warps = known.map(|(warp, stamp)| (warp as u8, *stamp)).collect();
        (Seen { warps, ..Seen::default() }, released.view.clone())
    }

    /// What others have released comes to a phase.
    pub(super) fn hear(&mut self, object: u64, phase: bool, block: u32, view: &View) {
        self.objects.entry(object).or_default()[usize::from(phase)].view.join(block, view);
    }

    pub(super) fn wait(&mut self, clocks: &mut Clocks, views: &mut Views, visit: Visit) {
        let Some(phases) = self.objects.get(&visit.object) else { return };
        let released = &phases[usize::from(visit.phase)];
        clocks.tick();
        if visit.whole {
            clocks.learn(visit.warp, &released.warps);
        } else {
            let mut view = View::default();
            let known = released.warps.iter().enumerate().filter(|(_, stamp)| **stamp > 0);
            let warps = known.map(|(warp, stamp)| (warp as u8, *stamp)).collect();
            view.add(views.block, Seen { warps, ..Seen::default() });
            views.acquire(visit.warp, visit.lanes, &view);
        }
        views.acquire(visit.warp, visit.lanes, &released.view);
    }
}
