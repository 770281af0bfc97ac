//! Asynchronous copies.

use smallvec::SmallVec;

use super::shared::wavefronts;
use super::{count, global, shared};
use crate::code::{Order, Place};
use crate::exec::check::{Action, Touch};
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::Trapped;
use crate::exec::state::address::{distinct, resolve};
use crate::exec::state::lanes::each;
use crate::exec::state::shared::store_element;

/// `cp.async`: `take` bytes of a lane's `size` come from global memory, the rest are zero.
pub(crate) fn execute(
    worker: &mut Worker<'_>,
    common: &mut Common,
    mask: u32,
    to: &[u64; 32],
    from: &[u64; 32],
    size: u32,
    take: &[u32; 32],
) -> Trapped {
    let bytes = u64::from(size);
    shared::check(worker, &common.shared, mask, to, bytes, true)?;
    let from = from.map(|a| resolve(common.rank, a).1);
    let taken = take.map(|bytes| bytes.min(size));
    let reading = each(mask).fold(0, |reading, lane| reading | u32::from(taken[lane] > 0) << lane);
    // Lanes that take the same part are one access; of the source, only what is taken must be there, and is read.
    let mut sources: SmallVec<[(u32, u64, Option<usize>); 2]> = SmallVec::new();
    let mut left = reading;
    while left != 0 {
        let part = taken[left.trailing_zeros() as usize & 31];
        let group = each(left).fold(0, |group, lane| group | u32::from(taken[lane] == part) << lane);
        left &= !group;
        let window = global::check(worker, worker.atomic_cache, group, &from, u64::from(part), false)?;
        sources.push((group, u64::from(part), window));
    }
    let one = if let [(_, _, window)] = sources[..] { window } else { None };
    let touch = Touch {
        place: Place::Global,
        action: Action::Read,
        mask,
        addrs: &from,
        bytes,
        row: false,
        uniform: false,
        windows: &worker.windows,
        window: None,
        access: None,
        stored: None,
        order: Order::WEAK,
        looks: 0,
        shared: &[],
    };
    for &(mask, bytes, window) in &sources {
        worker.watch.touch(&mut common.checks, &Touch { mask, bytes, window, ..touch });
    }
    let (place, action) = (Place::Shared, Action::CopyAsync);
    let target = Touch { place, action, addrs: to, shared: &common.shared, ..touch };
    worker.watch.touch(&mut common.checks, &target);
    for lane in each(mask) {
        let window = one.or_else(|| worker.window_of(from[lane]));
        for at in 0..bytes {
            let byte = match window {
                Some(w) if at < u64::from(taken[lane]) => worker.windows[w].load(from[lane] + at, 1),
                _ => 0,
            };
            store_element(&mut common.shared, to[lane] + at, 1, byte);
        }
        if let Some(w) = window.filter(|_| taken[lane] > 0) {
            worker.windows[w].mark(from[lane], u64::from(taken[lane]), false);
        }
    }
    let lanes = u64::from(mask.count_ones());
    let (sectors, passes) = (distinct(&from, reading, 5), wavefronts(to, mask, bytes));
    count(&mut worker.counters.global_load, sectors, bytes * u64::from(reading.count_ones()));
    count(&mut worker.counters.shared_store, passes, bytes * lanes);
    if reading != 0 {
        worker.watch.global(reading, &from, bytes, sectors);
    }
    worker.watch.shared(mask, to, bytes, passes);
    Ok(())
}
