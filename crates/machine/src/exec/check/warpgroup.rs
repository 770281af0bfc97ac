//! Products of warp groups, which are complete when they are waited for (PTX ISA 9.7.15).
//!
//! The emulator computes them when they are issued. What is kept here is what of them may still be under way on
//! hardware: which registers they write and read ([`registers`]), which shared memory they read ([`tiles`]), and
//! whether all four warps of a group issue the same.

mod registers;
mod tiles;

use std::collections::VecDeque;

use super::watch::{Action, Touch};
use super::{BlockChecks, Watch};
use crate::code::{Code, Order, Place, SlowOp, WarpgroupProduct};
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::{Party, Trap};
use crate::exec::state::lanes::{Bases, FULL, lanes};
use crate::exec::state::run::Run;
use crate::report::kind::{Proxy, Reader, Warpgroup};
use crate::report::{Kind, Role};
use registers::Registers;
use tiles::{Reading, Tiles};

/// Warps of a group.
const WARPS: usize = 4;

/// Products that a group remembers while one of its warps has not come to them.
const REMEMBERED: usize = 1 << 12;

/// What a block keeps about its warp groups.
#[derive(Debug, Default)]
pub(crate) struct Warpgroups {
    warps: Vec<InFlight>,
    tiles: Tiles,
    groups: Vec<Group>,
}

/// What of a warp's products may be under way. Products are numbered from 1 on.
#[derive(Debug, Default)]
struct InFlight {
    begun: u32,
    /// All up to this one are complete.
    complete: u32,
    /// The last product of each group that was not waited for.
    groups: VecDeque<u32>,
    reads: VecDeque<Reading>,
    registers: Registers,
}

/// The products of four warps, of those that not all have come to.
#[derive(Debug, Default)]
struct Group {
    products: VecDeque<Issued>,
    /// The number of the first of them.
    first: u64,
    /// How many each warp has issued.
    issued: [u64; WARPS],
    /// No more are remembered: too many are, or the warps have gone apart.
    lost: bool,
}

/// A product as the first warp issued it that came to it.
#[derive(Clone, Copy, Debug)]
struct Issued {
    pc: u32,
    warp: u32,
    descriptors: [u64; 2],
}

impl Warpgroups {
    /// `None` for kernels without products of warp groups.
    pub(super) fn new(run: &Run<'_>) -> Option<Box<Self>> {
        run.code.slow.iter().any(|op| matches!(op, SlowOp::Wgmma(_))).then(Box::default)
    }

    /// Another block begins.
    pub(super) fn start(&mut self, run: &Run<'_>) {
        self.warps.clear();
        self.warps.resize_with(run.warps as usize, InFlight::default);
        self.groups.clear();
        self.groups.resize_with((run.warps as usize).div_ceil(WARPS), Group::default);
        self.tiles.start(run);
    }

    /// Lanes of a warp execute `fence.proxy.async`.
    pub(super) fn proxy_fence(&mut self, warp: u32, mask: u32) {
        self.tiles.fence(warp, mask);
    }
}

/// What a warp's part of a product is, for the checks.
pub(crate) struct Multiplied<'m> {
    pub(crate) product: &'m WarpgroupProduct,
    pub(crate) bases: Bases,
    /// By lane 0; of A only where it lies in shared memory.
    pub(crate) descriptors: [u64; 2],
    /// Not all lanes have the same.
    pub(crate) differ: bool,
    /// Addresses of the pieces of 16 bytes that it reads.
    pub(crate) pieces: &'m [u64],
}

impl BlockChecks {
    /// Whether each instruction of the kernel is to be shown to [`Watch::accesses_registers`].
    #[inline(always)]
    pub(crate) fn follows_registers(&self) -> bool {
        self.warpgroups.is_some()
    }

    /// A warp's accesses to registers before this come before its products behind it.
    pub(crate) fn warpgroup_fence(&mut self, warp: u32) {
        if let Some(warp) = self.warpgroups.as_mut().and_then(|groups| groups.warps.get_mut(warp as usize)) {
            warp.registers.fence();
        }
    }

    /// A warp closes a group of products.
    pub(crate) fn warpgroup_commit(&mut self, warp: u32) {
        if let Some(warp) = self.warpgroups.as_mut().and_then(|groups| groups.warps.get_mut(warp as usize)) {
            warp.groups.push_back(warp.begun);
        }
    }

    /// A warp waits until at most so many of its groups are under way: what of its products has read all by then.
    fn warpgroup_wait(&mut self, warp: u32, left: u32) -> Vec<Reading> {
        let Some(Warpgroups { warps, tiles, .. }) = self.warpgroups.as_deref_mut() else { return Vec::new() };
        let Some(warp) = warps.get_mut(warp as usize) else { return Vec::new() };
        while warp.groups.len() > left as usize {
            warp.complete = warp.groups.pop_front().unwrap_or(warp.complete);
        }
        let done = warp.reads.iter().take_while(|reading| reading.product <= warp.complete).count();
        warp.reads.drain(..done).inspect(|reading| tiles.read(reading)).collect()
    }

    /// Threads have met: what was done before comes before what follows.
    pub(super) fn threads_met(&mut self) {
        if let Some(groups) = &mut self.warpgroups {
            groups.tiles.met();
        }
    }
}

impl Watch<'_> {
    /// A warp waits until at most so many of its groups are under way. Their products have read shared memory until here, so that
    /// whoever overwrites it must know that the warp has come past this wait, and not only that it has issued them.
    pub(crate) fn waits_for_products(&mut self, checks: &mut BlockChecks, left: u32) {
        let here = self.pc;
        for reading in checks.warpgroup_wait(self.warp, left) {
            let Some(races) = &mut checks.races else { continue };
            self.pc = reading.pc;
            for pieces in reading.pieces.chunks(32) {
                let addrs = lanes(|lane| pieces.get(lane).map_or(0, |piece| u64::from(*piece) * tiles::PIECE));
                let mask = FULL >> (32 - pieces.len());
                self.look_for_races(races, &product_read(Action::ReadEnds, mask, &addrs));
            }
        }
        self.pc = here;
    }

    /// Shared memory is overwritten that a product may still read.
    pub(super) fn overwrites_factor(&mut self, product: u32, reader: u32) {
        let party = self.party(Role::Product, product, 32 * reader);
        self.warpgroup_finding(Warpgroup::Overwritten, self.pc, Some(party));
    }

    /// A warp issues its part of a product.
    pub(crate) fn multiplies(&mut self, checks: &mut BlockChecks, multiplied: &Multiplied<'_>) {
        let Some(Warpgroups { warps, tiles, groups }) = checks.warpgroups.as_deref_mut() else { return };
        let (warp, pc) = (self.warp, self.pc);
        if let Some(group) = groups.get_mut(warp as usize / WARPS) {
            self.issues(group, multiplied);
        }
        if let Some(written) = tiles.unfenced(warp, multiplied.pieces) {
            let party = self.party(Role::Wrote, written.pc, written.thread);
            let block = self.run.launch.block;
            let kind = Proxy { reader: Reader::Product, same_thread: written.thread / 32 == warp, block };
            self.warpgroup_finding(kind, pc, Some(party));
        }
        let Some(own) = warps.get_mut(warp as usize) else { return };
        own.begun += 1;
        if let Some((access, written)) = own.registers.unfenced(multiplied) {
            let party = access.map(|access| self.party(Role::Register { written }, access, 32 * warp));
            self.warpgroup_finding(Warpgroup::Fence { first: access.is_none() }, pc, party);
        }
        own.registers.issue(multiplied, own.begun, pc);
        let reading = tiles.begin(own.begun, pc, multiplied.pieces);
        own.reads.push_back(reading);
    }

    /// Whether the four warps issue the same products, in the same order.
    fn issues(&mut self, group: &mut Group, multiplied: &Multiplied<'_>) {
        let (warp, pc, descriptors) = (self.warp, self.pc, multiplied.descriptors);
        let own = warp as usize % WARPS;
        let at = group.issued[own];
        group.issued[own] += 1;
        if group.lost {
            return;
        }
        if multiplied.differ {
            self.warpgroup_finding(Warpgroup::Descriptors { lanes: true }, pc, None);
        }
        match group.products.get((at - group.first) as usize) {
            None if group.products.len() >= REMEMBERED => group.lost = true,
            None => group.products.push_back(Issued { pc, warp, descriptors }),
            Some(first) if first.pc != pc => {
                let party = self.party(Role::OtherProduct { warp: first.warp }, first.pc, 32 * first.warp);
                self.warpgroup_finding(Warpgroup::Different, pc, Some(party));
                // What follows is different, too.
                group.products.clear();
                group.lost = true;
            }
            Some(first) if first.descriptors != descriptors => {
                let party = self.party(Role::OtherProduct { warp: first.warp }, first.pc, 32 * first.warp);
                self.warpgroup_finding(Warpgroup::Descriptors { lanes: false }, pc, Some(party));
            }
            Some(_) => {}
        }
        while group.issued.iter().all(|issued| *issued > group.first) && group.products.pop_front().is_some() {
            group.first += 1;
        }
    }

    /// A block has ended: products that not all four warps have come to.
    pub(crate) fn warpgroups_end(&mut self, checks: &mut BlockChecks) {
        let Some(groups) = checks.warpgroups.as_deref() else { return };
        for (number, group) in groups.groups.iter().enumerate() {
            let Some(first) = group.products.front() else { continue };
            let came = (0..WARPS).fold(0u8, |came, warp| came | u8::from(group.issued[warp] > group.first) << warp);
            self.warp = first.warp;
            let kind = Warpgroup::Missing { first: (WARPS * number) as u32, came, warps: self.run.warps };
            self.warpgroup_finding(kind, first.pc, None);
        }
    }

    fn party(&self, role: Role, pc: u32, thread: u32) -> Party {
        Party { role, pc, block: Some(self.block), thread: Some(thread) }
    }

    fn warpgroup_finding(&mut self, kind: impl Into<Kind>, pc: u32, party: Option<Party>) {
        let kind = kind.into();
        let site = Site { code: kind.code(), pc, other: party.as_ref().map_or(u32::MAX, |party| party.pc) };
        let (block, warp) = (self.block, self.warp);
        self.findings.add(site, block, warp, 1, || {
            let trap = Trap::new(kind, u32::MAX).at(pc);
            match party {
                Some(party) => trap.party(party),
                None => trap,
            }
        });
    }
}

/// A product's read of pieces of shared memory, as it begins or ends.
pub(crate) fn product_read<'t>(action: Action, mask: u32, addrs: &'t [u64; 32]) -> Touch<'t> {
    Touch {
        place: Place::Shared,
        action,
        mask,
        addrs,
        bytes: tiles::PIECE,
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

/// Whether an instruction is a product of a warp group.
pub(super) fn is_product(code: &Code, pc: u32) -> bool {
    matches!(code.slow_at(pc), Some(SlowOp::Wgmma(_)))
}

/// Whether an instruction belongs to products of warp groups itself.
fn is_of_warpgroups(code: &Code, pc: u32) -> bool {
    matches!(code.slow_at(pc), Some(SlowOp::Wgmma(_) | SlowOp::Warpgroup(_)))
}
