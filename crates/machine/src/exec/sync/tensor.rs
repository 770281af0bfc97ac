//! Copies of boxes between a tensor in global memory and shared memory (PTX ISA, `cp.async.bulk.tensor`).
//!
//! As with other bulk copies the bytes are there at once, and who does not wait for them is found by the checks.

use fusion_ptx::ast::{AtomicOp, Mode};

use super::bulk::{targets, tell};
use crate::arith;
use crate::code::{CopyTensor, Place, Reduce, window};
use crate::exec::check::Action;
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::memory::bulk::{self, Bytes, PIECE, pieces};
use crate::exec::memory::cluster::{Does, own};
use crate::exec::memory::shared;
use crate::exec::state::address::{addresses, resolve};
use crate::exec::state::lanes::each;
use crate::exec::state::warp::{Split, Warp};
use crate::report::kind::{Missing, Tensor};
use crate::tensor::{Cut, Element, Fill, Interleave, RANKS, TensorMap, WORDS};

/// What a box in shared memory is aligned to, whatever pattern its chunks follow.
const ALIGN: u64 = 128;

/// Bytes that a copy moves at once.
const CHUNK: u64 = 16;

/// What a map is aligned to.
const MAP_ALIGN: u64 = 64;
const MAP_BYTES: u64 = 8 * WORDS as u64;

pub(crate) fn copy(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &Split,
    op: &CopyTensor,
    mask: u32,
) -> Trapped {
    let regs = warp.regs.view(split.bases);
    let maps = addresses(&regs, &op.map, split.local_base);
    let mut shared = addresses(&regs, &op.shared, split.local_base);
    let objects = op.mbarrier.map(|object| addresses(&regs, &object, split.local_base));
    let blocks = op.multicast.map(|blocks| regs.get(blocks));
    let coordinates: Vec<[u32; 32]> = op.coordinates.iter().map(|slot| *regs.word(*slot)).collect();
    if objects.is_none() {
        shared = own(worker, common, mask, &op.shared, &shared, Does { write: false, bytes: PIECE })?;
    }
    for lane in each(mask) {
        let map = map(worker, op, lane, maps[lane])?;
        let start = |axis: usize| coordinates.get(axis).map_or(0, |values| i64::from(values[lane] as i32));
        begins(op, &map, start, lane)?;
        let cut = Cut::new(&map, std::array::from_fn::<i64, RANKS, _>(start));
        place(worker, op, lane, shared[lane], cut.room())?;
        let Some(objects) = objects else {
            outward(worker, common, op, lane, &map, cut, shared[lane])?;
            continue;
        };
        let begun = common.checks.copies_begin();
        let blocks = blocks.map(|blocks| blocks[lane]);
        let to = targets(shared[lane], blocks);
        inward(worker, common, lane, &map, cut, &to)?;
        tell(worker, common, warp, lane, begun, (objects[lane], blocks), cut.bytes())?;
    }
    Ok(())
}

/// The map that a lane names.
fn map(worker: &Worker<'_>, op: &CopyTensor, lane: usize, address: u64) -> Trapped<TensorMap> {
    let lanes = 1 << lane;
    let (place, at) = match op.map_place {
        Place::Generic => resolve(0, address),
        place => (place, address),
    };
    if !at.is_multiple_of(MAP_ALIGN) {
        return Err(fault::misaligned(lanes, &[at; 32], MAP_ALIGN, MAP_BYTES, false, None));
    }
    let mut about = None;
    let words: [u64; WORDS] = match place {
        Place::Param => {
            let params = worker.run.params;
            let from = usize::try_from(at).unwrap_or(usize::MAX);
            let bytes = params.get(from..).and_then(|rest| rest.get(..MAP_BYTES as usize));
            let Some(bytes) = bytes else { return Err(fault::stray_param(lanes, at, MAP_BYTES, params.len())) };
            let word =
                |word: usize| bytes[8 * word..].iter().take(8).rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
            std::array::from_fn(word)
        }
        Place::Global | Place::Constant => {
            let window = worker.window_of(at).map(|w| &worker.windows[w]).filter(|window| window.holds(at, MAP_BYTES));
            let Some(window) = window else {
                return Err(fault::stray_global(worker.run, lanes, &[at; 32], MAP_BYTES, false));
            };
            about = fault::buffer(worker.run, Place::Global, at, MAP_BYTES);
            std::array::from_fn(|word| window.load(at + 8 * word as u64, 8))
        }
        place => {
            let local = matches!(place, Place::Local | Place::Frame);
            return Err(Trap::new(Tensor::Elsewhere { local }, lanes));
        }
    };
    let wrong = |kind: Tensor| Err(Trap::new(kind, lanes).about(about.clone()));
    let Some(map) = TensorMap::of(&words) else { return wrong(Tensor::NoMap) };
    let (coordinates, dimensions) = (op.coordinates.len() as u32, map.rank as u32);
    if coordinates != dimensions {
        return wrong(Tensor::Rank { coordinates, dimensions });
    }
    if map.interleave != Interleave::None {
        return wrong(Tensor::Unsupported(Missing::Interleave));
    }
    if map.element.is_rounded() {
        return wrong(Tensor::Unsupported(Missing::Rounding));
    }
    Ok(map)
}

/// Whether a box begins where a copy can begin. The manuals do not say so, and an H200 ends the launch with an illegal instruction: where
/// the first coordinate is no multiple of 16 bytes, be it in the tensor or not, and where a copy out of shared memory has one below 0.
fn begins(op: &CopyTensor, map: &TensorMap, start: impl Fn(usize) -> i64, lane: usize) -> Trapped {
    let (element, first) = (map.element.bytes(), start(0));
    let wrong = |kind: Tensor| Err(Trap::new(kind, 1 << lane));
    if !(first as u64).wrapping_mul(element).is_multiple_of(CHUNK) {
        return wrong(Tensor::Start { coordinate: first as i32, element: element as u32 });
    }
    let below = (0..map.rank).find(|axis| op.mbarrier.is_none() && start(*axis) < 0);
    below.map_or(Ok(()), |axis| wrong(Tensor::Below { axis: axis as u32, coordinate: start(axis) as i32 }))
}

/// Whether a box fits where a lane wants it in shared memory.
fn place(worker: &mut Worker<'_>, op: &CopyTensor, lane: usize, address: u64, bytes: u64) -> Trapped {
    let (lanes, writes) = (1 << lane, op.mbarrier.is_some());
    // Only an address that may be one of another block has a rank.
    let run = worker.run;
    let ranked = writes && (run.cluster_size() > 1 || run.code.maps);
    let inside = [if ranked { address & ((1 << window::RANK) - 1) } else { address }; 32];
    if !address.is_multiple_of(ALIGN) {
        let about = fault::buffer(run, Place::Shared, inside[0], bytes);
        return Err(fault::misaligned(lanes, &inside, ALIGN, bytes, writes, about));
    }
    if inside[0].saturating_add(bytes) > u64::from(run.shared_bytes) {
        let trap = fault::stray_shared(run, lanes, &inside, bytes, writes);
        return Err(shared::meant(run, trap, &op.shared, bytes));
    }
    shared::check_array(&mut worker.watch, &op.shared, lanes, &inside, bytes, false, writes);
    Ok(())
}

/// Into shared memory, of one block or of several.
fn inward(
    worker: &mut Worker<'_>,
    common: &mut Common,
    lane: usize,
    map: &TensorMap,
    cut: Cut<'_>,
    to: &[u64],
) -> Trapped {
    let fill = fill(map);
    for row in cut.rows() {
        let (low, high) = (row.before, row.before + row.inside);
        for chunk in (0..cut.width()).step_by(PIECE as usize) {
            let end = chunk + PIECE;
            let (first, last) = (low.clamp(chunk, end), high.clamp(chunk, end));
            for (from, until, inside) in [(chunk, first, false), (first, last, true), (last, end, false)] {
                for (at, len) in pieces(from, until - from) {
                    let bytes = match inside {
                        true => bulk::read_global(worker, common, lane, row.from.wrapping_add(from + at - low), len)?,
                        false => fill,
                    };
                    for &to in to {
                        let to = swizzled(map, to.wrapping_add(row.at + from + at));
                        bulk::write_shared(worker, common, lane, (to, len), &bytes, None)?;
                    }
                }
            }
        }
        bulk::ran_global(worker, lane, row.from, row.inside, Action::Read);
    }
    to.iter().for_each(|_| bulk::ran_shared(worker, cut.bytes(), true));
    Ok(())
}

/// Into the tensor. What lies outside of it stays out, except that a row ends with the sixteen bytes in which the tensor ends: an H200
/// writes them whole.
fn outward(
    worker: &mut Worker<'_>,
    common: &mut Common,
    op: &CopyTensor,
    lane: usize,
    map: &TensorMap,
    cut: Cut<'_>,
    from: u64,
) -> Trapped {
    let reduce = op.reduce.map(|reduce| reduction(reduce, map, lane)).transpose()?;
    let action = if reduce.is_some() { Action::Atomic } else { Action::CopyOut };
    for row in cut.rows() {
        let (first, inside) = (from + row.at + row.before, row.inside.next_multiple_of(CHUNK));
        for (at, len) in pieces(first, inside) {
            let bytes = bulk::read_shared(worker, common, lane, swizzled(map, first + at), len, true)?;
            bulk::write_global(worker, common, lane, (row.from.wrapping_add(at), len), &bytes, reduce)?;
        }
        bulk::ran_global(worker, lane, row.from, inside, action);
    }
    bulk::ran_shared(worker, cut.bytes(), false);
    Ok(())
}

/// The pattern goes by addresses within a block's shared memory, whichever block that is.
fn swizzled(map: &TensorMap, address: u64) -> u64 {
    let within = address & ((1 << window::RANK) - 1);
    address - within + map.swizzle.place(within)
}

/// What an operation does with two elements of the tensor.
fn reduction(op: AtomicOp, map: &TensorMap, lane: usize) -> Trapped<Reduce> {
    let (ty, element) = (map.element.scalar(), map.element.bytes() as u32);
    // As other additions to global memory do (PTX ISA, `red`).
    let mode = Mode { ftz: map.element == Element::F32, ..Mode::plain() };
    let bits = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
    let found = arith::atomic(op, ty, mode).filter(|_| !bits || !map.element.is_float() && element >= 4);
    let f = found.ok_or_else(|| Trap::new(Tensor::NoReduction, 1 << lane))?;
    Ok(Reduce { f, element })
}

/// Sixteen bytes of what stands for elements outside of the tensor.
fn fill(map: &TensorMap) -> Bytes {
    let nan: u64 = match map.fill {
        Fill::Zero => 0,
        Fill::Nan => u64::MAX >> (65 - 8 * map.element.bytes()),
    };
    let element = nan.to_le_bytes();
    std::array::from_fn(|at| element[at % map.element.bytes() as usize])
}
