//! Accesses through generic addresses, and to every memory but global and shared.

use super::param;
use crate::code::{Access, Place};
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::address::same_place;
use crate::exec::state::lanes::View;
use crate::exec::state::local::Local;

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
