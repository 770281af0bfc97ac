//! The lanes that stop for good are waited for no more.

use super::bypass;
use crate::exec::check::Watch;
use crate::exec::context::Common;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::warp::{Flow, Split, Warp};

/// The lanes stop for good.
pub(crate) fn exit(
    watch: &mut Watch<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &mut Split,
    mask: u32,
) -> Trapped<Flow> {
    if !warp.bypass.is_empty() {
        bypass::find(watch, warp, mask);
    }
    if mask == warp.alive {
        bypass::end(watch, common, warp);
    }
    warp.detach(split, mask);
    split.mask = 0;
    warp.exit(mask);
    common.live -= mask.count_ones();
    common.settle();
    Ok(Flow::Leave)
}
