//! Global memory as one SM sees it: its L1, its way to L2, and its share of DRAM.

use std::collections::{HashMap, HashSet, VecDeque};

use super::rates::Rates;
use super::{TICKS, Ticks, ticks};
use crate::exec::Line;

/// What is known of a piece of memory that a launch reaches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Of a block's first reads of its sectors, the share that no other block has brought to L2.
    pub(crate) fresh: f64,
    /// Of the sectors that are written, the share that DRAM takes before the launch is over.
    pub(crate) written_back: f64,
    /// Sectors that atomics meet at.
    pub(crate) met: f64,
}

#[derive(Debug)]
pub(crate) struct MemorySystem<'a> {
    rates: &'a Rates,
    pieces: &'a [Piece],
    /// Lines of the L1, the sectors that are there or on their way, and when they have come.
    l1: HashMap<u64, (u8, Ticks)>,
    order: VecDeque<u64>,
    l1_lines: usize,
    /// Sectors that a block has read before, and how many this SM had fetched by then.
    seen: HashMap<u64, (u8, u64)>,
    /// Lines that several of the recorded blocks read.
    common: &'a HashSet<u64>,
    /// When each is free again.
    pub(crate) lsu: Ticks,
    l2: Ticks,
    dram: Ticks,
    stores: Ticks,
    /// Sectors that a block has written before.
    stored: HashMap<u64, (u8, Ticks)>,
    store_sector: f64,
    atomics: Ticks,
    active: f64,
    /// Blocks of the SM that begin at once.
    first_wave: u64,
    /// Of an SM's share of DRAM: how much was used of late, and when that was computed.
    used: f64,
    used_at: Ticks,
    /// Ticks for a sector.
    l2_sector: f64,
    l2_rest: f64,
    dram_sector: f64,
    dram_rest: f64,
    pub(crate) dram_sectors: u64,
    pub(crate) l2_sectors: u64,
}

impl<'a> MemorySystem<'a> {
    /// For one of so many SMs that have work; shared memory takes its bytes from the L1.
    pub(crate) fn new(
        rates: &'a Rates,
        pieces: &'a [Piece],
        common: &'a HashSet<u64>,
        active: f64,
        shared: u64,
        first_wave: u64,
    ) -> Self {
        let share = |total: f64| (total / active).min(rates.sm_bytes_per_clock);
        Self {
            rates,
            pieces,
            l1: HashMap::new(),
            order: VecDeque::new(),
            l1_lines: (rates.l1_bytes.saturating_sub(shared) / 128) as usize,
            seen: HashMap::new(),
            common,
            stores: 0,
            stored: HashMap::new(),
            store_sector: TICKS as f64 * 32.0 / (rates.l2_store_bytes_per_clock / active).min(rates.sm_store_bytes_per_clock),
            lsu: 0,
            l2: 0,
            dram: 0,
            atomics: 0,
            active,
            first_wave,
            used: 0.0,
            used_at: 0,
            l2_sector: TICKS as f64 * 32.0 / share(rates.l2_bytes_per_clock),
            l2_rest: 0.0,
            dram_sector: TICKS as f64 * 32.0 / share(rates.dram_bytes_per_clock),
            dram_rest: 0.0,
            dram_sectors: 0,
            l2_sectors: 0,
        }
    }

    fn piece(&self, line: u64) -> Option<&Piece> {
        let address = line * 128;
        self.pieces.iter().find(|piece| piece.start < address + 128 && address < piece.end)
    }

    /// Which share of an allocation L2 has no room for.
    fn too_large(&self, piece: Option<Piece>) -> f64 {
        piece.map_or(0.0, |piece| (1.0 - self.rates.l2_bytes as f64 / (piece.end - piece.start) as f64).max(0.0))
    }

    /// When the data of a load is there that the unit for loads takes at `now`.
    pub(crate) fn load(&mut self, now: Ticks, lines: &[Line], bytes: u64, instance: u64, past_l1: bool) -> Ticks {
        let wavefronts = (bytes.div_ceil(128)).max(lines.len() as u64).max(1);
        let begun = now.max(self.lsu);
        self.lsu = begun + wavefronts * TICKS;
        let mut done = begun;
        let astray = is_astray(lines);
        for line in lines {
            let piece = self.piece(line.number).copied();
            let key = if self.common.contains(&line.number) { line.number } else { line.number ^ instance << 40 };
            let (there, at) = if past_l1 { (0, 0) } else { self.l1.get(&key).copied().unwrap_or((0, 0)) };
            let missing = line.sectors & !there;
            if missing == 0 {
                done = done.max(at.max(begun + ticks(self.rates.l1_latency)));
                continue;
            }
            let own = line.number ^ instance << 40;
            let (before, then) = self.seen.get(&own).copied().unwrap_or((0, self.l2_sectors));
            let first = missing & !before;
            // What all SMs have fetched since then may have taken its place.
            let since = (self.l2_sectors - then) as f64 * 32.0 * self.active;
            let again = if since > self.rates.l2_bytes as f64 { missing & before } else { 0 };
            self.seen.insert(own, (before | missing, self.l2_sectors));
            let fresh = piece.map_or(0.0, |piece| piece.fresh);
            // It is read by 64 bytes.
            // What is read here and there is seldom read again before it has to go.
            let fresh = if astray { fresh.max(self.too_large(piece)) } else { fresh };
            let asked = again | if fresh >= 1.0 || chance(own) < fresh { first } else { 0 };
            let halves = f64::from(asked & 3 != 0) + f64::from(asked & 12 != 0);
            let from_dram = 2.0 * halves * if astray { self.rates.astray } else { 1.0 };
            // Blocks that run at the same time ask for what they share at the same time: all of them wait for it.
            let waits = first != 0 && fresh > 0.0 && (instance < self.first_wave || !self.common.contains(&line.number));
            let came = self.fetch(begun, missing.count_ones(), from_dram, waits);
            self.keep(key, there | missing, came.max(at));
            done = done.max(came);
        }
        done
    }

    /// A store, whose data goes its way. Of `written`, bytes of sectors that the block writes in all.
    pub(crate) fn store(&mut self, now: Ticks, lines: &[Line], bytes: u64, instance: u64, written: &HashMap<u64, u32>) {
        let wavefronts = (bytes.div_ceil(128)).max(lines.len() as u64).max(1);
        let begun = now.max(self.lsu);
        self.lsu = begun + wavefronts * TICKS;
        let sectors: u32 = lines.iter().map(|line| line.sectors.count_ones()).sum();
        let astray = is_astray(lines);
        let covers = bytes >= 32 * u64::from(sectors);
        for line in lines {
            let own = line.number ^ instance << 40;
            let (before, then) = self.stored.get(&own).copied().unwrap_or_default();
            let new = line.sectors & !before;
            self.stored.insert(own, (before | new, begun));
            let recent = begun.saturating_sub(then) < ticks(self.rates.merge_clocks);
            let count = new.count_ones();
            let again = f64::from((line.sectors & !new).count_ones());
            let whole = |sector: u64| written.get(&(line.number * 4 + sector)).is_none_or(|bytes| *bytes == u32::MAX);
            // Memory is written by 64 bytes. A sector of which the block writes a part has to be put together.
            let piece = self.piece(line.number).copied();
            let alone_cost = self.rates.partial_store
                + (self.rates.partial_store_alone * if astray { self.rates.astray_store } else { 1.0 } - self.rates.partial_store)
                    * self.too_large(piece);
            let cost = match (covers, lines.len() <= 4 && (again == 0.0 || recent)) {
                (true, _) => f64::from(line.sectors.count_ones()),
                // What comes to few lines at once finds the store before it still on its way.
                (false, true) => {
                    let parts = |half: u64| {
                        let sectors = new >> half & 3;
                        let parts = (0..2).any(|i| sectors >> i & 1 == 1 && !whole(half + i));
                        match (sectors.count_ones(), parts) {
                            (count, false) => f64::from(count),
                            (1, true) => alone_cost,
                            (count, true) => f64::from(count) * self.rates.partial_store,
                        }
                    };
                    again * self.rates.merged_store + parts(0) + parts(2)
                }
                (false, false) => {
                    let alone = (0..4).filter(|sector| new >> sector & 1 == 1 && new >> (sector ^ 1) & 1 == 0 && !whole(*sector)).count() as f64;
                    alone * alone_cost
                        + (f64::from(line.sectors.count_ones()) - alone) * self.rates.partial_store
                }
            };
            let back = piece.map_or(0.0, |piece| piece.written_back);
            self.stores = self.stores.max(begun) + (self.store_sector * cost) as Ticks;
            if back > 0.0 {
                self.dram_rest += back * f64::from(count);
                let whole = self.dram_rest as u32;
                self.dram_rest -= f64::from(whole);
                self.take_dram(begun, f64::from(whole), self.rates.written_load);
            }
        }
        // Queues are as long as they are.
        let full = ticks(self.rates.store_backlog);
        self.lsu = self.lsu.max(self.stores.max(self.dram).max(self.atomics).saturating_sub(full));
    }

    /// Atomics on these lines: when the answer is there.
    pub(crate) fn atomic(&mut self, now: Ticks, lines: &[Line], float: bool) -> Ticks {
        let begun = now.max(self.lsu);
        self.lsu = begun + lines.len().max(1) as u64 * TICKS;
        let least = if float { self.rates.float_atomic_clocks } else { self.rates.atomic_clocks };
        for line in lines {
            let sectors = line.sectors.count_ones();
            self.take_l2(begun, sectors, self.rates.atomic_sector);
            // Lanes that meet go one after the other, and so do all SMs at one line. Neighbouring lines are in one slice of L2.
            let met = self.piece(line.number).map_or(1e6, |piece| piece.met);
            let round = least.max(self.rates.atomic_round * f64::from(sectors));
            let clocks = f64::from(line.meet.max(1)) * round * self.active / (met / 16.0).max(1.0);
            self.atomics = self.atomics.max(begun) + ticks(clocks);
        }
        self.lsu = self.lsu.max(self.atomics.max(self.l2).saturating_sub(ticks(self.rates.store_backlog)));
        self.l2.max(self.atomics).max(begun) + ticks(self.rates.l2_latency)
    }

    fn fetch(&mut self, begun: Ticks, sectors: u32, from_dram: f64, waits: bool) -> Ticks {
        self.l2_sectors += u64::from(sectors);
        let through = self.take_l2(begun, sectors, 1.0);
        let hit = through + ticks(self.rates.l2_latency);
        if from_dram == 0.0 && !waits {
            return hit;
        }
        self.dram_sectors += from_dram as u64;
        let through = self.take_dram(begun, from_dram, 1.0);
        let busy = self.rates.loaded_clocks * self.used * self.used;
        hit.max(through + ticks(self.rates.dram_latency + busy))
    }

    fn take_l2(&mut self, begun: Ticks, sectors: u32, times: f64) -> Ticks {
        self.l2_rest += (self.l2_sector * f64::from(sectors)).max(self.rates.l2_request * TICKS as f64) * times;
        let whole = self.l2_rest as Ticks;
        self.l2_rest -= whole as f64;
        self.l2 = self.l2.max(begun) + whole;
        self.l2
    }

    fn take_dram(&mut self, begun: Ticks, sectors: f64, counts: f64) -> Ticks {
        let time = self.dram_sector * sectors;
        // How busy the memory is, forgotten at a rate of one in so many clocks.
        let window = self.rates.loaded_window * TICKS as f64;
        let gone = begun.saturating_sub(self.used_at) as f64;
        self.used *= (-gone / window).exp();
        self.used_at = self.used_at.max(begun);
        self.used = (self.used + counts * time / window).min(1.0);
        self.dram = self.dram.max(begun) + time as Ticks;
        self.dram
    }

    fn keep(&mut self, key: u64, sectors: u8, at: Ticks) {
        if self.l1.insert(key, (sectors, at)).is_none() {
            self.order.push_back(key);
            while self.order.len() > self.l1_lines.max(1) {
                if let Some(oldest) = self.order.pop_front() {
                    self.l1.remove(&oldest);
                }
            }
        }
    }

    /// A block has ended: nobody asks for what it has read.
    pub(crate) fn drained(&self) -> Ticks {
        self.stores.max(self.atomics)
    }

    pub(crate) fn forget_seen(&mut self) {
        if self.seen.len() > 1 << 20 {
            self.seen.clear();
            self.stored.clear();
        }
    }
}

/// Whether lines are far from each other, and so in many pages of memory.
fn is_astray(lines: &[Line]) -> bool {
    let near = |pair: &&[Line]| pair[0].number.abs_diff(pair[1].number) <= 8;
    lines.len() > 8 && 2 * lines.windows(2).filter(near).count() < lines.len()
}

/// A number from 0 to 1 that depends on nothing but `of`.
fn chance(of: u64) -> f64 {
    let mixed = of.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 53) as f64
}
