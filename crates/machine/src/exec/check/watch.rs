//! Where the checks look at accesses to memory: every load, store, atomic and copy of a warp passes here
//! once, after its bounds and alignment were found right and before it takes effect.

use crate::code::{Access, Order, Place};
use crate::exec::check::init::Init;
use crate::exec::check::race::Races;
use crate::exec::context::Worker;
use crate::exec::state::lanes::View;
use crate::exec::state::run::Run;

/// What a warp's access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Read,
    Write,
    /// Reads and writes at once (`atom`, `red`).
    Atomic,
    /// `cp.async`: the read of its source is a `Read` of its own; this is the write of its destination.
    CopyAsync,
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
    /// For global memory: the allocation that holds every lane's bytes, an index into the worker's windows, where one does.
    pub(crate) window: Option<usize>,
    /// The access itself, where it is a load or store.
    pub(crate) access: Option<&'t Access>,
    /// The registers that a store takes its values from.
    pub(crate) stored: Option<&'t View<'t>>,
    pub(crate) order: Order,
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
            window: None,
            access: Some(access),
            stored,
            order: access.order,
            shared: &[],
        }
    }
}

/// What the checks keep about a block.
#[derive(Debug, Default)]
pub(crate) struct BlockChecks {
    pub(crate) races: Races,
    pub(crate) init: Option<Box<Init>>,
}

impl BlockChecks {
    pub(crate) fn new(run: &Run<'_>) -> Self {
        Self { races: Races::new(run), init: run.checks.init.then(|| Init::new(run)) }
    }

    /// Forgets everything: another block begins.
    pub(crate) fn start(&mut self, run: &Run<'_>, block: u64) {
        self.races.start(run, block);
        if let Some(init) = &mut self.init {
            init.start(run);
        }
    }

    /// Whether the warp's registers hold undefined bits, which must be followed.
    #[inline(always)]
    pub(crate) fn shadowed(&self, warp: u32) -> bool {
        self.init.as_ref().is_some_and(|init| init.shadowed(warp))
    }
}

impl Worker<'_> {
    #[inline(always)]
    pub(crate) fn watch(&mut self, checks: &mut BlockChecks, touch: &Touch<'_>) {
        if self.watching {
            self.look(checks, touch);
            if let Some(trace) = &mut self.trace {
                trace.note(touch, self.pc);
            }
        }
    }

    #[inline(never)]
    fn look(&mut self, checks: &mut BlockChecks, touch: &Touch<'_>) {
        if self.run.checks.races {
            self.look_for_races(&mut checks.races, touch);
        }
        if self.run.checks.init {
            self.look_init(checks, touch);
        }
    }
}
