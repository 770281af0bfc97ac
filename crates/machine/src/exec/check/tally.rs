//! Counts by instruction, from which the advice on speed is made once a launch has ended.
//!
//! Every worker keeps its own; they are sums and firsts, so that adding them up gives the same for any number of
//! workers.

use crate::exec::state::address::sequential;
use crate::exec::state::lanes::{FULL, each};
use crate::exec::state::warp::Apart;

/// Bytes of a sector, the unit in which L2 and DRAM are read and written.
pub(crate) const SECTOR: u64 = 32;
/// Bytes of the widest access that a lane can make at once.
pub(crate) const WIDEST: u64 = 16;

/// How far apart neighbouring lanes access, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stride {
    #[default]
    Unknown,
    /// The same between every two neighbours, in every request.
    Fixed(i64),
    Mixed,
}

impl Stride {
    fn of(addrs: &[u64; 32], mask: u32) -> Self {
        let mut lanes = each(mask);
        let (Some(a), Some(b)) = (lanes.next(), lanes.next()) else { return Self::Unknown };
        let stride = (addrs[b].wrapping_sub(addrs[a]) as i64) / (b - a) as i64;
        let at = |lane: usize| addrs[a].wrapping_add_signed(stride.wrapping_mul((lane - a) as i64));
        match each(mask).all(|lane| addrs[lane] == at(lane)) {
            true => Self::Fixed(stride),
            false => Self::Mixed,
        }
    }

    fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, any) | (any, Self::Unknown) => any,
            (Self::Fixed(a), Self::Fixed(b)) if a == b => self,
            _ => Self::Mixed,
        }
    }
}

/// Somebody who did it, for a message: the first of the grid's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Who {
    pub(crate) block: u64,
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
    pub(crate) addr: u64,
}

/// An instruction's requests to one kind of memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Requests {
    pub(crate) requests: u64,
    /// Accesses by lanes, and what they asked for.
    pub(crate) lanes: u64,
    pub(crate) bytes: u64,
    /// What was moved: sectors, or passes over the banks of shared memory.
    pub(crate) moved: u64,
    /// What the same bytes cost when they lie side by side.
    pub(crate) ideal: u64,
    /// Of the requests that cost more than that.
    pub(crate) stride: Stride,
    /// Requests of whole warps whose lanes lie side by side from a multiple of 16 bytes on.
    pub(crate) rows: u64,
    pub(crate) first: Option<Who>,
    /// The first that cost more than it needed to.
    pub(crate) first_dear: Option<Who>,
    /// Not every lane of every request had the same address: for local memory, an index that varies.
    pub(crate) varies: bool,
}

impl Requests {
    #[inline(always)]
    fn row(&mut self, who: Who, bytes: u64, moved: u64) {
        self.requests += 1;
        self.lanes += 32;
        self.bytes += 32 * bytes;
        self.moved += moved;
        self.ideal += bytes;
        self.rows += u64::from(who.addr.is_multiple_of(WIDEST));
        if self.first.is_none() {
            self.first = Some(who);
        }
    }

    #[inline(always)]
    fn words(&mut self, who: Who, row: bool) {
        self.requests += 1;
        self.lanes += 32;
        self.bytes += 128;
        self.moved += 1;
        self.ideal += 1;
        self.rows += u64::from(row && who.addr.is_multiple_of(WIDEST));
        if self.first.is_none() {
            self.first = Some(who);
        }
    }

    fn scattered(&mut self, who: Who, addrs: &[u64; 32], bytes: u64, moved: u64, ideal: u64) {
        self.requests += 1;
        self.lanes += u64::from(who.lanes.count_ones());
        self.bytes += bytes * u64::from(who.lanes.count_ones());
        self.moved += moved;
        self.ideal += ideal.min(moved);
        let row = who.lanes == FULL && who.addr.is_multiple_of(WIDEST) && sequential(addrs, bytes);
        self.rows += u64::from(row);
        self.first.get_or_insert(who);
        if moved > ideal {
            self.first_dear.get_or_insert(who);
            if self.stride != Stride::Mixed {
                self.stride = self.stride.meet(Stride::of(addrs, who.lanes));
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.lanes += other.lanes;
        self.bytes += other.bytes;
        self.moved += other.moved;
        self.ideal += other.ideal;
        self.rows += other.rows;
        self.stride = self.stride.meet(other.stride);
        let elsewhere = matches!((self.first, other.first), (Some(a), Some(b)) if a.addr != b.addr);
        self.varies |= other.varies || elsewhere;
        self.first = earlier(self.first, other.first);
        self.first_dear = earlier(self.first_dear, other.first_dear);
    }

    /// What could be spared.
    pub(crate) fn waste(&self) -> u64 {
        self.moved - self.ideal
    }
}

fn earlier(a: Option<Who>, b: Option<Who>) -> Option<Who> {
    a.into_iter().chain(b).min()
}

/// What is known of one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) global: Requests,
    pub(crate) shared: Requests,
    pub(crate) local: Requests,
    pub(crate) branch: Parting,
}

/// A branch on which lanes of a warp disagreed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parting {
    /// How often, and who first.
    pub(crate) times: u64,
    pub(crate) first: Option<Who>,
    /// Instructions times the lanes that waited meanwhile for the others to come back.
    pub(crate) idle: u64,
}

/// The counts of a worker, then of a launch; empty when nobody wants advice.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Indexed by instruction.
    pub(crate) rows: Vec<Row>,
}

impl Tally {
    pub(crate) fn new(instructions: usize) -> Self {
        Self { rows: vec![Row::default(); instructions] }
    }

    /// A whole warp's access to global memory, one lane's bytes behind the other's.
    #[inline(always)]
    pub(crate) fn global_row(&mut self, pc: u32, who: Who, bytes: u64, sectors: u64) {
        if let Some(row) = self.rows.get_mut(pc as usize) {
            row.global.row(who, bytes, sectors);
        }
    }

    #[inline]
    pub(crate) fn global(&mut self, pc: u32, who: Who, addrs: &[u64; 32], bytes: u64, sectors: u64) {
        if let Some(row) = self.rows.get_mut(pc as usize) {
            let ideal = (bytes * u64::from(who.lanes.count_ones())).div_ceil(SECTOR);
            row.global.scattered(who, addrs, bytes, sectors, ideal);
        }
    }

    #[inline]
    pub(crate) fn shared(&mut self, pc: u32, who: Who, addrs: &[u64; 32], bytes: u64, passes: u64) {
        let Some(row) = self.rows.get_mut(pc as usize) else { return };
        // A request of 8 or 16 bytes a lane goes by half and quarter warps.
        let group = 32 / bytes.div_ceil(4).clamp(1, 32) as u32;
        let ideal = (0..32).step_by(group.max(1) as usize);
        let ideal = ideal.filter(|at| who.lanes & ((u64::MAX >> (64 - group)) << at) as u32 != 0).count() as u64;
        row.shared.scattered(who, addrs, bytes, passes, ideal);
    }

    /// A whole warp's words, one behind the other or all the same one: a single pass over the banks.
    #[inline(always)]
    pub(crate) fn shared_words(&mut self, pc: u32, who: Who, row: bool) {
        if let Some(of) = self.rows.get_mut(pc as usize) {
            of.shared.words(who, row);
        }
    }

    pub(crate) fn local(&mut self, pc: u32, who: Who, addrs: &[u64; 32], bytes: u64, sectors: u64) {
        let Some(row) = self.rows.get_mut(pc as usize) else { return };
        let before = row.local.first.map_or(who.addr, |first| first.addr);
        row.local.varies |= each(who.lanes).any(|lane| addrs[lane] != before);
        row.local.scattered(who, addrs, bytes, sectors, sectors);
    }

    /// The lanes of `who` come to a branch and part there.
    pub(crate) fn part(&mut self, apart: &mut Apart, pc: u32, who: Who, alive: u32) {
        let Some(row) = self.rows.get_mut(pc as usize) else { return };
        row.branch.times += 1;
        row.branch.first.get_or_insert(who);
        // What remains is nested, each in the one before it, so that there are 32 at most.
        while apart.last().is_some_and(|(_, mask)| mask & alive & !who.lanes == 0) {
            apart.pop();
        }
        apart.push((pc, who.lanes));
    }

    /// Some lanes have executed instructions while those from whom they parted waited.
    pub(crate) fn idle(&mut self, apart: &Apart, mask: u32, alive: u32, executed: u64) {
        for (i, (pc, together)) in apart.iter().enumerate() {
            let inner = apart.get(i + 1).map_or(mask, |(_, inner)| *inner | mask);
            let waiting = together & alive & !inner;
            if waiting != 0
                && let Some(row) = self.rows.get_mut(*pc as usize)
            {
                row.branch.idle += executed * u64::from(waiting.count_ones());
            }
        }
    }

    /// Takes in what another worker counted.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.rows.is_empty() {
            self.rows = other.rows;
            return;
        }
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            row.global.merge(&other.global);
            row.shared.merge(&other.shared);
            row.local.merge(&other.local);
            row.branch.times += other.branch.times;
            row.branch.idle += other.branch.idle;
            row.branch.first = earlier(row.branch.first, other.branch.first);
        }
    }
}
