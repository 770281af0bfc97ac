//! An access against what its line remembers.

use super::clocks::Clocks;
use super::decides::decides;
use super::line::Line;
use super::row::{Kind, Row};
use super::value::Values;
use super::views::Views;
use crate::code::Code;
use crate::exec::state::lanes::each;

/// Rows of a line that are not worth tidying up.
const FEW: usize = 8;

/// What is ordered before what the block does now.
pub(super) struct Past<'p> {
    pub(super) clocks: &'p Clocks,
    pub(super) views: &'p Views,
    /// About shared memory, which only this block has.
    pub(super) shared: bool,
    /// Something other than barriers of the whole block may order its warps.
    pub(super) partial: bool,
    /// Blocks run one after the other on one worker, so that it is known which access came first.
    pub(super) serial: bool,
    pub(super) code: &'p Code,
}

/// Two lanes that race, and which lanes of the later access do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clash {
    pub(super) earlier: Row,
    pub(super) later: Row,
    /// Of the later access and of the earlier one.
    pub(super) lane: usize,
    pub(super) other: usize,
    /// Lanes of the later access that race with the earlier one.
    pub(super) lanes: u32,
    /// What is written is what was there.
    pub(super) benign: bool,
    /// The write is ordered before the read, which need not see it all the same: it is one of what nobody may write.
    pub(super) stale: bool,
    /// Both are volatile, and no more than that the warp may run in step orders them.
    pub(super) lockstep: bool,
}

impl Clash {
    pub(super) fn new(earlier: Row, later: Row) -> Self {
        Self { earlier, later, lane: 0, other: 0, lanes: 0, benign: false, stale: false, lockstep: false }
    }
}

impl Past<'_> {
    /// Whether an earlier row is of the same block.
    fn own(&self, old: &Row, row: &Row) -> bool {
        self.shared || old.block == row.block
    }

    /// Whether all of an earlier row comes before the block's last barrier.
    fn met(&self, old: &Row, row: &Row) -> bool {
        self.own(old, row) && old.stamp < self.clocks.block
    }

    /// Whether barriers order all that an earlier row's warp did then before this one. Most often they do, and no
    /// lane need be asked.
    fn warps_ordered(&self, old: &Row, row: &Row) -> bool {
        self.own(old, row) && old.stamp < self.clocks.known_of_warp(row.warp.into(), old.warp.into())
    }

    /// Whether lane `other` of an earlier row is ordered before `lane` of this one.
    pub(super) fn ordered(&self, old: &Row, other: usize, row: &Row, lane: usize) -> bool {
        let (me, of) = (u32::from(row.warp), u32::from(old.warp));
        self.own(old, row) && self.clocks.ordered(me, lane, of, other, old.stamp)
            || self.views.cover(row.thread(lane), old.block, old.warp, old.thread(other), old.stamp)
    }

    /// The lanes of two rows that touch the same bytes without order.
    pub(super) fn racing(&self, old: &Row, row: &Row) -> Option<Clash> {
        if self.warps_ordered(old, row) {
            return None;
        }
        if old.same_warp(row) {
            return meeting(old, row, |lane, other| lane == other || self.ordered(old, other, row, lane));
        }
        if !self.views.is_silent() {
            return meeting(old, row, |lane, other| self.ordered(old, other, row, lane));
        }
        // Only barriers could have ordered them, and those are for whole warps.
        let bytes = old.bytes();
        let lanes =
            each(row.lanes).fold(0u32, |lanes, lane| lanes | u32::from(row.bytes_of(lane) & bytes != 0) << lane);
        let lane = lanes.trailing_zeros() as usize & 31;
        let other = row.partners(lane, old).trailing_zeros() as usize & 31;
        (lanes != 0).then_some(Clash { lane, other, lanes, ..Clash::new(*old, *row) })
    }

    /// What is left of a race when those have been excused who have observed what an atomic or another strong write did, or
    /// know of somebody who has.
    fn unseen(&self, line: &Line, found: Clash) -> Option<Clash> {
        let Clash { earlier, later, .. } = found;
        if !self.serial || !earlier.kind.is(Kind::STRONG.with(Kind::WRITE)) || later.kind.is(Kind::STRONG) {
            return Some(found);
        }
        meeting(&earlier, &later, |lane, other| {
            self.knows(&earlier, other, &later, lane)
                || line.has_seen(&earlier, other, |read, reader| {
                    self.knows(read, reader, &later, lane) && decides(self.code, read.pc)
                })
        })
    }

    /// The lanes of a warp that trust in its running in step: one reads what another writes, both volatile, and nothing says
    /// which comes first.
    pub(super) fn in_step(&self, old: &Row, row: &Row) -> Option<Clash> {
        let reads = |row: &Row| row.kind.is(Kind::READ);
        if !old.same_warp(row) || reads(old) == reads(row) || old.kind.writes() == row.kind.writes() {
            return None;
        }
        let volatile = |row: &Row| self.code.access(row.pc).is_some_and(|access| access.order.volatile);
        if !volatile(old) || !volatile(row) {
            return None;
        }
        let together = |a: usize, b: usize| self.clocks.have_met(row.warp.into(), 1 << a | 1 << b, old.stamp);
        let excused = |lane, other| lane == other || together(lane, other) || self.ordered(old, other, row, lane);
        meeting(old, row, excused).map(|found| Clash { lockstep: true, ..found })
    }

    /// Whether an earlier access is of the same thread, or ordered before what the later one does.
    pub(super) fn knows(&self, old: &Row, other: usize, row: &Row, lane: usize) -> bool {
        old.same_warp(row) && other == lane || self.ordered(old, other, row, lane)
    }

    /// Whether every lane of an earlier row is, before every one of this.
    pub(super) fn all_ordered(&self, old: &Row, row: &Row) -> bool {
        // Not by barriers of some warps: a row that takes another's place must excuse what that one did.
        if self.met(old, row) || old.same_warp(row) && self.warps_ordered(old, row) {
            return true;
        }
        if self.views.is_silent() {
            return false;
        }
        if old.lanes.is_power_of_two() && row.lanes.is_power_of_two() {
            return self.ordered(old, old.lanes.trailing_zeros() as usize, row, row.lanes.trailing_zeros() as usize);
        }
        self.views.cover_warp(u32::from(row.warp), row.lanes, old.block, old.warp, old.stamp)
    }
}

/// Compares a row with what its line remembers, and remembers it.
pub(super) fn compare(line: &mut Line, row: Row, past: &Past<'_>, values: &Values<'_>, mut clash: impl FnMut(Clash)) {
    if line.begins(&row) {
        return;
    }
    let clocks = past.clocks;
    let mut row = row;
    line.number(&mut row);
    // No order helps a read that may come from a cache which does not see this kernel's writes (PTX ISA, `ld.global.nc`).
    let stale = values.touch.access.is_some_and(|access| access.read_only) && line.is_written();
    if !stale && line.is_repeated(&row, clocks.synced) {
        return;
    }
    if line.is_harmless_to(&row) {
        if line.passes(&row, past.shared, clocks.block) || line.renew(&row) {
            return;
        }
        // Those of shared memory that a barrier has made stale go below.
        if !past.shared || line.rows.len() < FEW {
            return line.keep(row, clocks.block);
        }
    }
    if line.is_apart(&row) {
        return line.keep(row, clocks.block);
    }
    // What other blocks did is left for them to tidy up, but for what a plain write replaces.
    let tidies = !past.views.is_silent() && row.kind == Kind::WRITE;
    let (mut needless, before) = (false, line.rows.len());
    let mut i = 0;
    while let Some(&old) = line.rows.get(i) {
        if old.kind.is(Kind::PENDING) && old.stamp >= clocks.start {
            if old.overlaps(&row)
                && let Some(found) = meeting(&old, &row, |_, _| false)
            {
                clash(found);
            }
            i += 1;
            continue;
        }
        let own = past.own(&old, &row);
        let met = past.met(&old, &row);
        if past.shared && met {
            line.rows.remove(i);
            continue;
        }
        let same = old.same_warp(&row) && old.same_mapping(&row);
        let strong = old.kind.both_strong(row.kind) && (own || !old.kind.either_narrow(row.kind));
        let harmless = met || strong || !(old.kind.writes() || row.kind.writes()) || same && row.disjoint();
        let mut told = false;
        if !harmless
            && old.overlaps(&row)
            && let Some(found) = past.racing(&old, &row).and_then(|found| past.unseen(line, found))
        {
            // Of lanes that one instruction has written with, memory holds nothing yet: what they store is compared.
            let found = match old.same_warp(&row) && (old.stamp, old.pc) == (row.stamp, row.pc) {
                true => together(found, values),
                false => Clash { benign: values.benign(&found), ..found },
            };
            clash(found);
            // Of two writes that race, one is enough to race with a third.
            told = old.kind.writes();
        } else if stale
            && old.kind.writes()
            && let Some(found) = meeting(&old, &row, |_, _| false)
        {
            clash(Clash { stale, ..found });
        }
        if row.kind.covers(old.kind) {
            let covered = || old.bytes() & !row.bytes() == 0;
            if same || (told || (own || tidies) && past.all_ordered(&old, &row)) && covered() {
                line.rows.remove(i);
                continue;
            }
        } else if same && old.stamp >= clocks.synced && old.kind.covers(row.kind) {
            needless = true;
        }
        i += 1;
    }
    if line.rows.len() != before {
        line.count();
    }
    if !needless && !line.passes(&row, past.shared, clocks.block) {
        line.keep(row, clocks.block);
    }
}

/// The lanes of two rows that touch the same bytes, but for pairs that are excused.
pub(super) fn meeting(old: &Row, row: &Row, excused: impl Fn(usize, usize) -> bool) -> Option<Clash> {
    let mut found: Option<Clash> = None;
    for lane in each(row.lanes) {
        let partners = row.partners(lane, old);
        if let Some(other) = each(partners).find(|&other| !excused(lane, other)) {
            let new = Clash { lane, other, ..Clash::new(*old, *row) };
            found.get_or_insert(new).lanes |= 1 << lane;
        }
    }
    found
}

/// Two rows of one instruction: benign is what all lanes that meet store the same by, at the same bytes.
fn together(found: Clash, values: &Values<'_>) -> Clash {
    let Clash { earlier, later, .. } = found;
    let same = |lane, other| later.range(lane) == earlier.range(other) && values.same(lane, other);
    let differing = meeting(&earlier, &later, same);
    differing.map_or(Clash { benign: true, ..found }, |differing| Clash { lanes: found.lanes, ..differing })
}

/// Lanes of one instruction that write the same bytes.
pub(super) fn within(row: &Row, values: &Values<'_>, mut clash: impl FnMut(Clash)) {
    let mut found: [Option<Clash>; 2] = [None; 2];
    for lane in each(row.lanes) {
        let partners = row.partners(lane, row) & ((1u32 << lane) - 1);
        if partners != 0 {
            let other = partners.trailing_zeros() as usize;
            let benign = row.range(lane) == row.range(other) && values.same(lane, other);
            let new = Clash { lane, other, benign, ..Clash::new(*row, *row) };
            found[usize::from(benign)].get_or_insert(new).lanes |= 1 << lane;
        }
    }
    for found in found.into_iter().flatten() {
        clash(found);
    }
}
