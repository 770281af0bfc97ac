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

    /// When the data of a load is there that the unit for loads takes at `now`.
    pub(crate) fn load(&mut self, now: Ticks, lines: &[Line], bytes: u64, instance: u64, past_l1: bool) -> Ticks {
        let wavefronts = (bytes.div_ceil(128)).max(lines.len() as u64).max(1);
        let begun = now.max(self.lsu);
        self.lsu = begun + wavefronts * TICKS;
        let mut done = begun;
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
            let again = if since > self.rates.l2_bytes as f64 { (missing & before).count_ones() } else { 0 };
            self.seen.insert(own, (before | missing, self.l2_sectors));
            let fresh = piece.map_or(0.0, |piece| piece.fresh);
            let from_dram = again + if fresh >= 1.0 || chance(own) < fresh { first.count_ones() } else { 0 };
            // Blocks that run at the same time ask for what they share at the same time: all of them wait for it.
            let waits = first != 0 && fresh > 0.0 && (instance < self.first_wave || !self.common.contains(&line.number));
            let came = self.fetch(begun, missing.count_ones(), from_dram, waits);
            self.keep(key, there | missing, came.max(at));
            done = done.max(came);
        }
        done
    }

    /// A store, whose data goes its way: when the unit may take the next one.
    pub(crate) fn store(&mut self, now: Ticks, lines: &[Line], bytes: u64) {
        let wavefronts = (bytes.div_ceil(128)).max(lines.len() as u64).max(1);
        let begun = now.max(self.lsu);
        self.lsu = begun + wavefronts * TICKS;
        // A sector of which a part is written takes L2 as long as two.
        let sectors: u32 = lines.iter().map(|line| line.sectors.count_ones()).sum();
        let parts = if bytes < 32 * u64::from(sectors) { self.rates.partial_store } else { 1.0 };
        for line in lines {
            let count = line.sectors.count_ones();
            let back = self.piece(line.number).map_or(0.0, |piece| piece.written_back);
            self.stores = self.stores.max(begun) + (self.store_sector * parts * f64::from(count)) as Ticks;
            if back > 0.0 {
                self.dram_rest += back * f64::from(count);
                let whole = self.dram_rest as u32;
                self.dram_rest -= f64::from(whole);
                self.take_dram(begun, whole);
            }
        }
        // Queues are as long as they are.
        let full = ticks(self.rates.store_backlog);
        self.lsu = self.lsu.max(self.stores.max(self.dram).max(self.atomics).saturating_sub(full));
    }

    /// Atomics of so many lanes on these lines: when the answer is there.
    pub(crate) fn atomic(&mut self, now: Ticks, lines: &[Line], float: bool) -> Ticks {
        let begun = now.max(self.lsu);
        self.lsu = begun + lines.len().max(1) as u64 * TICKS;
        let mut done = begun;
        for line in lines {
            let count = line.sectors.count_ones();
            let came = self.take_l2(begun, count);
            done = done.max(came + ticks(self.rates.l2_latency));
        }
        // Those of all SMs at one sector go one after the other.
        let met = lines.first().and_then(|line| self.piece(line.number)).map_or(1e6, |piece| piece.met);
        let clocks = if float { self.rates.float_atomic_clocks } else { self.rates.atomic_clocks };
        let each = clocks * self.active / met.max(1.0);
        self.atomics = self.atomics.max(begun) + ticks(each * lines.len() as f64);
        self.lsu = self.lsu.max(self.atomics.saturating_sub(ticks(self.rates.store_backlog)));
        done.max(self.atomics + ticks(self.rates.l2_latency))
    }

    fn fetch(&mut self, begun: Ticks, sectors: u32, from_dram: u32, waits: bool) -> Ticks {
        self.l2_sectors += u64::from(sectors);
        let through = self.take_l2(begun, sectors);
        let hit = through + ticks(self.rates.l2_latency);
        if from_dram == 0 && !waits {
            return hit;
        }
        self.dram_sectors += u64::from(from_dram);
        let through = self.take_dram(begun, from_dram);
        let busy = self.rates.loaded_clocks * self.used * self.used;
        hit.max(through + ticks(self.rates.dram_latency + busy))
    }

    fn take_l2(&mut self, begun: Ticks, sectors: u32) -> Ticks {
        self.l2_rest += self.l2_sector * f64::from(sectors);
        let whole = self.l2_rest as Ticks;
        self.l2_rest -= whole as f64;
        self.l2 = self.l2.max(begun) + whole;
        self.l2
    }

    fn take_dram(&mut self, begun: Ticks, sectors: u32) -> Ticks {
        let time = self.dram_sector * f64::from(sectors);
        // How busy the memory is, forgotten at a rate of one in so many clocks.
        let window = self.rates.loaded_window * TICKS as f64;
        let gone = begun.saturating_sub(self.used_at) as f64;
        self.used *= (-gone / window).exp();
        self.used_at = self.used_at.max(begun);
        self.used = (self.used + time / window).min(1.0);
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
        }
    }
}

/// A number from 0 to 1 that depends on nothing but `of`.
fn chance(of: u64) -> f64 {
    let mixed = of.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 53) as f64
}
