//! Atomics.
//!
//! Kernels whose blocks communicate run on one worker, and the lanes of a warp go one after the
//! other here, lowest first: reading, computing and writing is atomic by that.

use fusion_ptx::ast::AtomicOp;
use smallvec::SmallVec;

use super::cluster::{self, Does, Whose, memory, own, same_block};
use super::shared::wavefronts;
use super::{count, global, shared};
use crate::code::{Atomic, Place};
use crate::exec::check::{Action, Touch};
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::address::{addresses, distinct, same_place};
use crate::exec::state::lanes::each;
use crate::exec::state::local;
use crate::exec::state::shared::{load_element, store_element};
use crate::exec::state::stack::Stack;
use crate::exec::state::warp::{Split, Warp};

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
    let adds_nothing = |lane: usize| op.op == AtomicOp::Add && a.iter().all(|part| part[lane] & keep == 0);
    let looks = each(mask).fold(0, |looks, lane| looks | u32::from(adds_nothing(lane)) << lane);
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
    let does = Does { write: true, bytes };
    let mut left = mask;
    while left != 0 {
        let (place, group, inside) = match op.place {
            Place::Generic => same_place(common.rank, left, &addrs),
            Place::Shared => (Place::Shared, left, own(worker, common, left, &op.address, &addrs, does)?),
            place => (place, left, addrs),
        };
        let (whose, group, inside) = match place {
            Place::Cluster => same_block(worker, common, group, &inside, does)?,
            _ => (Whose::Own, group, inside),
        };
        left &= !group;
        match place {
            Place::Shared | Place::Cluster => {
                cluster::check(worker, common, whose, group, &inside, does)
                    .map_err(|trap| shared::meant(worker.run, trap, &op.address, bytes))?;
                if whose == Whose::Own {
                    shared::check_array(&mut worker.watch, &op.address, group, &inside, bytes, false, true);
                }
                let touch = Touch { looks, ..atomic(Place::Shared, group, &inside, bytes, None, op) };
                cluster::touch(worker, common, whose, &touch);
                let shared = memory(common, whose);
                for lane in each(group) {
                    for (part, old) in old.iter_mut().enumerate() {
                        old[lane] = load_element(shared, at(inside[lane], part), op.element);
                    }
                    for (part, after) in update(lane, &old).into_iter().enumerate() {
                        store_element(shared, at(inside[lane], part), op.element, after);
                    }
                }
                let passes = wavefronts(&inside, group, bytes);
                count(&mut worker.counters.shared_store, passes, bytes * u64::from(group.count_ones()));
            }
            Place::Global | Place::Constant => {
                // Atomics share one entry of the cache of allocations: there are few of them.
                let one = global::check(worker, worker.atomic_cache, group, &inside, bytes, true)?;
                let windows = &worker.windows;
                let touch = Touch { windows, looks, ..atomic(Place::Global, group, &inside, bytes, one, op) };
                worker.watch.touch(&mut common.checks, &touch);
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
                    let (code, stack) = (worker.run.code, Stack { local: &mut warp.local, split });
                    if !super::local::is_inside(code, &stack, inside[lane], bytes) {
                        return Err(super::local::outside(code, &stack, 1 << lane, inside[lane], bytes, true));
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
        windows: &[],
        window,
        access: None,
        stored: None,
        order: op.order,
        looks: 0,
        shared: &[],
    }
}
