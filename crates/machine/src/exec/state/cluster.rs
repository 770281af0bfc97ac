//! The barrier of a cluster (PTX ISA 9.7.13.4): every thread that has not exited arrives, and whoever waits waits for that.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClusterBarrier {
    /// Threads of the cluster that have not exited, and those of them that have arrived in this round.
    pub(crate) live: u32,
    pub(crate) arrived: u32,
    /// How often it has been completed.
    pub(crate) round: u64,
}

/// What a warp remembers of it: the lanes that have arrived and have not waited since, by the lowest bit of the round's number. A round
/// is not complete before all who arrived in the one before have waited, so that there are never more than two.
pub(crate) type Arrived = [u32; 2];

impl ClusterBarrier {
    /// So many threads arrive.
    pub(crate) fn arrive(&mut self, threads: u32) {
        self.arrived += threads;
    }

    /// So many exit, of whom some had arrived.
    pub(crate) fn exit(&mut self, threads: u32, arrived: u32) {
        self.live -= threads.min(self.live);
        self.arrived -= arrived.min(self.arrived);
    }

    /// Completes it if everybody has arrived.
    pub(crate) fn settle(&mut self) -> bool {
        let complete = self.arrived > 0 && self.arrived >= self.live;
        if complete {
            self.arrived = 0;
            self.round += 1;
        }
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_exited_is_waited_for_no_more_and_does_not_count() {
        let mut barrier = ClusterBarrier { live: 3, ..ClusterBarrier::default() };
        barrier.arrive(1);
        barrier.exit(1, 1);
        assert!(!barrier.settle(), "two threads are left, and neither has come");
        barrier.arrive(1);
        barrier.exit(1, 0);
        assert!(barrier.settle() && barrier.round == 1);
    }
}
