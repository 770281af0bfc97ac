//! What is said of a value that depends on what was never written.

use super::shadow::{Kind, Origin};
use crate::code::Place;
use crate::exec::check::Watch;
use crate::exec::fault;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::{Party, Trap};
use crate::report::Role;
use crate::report::kind::{self, Init};

/// Where an undefined value matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Stored to global memory.
    Stored {
        addr: u64,
        bytes: u64,
    },
    Branch,
    Guard,
    Address,
    /// An operand of an atomic.
    Atomic,
    /// An atomic changes memory that was never written.
    Updated,
    Mask,
    Barrier,
    Printed,
}

/// The memory that an undefined value is read from; a thread's own has no buffer.
fn place(kind: Kind) -> Option<Place> {
    match kind {
        Kind::Global => Some(Place::Global),
        Kind::Shared => Some(Place::Shared),
        Kind::Local | Kind::Register | Kind::Shuffle { .. } => None,
    }
}

impl Watch<'_> {
    /// Reports that an undefined value is used at `pc`.
    #[cold]
    #[inline(never)]
    pub(super) fn undefined_use(&mut self, what: Use, pc: u32, lanes: u32, origin: Origin) {
        let run = self.run;
        let other = if origin.kind == Kind::Register { u32::MAX } else { origin.pc };
        let site = Site { code: origin.kind.code(), pc, other };
        let (block, warp, count) = (self.block, self.warp, u64::from(lanes.count_ones()));
        self.findings.add(site, block, warp, count, || {
            let buffer = |place, addr, bytes| fault::buffer(run, place, addr, bytes);
            let about = place(origin.kind).and_then(|p| buffer(p, origin.addr, u64::from(origin.bytes)));
            let by = match what {
                Use::Stored { addr, bytes } => {
                    kind::Use::Stored { to: buffer(Place::Global, addr, bytes).map(|target| target.name) }
                }
                Use::Branch => kind::Use::Branch,
                Use::Guard => kind::Use::Guard,
                Use::Address => kind::Use::Address,
                Use::Atomic => kind::Use::Atomic,
                Use::Updated => kind::Use::Updated,
                Use::Mask => kind::Use::Mask,
                Use::Barrier => kind::Use::Barrier,
                Use::Printed => kind::Use::Printed,
            };
            let kind = Init::Used { what: origin.kind, by, bytes: origin.bytes, others: origin.others };
            let trap = Trap::new(kind, lanes).at(pc).about(about);
            let own = what == Use::Updated && origin.pc == pc;
            if origin.kind == Kind::Register || own {
                return trap;
            }
            trap.party(Party { role: Role::Read, pc: origin.pc, block: Some(block), thread: Some(origin.thread) })
        });
    }
}
