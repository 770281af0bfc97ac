//! The lanes that stop for good are waited for no more.

use super::bypass;
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::Trapped;
use crate::exec::state::warp::{Flow, Split, Warp};

/// The lanes stop for good.
pub(crate) fn exit(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &mut Split,
    mask: u32,
) -> Trapped<Flow> {
    if !warp.bypass.is_empty() {
        bypass::find(&mut worker.watch, warp, mask);
    }
    if mask == warp.alive {
        bypass::end(&mut worker.watch, common, warp);
    }
    warp.detach(split, mask);
    split.mask = 0;
    warp.exit(mask);
    common.live -= mask.count_ones();
    common.settle();
    Ok(Flow::Leave)
}
