//! Loads and stores on local memory.

use super::count;
use super::way::{Elements, Request, Way};
use crate::code::Place;
use crate::exec::check::Touch;
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::lanes::each;
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

impl Elements for Local {
    fn load(&self, lane: usize, addr: u64, element: u32) -> u64 {
        load_element(self, lane, addr, element)
    }

    fn store(&mut self, lane: usize, addr: u64, element: u32, value: u64) {
        store_element(self, lane, addr, element, value);
    }
}

/// `ld.local` and `st.local`. `counted` is false for parameter variables of calls, which on a GPU are registers.
pub(super) fn access<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    local: &mut Local,
    way: &mut W,
    request: Request<'_>,
    counted: bool,
) -> Trapped {
    let Request { access, mask, addrs, .. } = request;
    let bytes = u64::from(access.bytes());
    check(local, mask, addrs, bytes, W::WRITES)?;
    worker.watch.touch(&mut common.checks, &Touch::of(access, Place::Local, mask, addrs, way.stored()));
    way.elements(request, local);
    if counted {
        let sectors = sectors(addrs, mask, bytes);
        let counters = &mut worker.counters;
        let traffic = if W::WRITES { &mut counters.local_store } else { &mut counters.local_load };
        count(traffic, sectors, bytes * u64::from(mask.count_ones()));
        worker.watch.local(mask, addrs, bytes, sectors);
    }
    Ok(())
}
