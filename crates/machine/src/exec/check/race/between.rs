//! Races between the blocks of a cluster, in the shared memory of one of them.
//!
//! Its own threads' races are looked for as ever, by the block's clock. Beside that its lines remember who was there, as those of global
//! memory do, and of two accesses by different blocks it is known by views whether something orders them.

use std::collections::HashMap;

use super::Races;
use super::clocks::Clocks;
use super::compare::{Past, compare, within};
use super::line::Line;
use super::phases::Visit;
use super::row::{Kind, LINE, Row, pieces};
use super::story::Story;
use super::value::Values;
use super::view::{Seen, View};
use super::views::Views;
use crate::exec::check::Watch;
use crate::exec::check::watch::Touch;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::Trap;
use crate::exec::state::lanes::each;
use crate::report::Code;
use crate::report::kind::{Access, Cluster, Idiom};

/// Visits of other blocks that are remembered. Of more, some that come too late may be missed.
const VISITS: usize = 1 << 10;

/// Under what the barrier of the cluster is known among the objects that count arrivals.
const CLUSTER: u64 = u64::MAX;

/// What a block's shared memory remembers of the cluster's blocks.
#[derive(Debug, Default)]
pub(super) struct Between {
    lines: Vec<Line>,
    /// Accesses by other blocks before which nothing orders the block's end yet.
    visits: Vec<Guest>,
}

/// An access by another block.
#[derive(Clone, Copy, Debug)]
struct Guest {
    row: Row,
    address: u64,
}

impl Between {
    pub(super) fn start(&mut self) {
        self.lines.iter_mut().for_each(Line::clear);
        self.visits.clear();
    }
}

/// What the block that accesses knows.
struct Mine<'m> {
    clocks: &'m Clocks,
    views: &'m Views,
    wrote: &'m [u32],
    waits: &'m HashMap<u32, (u32, Option<u32>)>,
    idioms: &'m mut HashMap<u32, Option<Idiom>>,
}

impl Watch<'_> {
    /// An access to the shared memory of block `owner`, which `between` is about.
    fn meet_in_cluster(&mut self, mine: Mine<'_>, between: &mut Between, owner: u64, touch: &Touch<'_>, like: &Row) {
        let Mine { clocks, views, wrote, waits, idioms } = mine;
        let code = self.run.code;
        let past = Past { clocks, views, shared: false, partial: true, serial: true, code };
        let values = Values { touch, windows: &[] };
        let own = self.block == owner;
        let (run, findings, reach) = (self.run, &mut self.findings, &mut self.reach);
        let mut story = Story { run, findings, reach, touch, past: &past, wrote, waits, idioms };
        pieces(touch.mask, touch.addrs, touch.bytes, touch.row, like, |at, mut row| {
            let index = (at / LINE) as usize;
            if between.lines.len() <= index {
                between.lines.resize_with(index + 1, Line::default);
            }
            if row.kind.writes() && !row.kind.is(Kind::STRONG) {
                row.value = values.common(&row);
                if !own && !row.disjoint() {
                    within(&row, &values, |clash| story.race(at, &clash));
                }
            }
            compare(&mut between.lines[index], row, &past, &values, |clash| {
                // What the owner's threads do to each other is looked for elsewhere.
                if !own || clash.earlier.block != clash.later.block {
                    story.race(at, &clash);
                }
            });
        });
    }

    /// An access to the own shared memory, where other blocks may access it too.
    pub(super) fn look_within_cluster(&mut self, races: &mut Races, touch: &Touch<'_>, like: &Row) {
        let Races { clocks, views, wrote, waits, idioms, between, .. } = races;
        let Some(between) = between else { return };
        // Until it has been waited for, an asynchronous copy counts as a write of the thread.
        let like = Row { kind: like.kind.without(Kind::PENDING), ..*like };
        let mine = Mine { clocks, views, wrote, waits, idioms };
        self.meet_in_cluster(mine, between, self.block, touch, &like);
    }

    /// An access to the shared memory of another block.
    pub(in crate::exec::check) fn look_at_peer(
        &mut self,
        races: &mut Races,
        peer: &mut Races,
        owner: u64,
        touch: &Touch<'_>,
    ) {
        if touch.mask == 0 {
            return;
        }
        let like = self.row_of(races, touch);
        let like = Row { kind: like.kind.without(Kind::PENDING), ..like };
        let Races { clocks, views, wrote, waits, idioms, .. } = races;
        let Some(between) = &mut peer.between else { return };
        self.meet_in_cluster(Mine { clocks, views, wrote, waits, idioms }, between, owner, touch, &like);
        let address = touch.addrs[touch.mask.trailing_zeros() as usize & 31];
        let row = Row { lanes: touch.mask, width: touch.bytes.min(255) as u8, ..like };
        between.visits.retain(|known| !(known.row.same_warp(&row) && known.row.lanes & !row.lanes == 0));
        if between.visits.len() < VISITS {
            between.visits.push(Guest { row, address });
        }
        if touch.order.strong {
            self.exchange_at(races, Some(&mut peer.views.shared), touch);
        }
    }

    /// Lanes of a warp exit, and with the last of them the block. Whoever has been in its memory should have been waited for.
    pub(in crate::exec::check) fn exits(
        &mut self,
        races: &mut Races,
        (warp, lanes): (u32, u32),
        rank: u32,
        last: bool,
    ) {
        let Races { views, between, .. } = races;
        let Some(Between { visits, .. }) = between.as_deref_mut() else { return };
        for lane in each(lanes) {
            let me = 32 * warp + lane as u32;
            visits.retain_mut(|Guest { row, .. }| {
                let known = |lane: &usize| views.cover(me, row.block, row.warp, row.thread(*lane), row.stamp);
                row.lanes &= !each(row.lanes).filter(known).fold(0, |lanes, lane| lanes | 1 << lane);
                row.lanes != 0
            });
            if visits.is_empty() {
                return;
            }
        }
        if !last {
            return;
        }
        let owner = self.block;
        for Guest { row, address } in visits.drain(..) {
            let site = Site { code: Code::ClusterExited, pc: row.pc, other: u32::MAX };
            let access = Access { write: row.kind.writes(), bytes: row.width.into(), address };
            let count = u64::from(row.lanes.count_ones());
            self.findings.add(site, row.block.into(), row.warp.into(), count, || {
                Trap::new(Cluster::MayHaveExited { rank, block: owner, access }, row.lanes).at(row.pc)
            });
        }
    }
}

impl Races {
    /// Lanes of a warp arrive at the barrier of the cluster.
    pub(in crate::exec::check) fn cluster_arrive(&mut self, (warp, lanes): (u32, u32), whole: bool, odd: bool) {
        if !self.cluster_syncs {
            let visit = Visit { object: CLUSTER, phase: odd, warp, lanes, whole };
            self.phases.arrive(&mut self.clocks, &self.views, visit, false);
        }
    }

    /// The barrier is complete: what the block has said to others there.
    pub(in crate::exec::check) fn cluster_said(&mut self, odd: bool) -> View {
        let own = self.views.block;
        let (seen, mut view) = match self.cluster_syncs {
            true => (Seen { all: self.clocks.tick(), ..Seen::default() }, self.views.common()),
            false => self.phases.said(CLUSTER, odd),
        };
        view.add(own, seen);
        view
    }

    /// And what all have.
    pub(in crate::exec::check) fn cluster_heard(&mut self, odd: bool, view: &View) {
        if self.cluster_syncs {
            self.clocks.meet_all();
            self.shared.barrier();
            self.views.meet_all();
            self.views.all_learn(view);
        } else {
            self.phases.hear(CLUSTER, odd, self.views.block, view);
        }
    }

    /// Lanes of a warp have waited for it.
    pub(in crate::exec::check) fn cluster_wait(&mut self, (warp, lanes): (u32, u32), whole: bool, odd: bool) {
        if !self.cluster_syncs {
            let visit = Visit { object: CLUSTER, phase: odd, warp, lanes, whole };
            self.phases.wait(&mut self.clocks, &mut self.views, visit);
        }
    }

    /// Lanes of another block arrive at one of this block's objects.
    pub(in crate::exec::check) fn phase_arrive_from(&mut self, other: &mut Races, visit: Visit, completes: bool) {
        self.completes(visit.object, completes);
        self.phases.arrive(&mut other.clocks, &other.views, Visit { whole: false, ..visit }, completes);
    }
}
