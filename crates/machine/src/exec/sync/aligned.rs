//! Instructions that a warp executes as a whole: those with `.aligned` on matrices (PTX ISA 9.7.14).

use crate::exec::check::Watch;
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::lanes::FULL;
use crate::exec::state::warp::{Split, Warp};
use crate::report::kind::Sync;

/// Whether all of the warp is here. Lanes that are apart wait for the others; those that are not there, or have exited, never come.
pub(crate) fn is_whole(watch: &mut Watch<'_>, warp: &mut Warp, split: &mut Split, mask: u32) -> Trapped<bool> {
    if mask != warp.alive {
        watch.gathers();
        warp.gather(split, mask);
        return Ok(false);
    }
    split.waits_since = None;
    if mask != FULL {
        return Err(Trap::new(Sync::PartialWarp { here: mask, exited: warp.exited() }, mask));
    }
    Ok(true)
}
