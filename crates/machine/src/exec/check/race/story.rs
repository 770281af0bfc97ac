//! Races as they are reported: which of the two accesses is the subject, and what the reader has to know of both.

use std::collections::HashMap;

use super::compare::{Clash, Past};
use super::idiom;
use super::remedy;
use super::row::{Kind, Row};
use crate::code::{AddressOf, Place, SlowOp};
use crate::exec::check::watch::Touch;
use crate::exec::fault;
use crate::exec::fault::finding::{Findings, Site};
use crate::exec::fault::trap::{Party, Trap};
use crate::exec::state::reach::{Reach, Until};
use crate::exec::state::run::Run;
use crate::report::kind::{Does, Hazard, Idiom, Race, Rule};
use crate::report::{self, Role};

/// What a report is made from.
pub(super) struct Story<'s, 'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) findings: &'s mut Findings,
    pub(super) reach: &'s mut Reach,
    pub(super) touch: &'s Touch<'s>,
    pub(super) past: &'s Past<'s>,
    /// When each instruction last wrote: `[instruction][warp]`.
    pub(super) wrote: &'s [u32],
    pub(super) waits: &'s HashMap<u32, (u32, Option<u32>)>,
    /// What plain reads are for, as far as that has been asked.
    pub(super) idioms: &'s mut HashMap<u32, Option<Idiom>>,
}

/// One side of a race.
#[derive(Clone, Copy)]
struct Side {
    row: Row,
    lane: usize,
}

impl Side {
    fn thread(&self) -> u32 {
        self.row.thread(self.lane)
    }

    fn does(&self) -> Does {
        let kind = self.row.kind;
        if kind.is(Kind::ATOMIC) {
            Does::Updates
        } else if kind.is(Kind::COPIED) {
            if kind.writes() { Does::CopiesInto } else { Does::CopiesFrom }
        } else if kind.writes() {
            Does::Writes
        } else {
            Does::Reads
        }
    }
}

impl Story<'_, '_> {
    /// Whether the reader's warp has come past the write since the last barrier.
    fn hazard(&mut self, one: &Side, other: &Side) -> Hazard {
        if one.row.kind.writes() && other.row.kind.writes() {
            return Hazard::Writes;
        }
        if one.row.block != other.row.block {
            return Hazard::Read;
        }
        let (read, write) = if one.row.kind.writes() { (other, one) } else { (one, other) };
        let warps = self.past.clocks.warps.len();
        let at = write.row.pc as usize * warps + usize::from(read.row.warp);
        let known = self.wrote.get(at).copied().unwrap_or(0);
        // Of a warp it is known when it wrote, not with which lanes: one that was not among the writers may never do.
        let wrote = known >= self.past.clocks.start
            && (!read.row.same_warp(&write.row) || write.row.lanes >> read.lane & 1 == 1);
        let before = known >= self.past.clocks.block && known <= read.row.stamp;
        let passed = match wrote {
            true => before,
            false => self.is_behind(read, write, before),
        };
        if passed { Hazard::Read } else { Hazard::Overwrite }
    }

    /// Whether a read is meant to come behind a write that its own thread does not make. Between two barriers the code
    /// may have them in one order; what lies on a barrier's other side is another round. `before`: the reader's warp
    /// has executed the write since the last one.
    fn is_behind(&mut self, read: &Side, write: &Side, before: bool) -> bool {
        let (code, from, to) = (self.run.code, write.row.pc, read.row.pc);
        let mut ways = |until| (self.reach.leads(code, from, to, until), self.reach.leads(code, to, from, until));
        let meets = if read.row.same_warp(&write.row) { Until::Warp } else { Until::Block };
        match ways(meets) {
            // A loop: whether the reader's warp was there in an earlier iteration.
            (true, true) => return before || from < to,
            (false, false) => {}
            (there, _) => return there,
        }
        match ways(Until::End) {
            (true, false) => true,
            (false, true) => false,
            // Two sides of a branch, for threads with different roles. A reader that has heard of the writer since they
            // all met has been told of what was written before, and reads that.
            _ => write.row.stamp <= read.row.stamp || !self.has_heard(read, write),
        }
    }

    /// Whether something other than a barrier of the whole block has ordered two threads since the last one.
    fn has_heard(&self, one: &Side, of: &Side) -> bool {
        let met = Row { stamp: self.past.clocks.block, ..of.row };
        self.past.ordered(&met, of.lane, &one.row, one.lane)
    }

    /// Why a race does no harm, if it does not.
    fn idiom(&mut self, earlier: &Side, later: &Side) -> Option<Idiom> {
        let (one, other) = (&earlier.row, &later.row);
        let (views, me) = (self.past.views, later.thread());
        if one.block != other.block && views.comes_last(me, one.block, one.warp, earlier.thread(), one.stamp) {
            return Some(Idiom::Last);
        }
        let (read, atomic) = if one.kind == Kind::READ { (one, other) } else { (other, one) };
        if read.kind != Kind::READ || !atomic.kind.is(Kind::ATOMIC) {
            return None;
        }
        let code = self.run.code;
        let idiom = *self.idioms.entry(read.pc).or_insert_with(|| idiom::of_read(code, read.pc));
        idiom::harmless(code, idiom, atomic.pc)
    }

    pub(super) fn race(&mut self, line: u64, clash: &Clash) {
        let earlier = Side { row: clash.earlier, lane: clash.other };
        let later = Side { row: clash.later, lane: clash.lane };
        let (one, other) = (&earlier.row, &later.row);
        let hazard = if clash.stale { Hazard::Read } else { self.hazard(&earlier, &later) };
        // The pair is told the same way round whichever came first here: by chance it is otherwise elsewhere.
        let first_is_subject = match hazard {
            _ if one.kind.is(Kind::PENDING) => false,
            _ if one.kind.is(Kind::STRONG) != other.kind.is(Kind::STRONG) => other.kind.is(Kind::STRONG),
            Hazard::Read => other.kind.writes(),
            Hazard::Overwrite => one.kind.writes(),
            Hazard::Writes => (one.block, earlier.thread()) > (other.block, later.thread()),
        };
        let (subject, party) = if first_is_subject { (earlier, later) } else { (later, earlier) };
        let rule = match () {
            () if one.kind.is(Kind::PENDING) => Rule::Async,
            () if clash.stale => Rule::ReadOnly,
            () if clash.lockstep => Rule::Lockstep,
            () if one.kind.both_strong(other.kind) => Rule::Scope,
            () if clash.benign => Rule::Benign,
            () if let Some(idiom) = self.idiom(&earlier, &later) => Rule::Idiom(idiom),
            () if self.touch.place == Place::Shared && one.block != other.block => Rule::Cluster,
            () if self.touch.place == Place::Shared => Rule::Shared,
            () if one.block != other.block => Rule::Blocks,
            () => Rule::Global,
        };
        let unfenced = self.past.views.would_cover(later.thread(), one.block, one.warp, earlier.thread(), one.stamp);
        let (run, place) = (self.run, self.touch.place);
        // Bulk copies out of shared memory have groups of their own.
        let wait = self.waits.get(&u32::from(party.row.warp)).copied().filter(|_| party.row.kind.writes());
        let pair = Pair { run, place, line, subject, party, wait };
        let site = match rule {
            // Each step of such code relies on the one before: one report is about all of them.
            Rule::Lockstep => Site { code: rule.code(), pc: 0, other: u32::MAX },
            _ => Site { code: rule.code(), pc: subject.row.pc, other: party.row.pc },
        };
        let (block, warp) = (u64::from(subject.row.block), u32::from(subject.row.warp));
        let same_warp = one.same_warp(other);
        self.findings.add_race(site, same_warp, block, warp, u64::from(clash.lanes.count_ones()), || {
            pair.tell(pair.race(rule, hazard, unfenced))
        });
    }
}

/// A race to be told.
struct Pair<'a> {
    run: &'a Run<'a>,
    place: Place,
    /// The address of the line that it is about.
    line: u64,
    subject: Side,
    party: Side,
    /// For asynchronous copies: the last wait of the thread that copies, and how many groups that leaves under way.
    wait: Option<(u32, Option<u32>)>,
}

impl Pair<'_> {
    fn side(&self, side: &Side) -> report::kind::Side {
        let (low, high) = side.row.range(side.lane);
        let bytes = (high - low) as u64;
        let buffer = fault::buffer(self.run, self.place, self.line.wrapping_add_signed(i64::from(low)), bytes);
        report::kind::Side { does: side.does(), strong: side.row.kind.is(Kind::STRONG), bytes, buffer }
    }

    fn race(&self, rule: Rule, hazard: Hazard, unfenced: bool) -> Race {
        let (subject, party) = (&self.subject.row, &self.party.row);
        Race {
            rule,
            hazard,
            one: self.side(&self.subject),
            other: self.side(&self.party),
            grid: self.run.launch.grid,
            block: self.run.launch.block,
            same_block: subject.block == party.block,
            same_warp: subject.same_warp(party),
            same_instruction: subject.pc == party.pc,
            update: self.is_update(),
            unfenced,
            locked: remedy::lock(self.run, subject.pc, party.pc, subject.block == party.block),
            next_round: false,
            bulk: self.run.code.slow_at(party.pc).is_some_and(SlowOp::is_bulk),
            communicates: self.run.code.communicates,
            lone_warps: self.run.warps == 1,
        }
    }

    /// The two are the read and the write of one statement that changes one element, `x += 1`. In `x[i] += x[i + 1]` the read
    /// of the other element is none of it.
    fn is_update(&self) -> bool {
        let (one, two) = (&self.subject.row, &self.party.row);
        one.pc != two.pc
            && one.kind.writes() != two.kind.writes()
            && !one.kind.is(Kind::STRONG)
            && !two.kind.is(Kind::STRONG)
            && self.run.same_line(one.pc, two.pc)
            && self.address(one.pc) == self.address(two.pc)
    }

    /// How the address of an access is made.
    fn address(&self, pc: u32) -> Option<AddressOf> {
        self.run.code.access(pc).map(|access| access.address)
    }

    fn tell(&self, mut race: Race) -> Box<Trap> {
        let (subject, party) = (&self.subject, &self.party);
        let waited = (race.rule == Rule::Async).then_some(self.wait).flatten();
        let about = race.one.buffer.clone();
        let other = Party {
            role: Role::Access,
            pc: party.row.pc,
            block: Some(u64::from(party.row.block)),
            thread: Some(party.thread()),
        };
        let overwrites = race.hazard == Hazard::Overwrite && race.barrier().is_some();
        let (read, write) = if subject.row.kind.writes() { (party, subject) } else { (subject, party) };
        let round = overwrites.then(|| remedy::round(self.run, read.row.pc, write.row.pc, race.same_warp)).flatten();
        race.next_round = round.is_some();
        let third = match (waited, round) {
            (Some((pc, groups)), _) => Some(Party::at(pc, Role::CopyWait { groups: groups.unwrap_or(0) })),
            (None, Some(pc)) => Some(Party::at(pc, Role::RoundBarrier)),
            (None, None) => None,
        };
        let trap = Trap::new(race, 1 << subject.lane).at(subject.row.pc).about(about).party(other);
        match third {
            Some(third) => trap.party(third),
            None => trap,
        }
    }
}
