//! An access to memory, as the checks see it.

use crate::code::{Access, Order, Place};
use crate::exec::state::lanes::View;
use crate::exec::state::window::{Window, window_of};
use crate::memory::Written;

/// What a warp's access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Read,
    Write,
    /// Reads and writes at once (`atom`, `red`).
    Atomic,
    /// `cp.async`: the read of its source is a `Read` of its own; this is the write of its destination.
    CopyAsync,
    /// A bulk copy out of shared memory: the read of its source, which goes on until its group has been waited for.
    ReadAsync,
    /// And the write of its destination in global memory.
    CopyOut,
    /// A product of a warp group has read what it began to read when it was issued. What has written there since is known by then.
    ReadEnds,
}

/// A warp's access, as the checks see it.
pub(crate) struct Touch<'t> {
    /// `Global` (constants are not watched), `Shared` or `Local`; addresses are those of that place.
    pub(crate) place: Place,
    pub(crate) action: Action,
    pub(crate) mask: u32,
    pub(crate) addrs: &'t [u64; 32],
    /// Bytes of one lane's access.
    pub(crate) bytes: u64,
    /// A whole warp, lane i at `addrs[0] + i * bytes`: the common case, for which checks have a quick way.
    pub(crate) row: bool,
    /// A whole warp, every lane at `addrs[0]`: the other one.
    pub(crate) uniform: bool,
    /// For global memory: the allocations in order of address, and which of them holds every lane's bytes, where one does.
    pub(crate) windows: &'t [Window<'t>],
    pub(crate) window: Option<usize>,
    /// The access itself, where it is a load or store.
    pub(crate) access: Option<&'t Access>,
    /// The registers that a store takes its values from.
    pub(crate) stored: Option<&'t View<'t>>,
    pub(crate) order: Order,
    /// Lanes of an atomic that add nothing.
    pub(crate) looks: u32,
    /// The block's shared memory, where that is accessed.
    pub(crate) shared: &'t [u32],
}

impl<'t> Touch<'t> {
    /// A load, or a store where it takes values from registers, of lanes that do not lie in a row.
    #[inline(always)]
    pub(crate) fn of(
        access: &'t Access,
        place: Place,
        mask: u32,
        addrs: &'t [u64; 32],
        stored: Option<&'t View<'t>>,
    ) -> Self {
        Self {
            place,
            action: if stored.is_some() { Action::Write } else { Action::Read },
            mask,
            addrs,
            bytes: u64::from(access.bytes()),
            row: false,
            uniform: false,
            windows: &[],
            window: None,
            access: Some(access),
            stored,
            order: access.order,
            looks: 0,
            shared: &[],
        }
    }

    /// What the allocation at an address knows of which of its bytes were ever written, and where it begins.
    #[inline(always)]
    pub(crate) fn history(&self, addr: u64) -> Option<(&'t Written, u64)> {
        let window = self.windows.get(self.window.or_else(|| window_of(self.windows, addr))?)?;
        Some((window.history?, window.base))
    }
}
