//! Loads and stores on global memory: bounds, alignment, requests and sectors.

use std::sync::atomic::Ordering::Relaxed;

use super::{count, extend};
use crate::code::{Access, Place, Reg};
use crate::exec::check::Touch;
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::address::{distinct, sequential};
use crate::exec::state::lanes::{FULL, View, each, lanes};

impl Worker<'_> {
    /// A whole warp's access, one lane's bytes behind the other's, in the allocation that the access hit last: shown to
    /// the checks, counted, and its sectors marked.
    #[inline(always)]
    fn account_row(
        &mut self,
        common: &mut Common,
        index: u32,
        access: &Access,
        addrs: &[u64; 32],
        stored: Option<&View<'_>>,
    ) {
        let (write, bytes) = (stored.is_some(), u64::from(access.bytes()));
        let at = self.cache[index as usize] as usize;
        let windows = &self.windows;
        let touch =
            Touch { row: true, windows, window: Some(at), ..Touch::of(access, Place::Global, FULL, addrs, stored) };
        self.watch.touch(&mut common.checks, &touch);
        let last = addrs[0] + 32 * bytes - 1;
        let sectors = (last >> 5) - (addrs[0] >> 5) + 1;
        let traffic = if write { &mut self.counters.global_store } else { &mut self.counters.global_load };
        count(traffic, sectors, 32 * bytes);
        self.watch.global_row(addrs, bytes, sectors);
        self.windows[at].mark(addrs[0], 32 * bytes, write);
    }

    /// The same for any other access.
    fn account_scattered(
        &mut self,
        common: &mut Common,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
        window: Option<usize>,
        stored: Option<&View<'_>>,
    ) {
        let (write, bytes) = (stored.is_some(), u64::from(access.bytes()));
        let touch = Touch { windows: &self.windows, window, ..Touch::of(access, Place::Global, mask, addrs, stored) };
        self.watch.touch(&mut common.checks, &touch);
        let mut marked = u64::MAX;
        for lane in each(mask) {
            if addrs[lane] >> 5 != marked {
                marked = addrs[lane] >> 5;
                if let Some(w) = window.or_else(|| self.window_of(addrs[lane])) {
                    self.windows[w].mark(addrs[lane], bytes, write);
                }
            }
        }
        let sectors = distinct(addrs, mask, 5);
        let traffic = if write { &mut self.counters.global_store } else { &mut self.counters.global_load };
        count(traffic, sectors, bytes * u64::from(mask.count_ones()));
        self.watch.global(mask, addrs, bytes, sectors);
    }

    /// `ld.global`. `index` is the access's own, by which the last allocation that it hit is remembered.
    #[inline(always)]
    pub(crate) fn load_global(
        &mut self,
        common: &mut Common,
        regs: &mut View<'_>,
        index: u32,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        if mask == FULL && access.words && sequential(addrs, bytes) && addrs[0].is_multiple_of(bytes) {
            let window = &self.windows[self.cache[index as usize] as usize];
            if window.holds(addrs[0], 32 * bytes) {
                if !window.constant {
                    self.account_row(common, index, access, addrs, None);
                }
                let window = &self.windows[self.cache[index as usize] as usize];
                let start = ((addrs[0] - window.base) / 4) as usize;
                let k = access.regs.len();
                let words = &window.words[start..start + 32 * k];
                if let [Some(reg)] = access.regs[..] {
                    regs.put_word(reg.slot, FULL, &lanes(|i| words[i].load(Relaxed)));
                } else {
                    for (j, reg) in access.regs.iter().enumerate() {
                        if let Some(reg) = reg {
                            regs.put_word(reg.slot, FULL, &lanes(|i| words[i * k + j].load(Relaxed)));
                        }
                    }
                }
                return Ok(());
            }
        }
        if mask == FULL && !access.words && sequential(addrs, bytes) && addrs[0].is_multiple_of(bytes.max(4)) {
            let window = &self.windows[self.cache[index as usize] as usize];
            if window.holds(addrs[0], 32 * bytes) && !window.constant {
                self.account_row(common, index, access, addrs, None);
                self.load_packed(regs, index, access, addrs[0]);
                return Ok(());
            }
        }
        self.load_scattered(common, regs, index, access, mask, addrs)
    }

    /// Elements that are no words, one lane's behind the other's, from a word's boundary on.
    #[inline(never)]
    fn load_packed(&self, regs: &mut View<'_>, index: u32, access: &Access, addr: u64) {
        let window = &self.windows[self.cache[index as usize] as usize];
        let bytes = u64::from(access.bytes());
        let start = ((addr - window.base) / 4) as usize;
        let mut packed = [0u32; 512];
        let words = 8 * bytes as usize;
        for (to, from) in packed.iter_mut().zip(&window.words[start..start + words]) {
            *to = from.load(Relaxed);
        }
        let k = access.regs.len();
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let value = match access.element {
                1 => lanes(|i| u64::from(packed[(i * k + j) / 4 % 512] >> (8 * ((i * k + j) % 4)) & 0xff)),
                2 => lanes(|i| u64::from(packed[(i * k + j) / 2 % 512] >> (16 * ((i * k + j) % 2)) & 0xffff)),
                4 => lanes(|i| u64::from(packed[(i * k + j) % 512])),
                _ => lanes(|i| {
                    let at = 2 * (i * k + j);
                    u64::from(packed[at % 512]) | u64::from(packed[(at + 1) % 512]) << 32
                }),
            };
            regs.put(*reg, FULL, &lanes(|i| extend(value[i], access.element, access.signed)));
        }
    }

    /// `st.global`.
    #[inline(always)]
    pub(crate) fn store_global(
        &mut self,
        common: &mut Common,
        regs: &View<'_>,
        index: u32,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        if mask == FULL && access.words && sequential(addrs, bytes) && addrs[0].is_multiple_of(bytes) {
            let window = &self.windows[self.cache[index as usize] as usize];
            if window.holds(addrs[0], 32 * bytes) && !window.constant {
                self.account_row(common, index, access, addrs, Some(regs));
                let window = &self.windows[self.cache[index as usize] as usize];
                let start = ((addrs[0] - window.base) / 4) as usize;
                let k = access.regs.len();
                let words = &window.words[start..start + 32 * k];
                for (j, reg) in access.regs.iter().enumerate() {
                    if let Some(reg) = reg {
                        let value = regs.word(reg.slot);
                        for i in 0..32 {
                            words[i * k + j].store(value[i], Relaxed);
                        }
                    }
                }
                return Ok(());
            }
        }
        if mask == FULL && !access.words && sequential(addrs, bytes) && addrs[0].is_multiple_of(bytes.max(4)) {
            let window = &self.windows[self.cache[index as usize] as usize];
            if window.holds(addrs[0], 32 * bytes) && !window.constant {
                self.account_row(common, index, access, addrs, Some(regs));
                self.store_packed(regs, index, access, addrs[0]);
                return Ok(());
            }
        }
        self.store_scattered(common, regs, index, access, mask, addrs)
    }

    /// The reverse of [`Worker::load_packed`].
    #[inline(never)]
    fn store_packed(&self, regs: &View<'_>, index: u32, access: &Access, addr: u64) {
        let window = &self.windows[self.cache[index as usize] as usize];
        let bytes = u64::from(access.bytes());
        let start = ((addr - window.base) / 4) as usize;
        let mut packed = [0u32; 512];
        let k = access.regs.len();
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let value = regs.get(*reg);
            for (i, value) in value.iter().enumerate() {
                let n = i * k + j;
                match access.element {
                    1 => packed[n / 4 % 512] |= (*value as u32 & 0xff) << (8 * (n % 4)),
                    2 => packed[n / 2 % 512] |= (*value as u32 & 0xffff) << (16 * (n % 2)),
                    4 => packed[n % 512] = *value as u32,
                    _ => {
                        packed[2 * n % 512] = *value as u32;
                        packed[(2 * n + 1) % 512] = (*value >> 32) as u32;
                    }
                }
            }
        }
        let words = 8 * bytes as usize;
        for (from, to) in packed.iter().zip(&window.words[start..start + words]) {
            to.store(*from, Relaxed);
        }
    }

    /// The allocation that holds each of the lanes' ranges, or the fault of those that have none.
    /// When one allocation holds them all, which is the rule, it is returned; else each lane looks for itself.
    #[inline(never)]
    pub(crate) fn check_global(
        &mut self,
        index: u32,
        mask: u32,
        addrs: &[u64; 32],
        bytes: u64,
        write: bool,
    ) -> Trapped<Option<usize>> {
        let align = if bytes.is_power_of_two() { bytes } else { 4 };
        let (mut low, mut high, mut misaligned) = (u64::MAX, 0, 0u32);
        for lane in each(mask) {
            low = low.min(addrs[lane]);
            high = high.max(addrs[lane]);
            misaligned |= u32::from(!addrs[lane].is_multiple_of(align)) << lane;
        }
        if misaligned != 0 {
            let addr = addrs[misaligned.trailing_zeros() as usize & 31];
            // One that lies in no buffer is misaligned for another reason than how the buffer is indexed.
            let buffer = fault::buffer(self.run, Place::Global, addr, bytes).filter(|b| b.offset % align as i64 != 0);
            return Err(fault::misaligned(misaligned, addrs, align, bytes, write, buffer));
        }
        let cached = self.cache[index as usize] as usize;
        for candidate in [Some(cached), self.window_of(low)].into_iter().flatten() {
            let window = &self.windows[candidate];
            // An access never remembers the heap, so that each one comes here and is compared with its blocks.
            if window.holds(low, 1) && window.holds(high, bytes) && !(write && window.constant) && !window.heap {
                self.cache[index as usize] = candidate as u32;
                return Ok(Some(candidate));
            }
        }
        let mut stray = 0u32;
        for lane in each(mask) {
            let inside = self.window_of(addrs[lane]).is_some_and(|w| {
                let window = &self.windows[w];
                window.holds(addrs[lane], bytes)
                    && !(write && window.constant)
                    && (!window.heap || self.run.heap_holds(addrs[lane], bytes))
            });
            stray |= u32::from(!inside) << lane;
        }
        if stray != 0 {
            return Err(fault::stray_global(self.run, stray, addrs, bytes, write));
        }
        Ok(None)
    }

    #[inline(never)]
    fn load_scattered(
        &mut self,
        common: &mut Common,
        regs: &mut View<'_>,
        index: u32,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        let one = self.check_global(index, mask, addrs, bytes, false)?;
        let mut values = [[0u64; 32]; 8];
        let k = access.regs.len().min(8);
        let narrow = u64::from(access.element);
        let first = one.or_else(|| self.window_of(addrs[mask.trailing_zeros() as usize & 31]));
        if first.is_some_and(|w| !self.windows[w].constant) {
            self.account_scattered(common, access, mask, addrs, one, None);
        }
        for lane in each(mask) {
            let Some(w) = one.or_else(|| self.window_of(addrs[lane])) else { continue };
            let window = &self.windows[w];
            for (j, value) in values[..k].iter_mut().enumerate() {
                let loaded = window.load(addrs[lane] + j as u64 * narrow, access.element);
                value[lane] = extend(loaded, access.element, access.signed);
            }
        }
        for (reg, value) in access.regs.iter().zip(&values) {
            if let Some(reg) = reg {
                regs.put(*reg, mask, value);
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn store_scattered(
        &mut self,
        common: &mut Common,
        regs: &View<'_>,
        index: u32,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        let one = self.check_global(index, mask, addrs, bytes, true)?;
        self.account_scattered(common, access, mask, addrs, one, Some(regs));
        match one {
            Some(w) if access.element < 4 => self.store_narrow(w, regs, access, mask, addrs),
            _ => {
                for lane in each(mask) {
                    let Some(w) = one.or_else(|| self.window_of(addrs[lane])) else { continue };
                    for (j, reg) in access.regs.iter().enumerate() {
                        let value = reg.map_or(0, |reg| regs.get_lane(reg, lane));
                        let at = addrs[lane] + j as u64 * u64::from(access.element);
                        self.windows[w].store(at, access.element, value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Bytes and halves: lanes that share a word are combined, so that a whole word is one store.
    fn store_narrow(&mut self, w: usize, regs: &View<'_>, access: &Access, mask: u32, addrs: &[u64; 32]) {
        let window = &self.windows[w];
        let values: Vec<(usize, &Reg)> =
            access.regs.iter().enumerate().filter_map(|(j, r)| r.as_ref().map(|r| (j, r))).collect();
        let keep = (1u32 << (8 * access.element)) - 1;
        let (mut word, mut written, mut bits) = (usize::MAX, 0u32, 0u32);
        for lane in each(mask) {
            for &(j, reg) in &values {
                let offset = addrs[lane] - window.base + j as u64 * u64::from(access.element);
                let at = (offset / 4) as usize;
                if at != word {
                    if written != 0 {
                        window.merge(word, written, bits);
                    }
                    (word, written, bits) = (at, 0, 0);
                }
                let shift = 8 * (offset % 4) as u32;
                let value = (regs.get_lane(*reg, lane) as u32 & keep) << shift;
                bits = bits & !(keep << shift) | value;
                written |= keep << shift;
            }
        }
        if written != 0 {
            window.merge(word, written, bits);
        }
    }
}
