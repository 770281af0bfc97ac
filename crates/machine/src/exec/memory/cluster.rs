//! Shared memory of the blocks of a cluster (PTX ISA 5.1.7, `.shared::cluster`).
//!
//! A cluster's blocks run on one worker, one at a time, so that the one which runs may reach into the others' memory.

use super::count;
use super::shared::{self, wavefronts};
use super::way::{Request, Way};
use crate::code::{AddressOf, Base, Place, window};
use crate::exec::check::Touch;
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::lanes::each;
use crate::report::Kind;
use crate::report::kind::{Access, Cluster, Memory};

/// Whose shared memory it is: the own block's, or that of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Own,
    Peer(u32),
}

/// What lanes do there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Does {
    pub(crate) write: bool,
    pub(crate) bytes: u64,
}

/// The address of the same place in the block of a rank.
pub(crate) fn map(address: u64, rank: u32) -> u64 {
    let base = address & !(window::SIZE - 1);
    let within = address & ((1 << window::RANK) - 1);
    base | u64::from(rank.min(window::MOST_RANK)) << window::RANK | within
}

/// The rank of the block in whose shared memory an address lies.
pub(crate) fn rank_of(address: u64) -> u32 {
    ((address & (window::SIZE - 1)) >> window::RANK) as u32
}

/// Where in its block's memory an access lies that can reach no other's (`.shared::cta`): its addresses without the rank.
///
/// # Errors
/// An address is another block's, which an H100 takes for an illegal instruction.
pub(crate) fn own(
    worker: &Worker<'_>,
    common: &Common,
    mask: u32,
    address: &AddressOf,
    addrs: &[u64; 32],
    does: Does,
) -> Trapped<[u64; 32]> {
    // A variable that is named is the own one.
    if worker.run.cluster_size() == 1 || address.base == Base::None {
        return Ok(*addrs);
    }
    let own = u64::from(common.rank) << window::RANK;
    let blocks = u64::from(worker.run.cluster_size());
    let is_other = |addr: u64| {
        let (rank, within) = (addr >> window::RANK, addr & ((1 << window::RANK) - 1));
        rank != u64::from(common.rank) && rank < blocks && within < u64::from(worker.run.shared_bytes)
    };
    if let Some(lane) = each(mask).find(|&lane| is_other(addrs[lane])) {
        let lanes = each(mask).fold(0, |lanes, lane| lanes | u32::from(is_other(addrs[lane])) << lane);
        let (rank, address) = (rank_of(addrs[lane]), addrs[lane] & ((1 << window::RANK) - 1));
        let access = Access { write: does.write, bytes: does.bytes, address };
        return Err(Trap::new(Cluster::NotOwn { rank, own: common.rank, access }, lanes));
    }
    // What has wandered off in 32 bits is as far off as in a block of rank 0.
    Ok(addrs.map(|addr| if addr < window::SIZE { addr.wrapping_sub(own) & (window::SIZE - 1) } else { addr }))
}

/// The lanes that are at the same block's memory as the lowest one, and where in it.
///
/// # Errors
/// There is no such block, or it has exited.
pub(crate) fn same_block(
    worker: &Worker<'_>,
    common: &Common,
    mask: u32,
    addrs: &[u64; 32],
    does: Does,
) -> Trapped<(Whose, u32, [u64; 32])> {
    let first = mask.trailing_zeros() as usize & 31;
    let block = addrs[first] >> window::RANK;
    // A kernel that maps no address has wandered off within its own block.
    if worker.run.cluster_size() == 1 && !worker.run.code.maps {
        return Ok((Whose::Own, mask, *addrs));
    }
    let group = each(mask).fold(0, |group, lane| group | u32::from(addrs[lane] >> window::RANK == block) << lane);
    let inside = addrs.map(|addr| addr & ((1 << window::RANK) - 1));
    if block == u64::from(common.rank) {
        return Ok((Whose::Own, group, inside));
    }
    let access = Access { write: does.write, bytes: does.bytes, address: inside[first] };
    let blocks = worker.run.cluster_size();
    let Some(peer) = common.cluster.as_ref().and_then(|cluster| cluster.peers.get(block as usize)) else {
        return Err(Trap::new(Cluster::NoSuchRank { rank: block, blocks, access }, group));
    };
    let rank = block as u32;
    if peer.live == 0 {
        let block = worker.run.linear(peer.id);
        return Err(Trap::new(Cluster::Exited { rank, block, access }, group));
    }
    Ok((Whose::Peer(rank), group, inside))
}

/// The memory itself.
pub(crate) fn memory(common: &mut Common, whose: Whose) -> &mut Vec<u32> {
    match whose {
        Whose::Peer(rank) if let Some(cluster) = &mut common.cluster => &mut cluster.peers[rank as usize].shared,
        _ => &mut common.shared,
    }
}

/// Looks whether lanes' accesses are aligned, and lie in the block's memory.
pub(crate) fn check(
    worker: &mut Worker<'_>,
    common: &mut Common,
    whose: Whose,
    mask: u32,
    addrs: &[u64; 32],
    does: Does,
) -> Trapped {
    let checked = shared::check(worker, memory(common, whose), mask, addrs, does.bytes, does.write);
    let Whose::Peer(rank) = whose else { return checked };
    checked.map_err(|trap| {
        let Kind::Memory(Memory::OutsideShared { access, size, .. }) = trap.kind else { return trap };
        Trap::new(Cluster::Outside { rank, access, size }, trap.lanes)
    })
}

/// Shows an access to the checks. Its memory is put in here.
pub(crate) fn touch(worker: &mut Worker<'_>, common: &mut Common, whose: Whose, touch: &Touch<'_>) {
    let Common { shared, checks, cluster, .. } = common;
    match whose {
        Whose::Peer(rank) if let Some(cluster) = cluster => {
            let peer = &mut cluster.peers[rank as usize];
            let block = worker.run.linear(peer.id);
            worker.watch.touch_peer(checks, &mut peer.checks, block, &Touch { shared: &peer.shared, ..*touch });
        }
        _ => worker.watch.touch(checks, &Touch { shared, ..*touch }),
    }
}

/// `ld.shared::cluster`, `st.shared::cluster`, and generic addresses in other blocks' shared memory.
#[inline(never)]
pub(super) fn access<W: Way>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    way: &mut W,
    request: Request<'_>,
) -> Trapped {
    let Request { access, .. } = request;
    let bytes = u64::from(access.bytes());
    let does = Does { write: W::WRITES, bytes };
    let mut left = request.mask;
    while left != 0 {
        let (whose, mask, addrs) = same_block(worker, common, left, request.addrs, does)?;
        left &= !mask;
        let request = Request { mask, addrs: &addrs, ..request };
        if whose == Whose::Own {
            shared::access(worker, common, way, request)?;
            continue;
        }
        check(worker, common, whose, mask, &addrs, does)?;
        touch(worker, common, whose, &Touch::of(access, Place::Shared, mask, &addrs, way.stored()));
        let counters = &mut worker.counters;
        let traffic = if W::WRITES { &mut counters.shared_store } else { &mut counters.shared_load };
        count(traffic, wavefronts(&addrs, mask, bytes), bytes * u64::from(mask.count_ones()));
        way.elements(request, memory(common, whose));
    }
    Ok(())
}
