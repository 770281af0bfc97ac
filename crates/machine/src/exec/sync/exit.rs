//! The lanes that stop for good are waited for no more.

use super::{bypass, cluster};
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
    cluster::exit(common, warp, mask);
    warp.exit(mask);
    common.live -= mask.count_ones();
    common.settle();
    watch.leave(&mut common.checks, warp.index, mask, common.rank, common.live == 0);
    Ok(Flow::Leave)
}
