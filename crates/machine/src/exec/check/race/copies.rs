//! Asynchronous copies that nobody has waited for yet (`cp.async`, PTX ISA 9.7.9.25).

use std::collections::VecDeque;

use super::cells::Cells;
use super::phases::Visit;
use super::row::Row;
use crate::exec::state::lanes::each;

/// Groups of a thread that are told apart. When there are more, the older half counts as complete: a race with one of
/// its copies may be missed, none is made up, however many a wait leaves under way.
const GROUPS: usize = 256;
/// Copies of a warp that are followed.
const PENDING: usize = 1 << 14;

/// Copies that an object which counts arrivals waits for (`cp.async.mbarrier.arrive`): whoever finds that phase complete knows that
/// they are, and their own thread is no exception.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    pub(crate) visit: Visit,
    /// When the first of them began.
    pub(crate) since: u32,
    /// The clock then.
    pub(crate) at: u32,
    /// The phase has been completed.
    pub(crate) done: bool,
    /// Somebody has found it complete, be it without learning what came before.
    pub(crate) seen: bool,
}

impl Announced {
    /// Whether somebody who finds a phase complete knows that these copies are.
    pub(crate) fn is_of(&self, visit: &Visit) -> bool {
        self.visit.object == visit.object && (self.done || self.visit.phase == visit.phase)
    }

    /// Whether a copy is one of these.
    pub(crate) fn holds(&self, copy: &Row) -> bool {
        let same_thread = self.visit.warp == u32::from(copy.warp) && self.visit.lanes & copy.lanes != 0;
        same_thread && (self.since..self.at).contains(&copy.stamp)
    }
}

/// The copies of a warp that are under way.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// Each with the address of its line.
    pending: Vec<(u64, Row)>,
    /// Some are not in that list.
    lost: bool,
    /// The clock at the end of each of a lane's groups.
    groups: [VecDeque<u32>; 32],
}

impl Copies {
    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.lost = false;
        for groups in &mut self.groups {
            groups.clear();
        }
    }

    pub(crate) fn begin(&mut self, line: u64, row: Row) {
        // Too many to follow one by one: the next wait is taken to be for all of them.
        self.lost |= self.pending.len() >= PENDING;
        if !self.lost {
            self.pending.push((line, row));
        }
    }

    /// Those that nobody has waited for, each with the address of its line.
    pub(crate) fn pending(&self) -> &[(u64, Row)] {
        &self.pending
    }

    pub(crate) fn commit(&mut self, mask: u32, now: u32, cells: &mut Cells) {
        let full = each(mask).fold(0, |full, lane| full | u32::from(self.groups[lane].len() >= GROUPS) << lane);
        if full != 0 {
            self.wait(full, Some(GROUPS as u32 / 2), now, cells);
        }
        for lane in each(mask) {
            self.groups[lane].push_back(now);
        }
    }

    /// Some lanes wait until at most so many of their groups are pending. Copies that are complete count as writes of
    /// the threads that waited, made `now`.
    pub(crate) fn wait(&mut self, mask: u32, groups: Option<u32>, now: u32, cells: &mut Cells) {
        let mut until = [0u32; 32];
        for lane in each(mask) {
            let open = &mut self.groups[lane];
            match groups {
                None => {
                    open.clear();
                    until[lane] = now;
                }
                Some(n) => {
                    while open.len() > n as usize {
                        until[lane] = open.pop_front().unwrap_or(0);
                    }
                }
            }
        }
        self.complete(0, &until, now, cells);
    }

    /// The copies that lanes have begun between two times are complete.
    pub(crate) fn complete(&mut self, since: u32, until: &[u32; 32], now: u32, cells: &mut Cells) {
        if let (true, Some((_, first))) = (std::mem::take(&mut self.lost), self.pending.first()) {
            cells.complete_all(first.warp, now);
            return self.clear();
        }
        self.pending.retain_mut(|(line, row)| {
            let begun = |lane: usize| (since..until[lane]).contains(&row.stamp);
            let done = each(row.lanes).fold(0, |done, lane| done | u32::from(begun(lane)) << lane);
            for lane in each(done) {
                cells.complete(row, lane, *line, now);
            }
            row.lanes &= !done;
            row.lanes != 0
        });
    }
}
