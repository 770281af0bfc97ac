//! The engine of bulk copies, which passes the unit for loads and stores and the L1 by.

use std::collections::HashMap;

use super::{Asker, MemorySystem, Sector};
use crate::exec::Line;
use crate::timing::cost::{BULK_LATENCY, BULK_ROW, BULK_STORE_BYTES_PER_CLOCK, BULK_STORE_LATENCY};
use crate::timing::{TICKS, Ticks, ticks};

impl MemorySystem<'_> {
    /// When what a bulk copy brings to shared memory is there.
    pub(crate) fn bulk_load(&mut self, now: Ticks, lines: &[Line], asker: Asker) -> Ticks {
        let sector = self.sector_of(asker);
        let sector = Sector { l2: sector.bulk, request: 0.0, ..sector };
        let mut done = now + ticks(self.rates.l2_latency);
        for line in lines {
            let begun = self.copies.take(now, BULK_ROW * TICKS as f64);
            done = done.max(self.miss(begun, line, line.sectors, asker, (false, false), sector));
        }
        done + ticks(BULK_LATENCY)
    }

    /// When a bulk copy has read what it stores, and when L2 has that.
    pub(crate) fn bulk_store(
        &mut self,
        now: Ticks,
        lines: &[Line],
        asker: Asker,
        written: &HashMap<u64, u32>,
    ) -> (Ticks, Ticks) {
        let sector = self.sector_of(asker);
        let (begun, each) = (now + ticks(BULK_STORE_LATENCY), 32.0 / BULK_STORE_BYTES_PER_CLOCK);
        for line in lines {
            // Of a sector of which there is less, the rest is left out in a turn of its own.
            let turns = line.sectors.count_ones() + (line.sectors & !line.whole).count_ones();
            let begun = self.copies.take(begun, each * f64::from(turns) * TICKS as f64);
            self.store_line(begun, line, asker, (false, false), sector, written);
        }
        // As long as there is no place for it on the way, it is not read.
        self.copies.wait_until(self.full_until(self.l2_stores.free().max(self.dram.free())));
        let read = self.copies.free().max(begun);
        (read, self.l2_stores.free().max(read) + ticks(self.rates.l2_latency))
    }
}
