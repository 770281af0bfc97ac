//! What a store costs L2: whole sectors go through; of a part, the rest has to be put to it.
//!
//! Timed by `crates/timings/kernels/calibration/accesses.cu` (`write_apart`, `write_turns`, `write_random`).

use std::collections::HashMap;

use crate::exec::Line;
use crate::timing::rates::Rates;
use crate::timing::{Ticks, ticks};

/// Sectors that blocks have written before, and when last.
#[derive(Debug, Default)]
pub(super) struct Stores {
    written: HashMap<u64, (u8, Ticks)>,
}

/// A store to one line.
pub(super) struct Store<'a> {
    pub(super) line: &'a Line,
    /// The line as its block has it.
    pub(super) key: u64,
    /// Lines that the warp stores to.
    pub(super) lines: usize,
    /// It covers the sectors that it reaches.
    pub(super) whole: bool,
    pub(super) astray: bool,
    /// Which share of the allocation L2 has no room for.
    pub(super) too_large: f64,
}

impl Stores {
    /// How many whole sectors it is worth, and how many sectors are new. `bytes` has those of sectors that the block writes in all.
    pub(super) fn cost(
        &mut self,
        rates: &Rates,
        now: Ticks,
        store: &Store<'_>,
        bytes: &HashMap<u64, u32>,
    ) -> (f64, u32) {
        let &Store { line, key, lines, whole, astray, too_large } = store;
        let (before, then) = self.written.get(&key).copied().unwrap_or_default();
        let new = line.sectors & !before;
        self.written.insert(key, (before | new, now));
        let count = f64::from(line.sectors.count_ones());
        if whole {
            return (count, new.count_ones());
        }
        // Of 64 bytes of which a block writes one part only, DRAM has the rest.
        let alone = rates.partial_store_alone * if astray { rates.astray_store } else { 1.0 };
        let alone = rates.partial_store + (alone - rates.partial_store) * too_large;
        let completed = |sector: u64| bytes.get(&(line.number * 4 + sector)).is_none_or(|bytes| *bytes == u32::MAX);
        let has = |mask: u8, sector: u64| mask >> sector & 1 == 1;
        let again = f64::from((line.sectors & !new).count_ones());
        // A store to few lines finds the one before it still on its way.
        let recent = now.saturating_sub(then) < ticks(rates.merge_clocks);
        let merges = lines <= 4 && (again == 0.0 || recent);
        let each = |sector: u64| match (has(new, sector), completed(sector), has(new, sector ^ 1)) {
            (true, true, _) if merges => 1.0,
            (true, false, false) => alone,
            (true, ..) => rates.partial_store,
            (false, ..) if !has(line.sectors, sector) => 0.0,
            (false, ..) if merges => rates.merged_store,
            (false, ..) => rates.partial_store,
        };
        ((0..4).map(each).sum(), new.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(stores: &mut Stores, sectors: u8, whole: bool, now: Ticks) -> f64 {
        let line = Line { number: 7, sectors, meet: 0 };
        let bytes = (28..32).map(|sector| (sector, 0xf)).collect();
        let store = Store { line: &line, key: 7, lines: 1, whole, astray: false, too_large: 1.0 };
        stores.cost(&Rates::h200(), now, &store, &bytes).0
    }

    #[test]
    fn parts_cost_more_than_wholes() {
        let mut stores = Stores::default();
        assert_eq!(cost(&mut stores, 0b1111, true, 0), 4.0);
        let mut stores = Stores::default();
        let alone = cost(&mut stores, 0b0001, false, 0);
        let soon = cost(&mut stores, 0b0001, false, 1);
        let late = cost(&mut stores, 0b0001, false, 1 << 30);
        assert!(alone > late && late > 1.0 && soon < 1.0, "{alone} {soon} {late}");
    }
}
