//! Loads and stores on shared memory: 32 banks of four bytes.

use super::{count, extend};
use crate::code::{Access, AddressOf, Place, Root, SharedVariable};
use crate::exec::check::Touch;
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::address::sequential;
use crate::exec::state::lanes::{FULL, View, each, lanes};
use crate::exec::state::shared::{Shared, load_element, store_element};
use crate::report::Code;

/// Where the lanes of a whole warp are: one behind the other, all at one address, or otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Row,
    Uniform,
    Other,
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
            return Err(fault::misaligned(misaligned, addrs, align, bytes, write, None));
        }
        Ok(())
    }

    /// Looks whether an access that lies in the block's shared memory also lies in the array that its address is computed
    /// from. If not that is a finding: nothing stops it on a GPU.
    #[inline(always)]
    pub(crate) fn check_array(
        &mut self,
        address: &AddressOf,
        mask: u32,
        addrs: &[u64; 32],
        bytes: u64,
        row: bool,
        write: bool,
    ) {
        let Root::Shared(index) = address.root else { return };
        let Some(variable) = self.run.code.shared.get(index as usize) else { return };
        let (low, high) = (u64::from(variable.offset), u64::from(variable.offset) + u64::from(variable.size));
        let holds = |addr: u64, bytes: u64| addr >= low && addr + bytes <= high;
        if row && holds(addrs[0], 32 * bytes) {
            return;
        }
        let outside = each(mask).fold(0, |out, lane| out | u32::from(!holds(addrs[lane], bytes)) << lane);
        if outside != 0 {
            self.outside_array(variable, outside, addrs, bytes, write);
        }
    }

    #[cold]
    #[inline(never)]
    fn outside_array(&mut self, variable: &SharedVariable, lanes: u32, addrs: &[u64; 32], bytes: u64, write: bool) {
        let site = Site { code: Code::OobShared, pc: self.watch.pc, other: u32::MAX };
        let (run, block, warp, pc) = (self.run, self.watch.block, self.watch.warp, self.watch.pc);
        self.watch.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
            fault::outside_array(run, variable, lanes, addrs, bytes, write).at(pc)
        });
    }

    /// Shows an access to the checks, and counts it.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the parts of one access")]
    fn account_shared(
        &mut self,
        common: &mut Common,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
        passes: u64,
        shape: Shape,
        stored: Option<&View<'_>>,
    ) {
        let (write, bytes) = (stored.is_some(), u64::from(access.bytes()));
        let (row, uniform) = (shape == Shape::Row, shape == Shape::Uniform);
        self.check_array(&access.address, mask, addrs, bytes, row, write);
        let touch =
            Touch { row, uniform, shared: &common.shared, ..Touch::of(access, Place::Shared, mask, addrs, stored) };
        self.watch.touch(&mut common.checks, &touch);
        let traffic = if write { &mut self.counters.shared_store } else { &mut self.counters.shared_load };
        count(traffic, passes, bytes * u64::from(mask.count_ones()));
        match shape {
            Shape::Other => self.watch.shared(mask, addrs, bytes, passes),
            _ => self.watch.shared_words(addrs, shape == Shape::Row),
        }
    }

    /// Whether 32 words from an offset on are the block's.
    #[inline(always)]
    fn holds_row(&self, addr: u64) -> bool {
        addr.saturating_add(128) <= u64::from(self.run.shared_bytes)
    }

    #[inline(always)]
    pub(crate) fn load_shared(
        &mut self,
        common: &mut Common,
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
                && let Some(words) = common.shared.get(word..word.saturating_add(32))
            {
                let value = lanes(|i| words[i]);
                self.account_shared(common, access, FULL, addrs, 1, Shape::Row, None);
                regs.put_word(reg.slot, FULL, &value);
                return Ok(());
            }
            if sequential(addrs, 0)
                && addrs[0] < u64::from(self.run.shared_bytes / 4 * 4)
                && let Some(&value) = common.shared.get(word)
            {
                self.account_shared(common, access, FULL, addrs, 1, Shape::Uniform, None);
                regs.put_word(reg.slot, FULL, &[value; 32]);
                return Ok(());
            }
        }
        self.load_shared_scattered(common, regs, access, mask, addrs)
    }

    #[inline(always)]
    pub(crate) fn store_shared(
        &mut self,
        common: &mut Common,
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
                && common.shared.len() >= word.saturating_add(32)
            {
                self.account_shared(common, access, FULL, addrs, 1, Shape::Row, Some(regs));
                common.shared[word..word + 32].copy_from_slice(regs.word(reg.slot));
                return Ok(());
            }
        }
        self.store_shared_scattered(common, regs, access, mask, addrs)
    }

    #[inline(never)]
    fn load_shared_scattered(
        &mut self,
        common: &mut Common,
        regs: &mut View<'_>,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        self.check_shared(&common.shared, mask, addrs, bytes, false)?;
        self.account_shared(common, access, mask, addrs, wavefronts(addrs, mask, bytes), Shape::Other, None);
        let mut value = [0; 32];
        let mut results = Vec::with_capacity(access.regs.len());
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            for lane in each(mask) {
                let at = addrs[lane] + j as u64 * u64::from(access.element);
                value[lane] = extend(load_element(&common.shared, at, access.element), access.element, access.signed);
            }
            results.push((*reg, value));
        }
        for (reg, value) in &results {
            regs.put(*reg, mask, value);
        }
        Ok(())
    }

    #[inline(never)]
    fn store_shared_scattered(
        &mut self,
        common: &mut Common,
        regs: &View<'_>,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        self.check_shared(&common.shared, mask, addrs, bytes, true)?;
        self.account_shared(common, access, mask, addrs, wavefronts(addrs, mask, bytes), Shape::Other, Some(regs));
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            for lane in each(mask) {
                let at = addrs[lane] + j as u64 * u64::from(access.element);
                store_element(&mut common.shared, at, access.element, regs.get_lane(*reg, lane));
            }
        }
        Ok(())
    }
}
