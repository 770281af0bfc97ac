//! Which memory a load or store goes to.

use super::cluster::{Does, own};
use super::way::{Request, Way};
use super::{cluster, global, local, shared};
use crate::code::Place;
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::Trapped;
use crate::exec::state::address::same_place;
use crate::exec::state::stack::Stack;

/// A load or store of lanes of one warp.
#[inline(always)]
pub(crate) fn access<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    stack: Stack<'_>,
    way: &mut W,
    request: Request<'_>,
) -> Trapped {
    match request.access.place {
        Place::Global => global::access(worker, common, way, request),
        Place::Shared if worker.run.cluster_size() == 1 => shared::access(worker, common, way, request),
        _ => elsewhere(worker, common, stack, way, request),
    }
}

#[inline(never)]
fn elsewhere<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    mut stack: Stack<'_>,
    way: &mut W,
    request: Request<'_>,
) -> Trapped {
    let place = request.access.place;
    if place == Place::Shared {
        let Request { access, mask, addrs, .. } = request;
        let does = Does { write: W::WRITES, bytes: access.bytes().into() };
        let inside = own(worker, common, mask, &access.address, addrs, does)?;
        return shared::access(worker, common, way, Request { addrs: &inside, ..request });
    }
    if place != Place::Generic {
        return at(worker, common, &mut stack, way, request, place);
    }
    let mut left = request.mask;
    // The destination may hold the address of lanes that are still to come.
    while left != 0 {
        let (place, mask, inside) = same_place(common.rank, left, request.addrs);
        at(worker, common, &mut stack, way, Request { mask, addrs: &inside, ..request }, place)?;
        left &= !mask;
    }
    Ok(())
}

fn at<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    stack: &mut Stack<'_>,
    way: &mut W,
    request: Request<'_>,
    place: Place,
) -> Trapped {
    match place {
        Place::Shared => shared::access(worker, common, way, request),
        Place::Cluster => cluster::access(worker, common, way, request),
        Place::Local | Place::Frame => local::access(worker, common, stack, way, request, place == Place::Local),
        Place::Param => way.param(worker.run, request),
        Place::Global | Place::Constant | Place::Generic => global::access(worker, common, way, request),
    }
}
