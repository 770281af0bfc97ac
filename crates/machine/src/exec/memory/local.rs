//! Loads and stores on local memory.

use super::{count, extend};
use crate::code::{Access, Place};
use crate::exec::check::Touch;
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::lanes::{View, each};
use crate::exec::state::local::{Local, load_element, store_element};

fn check(local: &Local, mask: u32, addrs: &[u64; 32], bytes: u64, write: bool) -> Trapped {
    let size = 4 * local.len() as u64;
    let align = if bytes.is_power_of_two() { bytes } else { 4 };
    let (mut stray, mut misaligned) = (0u32, 0u32);
    for lane in each(mask) {
        stray |= u32::from(addrs[lane] > size || size - addrs[lane] < bytes) << lane;
        misaligned |= u32::from(!addrs[lane].is_multiple_of(align)) << lane;
    }
    if stray != 0 {
        let addr = each(stray).next().map_or(0, |lane| addrs[lane]);
        return Err(fault::stray_local(stray, addr, bytes, size, write));
    }
    if misaligned != 0 {
        return Err(fault::misaligned(misaligned, addrs, align, bytes, write, None));
    }
    Ok(())
}

/// 32-byte sectors: eight lanes of one row.
fn sectors(addrs: &[u64; 32], mask: u32, bytes: u64) -> u64 {
    let words = bytes.div_ceil(4);
    let mut total = 0;
    for group in 0..4 {
        let lanes = mask & 0xff << (8 * group);
        if lanes != 0 {
            let mut rows: Vec<u64> = each(lanes).map(|lane| addrs[lane] / 4).collect();
            rows.sort_unstable();
            rows.dedup();
            total += rows.len() as u64 * words;
        }
    }
    total
}

impl Worker<'_> {
    fn watch_local(
        &mut self,
        common: &mut Common,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
        stored: Option<&View<'_>>,
    ) {
        let touch = Touch::of(access, Place::Local, mask, addrs, stored);
        self.watch.touch(&mut common.checks, &touch);
    }

    /// `counted` is false for parameter variables of calls, which on a GPU are registers.
    #[expect(clippy::too_many_arguments, reason = "passes on what the loop holds")]
    pub(crate) fn load_local(
        &mut self,
        common: &mut Common,
        local: &Local,
        regs: &mut View<'_>,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
        counted: bool,
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        check(local, mask, addrs, bytes, false)?;
        self.watch_local(common, access, mask, addrs, None);
        let mut results = Vec::with_capacity(access.regs.len());
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let mut value = [0; 32];
            for lane in each(mask) {
                let at = addrs[lane] + j as u64 * u64::from(access.element);
                value[lane] = extend(load_element(local, lane, at, access.element), access.element, access.signed);
            }
            results.push((*reg, value));
        }
        for (reg, value) in &results {
            regs.put(*reg, mask, value);
        }
        if counted {
            let sectors = sectors(addrs, mask, bytes);
            count(&mut self.counters.local_load, sectors, bytes * u64::from(mask.count_ones()));
            self.watch.local(mask, addrs, bytes, sectors);
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "passes on what the loop holds")]
    pub(crate) fn store_local(
        &mut self,
        common: &mut Common,
        local: &mut Local,
        regs: &View<'_>,
        access: &Access,
        mask: u32,
        addrs: &[u64; 32],
        counted: bool,
    ) -> Trapped {
        let bytes = u64::from(access.bytes());
        check(local, mask, addrs, bytes, true)?;
        self.watch_local(common, access, mask, addrs, Some(regs));
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            for lane in each(mask) {
                let at = addrs[lane] + j as u64 * u64::from(access.element);
                store_element(local, lane, at, access.element, regs.get_lane(*reg, lane));
            }
        }
        if counted {
            let sectors = sectors(addrs, mask, bytes);
            count(&mut self.counters.local_store, sectors, bytes * u64::from(mask.count_ones()));
            self.watch.local(mask, addrs, bytes, sectors);
        }
        Ok(())
    }
}
