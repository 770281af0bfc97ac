//! What a store costs L2: whole sectors go through; of a part, the rest has to be put to it. What an SM has just written to a line waits
//! a little for more of it.
//!
//! Timed by `crates/timings/kernels/calibration/accesses.cu` (`write_apart`, `write_turns`, `write_random`).

use std::collections::HashMap;

use crate::exec::Line;
use crate::timing::rates::Rates;

/// Sectors that blocks have written before, and how far the unit for loads and stores was then.
#[derive(Debug, Default)]
pub(super) struct Stores {
    written: HashMap<u64, (u8, f64)>,
}

/// A store to one line.
pub(super) struct Store<'a> {
    pub(super) line: &'a Line,
    /// The line as its block has it.
    pub(super) key: u64,
    pub(super) scattered: bool,
    /// No other block has written to it before; nor has L2 anything of it.
    pub(super) first: bool,
    pub(super) missing: bool,
}

impl Stores {
    /// How many whole sectors it is worth, and how many sectors are new. `passed`: what has passed the unit so far. `bytes` has those of sectors that the block writes in all.
    pub(super) fn cost(
        &mut self,
        rates: &Rates,
        passed: f64,
        store: &Store<'_>,
        bytes: &HashMap<u64, u32>,
    ) -> (f64, u32) {
        let &Store { line, key, scattered, first, missing } = store;
        let (before, then) = self.written.get(&key).copied().unwrap_or_default();
        let new = line.sectors & !before;
        let merges = before != 0 && line.whole != line.sectors && passed - then <= rates.merging_passes;
        self.written.insert(key, (before | new, passed));
        let to_dram = if first { new.count_ones() } else { 0 };
        if line.sectors == line.whole || merges {
            let sectors = if merges { new } else { line.sectors };
            return (f64::from(sectors.count_ones()), to_dram);
        }
        // Of 64 bytes of which a block writes one part only, DRAM has the rest.
        let alone = rates.partial_store_alone * if scattered { rates.scattered_store } else { 1.0 };
        let completed = |sector: u64| bytes.get(&(line.number * 4 + sector)).is_none_or(|bytes| *bytes == u32::MAX);
        let has = |mask: u8, sector: u64| mask >> (sector & 3) & 1 == 1;
        let each = |sector: u64| match (has(line.sectors, sector), missing && has(new, sector) && !completed(sector)) {
            (false, _) => 0.0,
            (true, true) if has(new, sector ^ 1) => rates.partial_store,
            (true, true) => alone,
            (true, false) => 1.0,
        };
        (rates.partial_line + (0..4).map(each).sum::<f64>(), to_dram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(stores: &mut Stores, passed: f64, sectors: u8, whole: u8) -> f64 {
        let line = Line { number: 7, sectors, whole, conflicts: 0 };
        let bytes = (28..32).map(|sector| (sector, 0xf)).collect();
        let store = Store { line: &line, key: 7, scattered: false, first: true, missing: true };
        stores.cost(&Rates::h200(), passed, &store, &bytes).0
    }

    #[test]
    fn parts_cost_more_than_wholes() {
        assert_eq!(cost(&mut Stores::default(), 0.0, 0b1111, 0b1111), 4.0);
        assert!(cost(&mut Stores::default(), 0.0, 0b0001, 0) > 4.0);
    }

    #[test]
    fn what_follows_at_once_becomes_one_store() {
        let mut stores = Stores::default();
        cost(&mut stores, 0.0, 0b0001, 0);
        assert_eq!(cost(&mut stores, 1.0, 0b0001, 0), 0.0);
        assert!(cost(&mut stores, 1000.0, 0b0001, 0) > 1.0);
    }
}
