//! What the checks hear of clusters: accesses to other blocks' shared memory, and the barrier of all of them.

use super::race::{Races, View};
use super::watch::Touch;
use super::{BlockChecks, Visit, Watch};
use crate::code::Place;
use crate::exec::state::warp::Warp;

/// What is kept about a cluster.
#[derive(Debug, Default)]
pub(crate) struct ClusterChecks {
    /// The lowest bit of the number of its barrier's present round.
    odd: bool,
}

impl ClusterChecks {
    pub(crate) fn start(&mut self) {
        *self = Self::default();
    }

    /// A round of the cluster's barrier is complete: each block learns what all have said.
    pub(crate) fn complete<'c>(&mut self, own: &'c mut BlockChecks, peers: impl Iterator<Item = &'c mut BlockChecks>) {
        let mut blocks: Vec<&mut BlockChecks> = std::iter::once(own).chain(peers).collect();
        blocks.iter_mut().for_each(|checks| checks.threads_met());
        let mut blocks: Vec<&mut Races> = blocks.into_iter().filter_map(|checks| checks.races.as_deref_mut()).collect();
        let mut all = View::default();
        for races in &mut blocks {
            let (block, said) = (races.block(), races.cluster_said(self.odd));
            all.join(block, &said);
        }
        blocks.iter_mut().for_each(|races| races.cluster_heard(self.odd, &all));
        self.odd = !self.odd;
    }
}

impl BlockChecks {
    pub(crate) fn cluster_arrive(&mut self, warp: &Warp, lanes: u32, round: u64) {
        if let Some(races) = &mut self.races {
            races.cluster_arrive((warp.index, lanes), lanes == warp.alive, round & 1 == 1);
        }
    }

    pub(crate) fn cluster_wait(&mut self, warp: &Warp, lanes: u32, round: u64) {
        if let Some(races) = &mut self.races {
            races.cluster_wait((warp.index, lanes), lanes == warp.alive, round & 1 == 1);
        }
    }

    /// Lanes of this block arrive at an object of another one's that counts them.
    pub(crate) fn phase_arrive_at(&mut self, peer: &mut BlockChecks, visit: Visit, completes: bool) {
        if let (Some(races), Some(peer)) = (&mut self.races, &mut peer.races) {
            peer.phase_arrive_from(races, visit, completes);
        }
    }
}

impl Watch<'_> {
    /// A warp's access to the shared memory of another block, which is `owner` of the grid: as [`Watch::touch`].
    pub(crate) fn touch_peer(
        &mut self,
        checks: &mut BlockChecks,
        peer: &mut BlockChecks,
        owner: u64,
        touch: &Touch<'_>,
    ) {
        if let Some(record) = &mut self.record {
            record.touch(self.warp, &Touch { place: Place::Cluster, ..*touch }, |_| 1);
        }
        if let (Some(races), Some(peer)) = (&mut checks.races, &mut peer.races) {
            self.look_at_peer(races, peer, owner, touch);
        }
        if let (Some(init), Some(peer)) = (&mut checks.init, &mut peer.init) {
            // The memory is the peer's, the registers are the own block's.
            init.swap_memory(peer);
            self.look_init(init, touch);
            init.swap_memory(peer);
        }
    }

    /// Lanes of a warp exit; `last` if the block has no others.
    pub(crate) fn leave(&mut self, checks: &mut BlockChecks, warp: u32, lanes: u32, rank: u32, last: bool) {
        if let Some(races) = &mut checks.races {
            self.exits(races, (warp, lanes), rank, last);
            if last {
                self.look_for_unfinished(races);
            }
        }
    }
}
