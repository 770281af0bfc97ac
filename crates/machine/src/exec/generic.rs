//! Accesses through generic addresses, and to every memory but global and shared.

use super::block::Common;
use super::grid::Worker;
use super::lanes::{View, each};
use super::local::Local;
use super::trap::Trapped;
use super::{fault, param};
use crate::code::{Access, Place, window};

/// Which memory a generic address means, and its address there.
pub(crate) fn resolve(addr: u64) -> (Place, u64) {
    let offset = addr % (1 << 56);
    match addr >> 56 {
        1 if offset < window::SIZE => (Place::Shared, offset),
        2 if offset < window::SIZE => (Place::Local, offset),
        3 if offset < window::SIZE => (Place::Param, offset),
        _ => (Place::Global, addr),
    }
}

/// The lanes of a generic access that mean the same memory as its lowest lane, with their addresses there.
pub(crate) fn same_place(mask: u32, addrs: &[u64; 32]) -> (Place, u32, [u64; 32]) {
    let (place, _) = resolve(addrs[mask.trailing_zeros() as usize & 31]);
    let mut group = 0;
    let mut inside = *addrs;
    for lane in each(mask) {
        let (p, a) = resolve(addrs[lane]);
        if p == place {
            group |= 1 << lane;
            inside[lane] = a;
        }
    }
    (place, group, inside)
}

#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "passes on what the loop holds")]
pub(crate) fn load(
    worker: &mut Worker<'_>,
    common: &mut Common,
    local: &Local,
    regs: &mut View<'_>,
    index: u32,
    access: &Access,
    mask: u32,
    addrs: &[u64; 32],
) -> Trapped {
    match access.place {
        Place::Global | Place::Constant => worker.load_global(common, regs, index, access, mask, addrs),
        Place::Shared => worker.load_shared(common, regs, access, mask, addrs),
        Place::Local | Place::Frame => {
            worker.load_local(common, local, regs, access, mask, addrs, access.place == Place::Local)
        }
        Place::Param => param::load(worker.run, regs, access, mask, addrs),
        Place::Generic => {
            let mut left = mask;
            // The destination may hold the address of lanes that are still to come.
            while left != 0 {
                let (place, group, inside) = same_place(left, addrs);
                match place {
                    Place::Shared => worker.load_shared(common, regs, access, group, &inside)?,
                    Place::Local => worker.load_local(common, local, regs, access, group, &inside, true)?,
                    Place::Param => param::load(worker.run, regs, access, group, &inside)?,
                    _ => worker.load_global(common, regs, index, access, group, &inside)?,
                }
                left &= !group;
            }
            Ok(())
        }
    }
}

#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "passes on what the loop holds")]
pub(crate) fn store(
    worker: &mut Worker<'_>,
    common: &mut Common,
    local: &mut Local,
    regs: &View<'_>,
    index: u32,
    access: &Access,
    mask: u32,
    addrs: &[u64; 32],
) -> Trapped {
    match access.place {
        Place::Global | Place::Constant => worker.store_global(common, regs, index, access, mask, addrs),
        Place::Shared => worker.store_shared(common, regs, access, mask, addrs),
        Place::Local | Place::Frame => {
            worker.store_local(common, local, regs, access, mask, addrs, access.place == Place::Local)
        }
        Place::Param => Err(fault::readonly_param(mask)),
        Place::Generic => {
            let mut left = mask;
            while left != 0 {
                let (place, group, inside) = same_place(left, addrs);
                match place {
                    Place::Shared => worker.store_shared(common, regs, access, group, &inside)?,
                    Place::Local => worker.store_local(common, local, regs, access, group, &inside, true)?,
                    Place::Param => return Err(fault::readonly_param(group)),
                    _ => worker.store_global(common, regs, index, access, group, &inside)?,
                }
                left &= !group;
            }
            Ok(())
        }
    }
}
