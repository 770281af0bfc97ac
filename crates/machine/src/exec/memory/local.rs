//! Loads and stores on local memory.

use std::ops::Range;

use super::count;
use super::way::{Elements, Request, Way};
use crate::code::{Code, Place};
use crate::exec::check::Touch;
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::lanes::each;
use crate::exec::state::local::{Local, load_element, store_element};
use crate::exec::state::stack::Stack;

fn check(
    code: &Code,
    stack: &Stack<'_>,
    mask: u32,
    addrs: &[u64; 32],
    bytes: u64,
    (write, named): (bool, bool),
) -> Trapped {
    let own = stack.own(code, named);
    let inside = |addr: u64| holds(&own, addr, bytes) || !named && holds(&stack.around(code, addr), addr, bytes);
    let align = if bytes.is_power_of_two() { bytes } else { 4 };
    let (mut stray, mut misaligned) = (0u32, 0u32);
    for lane in each(mask) {
        stray |= u32::from(!inside(addrs[lane])) << lane;
        misaligned |= u32::from(!addrs[lane].is_multiple_of(align)) << lane;
    }
    if stray != 0 {
        let addr = each(stray).next().map_or(0, |lane| addrs[lane]);
        return Err(outside(code, stack, stray, addr, bytes, write));
    }
    if misaligned != 0 {
        return Err(fault::misaligned(misaligned, addrs, align, bytes, write, None));
    }
    Ok(())
}

/// Whether variables have the bytes from an address on.
pub(super) fn is_inside(code: &Code, stack: &Stack<'_>, addr: u64, bytes: u64) -> bool {
    holds(&stack.around(code, addr), addr, bytes)
}

pub(super) fn outside(code: &Code, stack: &Stack<'_>, lanes: u32, addr: u64, bytes: u64, write: bool) -> Box<Trap> {
    let meant = stack.nearest(code, addr);
    fault::stray_local(lanes, addr.wrapping_sub(meant.start), bytes, meant.end - meant.start, write)
}

fn holds(range: &Range<u64>, addr: u64, bytes: u64) -> bool {
    addr >= range.start && addr <= range.end && range.end - addr >= bytes
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
    stack: &mut Stack<'_>,
    way: &mut W,
    request: Request<'_>,
    counted: bool,
) -> Trapped {
    let Request { access, mask, addrs, .. } = request;
    let bytes = u64::from(access.bytes());
    check(worker.run.code, stack, mask, addrs, bytes, (W::WRITES, !counted))?;
    worker.watch.touch(&mut common.checks, &Touch::of(access, Place::Local, mask, addrs, way.stored()));
    way.elements(request, stack.local);
    if counted {
        let sectors = sectors(addrs, mask, bytes);
        let counters = &mut worker.counters;
        let traffic = if W::WRITES { &mut counters.local_store } else { &mut counters.local_load };
        count(traffic, sectors, bytes * u64::from(mask.count_ones()));
        worker.watch.local(mask, addrs, bytes, sectors);
    }
    Ok(())
}
