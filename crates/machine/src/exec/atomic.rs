//! Atomics and asynchronous copies.
//!
//! Kernels whose blocks communicate run on one worker, and the lanes of a warp go one after the
//! other here, lowest first: reading, computing and writing is atomic by that.

use smallvec::SmallVec;

use super::block::Common;
use super::fault;
use super::generic::{resolve, same_place};
use super::global::{count, distinct};
use super::grid::Worker;
use super::lanes::each;
use super::local;
use super::shared::{load_element, store_element, wavefronts};
use super::step::addresses;
use super::trap::Trapped;
use super::warp::{Split, Warp};
use super::watch::{Action, Touch};
use crate::code::{Atomic, Order, Place};

/// One lane's values of a vector or of a 128-bit integer.
type Parts = SmallVec<[u64; 2]>;

/// Says whether it changed anything: an atomic that does not is how a thread looks whether another has.
pub(crate) fn execute(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &Split,
    op: &Atomic,
    mask: u32,
) -> Trapped<bool> {
    let regs = warp.regs.view(split.bases);
    let addrs = addresses(&regs, &op.address, split.local_base);
    let parts = op.a.len();
    let a: Vec<[u64; 32]> = op.a.iter().map(|r| regs.get(*r)).collect();
    let c: Vec<[u64; 32]> = op.c.iter().map(|r| regs.get(*r)).collect();
    let keep = u64::MAX >> (64 - 8 * op.element);
    let bytes = u64::from(op.element) * parts as u64;
    let mut old = vec![[0u64; 32]; parts];
    let mut changed = false;
    let mut update = |lane: usize, before: &[[u64; 32]]| -> Parts {
        let equal = (0..parts).all(|part| before[part][lane] == a[part][lane] & keep);
        let after = (0..parts).map(|part| match c.get(part) {
            Some(new) if equal => new[lane] & keep,
            Some(_) => before[part][lane],
            None => (op.f)(before[part][lane], a[part][lane] & keep) & keep,
        });
        let after: Parts = after.collect();
        changed |= (0..parts).any(|part| after[part] != before[part][lane]);
        after
    };
    let at = |base: u64, part: usize| base + part as u64 * u64::from(op.element);
    let mut left = mask;
    while left != 0 {
        let (place, group, inside) = match op.place {
            Place::Generic => same_place(left, &addrs),
            place => (place, left, addrs),
        };
        left &= !group;
        match place {
            Place::Shared => {
                worker.check_shared(&common.shared, group, &inside, bytes, true)?;
                worker.check_array(&op.address, group, &inside, bytes, false, true);
                let touch = Touch { shared: &common.shared, ..atomic(Place::Shared, group, &inside, bytes, None, op) };
                worker.watch(&mut common.checks, &touch);
                for lane in each(group) {
                    for (part, old) in old.iter_mut().enumerate() {
                        old[lane] = load_element(&common.shared, at(inside[lane], part), op.element);
                    }
                    for (part, after) in update(lane, &old).into_iter().enumerate() {
                        store_element(&mut common.shared, at(inside[lane], part), op.element, after);
                    }
                }
                let passes = wavefronts(&inside, group, bytes);
                count(&mut worker.counters.shared_store, passes, bytes * u64::from(group.count_ones()));
            }
            Place::Global | Place::Constant => {
                // Atomics share one entry of the cache of allocations: there are few of them.
                let one = worker.check_global(worker.atomic_cache, group, &inside, bytes, true)?;
                worker.watch(&mut common.checks, &atomic(Place::Global, group, &inside, bytes, one, op));
                for lane in each(group) {
                    let Some(w) = one.or_else(|| worker.window_of(inside[lane])) else { continue };
                    let window = &mut worker.windows[w];
                    for (part, old) in old.iter_mut().enumerate() {
                        old[lane] = window.load(at(inside[lane], part), op.element);
                    }
                    for (part, after) in update(lane, &old).into_iter().enumerate() {
                        window.store(at(inside[lane], part), op.element, after);
                    }
                    window.mark(inside[lane], bytes, false);
                    window.mark(inside[lane], bytes, true);
                }
                let sectors = distinct(&inside, group, 5);
                count(&mut worker.counters.global_atomic, sectors, bytes * u64::from(group.count_ones()));
            }
            Place::Local | Place::Frame => {
                for lane in each(group) {
                    let have = 4 * warp.local.len() as u64;
                    if inside[lane].checked_add(bytes).is_none_or(|end| end > have) {
                        return Err(fault::stray_local(1 << lane, inside[lane], bytes, have, true));
                    }
                    for (part, old) in old.iter_mut().enumerate() {
                        old[lane] = local::load_element(&warp.local, lane, at(inside[lane], part), op.element);
                    }
                    for (part, after) in update(lane, &old).into_iter().enumerate() {
                        local::store_element(&mut warp.local, lane, at(inside[lane], part), op.element, after);
                    }
                }
            }
            Place::Param | Place::Generic => return Err(fault::readonly_param(group)),
        }
    }
    let mut regs = warp.regs.view(split.bases);
    for (d, old) in op.d.iter().zip(&old) {
        if let Some(d) = d {
            regs.put(*d, mask, old);
        }
    }
    Ok(changed)
}

fn atomic<'t>(
    place: Place,
    mask: u32,
    addrs: &'t [u64; 32],
    bytes: u64,
    window: Option<usize>,
    op: &Atomic,
) -> Touch<'t> {
    Touch {
        place,
        action: Action::Atomic,
        mask,
        addrs,
        bytes,
        row: false,
        uniform: false,
        window,
        access: None,
        stored: None,
        order: op.order,
        shared: &[],
    }
}

/// `cp.async`: `take` bytes of a lane's `size` come from global memory, the rest are zero.
pub(crate) fn copy(
    worker: &mut Worker<'_>,
    common: &mut Common,
    mask: u32,
    to: &[u64; 32],
    from: &[u64; 32],
    size: u32,
    take: &[u32; 32],
) -> Trapped {
    let bytes = u64::from(size);
    worker.check_shared(&common.shared, mask, to, bytes, true)?;
    let from = from.map(|a| resolve(a).1);
    let taken = take.map(|bytes| bytes.min(size));
    let reading = each(mask).fold(0, |reading, lane| reading | u32::from(taken[lane] > 0) << lane);
    // Lanes that take the same part are one access; of the source, only what is taken must be there, and is read.
    let mut sources: SmallVec<[(u32, u64, Option<usize>); 2]> = SmallVec::new();
    let mut left = reading;
    while left != 0 {
        let part = taken[left.trailing_zeros() as usize & 31];
        let group = each(left).fold(0, |group, lane| group | u32::from(taken[lane] == part) << lane);
        left &= !group;
        let window = worker.check_global(worker.atomic_cache, group, &from, u64::from(part), false)?;
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
        window: None,
        access: None,
        stored: None,
        order: Order::WEAK,
        shared: &[],
    };
    for &(mask, bytes, window) in &sources {
        worker.watch(&mut common.checks, &Touch { mask, bytes, window, ..touch });
    }
    let (place, action) = (Place::Shared, Action::CopyAsync);
    let shared = Touch { place, action, addrs: to, shared: &common.shared, ..touch };
    worker.watch(&mut common.checks, &shared);
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
        let who = worker.who(reading, &from);
        worker.tally.global(worker.pc, who, &from, bytes, sectors);
    }
    let who = worker.who(mask, to);
    worker.tally.shared(worker.pc, who, to, bytes, passes);
    Ok(())
}
