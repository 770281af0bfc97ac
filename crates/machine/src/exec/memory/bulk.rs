//! Bulk copies by the piece: 16 bytes, or fewer where something begins or ends within those (PTX ISA, `cp.async.bulk`).
//!
//! The checks are shown each piece. What is counted, recorded and traced is told once for the bytes that lie one behind the other.

use super::cluster::{self, Does, Whose, memory, same_block};
use super::count;
use crate::code::{Order, Place, Reduce};
use crate::exec::check::{Action, Touch};
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::shared::{load_element, store_element};
use crate::exec::state::window::Window;

/// Bytes that bulk copies are made of, and aligned to.
pub(crate) const PIECE: u64 = 16;

/// The bytes of a piece. Of a shorter one, the first.
pub(crate) type Bytes = [u8; PIECE as usize];

/// Bytes from `at` on as pieces that do not straddle: where each begins behind `at`, and its length, a power of two.
pub(crate) fn pieces(at: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let left = bytes - done;
        if left == 0 {
            return None;
        }
        let aligned = 1 << (at.wrapping_add(done)).trailing_zeros().min(4);
        let piece = (done, aligned.min(1 << left.ilog2().min(4)));
        done += piece.1;
        Some(piece)
    })
}

/// One lane reads a piece of global memory.
pub(crate) fn read_global(
    worker: &mut Worker<'_>,
    common: &mut Common,
    lane: usize,
    at: u64,
    len: u64,
) -> Trapped<Bytes> {
    let window = serve(worker, lane, at, len, false)?;
    show_global(worker, common, Action::Read, lane, at, len, window);
    worker.windows[window].mark(at, len, false);
    Ok(load(&worker.windows[window], at, len))
}

/// One lane writes a piece to global memory, or adds it to what is there.
pub(crate) fn write_global(
    worker: &mut Worker<'_>,
    common: &mut Common,
    lane: usize,
    (at, len): (u64, u64),
    bytes: &Bytes,
    reduce: Option<Reduce>,
) -> Trapped {
    let window = serve(worker, lane, at, len, true)?;
    let action = if reduce.is_some() { Action::Atomic } else { Action::CopyOut };
    show_global(worker, common, action, lane, at, len, window);
    let window = &mut worker.windows[window];
    window.mark(at, len, true);
    if reduce.is_some() {
        window.mark(at, len, false);
    }
    let element = reduce.map_or_else(|| word_of(at, len), |reduce| reduce.element);
    for (from, value) in elements(bytes, len, element) {
        let value = reduce.map_or(value, |reduce| reduced(reduce, window.load(at + from, element), value));
        window.store(at + from, element, value);
    }
    Ok(())
}

/// One lane reads a piece of its block's shared memory. If the copy is one of a group, the piece must stay there until that has
/// been waited for.
pub(crate) fn read_shared(
    worker: &mut Worker<'_>,
    common: &mut Common,
    lane: usize,
    at: u64,
    len: u64,
    grouped: bool,
) -> Trapped<Bytes> {
    cluster::check(worker, common, Whose::Own, 1 << lane, &[at; 32], Does { write: false, bytes: len })?;
    worker.watch.reads_by_proxy(&mut common.checks, lane, at, len);
    let action = if grouped { Action::ReadAsync } else { Action::Read };
    show_shared(worker, common, Whose::Own, action, lane, at, len);
    let mut bytes = Bytes::default();
    for (byte, value) in (0..len).zip(&mut bytes) {
        *value = load_element(&common.shared, at + byte, 1) as u8;
    }
    Ok(bytes)
}

/// One lane writes a piece to the shared memory of a block of its cluster, or adds it to what is there.
pub(crate) fn write_shared(
    worker: &mut Worker<'_>,
    common: &mut Common,
    lane: usize,
    (at, len): (u64, u64),
    bytes: &Bytes,
    reduce: Option<Reduce>,
) -> Trapped {
    let does = Does { write: true, bytes: len };
    let (whose, _, inside) = same_block(worker, common, 1 << lane, &[at; 32], does)?;
    cluster::check(worker, common, whose, 1 << lane, &inside, does)?;
    let at = inside[lane];
    let action = if reduce.is_some() { Action::Atomic } else { Action::CopyAsync };
    show_shared(worker, common, whose, action, lane, at, len);
    let element = reduce.map_or_else(|| word_of(at, len), |reduce| reduce.element);
    let shared = memory(common, whose);
    for (from, value) in elements(bytes, len, element) {
        let value = reduce.map_or(value, |reduce| reduced(reduce, load_element(shared, at + from, element), value));
        store_element(shared, at + from, element, value);
    }
    Ok(())
}

/// What one lane has copied from global memory, or to it: bytes one behind the other.
pub(crate) fn ran_global(worker: &mut Worker<'_>, lane: usize, at: u64, bytes: u64, action: Action) {
    if bytes == 0 {
        return;
    }
    let sectors = (at + bytes - 1) / 32 - at / 32 + 1;
    let counters = &mut worker.counters;
    let traffic = match action {
        Action::Read => &mut counters.global_load,
        Action::Atomic => &mut counters.global_atomic,
        _ => &mut counters.global_store,
    };
    count(traffic, sectors, bytes);
    worker.watch.copied(&touch(Place::Global, action, lane, &[at; 32], bytes));
}

/// And of shared memory, of which 128 bytes are one pass.
pub(crate) fn ran_shared(worker: &mut Worker<'_>, bytes: u64, write: bool) {
    let counters = &mut worker.counters;
    count(if write { &mut counters.shared_store } else { &mut counters.shared_load }, bytes.div_ceil(128), bytes);
}

/// The allocation that holds a piece.
fn serve(worker: &Worker<'_>, lane: usize, at: u64, len: u64, write: bool) -> Trapped<usize> {
    let holds = |window: &Window<'_>| {
        window.holds(at, len) && !(write && window.constant) && (!window.heap || worker.run.heap_holds(at, len))
    };
    let found = worker.window_of(at).filter(|window| holds(&worker.windows[*window]));
    found.ok_or_else(|| fault::stray_global(worker.run, 1 << lane, &[at; 32], len, write))
}

fn load(window: &Window<'_>, at: u64, len: u64) -> Bytes {
    let mut bytes = Bytes::default();
    let element = word_of(at, len);
    for (place, from) in bytes.chunks_mut(element as usize).zip((0..len).step_by(element as usize)) {
        let value = window.load(at + from, element).to_le_bytes();
        place.copy_from_slice(&value[..place.len()]);
    }
    bytes
}

/// The largest element, of 4 bytes at most, that pieces at an address are made of.
fn word_of(at: u64, len: u64) -> u32 {
    1 << (at | len).trailing_zeros().min(2)
}

/// The elements of a piece, each with where it begins.
fn elements(bytes: &Bytes, len: u64, element: u32) -> impl Iterator<Item = (u64, u64)> {
    let value = |part: &[u8]| part.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let parts = bytes.chunks(element as usize).zip((0..len).step_by(element as usize));
    parts.map(move |(part, from)| (from, value(part)))
}

fn reduced(Reduce { f, element }: Reduce, old: u64, value: u64) -> u64 {
    let keep = u64::MAX >> (64 - 8 * element);
    f(old & keep, value & keep) & keep
}

fn show_global(
    worker: &mut Worker<'_>,
    common: &mut Common,
    action: Action,
    lane: usize,
    at: u64,
    len: u64,
    window: usize,
) {
    let addrs = [at; 32];
    let touch =
        Touch { windows: &worker.windows, window: Some(window), ..touch(Place::Global, action, lane, &addrs, len) };
    worker.watch.piece(&mut common.checks, &touch);
}

fn show_shared(
    worker: &mut Worker<'_>,
    common: &mut Common,
    whose: Whose,
    action: Action,
    lane: usize,
    at: u64,
    len: u64,
) {
    let addrs = [at; 32];
    let touch = touch(Place::Shared, action, lane, &addrs, len);
    match whose {
        Whose::Peer(_) => cluster::touch(worker, common, whose, &touch),
        Whose::Own => worker.watch.piece(&mut common.checks, &Touch { shared: &common.shared, ..touch }),
    }
}

fn touch<'t>(place: Place, action: Action, lane: usize, addrs: &'t [u64; 32], bytes: u64) -> Touch<'t> {
    // A reduction is relaxed, and reaches the whole device (PTX ISA, `cp.reduce.async.bulk`).
    let order = Order { strong: action == Action::Atomic, clustered: true, ..Order::WEAK };
    Touch {
        place,
        action,
        mask: 1 << lane,
        addrs,
        bytes,
        row: false,
        uniform: false,
        windows: &[],
        window: None,
        access: None,
        stored: None,
        order,
        looks: 0,
        shared: &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(at: u64, bytes: u64) -> Vec<(u64, u64)> {
        pieces(at, bytes).collect()
    }

    #[test]
    fn pieces_are_aligned() {
        assert_eq!(all(32, 48), [(0, 16), (16, 16), (32, 16)]);
        assert_eq!(all(4, 12), [(0, 4), (4, 8)]);
        assert_eq!(all(16, 11), [(0, 8), (8, 2), (10, 1)]);
        assert_eq!(all(7, 0), []);
    }

    #[test]
    fn a_piece_is_made_of_elements() {
        let bytes = std::array::from_fn(|at| at as u8);
        assert_eq!(elements(&bytes, 8, 2).collect::<Vec<_>>(), [(0, 0x100), (2, 0x302), (4, 0x504), (6, 0x706)]);
        assert_eq!((word_of(8, 16), word_of(6, 2), word_of(5, 1)), (4, 2, 1));
        let add = Reduce { f: |old, new| old + new, element: 1 };
        assert_eq!(reduced(add, 0xff, 2), 1);
    }
}
