//! Shared memory: 32 banks of four bytes.

use super::global::{count, extend, sequential};
use super::lanes::{FULL, View, each, lanes};
use super::trap::Trapped;
use super::{fault, grid::Worker};
use crate::code::Access;

/// A block's shared memory, as words.
pub(crate) type Shared = [u32];

#[inline(always)]
pub(crate) fn load_element(shared: &Shared, addr: u64, element: u32) -> u64 {
    let word = (addr / 4) as usize;
    let low = u64::from(shared[word]);
    match element {
        4 => low,
        8 => low | u64::from(shared[word + 1]) << 32,
        _ => low >> (8 * (addr % 4)) & ((1 << (8 * element)) - 1),
    }
}

#[inline(always)]
pub(crate) fn store_element(shared: &mut Shared, addr: u64, element: u32, value: u64) {
    let word = (addr / 4) as usize;
    match element {
        4 => shared[word] = value as u32,
        8 => {
            shared[word] = value as u32;
            shared[word + 1] = (value >> 32) as u32;
        }
        _ => {
            let shift = 8 * (addr % 4) as u32;
            let mask = ((1u32 << (8 * element)) - 1) << shift;
            shared[word] = shared[word] & !mask | (value as u32) << shift & mask;
        }
    }
}

/// How many times the banks must be gone through for a request. Lanes that want the same word share
/// it; accesses of 8 and 16 bytes go by half and quarter warps.
pub(crate) fn wavefronts(addrs: &[u64; 32], mask: u32, bytes: u64) -> u64 {
    let words = bytes.div_ceil(4).max(1);
    let group_lanes = (32 / words.min(32)).max(1) as u32;
    let mut total = 0;
    let mut at = 0;
    while at < 32 {
        let group = mask & ((u64::MAX >> (64 - group_lanes)) << at) as u32;
        if group != 0 {
            total += group_wavefronts(addrs, group, words);
        }
        at += group_lanes;
    }
    total
}

fn group_wavefronts(addrs: &[u64; 32], mask: u32, words: u64) -> u64 {
    // The distinct words, at most 32 of them; a bank's share of them is its number of passes.
    let mut seen = [u64::MAX; 32];
    let mut n = 0;
    let mut per_bank = [0u8; 32];
    let mut most = 1;
    for lane in each(mask) {
        for w in 0..words {
            let word = addrs[lane] / 4 + w;
            if per_bank[(word % 32) as usize] > 0 && seen[..n].contains(&word) {
                continue;
            }
            if n < 32 {
                seen[n] = word;
                n += 1;
            }
            let bank = &mut per_bank[(word % 32) as usize];
            *bank += 1;
            most = most.max(*bank);
        }
    }
    u64::from(most)
}

impl Worker<'_> {
    pub(crate) fn check_shared(
        &self,
        shared: &Shared,
        mask: u32,
        addrs: &[u64; 32],
        bytes: u64,
        write: bool,
    ) -> Trapped {
        let size = u64::from(self.run.shared_bytes).min(4 * shared.len() as u64);
        let align = if bytes.is_power_of_two() { bytes } else { 4 };
        let (mut stray, mut misaligned) = (0, 0);
        for lane in each(mask) {
            stray |= u32::from(addrs[lane] > size || size - addrs[lane] < bytes) << lane;
            misaligned |= u32::from(!addrs[lane].is_multiple_of(align)) << lane;
        }
        if stray != 0 {
            return Err(fault::stray_shared(self.run, stray, addrs, bytes, write));
        }
        if misaligned != 0 {
            return Err(fault::misaligned(misaligned, addrs, align, bytes, write));
        }
        Ok(())
    }

    /// Whether 32 words from an offset on are the block's.
    #[inline(always)]
    fn holds_row(&self, addr: u64) -> bool {
        addr.saturating_add(128) <= u64::from(self.run.shared_bytes)
    }

    #[inline(always)]
    pub(crate) fn load_shared(
        &mut self,
        shared: &Shared,
        regs: &mut View<'_>,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        if mask == FULL
            && access.words
            && addrs[0].is_multiple_of(4)
            && let [Some(reg)] = access.regs[..]
        {
            let word = (addrs[0] / 4) as usize;
            if sequential(addrs, 4)
                && self.holds_row(addrs[0])
                && let Some(words) = shared.get(word..word.saturating_add(32))
            {
                regs.put_word(reg.slot, FULL, &lanes(|i| words[i]));
                count(&mut self.counters.shared_load, 1, 128);
                return Ok(());
            }
            if sequential(addrs, 0)
                && addrs[0] < u64::from(self.run.shared_bytes / 4 * 4)
                && let Some(&value) = shared.get(word)
            {
                regs.put_word(reg.slot, FULL, &[value; 32]);
                count(&mut self.counters.shared_load, 1, 128);
                return Ok(());
            }
        }
        self.load_shared_scattered(shared, regs, access, mask, addrs)
    }

    #[inline(always)]
    pub(crate) fn store_shared(
        &mut self,
        shared: &mut Shared,
        regs: &View<'_>,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        if mask == FULL
            && access.words
            && addrs[0].is_multiple_of(4)
            && sequential(addrs, 4)
            && self.holds_row(addrs[0])
        {
            let word = (addrs[0] / 4) as usize;
            if let [Some(reg)] = access.regs[..]
                && let Some(words) = shared.get_mut(word..word.saturating_add(32))
            {
                words.copy_from_slice(regs.word(reg.slot));
                count(&mut self.counters.shared_store, 1, 128);
                return Ok(());
            }
        }
        self.store_shared_scattered(shared, regs, access, mask, addrs)
    }

    #[inline(never)]
    fn load_shared_scattered(
        &mut self,
        shared: &Shared,
        regs: &mut View<'_>,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        self.check_shared(shared, mask, addrs, bytes, false)?;
        let mut value = [0; 32];
        let mut results = Vec::with_capacity(access.regs.len());
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            for lane in each(mask) {
                let at = addrs[lane] + j as u64 * u64::from(access.element);
                value[lane] = extend(load_element(shared, at, access.element), access.element, access.signed);
            }
            results.push((*reg, value));
        }
        for (reg, value) in &results {
            regs.put(*reg, mask, value);
        }
        let sectors = wavefronts(addrs, mask, bytes);
        count(&mut self.counters.shared_load, sectors, bytes * u64::from(mask.count_ones()));
        Ok(())
    }

    #[inline(never)]
    fn store_shared_scattered(
        &mut self,
        shared: &mut Shared,
        regs: &View<'_>,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        self.check_shared(shared, mask, addrs, bytes, true)?;
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            for lane in each(mask) {
                let at = addrs[lane] + j as u64 * u64::from(access.element);
                store_element(shared, at, access.element, regs.get_lane(*reg, lane));
            }
        }
        let sectors = wavefronts(addrs, mask, bytes);
        count(&mut self.counters.shared_store, sectors, bytes * u64::from(mask.count_ones()));
        Ok(())
    }
}
