//! Stores and copies that an mbarrier is told of (PTX ISA 9.7.9, `st.async`, `cp.async.bulk`).
//!
//! The bytes are there at once, and the object is told at once. Who does not wait for it has not waited for them: the checks know.

use fusion_ptx::ast::MbarrierOp;

use super::mbarrier::{self, Act, Given};
use crate::code::{CopyBulk, Order, Place, StoreAsync};
use crate::exec::check::{Action, Touch};
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::memory::cluster::{self, Does, Whose, memory, same_block};
use crate::exec::memory::{count, global};
use crate::exec::state::address::addresses;
use crate::exec::state::lanes::{each, lanes};
use crate::exec::state::shared::{load_element, store_element};
use crate::exec::state::warp::{Split, Warp};

/// Bytes that bulk copies are made of, and aligned to.
const PIECE: u64 = 16;

/// `st.async` and `red.async`.
pub(crate) fn store(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &Split,
    op: &StoreAsync,
    mask: u32,
) -> Trapped {
    let regs = warp.regs.view(split.bases);
    let addrs = addresses(&regs, &op.address, split.local_base);
    let objects = addresses(&regs, &op.mbarrier, split.local_base);
    let values: Vec<[u64; 32]> = op.a.iter().map(|reg| regs.get(*reg)).collect();
    let bytes = u64::from(op.element) * values.len() as u64;
    let does = Does { write: true, bytes };
    let keep = u64::MAX >> (64 - 8 * op.element);
    let mut left = mask;
    while left != 0 {
        let (whose, group, inside) = same_block(worker, common, left, &addrs, does)?;
        left &= !group;
        cluster::check(worker, common, whose, group, &inside, does)?;
        let action = if op.f.is_some() { Action::Atomic } else { Action::Write };
        let order = Order { strong: op.f.is_some(), clustered: true, ..Order::WEAK };
        cluster::touch(worker, common, whose, &Touch { order, ..touch(Place::Shared, action, group, &inside, bytes) });
        let shared = memory(common, whose);
        for lane in each(group) {
            for (part, value) in values.iter().enumerate() {
                let at = inside[lane] + part as u64 * u64::from(op.element);
                let old = load_element(shared, at, op.element);
                let value = op.f.map_or(value[lane], |f| f(old, value[lane] & keep));
                store_element(shared, at, op.element, value & keep);
            }
        }
        count(&mut worker.counters.shared_store, 1, bytes * u64::from(group.count_ones()));
    }
    warp.bypass.stores(split.pc, mask);
    complete(worker, common, warp, mask, false, &objects, &[bytes; 32])
}

/// Objects are told of bytes that have come.
fn complete(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &Warp,
    mask: u32,
    copies: bool,
    objects: &[u64; 32],
    bytes: &[u64; 32],
) -> Trapped {
    let order = Order { strong: true, release: true, ..Order::WEAK };
    let act = Act { op: MbarrierOp::CompleteTx, order, copies };
    let mut left = mask;
    while left != 0 {
        let (whose, group, inside) = same_block(worker, common, left, objects, Does { write: true, bytes: 8 })?;
        left &= !group;
        mbarrier::at_objects(worker, common, warp, whose, act, group, &inside, bytes, &mut Given::default())?;
    }
    Ok(())
}

/// `cp.async.bulk`.
pub(crate) fn copy(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &Split,
    op: &CopyBulk,
    mask: u32,
) -> Trapped {
    let regs = warp.regs.view(split.bases);
    let to = addresses(&regs, &op.dst, split.local_base);
    let from = addresses(&regs, &op.src, split.local_base);
    let objects = op.mbarrier.map(|object| addresses(&regs, &object, split.local_base));
    let sizes = *regs.word(op.size);
    for lane in each(mask) {
        let size = u64::from(sizes[lane]);
        if !size.is_multiple_of(PIECE) {
            return Err(fault::misaligned(1 << lane, &[size; 32], PIECE, size, true, None));
        }
        for at in (0..size).step_by(PIECE as usize) {
            piece(worker, common, op, lane, from[lane] + at, to[lane] + at)?;
        }
    }
    let Some(objects) = objects else { return Ok(()) };
    complete(worker, common, warp, mask, true, &objects, &lanes(|lane| u64::from(sizes[lane])))
}

/// One lane copies 16 bytes.
fn piece(worker: &mut Worker<'_>, common: &mut Common, op: &CopyBulk, lane: usize, from: u64, to: u64) -> Trapped {
    let mask = 1u32 << lane;
    let words = match op.from {
        Place::Global => {
            let addrs = [from; 32];
            let window = global::check(worker, worker.atomic_cache, mask, &addrs, PIECE, false)?;
            let read = touch(Place::Global, Action::Read, mask, &addrs, PIECE);
            worker.watch.touch(&mut common.checks, &Touch { windows: &worker.windows, window, ..read });
            let window = window.or_else(|| worker.window_of(from)).map(|w| &mut worker.windows[w]);
            count(&mut worker.counters.global_load, 1, PIECE);
            window.map_or([0; 4], |window| {
                window.mark(from, PIECE, false);
                std::array::from_fn(|word| window.load(from + 4 * word as u64, 4))
            })
        }
        _ => {
            let addrs = [from; 32];
            let does = Does { write: false, bytes: PIECE };
            cluster::check(worker, common, Whose::Own, mask, &addrs, does)?;
            cluster::touch(worker, common, Whose::Own, &touch(Place::Shared, Action::Read, mask, &addrs, PIECE));
            count(&mut worker.counters.shared_load, 1, PIECE);
            std::array::from_fn(|word| load_element(&common.shared, from + 4 * word as u64, 4))
        }
    };
    if op.to == Place::Global {
        let addrs = [to; 32];
        let window = global::check(worker, worker.atomic_cache, mask, &addrs, PIECE, true)?;
        let write = touch(Place::Global, Action::CopyAsync, mask, &addrs, PIECE);
        let write = Touch { action: Action::Write, ..write };
        worker.watch.touch(&mut common.checks, &Touch { windows: &worker.windows, window, ..write });
        if let Some(window) = window.or_else(|| worker.window_of(to)).map(|w| &mut worker.windows[w]) {
            window.mark(to, PIECE, true);
            words.iter().enumerate().for_each(|(word, value)| window.store(to + 4 * word as u64, 4, *value));
        }
        count(&mut worker.counters.global_store, 1, PIECE);
        return Ok(());
    }
    let does = Does { write: true, bytes: PIECE };
    let (whose, _, inside) = same_block(worker, common, mask, &[to; 32], does)?;
    cluster::check(worker, common, whose, mask, &inside, does)?;
    cluster::touch(worker, common, whose, &touch(Place::Shared, Action::CopyAsync, mask, &inside, PIECE));
    let shared = memory(common, whose);
    words.iter().enumerate().for_each(|(word, value)| store_element(shared, inside[lane] + 4 * word as u64, 4, *value));
    count(&mut worker.counters.shared_store, 1, PIECE);
    Ok(())
}

fn touch<'t>(place: Place, action: Action, mask: u32, addrs: &'t [u64; 32], bytes: u64) -> Touch<'t> {
    Touch {
        place,
        action,
        mask,
        addrs,
        bytes,
        row: false,
        uniform: false,
        windows: &[],
        window: None,
        access: None,
        stored: None,
        order: Order::WEAK,
        shared: &[],
    }
}
