//! Loads and stores on global memory: bounds, alignment, requests and sectors.

use super::count;
use super::way::{Elements, Request, Way};
use crate::code::Place;
use crate::exec::check::Touch;
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::address::{distinct, sequential};
use crate::exec::state::lanes::{FULL, each};
use crate::exec::state::window::{Window, window_of};

/// The allocations; `one` of them holds all lanes' bytes, if it is known which.
struct Global<'w, 'a> {
    windows: &'w [Window<'a>],
    one: Option<usize>,
}

impl Global<'_, '_> {
    #[inline(always)]
    fn window(&self, addr: u64) -> Option<&Window<'_>> {
        self.windows.get(self.one.or_else(|| window_of(self.windows, addr))?)
    }
}

impl Elements for Global<'_, '_> {
    #[inline(always)]
    fn load(&self, _: usize, addr: u64, element: u32) -> u64 {
        self.window(addr).map_or(0, |window| window.load(addr, element))
    }

    #[inline(always)]
    fn store(&mut self, _: usize, addr: u64, element: u32, value: u64) {
        if let Some(window) = self.window(addr) {
            window.store(addr, element, value);
        }
    }
}

/// `ld.global` and `st.global`.
#[inline(always)]
pub(super) fn access<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    way: &mut W,
    request: Request<'_>,
) -> Trapped {
    let Request { index, access, mask, addrs } = request;
    let bytes = u64::from(access.bytes());
    if mask == FULL && sequential(addrs, bytes) && addrs[0].is_multiple_of(bytes.max(4)) {
        let at = worker.cache[index as usize] as usize;
        let window = &worker.windows[at];
        let start = (addrs[0].wrapping_sub(window.base) / 4) as usize;
        // Memory that repeats has fewer words than bytes that it holds.
        if window.holds(addrs[0], 32 * bytes)
            && !(W::WRITES && window.constant)
            && let Some(words) = window.words.get(start..start + 8 * bytes as usize)
        {
            if !window.constant {
                account_row(worker, common, way, request, at);
            }
            match access.words {
                true => way.words(access, words),
                false => way.packed(access, words),
            }
            return Ok(());
        }
    }
    scattered(worker, common, way, request)
}

#[inline(never)]
fn scattered<W: Way>(worker: &mut Worker<'_>, common: &mut Common, way: &mut W, request: Request<'_>) -> Trapped {
    let Request { index, access, mask, addrs } = request;
    let one = check(worker, index, mask, addrs, access.bytes().into(), W::WRITES)?;
    let first = one.or_else(|| worker.window_of(addrs[mask.trailing_zeros() as usize & 31]));
    if first.is_some_and(|w| !worker.windows[w].constant) {
        account_scattered(worker, common, way, request, one);
    }
    way.elements(request, &mut Global { windows: &worker.windows, one });
    Ok(())
}

/// A whole warp's access, one lane's bytes behind the other's, in the allocation `at`: shown to the checks, counted, and its
/// sectors marked.
#[inline(always)]
fn account_row<W: Way>(worker: &mut Worker<'_>, common: &mut Common, way: &W, request: Request<'_>, at: usize) {
    let Request { access, addrs, .. } = request;
    let bytes = u64::from(access.bytes());
    let windows = &worker.windows;
    let touch = Touch::of(access, Place::Global, FULL, addrs, way.stored());
    let touch = Touch { row: true, windows, window: Some(at), ..touch };
    worker.watch.touch(&mut common.checks, &touch);
    let last = addrs[0] + 32 * bytes - 1;
    let sectors = (last >> 5) - (addrs[0] >> 5) + 1;
    let counters = &mut worker.counters;
    let traffic = if W::WRITES { &mut counters.global_store } else { &mut counters.global_load };
    count(traffic, sectors, 32 * bytes);
    worker.watch.global_row(addrs, bytes, sectors);
    worker.windows[at].mark(addrs[0], 32 * bytes, W::WRITES);
}

/// The same for any other access.
fn account_scattered<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    way: &W,
    request: Request<'_>,
    window: Option<usize>,
) {
    let Request { access, mask, addrs, .. } = request;
    let bytes = u64::from(access.bytes());
    let windows = &worker.windows;
    let touch = Touch { windows, window, ..Touch::of(access, Place::Global, mask, addrs, way.stored()) };
    worker.watch.touch(&mut common.checks, &touch);
    let mut marked = u64::MAX;
    for lane in each(mask) {
        if addrs[lane] >> 5 != marked {
            marked = addrs[lane] >> 5;
            if let Some(w) = window.or_else(|| worker.window_of(addrs[lane])) {
                worker.windows[w].mark(addrs[lane], bytes, W::WRITES);
            }
        }
    }
    let sectors = distinct(addrs, mask, 5);
    let counters = &mut worker.counters;
    let traffic = if W::WRITES { &mut counters.global_store } else { &mut counters.global_load };
    count(traffic, sectors, bytes * u64::from(mask.count_ones()));
    worker.watch.global(mask, addrs, bytes, sectors);
}

/// The allocation that holds each of the lanes' ranges, or the fault of those that have none.
/// When one allocation holds them all, which is the rule, it is returned; else each lane looks for itworker.
#[inline(never)]
pub(crate) fn check(
    worker: &mut Worker<'_>,
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
        let buffer = fault::buffer(worker.run, Place::Global, addr, bytes).filter(|b| b.offset % align as i64 != 0);
        return Err(fault::misaligned(misaligned, addrs, align, bytes, write, buffer));
    }
    let cached = worker.cache[index as usize] as usize;
    for candidate in [Some(cached), worker.window_of(low)].into_iter().flatten() {
        let window = &worker.windows[candidate];
        // An access never remembers the heap, so that each one comes here and is compared with its blocks.
        if window.holds(low, 1) && window.holds(high, bytes) && !(write && window.constant) && !window.heap {
            worker.cache[index as usize] = candidate as u32;
            return Ok(Some(candidate));
        }
    }
    let mut stray = 0u32;
    for lane in each(mask) {
        let inside = worker.window_of(addrs[lane]).is_some_and(|w| {
            let window = &worker.windows[w];
            window.holds(addrs[lane], bytes)
                && !(write && window.constant)
                && (!window.heap || worker.run.heap_holds(addrs[lane], bytes))
        });
        stray |= u32::from(!inside) << lane;
    }
    if stray != 0 {
        return Err(fault::stray_global(worker.run, stray, addrs, bytes, write));
    }
    Ok(None)
}
