//! Loads and stores on shared memory: 32 banks of four bytes.

use super::count;
use super::way::{Elements, Request, Way};
use crate::code::{AddressOf, Place, Root, SharedVariable};
use crate::exec::check::{Touch, Watch};
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::address::sequential;
pub(crate) use crate::exec::state::banks::wavefronts;
use crate::exec::state::lanes::{FULL, each};
use crate::exec::state::run::Run;
use crate::exec::state::shared::{Shared, load_element, store_element};
use crate::report::kind::Memory;
use crate::report::{Code, Kind};

/// Where the lanes of a whole warp are: one behind the other, all at one address, or otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Row,
    Uniform,
    Other,
}

impl Elements for Vec<u32> {
    #[inline(always)]
    fn load(&self, _: usize, addr: u64, element: u32) -> u64 {
        load_element(self, addr, element)
    }

    #[inline(always)]
    fn store(&mut self, _: usize, addr: u64, element: u32, value: u64) {
        store_element(self, addr, element, value);
    }
}

/// `ld.shared` and `st.shared`.
#[inline(always)]
pub(super) fn access<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    way: &mut W,
    request: Request<'_>,
) -> Trapped {
    let Request { access, mask, addrs, .. } = request;
    if mask == FULL
        && access.words
        && addrs[0].is_multiple_of(4)
        && let [Some(reg)] = access.regs[..]
    {
        let word = (addrs[0] / 4) as usize;
        let words = (worker.run.shared_bytes / 4) as usize;
        if sequential(addrs, 4) && word.saturating_add(32) <= words.min(common.shared.len()) {
            worker.shared_end = worker.shared_end.max(4 * (word as u64 + 32));
            account(worker, common, way, request, 1, Shape::Row);
            way.row(reg, &mut common.shared[word..word + 32]);
            return Ok(());
        }
        if !W::WRITES && sequential(addrs, 0) && word < words.min(common.shared.len()) {
            worker.shared_end = worker.shared_end.max(4 * (word as u64 + 1));
            account(worker, common, way, request, 1, Shape::Uniform);
            let value = common.shared[word];
            way.row(reg, &mut [value; 32]);
            return Ok(());
        }
    }
    scattered(worker, common, way, request)
}

#[inline(never)]
fn scattered<W: Way>(worker: &mut Worker<'_>, common: &mut Common, way: &mut W, request: Request<'_>) -> Trapped {
    let Request { access, mask, addrs, .. } = request;
    let bytes = u64::from(access.bytes());
    check(worker, &common.shared, mask, addrs, bytes, W::WRITES)
        .map_err(|trap| meant(worker.run, trap, &access.address, bytes))?;
    account(worker, common, way, request, wavefronts(addrs, mask, bytes), Shape::Other);
    way.elements(request, &mut common.shared);
    Ok(())
}

/// Shows an access to the checks, and counts it.
#[inline(always)]
fn account<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    way: &W,
    request: Request<'_>,
    passes: u64,
    shape: Shape,
) {
    let Request { access, mask, addrs, .. } = request;
    let bytes = u64::from(access.bytes());
    let (row, uniform) = (shape == Shape::Row, shape == Shape::Uniform);
    check_array(&mut worker.watch, &access.address, mask, addrs, bytes, row, W::WRITES);
    let touch = Touch::of(access, Place::Shared, mask, addrs, way.stored());
    worker.watch.touch(&mut common.checks, &Touch { row, uniform, shared: &common.shared, ..touch });
    let counters = &mut worker.counters;
    let traffic = if W::WRITES { &mut counters.shared_store } else { &mut counters.shared_load };
    count(traffic, passes, bytes * u64::from(mask.count_ones()));
    match shape {
        Shape::Other => worker.watch.shared(mask, addrs, bytes, passes),
        _ => worker.watch.shared_words(addrs, row),
    }
}

/// Looks whether an access is aligned and lies in the block's shared memory, and notes where it ends.
pub(crate) fn check(
    worker: &mut Worker<'_>,
    shared: &Shared,
    mask: u32,
    addrs: &[u64; 32],
    bytes: u64,
    write: bool,
) -> Trapped {
    let run = worker.run;
    let size = u64::from(run.shared_bytes).min(4 * shared.len() as u64);
    let align = if bytes.is_power_of_two() { bytes } else { 4 };
    let (mut stray, mut misaligned, mut last) = (0, 0, 0);
    for lane in each(mask) {
        last = addrs[lane].max(last);
        stray |= u32::from(addrs[lane] > size || size - addrs[lane] < bytes) << lane;
        misaligned |= u32::from(!addrs[lane].is_multiple_of(align)) << lane;
    }
    if stray != 0 {
        return Err(fault::stray_shared(run, stray, addrs, bytes, write));
    }
    if misaligned != 0 {
        return Err(fault::misaligned(misaligned, addrs, align, bytes, write, None));
    }
    worker.shared_end = worker.shared_end.max(last + bytes);
    Ok(())
}

/// An access that lies outside of the block's shared memory is about the array that its address is computed from, where that is known.
#[cold]
pub(crate) fn meant(run: &Run<'_>, trap: Box<Trap>, address: &AddressOf, bytes: u64) -> Box<Trap> {
    let Kind::Memory(Memory::OutsideShared { access, .. }) = trap.kind else { return trap };
    let Root::Shared(index) = address.root else { return trap };
    match run.code.shared.get(index as usize) {
        Some(variable) if access.address >= u64::from(variable.offset) => {
            trap.about(Some(fault::within(variable, access.address, bytes)))
        }
        _ => trap,
    }
}

/// Looks whether an access that lies in the block's shared memory also lies in the array that its address is computed
/// from. If not that is a finding: nothing stops it on a GPU.
#[inline(always)]
pub(crate) fn check_array(
    watch: &mut Watch<'_>,
    address: &AddressOf,
    mask: u32,
    addrs: &[u64; 32],
    bytes: u64,
    row: bool,
    write: bool,
) {
    let Root::Shared(index) = address.root else { return };
    let Some(variable) = watch.run.code.shared.get(index as usize) else { return };
    let (low, high) = (u64::from(variable.offset), u64::from(variable.offset) + u64::from(variable.size));
    let holds = |addr: u64, bytes: u64| addr >= low && addr + bytes <= high;
    if row && holds(addrs[0], 32 * bytes) {
        return;
    }
    let outside = each(mask).fold(0, |out, lane| out | u32::from(!holds(addrs[lane], bytes)) << lane);
    if outside != 0 {
        outside_array(watch, variable, outside, addrs, bytes, write);
    }
}

#[cold]
#[inline(never)]
fn outside_array(
    watch: &mut Watch<'_>,
    variable: &SharedVariable,
    lanes: u32,
    addrs: &[u64; 32],
    bytes: u64,
    write: bool,
) {
    let site = Site { code: Code::OobShared, pc: watch.pc, other: u32::MAX };
    let (run, block, warp, pc) = (watch.run, watch.block, watch.warp, watch.pc);
    watch.findings.add(site, block, warp, u64::from(lanes.count_ones()), || {
        fault::outside_array(run, variable, lanes, addrs, bytes, write).at(pc)
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// By the definition: of a group's distinct words, the most that one bank has.
    fn counted(addrs: &[u64; 32], mask: u32, bytes: u64) -> u64 {
        let (words, lanes) = (bytes / 4, (128 / bytes) as usize);
        let passes = |group: usize| {
            let here = (group * lanes..(group + 1) * lanes).filter(|&lane| mask >> lane & 1 == 1);
            let wanted: BTreeSet<u64> = here.flat_map(|lane| (0..words).map(move |w| addrs[lane] / 4 + w)).collect();
            (0..32).map(|bank| wanted.iter().filter(|&&word| word % 32 == bank).count() as u64).max().unwrap_or(0)
        };
        (0..32 / lanes).map(passes).sum()
    }

    #[test]
    fn passes_are_those_of_the_definition() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..2000 {
            let bytes = [4, 8, 16][draw(3) as usize];
            // From within a line to all over.
            let (span, base) = ([8, 32, 40, 1024][draw(4) as usize], draw(64));
            let addrs: [u64; 32] = std::array::from_fn(|_| 4 * (base + draw(span)));
            let mask = [u32::MAX, 0xffff, 1, draw(1 << 32) as u32][draw(4) as usize];
            assert_eq!(wavefronts(&addrs, mask, bytes), counted(&addrs, mask, bytes), "{addrs:?} {mask:#x} {bytes}");
        }
    }
}
