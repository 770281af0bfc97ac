//! Stores and copies that an mbarrier is told of (PTX ISA 9.7.9, `st.async`, `cp.async.bulk`).
//!
//! The bytes are there at once, and the object is told at once. Who does not wait for it has not waited for them: the checks know.

use fusion_ptx::ast::MbarrierOp;
use smallvec::SmallVec;

use super::mbarrier::{self, Act, Given};
use crate::code::{CopyBulk, Order, Place, StoreAsync};
use crate::exec::check::{Action, Touch};
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::memory::bulk::{self, PIECE};
use crate::exec::memory::cluster::{self, Does, memory, own, same_block};
use crate::exec::memory::count;
use crate::exec::state::address::addresses;
use crate::exec::state::lanes::each;
use crate::exec::state::shared::{load_element, store_element};
use crate::exec::state::warp::{Split, Warp};

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
    complete(worker, common, warp, mask, None, &objects, &[bytes; 32])
}

/// Objects are told of bytes that have come, where it is so of copies that have begun since some time.
pub(super) fn complete(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &Warp,
    mask: u32,
    copies: Option<u32>,
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

/// `cp.async.bulk` and `cp.reduce.async.bulk`.
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
    let blocks = op.multicast.map(|blocks| regs.get(blocks));
    let from = match op.from {
        Place::Global => from,
        _ => own(worker, common, mask, &op.src, &from, Does { write: false, bytes: PIECE })?,
    };
    for lane in each(mask) {
        let size = u64::from(sizes[lane]);
        for (number, write) in [(from[lane], false), (to[lane], true), (size, true)] {
            if !number.is_multiple_of(PIECE) {
                return Err(fault::misaligned(1 << lane, &[number; 32], PIECE, size, write, None));
            }
        }
        let begun = common.checks.copies_begin();
        let targets = targets(to[lane], blocks.map(|blocks| blocks[lane]));
        for at in (0..size).step_by(PIECE as usize) {
            let bytes = match op.from {
                Place::Global => bulk::read_global(worker, common, lane, from[lane] + at, PIECE)?,
                _ => bulk::read_shared(worker, common, lane, from[lane] + at, PIECE, op.to == Place::Global)?,
            };
            if op.to == Place::Global {
                bulk::write_global(worker, common, lane, (to[lane] + at, PIECE), &bytes, op.reduce)?;
                continue;
            }
            for target in &targets {
                bulk::write_shared(worker, common, lane, (target + at, PIECE), &bytes, op.reduce)?;
            }
        }
        match op.from {
            Place::Global => bulk::ran_global(worker, lane, from[lane], size, Action::Read),
            _ => bulk::ran_shared(worker, size, false),
        }
        match op.to {
            Place::Global if op.reduce.is_some() => bulk::ran_global(worker, lane, to[lane], size, Action::Atomic),
            Place::Global => bulk::ran_global(worker, lane, to[lane], size, Action::CopyOut),
            _ => targets.iter().for_each(|_| bulk::ran_shared(worker, size, true)),
        }
        if let Some(objects) = objects {
            let object = objects[lane];
            tell(worker, common, warp, lane, begun, (object, blocks.map(|blocks| blocks[lane])), size)?;
        }
    }
    Ok(())
}

/// Where a copy to some blocks of the cluster goes: to the same place in each.
pub(super) fn targets(to: u64, blocks: Option<u64>) -> SmallVec<[u64; 1]> {
    let Some(blocks) = blocks else { return SmallVec::from_elem(to, 1) };
    (0..16).filter(|rank| blocks >> rank & 1 == 1).map(|rank| cluster::map(to, rank)).collect()
}

/// The objects of a copy are told of its bytes: one, or that of each block which it has gone to.
pub(super) fn tell(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &Warp,
    lane: usize,
    begun: u32,
    (object, blocks): (u64, Option<u64>),
    bytes: u64,
) -> Trapped {
    for object in targets(object, blocks) {
        complete(worker, common, warp, 1 << lane, Some(begun), &[object; 32], &[bytes; 32])?;
    }
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
        looks: 0,
        shared: &[],
    }
}
