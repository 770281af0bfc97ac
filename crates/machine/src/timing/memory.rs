//! Global memory as one SM sees it: its L1, its way to L2, and its share of DRAM.
//!
//! All SMs that have work are thought to do the same as the one that is simulated, so that each has its share of what they share. A
//! request passes servers, each of which takes one after the other: the unit for loads and stores, the way to L2, DRAM.

mod bulk;
mod l1;
mod server;
mod stores;

use std::collections::{HashMap, HashSet};

use self::l1::L1;
use self::server::Server;
use self::stores::Stores;
use super::cost::BULK_BYTES_PER_CLOCK;
use super::program::Op;
use super::rates::Rates;
use super::{TICKS, Ticks, ticks};
use crate::exec::Line;
use crate::report::Busy;

/// How many SMs L2 answers at once that read the same at about the same time. An H200's 132 SMs get 34 bytes per clock
/// each of what is their own, and 58 to 65 of what two of them share, or more.
const L2_ANSWERS: f64 = 2.0;

/// How many blocks read a sector at least where several SMs read it at about the same time.
const SHARED: f64 = 1.5;

/// What is known of an allocation that a launch reaches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Of a block's first reads of sectors, the share that no other block has brought to L2: of what is its own for all that was recorded,
    /// and of what blocks have in common.
    pub(crate) fresh: f64,
    pub(crate) fresh_common: f64,
    /// Of a block's first writes to sectors, the share that no other block has written to before.
    pub(crate) fresh_written: f64,
    /// Of what the launch reads, the share that L2 lacks when it begins.
    pub(crate) missing: f64,
    /// Of what other blocks reach much later, the share that has left L2 by then.
    pub(crate) evicted: f64,
    /// Sectors of it that the launch writes: where atomics conflict.
    pub(crate) written_sectors: f64,
    /// How many blocks read a sector of it, of those that are read.
    pub(crate) sharers: f64,
}

/// What a launch is to its memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<'a> {
    pub(crate) pieces: &'a [Piece],
    /// Lines that several of the recorded blocks reach.
    pub(crate) common: &'a HashSet<u64>,
    /// SMs that have work.
    pub(crate) active: f64,
    /// The SM's last block, and how many SMs have as many blocks as this one.
    pub(crate) last: (u64, f64),
    /// Of what comes into L2, the share that takes the place of something that was written, and that DRAM does not know yet.
    pub(crate) written_back: f64,
    /// Bytes of shared memory that the SM's blocks take from its L1.
    pub(crate) shared: u64,
    /// Blocks of the SM that begin at once.
    pub(crate) first_wave: u64,
}

#[derive(Debug)]
pub(crate) struct MemorySystem<'a> {
    rates: &'a Rates,
    load: Load<'a>,
    l1: L1,
    /// Sectors that a block has read before, and how many the SM had fetched by then.
    read: HashMap<u64, (u8, u64)>,
    stores: Stores,
    /// The unit that takes loads and stores from the schedulers, and what has passed it.
    lsu: Server,
    passed: f64,
    /// Until when nothing goes to L2: a store waits.
    held: Ticks,
    /// The engine of bulk copies.
    copies: Server,
    l2: Server,
    l2_stores: Server,
    atomics: Server,
    dram: Server,
    /// How much of DRAM was used of late, from 0 to 1, and when that was computed.
    used: (f64, Ticks),
    fetched: u64,
    /// Sectors that the SM has read from L2 or written to it, and how many those were when it wrote a line of local memory last.
    through: u64,
    local: HashMap<u64, u64>,
    /// Bytes that come, times the ticks for which they are on their way.
    flight: f64,
    /// Ticks that a sector takes: of most blocks, and of the last one.
    sector: Sector,
    last_sector: Sector,
}

/// Ticks that a sector takes on its ways.
#[derive(Clone, Copy, Debug)]
struct Sector {
    /// Of what no other SM reads, and of what others read at the same time.
    l2: [f64; 2],
    /// The same, to the engine of bulk copies.
    bulk: [f64; 2],
    /// Ticks that a line takes on the way from L2, however few sectors of it there are.
    request: f64,
    store: f64,
    /// Of L2 itself, when it is written: it reads nothing meanwhile.
    written: f64,
    dram: f64,
    /// The same, if the way to an SM were no limit. By this it is counted how much of DRAM is used: a few SMs use
    /// little.
    loaded: f64,
    /// How long before a request DRAM may have begun with it: what the SM has not asked for meanwhile, others have had, and they ask for less
    /// now. At first all ask at the same time.
    early: f64,
}

impl Sector {
    /// Where so many SMs ask for the same at the same time.
    fn new(rates: &Rates, active: f64) -> Self {
        let sector = |total: f64, most: f64| TICKS as f64 * 32.0 / (total / active).min(most);
        Self {
            l2: [1.0, L2_ANSWERS].map(|times| sector(times * rates.l2_bytes_per_clock, rates.sm_bytes_per_clock)),
            request: rates.l2_request * TICKS as f64,
            bulk: [1.0, L2_ANSWERS].map(|times| sector(times * rates.l2_bytes_per_clock, BULK_BYTES_PER_CLOCK)),
            store: sector(rates.l2_store_bytes_per_clock, rates.sm_store_bytes_per_clock),
            written: sector(rates.l2_store_bytes_per_clock, f64::INFINITY),
            dram: sector(rates.dram_bytes_per_clock, rates.sm_bytes_per_clock),
            loaded: sector(rates.dram_bytes_per_clock, f64::INFINITY),
            early: 0.0,
        }
    }
}

/// The block that a request is of: its place on the SM, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asker {
    pub(crate) place: usize,
    pub(crate) block: u64,
}

impl<'a> MemorySystem<'a> {
    pub(crate) fn new(rates: &'a Rates, load: Load<'a>) -> Self {
        Self {
            rates,
            load,
            l1: L1::new(rates.l1_bytes.saturating_sub(load.shared)),
            read: HashMap::new(),
            stores: Stores::default(),
            lsu: Server::default(),
            passed: 0.0,
            held: 0,
            copies: Server::default(),
            l2: Server::default(),
            l2_stores: Server::default(),
            atomics: Server::default(),
            dram: Server::default(),
            used: (0.0, 0),
            fetched: 0,
            through: 0,
            local: HashMap::new(),
            flight: 0.0,
            sector: Sector::new(rates, load.active),
            last_sector: Sector::new(rates, load.last.1),
        }
    }

    /// When the unit for loads and stores takes something again.
    pub(crate) fn free(&self) -> Ticks {
        self.lsu.free()
    }

    /// Takes the unit for so many clocks: until when.
    pub(crate) fn pass(&mut self, now: Ticks, clocks: f64) -> Ticks {
        self.passed += clocks;
        self.lsu.take(now, clocks * TICKS as f64);
        self.lsu.free()
    }

    /// Bytes on their way, times ticks.
    pub(crate) fn flight(&self) -> f64 {
        self.flight
    }

    /// For how many ticks everything has had work.
    pub(crate) fn worked(&self) -> [(Busy, f64); 4] {
        // A few SMs never ask for all that others could have.
        let of =
            |unit, total: f64| if total / self.load.active < self.rates.sm_bytes_per_clock { unit } else { Busy::Port };
        let l2 = self.l2.worked().max(self.l2_stores.worked());
        [
            (Busy::Lsu, self.lsu.worked()),
            (Busy::Atomics, self.atomics.worked()),
            (of(Busy::L2, self.rates.l2_bytes_per_clock), l2),
            (of(Busy::Dram, self.rates.dram_bytes_per_clock), self.dram.worked()),
        ]
    }

    /// When all stores and atomics so far are done.
    pub(crate) fn drained(&self) -> Ticks {
        self.l2_stores.free().max(self.atomics.free())
    }

    /// When the data of a warp's load of so many bytes is there. `past_l1`: it goes to L2, whatever the L1 has.
    pub(crate) fn load(&mut self, now: Ticks, lines: &[Line], bytes: u64, asker: Asker, past_l1: bool) -> Ticks {
        let begun = self.begin(now, lines, bytes);
        let scattered = are_scattered(lines);
        let apart = scattered || are_sparse(lines, bytes);
        let sector = self.sector_of(asker);
        let mut done = begun;
        for line in lines {
            let key = self.key(line, asker);
            let (there, at) = if past_l1 { (0, 0) } else { self.l1.get(key) };
            let missing = line.sectors & !there;
            if missing == 0 {
                done = done.max(at.max(begun + ticks(self.rates.l1_latency)));
                continue;
            }
            let came = self.miss(begun, line, missing, asker, (scattered, apart), sector);
            self.l1.keep(key, there | missing, came.max(at));
            done = done.max(came);
        }
        done
    }

    /// What lines are known by: blocks whose recording stands for others have lines of their own.
    fn key(&self, line: &Line, asker: Asker) -> u64 {
        if self.load.common.contains(&line.number) { line.number } else { own(line, asker) }
    }

    /// When sectors of a line are there that L1 lacks.
    fn miss(
        &mut self,
        begun: Ticks,
        line: &Line,
        missing: u8,
        asker: Asker,
        (scattered, apart): (bool, bool),
        sector: Sector,
    ) -> Ticks {
        let begun = begun.max(self.held);
        let common = self.load.common.contains(&line.number);
        let own = own(line, asker);
        let piece = self.piece(line.number);
        let (before, then) = self.read.get(&own).copied().unwrap_or((0, self.fetched));
        let first = missing & !before;
        // What all SMs have fetched since then may have taken its place in L2. What they share, one brings for all.
        let sharers = piece.map_or(1.0, |(_, piece)| piece.sharers);
        let since = (self.fetched - then) as f64 * 32.0 * self.load.active / sharers;
        let chance = chance_of(line, piece, if common { 0 } else { asker.block });
        let gone = if since > self.rates.l2_bytes && chance * sharers < 1.0 { missing & before } else { 0 };
        let gone = if line.is_local() && mixed(own ^ self.through) < self.left_l2(own) { missing } else { gone };
        let fresh = match piece {
            Some((_, piece)) if common => piece.fresh_common,
            Some((_, piece)) => piece.fresh,
            None => 0.0,
        };
        // What is read here and there is seldom read again before it has to go.
        let evicted = piece.map_or(0.0, |(_, piece)| piece.evicted);
        let share = if apart { fresh + (1.0 - fresh) * evicted } else { fresh };
        let from_dram = gone | if chance < share { first } else { 0 };
        // Blocks that run at the same time ask for what they share at the same time: all of them wait for it.
        // What is read here and there, each asks for at another time.
        let lacks = piece.is_some_and(|(_, piece)| chance < piece.missing);
        let waits = !scattered && first != 0 && share > 0.0 && lacks && (asker.block < self.load.first_wave || !common);
        // What is waited for comes with its other half, too.
        let halves = halves_of(from_dram | if waits { first } else { 0 });
        self.read.insert(own, (before | missing | halves, self.fetched));
        let shared = !apart && (common || sharers >= SHARED);
        let kind = (scattered, waits, shared);
        let came = self.fetch(begun, missing.count_ones(), from_dram, kind, sector);
        self.flight += f64::from(32 * missing.count_ones()) * came.saturating_sub(begun) as f64;
        came
    }

    /// A warp's store of so many bytes, which goes its way: when the warp knows that L2 has it, if it asks. `written` has
    /// the bytes of sectors that the block writes in all.
    pub(crate) fn store(
        &mut self,
        now: Ticks,
        lines: &[Line],
        bytes: u64,
        asker: Asker,
        written: &HashMap<u64, u32>,
    ) -> Ticks {
        let begun = self.begin(now, lines, bytes);
        let scattered = are_scattered(lines);
        let apart = scattered || are_sparse(lines, bytes);
        let sector = self.sector_of(asker);
        for line in lines {
            let key = own(line, asker);
            if line.is_local() {
                self.store_local(begun, line, key, sector);
                continue;
            }
            // A line of which something else is on its way takes no store until that is there. What goes to L2 gets not
            // past: an H200's loads that hit, and accesses to shared memory, do.
            let (_, at) = self.l1.get(self.key(line, asker));
            self.held = self.held.max(at);
            self.store_line(begun, line, asker, (scattered, apart), sector, written);
        }
        self.hold_back(self.l2_stores.free().max(self.dram.free()).max(self.held));
        self.l2_stores.free().max(begun) + ticks(self.rates.l2_latency)
    }

    /// A line's sectors go to L2.
    fn store_line(
        &mut self,
        begun: Ticks,
        line: &Line,
        asker: Asker,
        (scattered, apart): (bool, bool),
        sector: Sector,
        written: &HashMap<u64, u32>,
    ) {
        let begun = begun.max(self.held);
        let piece = self.piece(line.number);
        let chance = chance_of(line, piece, asker.block);
        let fresh = piece.map_or(1.0, |(_, piece)| piece.fresh_written);
        let evicted = piece.map_or(0.0, |(_, piece)| piece.evicted);
        let again = if apart { (1.0 - fresh) * evicted } else { 0.0 };
        let first = chance < fresh + again;
        let missing = chance < fresh * piece.map_or(1.0, |(_, piece)| piece.missing) + again;
        let store = stores::Store { line, key: own(line, asker), scattered, first, missing };
        let (sectors, new) = self.stores.cost(self.rates, self.passed, &store, written);
        self.through += u64::from(line.sectors.count_ones());
        self.l2_stores.take(begun, sector.store * sectors);
        self.l2.take(begun, sector.written * f64::from(line.sectors.count_ones()));
        self.make_room(begun, f64::from(new), sector);
    }

    /// The L1 writes local memory through, and keeps it: an H200 takes the time of such stores though all arrays fit (`rotate_runtime` of
    /// `lessons/shared-memory`). L2 writes back what was there before, if that has had to go: the memory of a place on the SM is written by
    /// one block after the other.
    fn store_local(&mut self, begun: Ticks, line: &Line, key: u64, sector: Sector) {
        let sectors = f64::from(line.sectors.count_ones());
        // Lanes that are at different elements of their arrays write parts of sectors.
        let parts = if line.sectors == line.whole { 0.0 } else { self.rates.partial_line };
        self.l1.keep(key, line.sectors, begun);
        self.l2_stores.take(begun, sector.store * (sectors + parts));
        self.l2.take(begun, sector.written * sectors);
        let written_back = sectors * self.left_l2(key) * self.rates.dram_write;
        self.take_dram(begun, written_back, self.rates.written_load, sector);
        self.through += u64::from(line.sectors.count_ones());
        self.local.insert(key, self.through);
    }

    /// The share of a line of local memory that has left L2 since it was written: what comes in takes the place of any other.
    fn left_l2(&self, key: u64) -> f64 {
        let since = self.local.get(&key).map_or(0, |then| self.through - then);
        1.0 - (-(since as f64) * 32.0 * self.load.active / self.rates.l2_bytes).exp()
    }

    /// A warp's atomics: when the old values are there.
    pub(crate) fn atomic(&mut self, now: Ticks, lines: &[Line], op: &Op, asker: Asker) -> Ticks {
        let begun = self.begin(now, lines, 0).max(self.held);
        let least = if op.float { self.rates.float_atomic } else { self.rates.atomic };
        let sector = self.sector_of(asker);
        for line in lines {
            let sectors = f64::from(line.sectors.count_ones());
            self.take_l2(
                begun,
                self.rates.atomic_sector * sectors,
                sector.l2[0],
                self.rates.atomic_sector * sector.request,
            );
            // Lanes with one address go one after the other, and so do all SMs at a line. Neighbouring lines are in one slice of L2.
            let slices = self.piece(line.number).map_or(1e6, |(_, piece)| (piece.written_sectors / 16.0).max(1.0));
            let round = least.max(self.rates.atomic_round * sectors);
            let lanes = if op.one_lane { 1 } else { line.conflicts.max(1) };
            let clocks = f64::from(lanes) * round * self.active(asker) / slices;
            self.atomics.take(begun, clocks * TICKS as f64);
        }
        let done = self.l2.free().max(self.atomics.free());
        self.hold_back(done);
        done.max(begun) + ticks(self.rates.l2_latency)
    }

    /// SMs that do the same at the same time.
    fn active(&self, asker: Asker) -> f64 {
        if asker.block == self.load.last.0 { self.load.last.1 } else { self.load.active }
    }

    fn sector_of(&self, asker: Asker) -> Sector {
        let sector = if asker.block == self.load.last.0 { self.last_sector } else { self.sector };
        let early = if asker.block < self.load.first_wave { 0.0 } else { self.rates.dram_turns * TICKS as f64 };
        Sector { early, ..sector }
    }

    /// The unit goes through a request: a line, or 128 bytes, at a time.
    fn begin(&mut self, now: Ticks, lines: &[Line], bytes: u64) -> Ticks {
        let passes = bytes.div_ceil(128).max(lines.len() as u64).max(1);
        self.passed += passes as f64;
        self.lsu.take(now, (passes * TICKS) as f64)
    }

    /// The queues behind the unit are as long as they are.
    fn hold_back(&mut self, behind: Ticks) {
        self.lsu.wait_until(self.full_until(behind));
    }

    /// Until when queues that are behind until then have no room.
    fn full_until(&self, behind: Ticks) -> Ticks {
        behind.saturating_sub(ticks(self.rates.store_backlog))
    }

    /// When sectors of a line are there, of which L2 lacks some.
    fn fetch(
        &mut self,
        begun: Ticks,
        sectors: u32,
        from_dram: u8,
        (scattered, waits, shared): (bool, bool, bool),
        sector: Sector,
    ) -> Ticks {
        self.fetched += u64::from(sectors);
        self.through += u64::from(sectors);
        let hit = self.take_l2(begun, f64::from(sectors), sector.l2[usize::from(shared)], sector.request)
            + ticks(self.rates.l2_latency);
        if from_dram == 0 && !waits {
            return hit;
        }
        let halves = f64::from(halves_of(from_dram).count_ones() / 2);
        let times = if scattered { self.rates.scattered } else { 1.0 };
        let through = self.take_dram(begun, 2.0 * halves * times, 1.0, sector);
        let busy = self.rates.loaded_latency * self.used.0 * self.used.0;
        self.make_room(begun, 2.0 * halves, sector);
        hit.max(through + ticks(self.rates.dram_latency + busy))
    }

    /// So many sectors come into L2: what was written to others goes to DRAM.
    fn make_room(&mut self, begun: Ticks, sectors: f64, sector: Sector) {
        let sectors = sectors * self.load.written_back * self.rates.dram_write;
        self.take_dram(begun, sectors, self.rates.written_load, sector);
    }

    /// Sectors of a line that take so many ticks each, and the line as many at least as a request does.
    fn take_l2(&mut self, begun: Ticks, sectors: f64, each: f64, request: f64) -> Ticks {
        self.l2.take(begun, (each * sectors).max(request));
        self.l2.free()
    }

    /// `counts` is how much of it makes others wait.
    fn take_dram(&mut self, begun: Ticks, sectors: f64, counts: f64, sector: Sector) -> Ticks {
        let time = sector.dram * sectors;
        let window = self.rates.loaded_window * TICKS as f64;
        let (used, at) = self.used;
        let passed = begun.saturating_sub(at) as f64;
        let left = used * window / (window + passed);
        self.used = ((left + counts * sector.loaded * sectors / window).min(1.0), at.max(begun));
        self.dram.take_early(begun, time, sector.early);
        self.dram.free().max(begun)
    }

    /// The allocation that a line begins in, with its place among them.
    fn piece(&self, line: u64) -> Option<(usize, Piece)> {
        piece_of(self.load.pieces, line).map(|at| (at, self.load.pieces[at]))
    }
}

/// Which of the pieces, which stand in the order of their addresses, a line begins in.
pub(crate) fn piece_of(pieces: &[Piece], line: u64) -> Option<usize> {
    let address = line * 128;
    let at = pieces.partition_point(|piece| piece.start <= address).checked_sub(1)?;
    (address < pieces[at].end).then_some(at)
}

/// A line as one block has it. Line numbers have fewer than 56 bits. Local memory is that of a place on the SM.
fn own(line: &Line, asker: Asker) -> u64 {
    line.number ^ if line.is_local() { asker.place as u64 } else { asker.block } << 40
}

/// A number from 0 to 1 for a line and a block, wherever its allocation lies.
fn chance_of(line: &Line, piece: Option<(usize, Piece)>, block: u64) -> f64 {
    let of = |(index, piece): (usize, Piece)| {
        let offset = line.number.wrapping_sub(piece.start / 128);
        mixed(offset ^ (index as u64) << 48 ^ block << 36)
    };
    piece.map_or(1.0, of)
}

/// Sectors that come with these: DRAM is read by 64 bytes.
fn halves_of(sectors: u8) -> u8 {
    let half = |mask: u8| if sectors & mask == 0 { 0 } else { mask };
    half(0b0011) | half(0b1100)
}

/// Whether lines are far from each other, and so in many pages of DRAM.
fn are_scattered(lines: &[Line]) -> bool {
    let near = |pair: &&[Line]| pair[0].number.abs_diff(pair[1].number) <= 8;
    lines.len() > 8 && !lines[0].is_local() && 2 * lines.windows(2).filter(near).count() < lines.len()
}

/// Whether lanes have sectors of their own, and little of each: what else is in them, others reach at another time.
fn are_sparse(lines: &[Line], bytes: u64) -> bool {
    let sectors = || lines.iter().map(|line| u64::from(line.sectors.count_ones())).sum::<u64>();
    lines.len() > 8 && !lines[0].is_local() && 2 * bytes < 32 * sectors()
}

/// A number from 0 to 1 that depends on nothing but `of`.
fn mixed(of: u64) -> f64 {
    let mixed = of.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: Piece = Piece {
        start: 0,
        end: 1 << 30,
        fresh: 1.0,
        fresh_common: 1.0,
        fresh_written: 1.0,
        missing: 1.0,
        evicted: 0.0,
        written_sectors: 1.0,
        sharers: 1.0,
    };
    const ASKER: Asker = Asker { place: 0, block: 0 };

    fn line(number: u64) -> Line {
        Line { number, sectors: 0b1111, whole: 0b1111, conflicts: 1 }
    }

    fn with<T>(active: f64, f: impl FnOnce(&mut MemorySystem<'_>) -> T) -> T {
        let (rates, common) = (Rates::h200(), HashSet::new());
        let load = Load {
            pieces: &[PIECE],
            common: &common,
            active,
            last: (u64::MAX, 1.0),
            written_back: 0.0,
            shared: 0,
            first_wave: 1,
        };
        f(&mut MemorySystem::new(&rates, load))
    }

    #[test]
    fn what_was_read_is_in_the_l1() {
        with(1.0, |memory| {
            let first = memory.load(0, &[line(1)], 128, ASKER, false);
            let again = memory.load(first, &[line(1)], 128, ASKER, false) - first;
            let past = memory.load(2 * first, &[line(1)], 128, ASKER, true) - 2 * first;
            assert_eq!(again, ticks(Rates::h200().l1_latency));
            assert!(first > 2 * past && past > 4 * again, "{first} {past} {again}");
        });
    }

    #[test]
    fn the_share_of_dram_limits_what_comes() {
        let bytes = 128.0 * 4000.0;
        let ticks_of = |active| {
            with(active, |memory| (0..4000).map(|i| memory.load(0, &[line(i)], 128, ASKER, false)).max().unwrap_or(0))
        };
        let (one, all) = (ticks_of(1.0) as f64, ticks_of(132.0) as f64);
        let reached = bytes * 132.0 / (all / TICKS as f64);
        assert!((0.8..=1.0).contains(&(reached / Rates::h200().dram_bytes_per_clock)), "{reached}");
        assert!(one < 0.7 * all, "{one} {all}");
    }

    #[test]
    fn a_few_sms_use_little_of_dram() {
        let used = |active: f64| {
            with(active, |memory| {
                for i in 0..4000 {
                    memory.load(0, &[line(i)], 128, ASKER, false);
                }
                memory.used.0
            })
        };
        assert!((0.99..=1.0).contains(&used(132.0)), "{}", used(132.0));
        // A line each clock.
        let asked = 128.0 / Rates::h200().dram_bytes_per_clock;
        assert!((0.5 * asked..=1.1 * asked).contains(&used(1.0)), "{} {asked}", used(1.0));
    }

    #[test]
    fn atomics_at_one_address_go_one_after_the_other() {
        let with_conflicts = |conflicts| {
            with(132.0, |memory| {
                let line = Line { number: 1, sectors: 1, whole: 0, conflicts };
                let op =
                    Op { float: true, ..Op::new(crate::timing::cost::FOLDED, crate::timing::program::Kind::Plain) };
                (0..100).map(|_| memory.atomic(0, &[line], &op, ASKER)).max().unwrap_or(0)
            })
        };
        assert!(with_conflicts(32) > with_conflicts(1), "{} {}", with_conflicts(32), with_conflicts(1));
    }
}
