//! What L2 holds of allocations, after the launches so far.

use std::collections::VecDeque;

use crate::timing::{self, Left};

/// Launches, the last one first, with the bytes of each allocation that they have reached.
#[derive(Debug, Default)]
pub(in crate::machine) struct Cached {
    launches: VecDeque<Vec<(u64, f64)>>,
    dirty: f64,
}

impl Cached {
    /// The share that is still there of what was reached of an allocation, by its base. What a launch reaches comes and goes together, and
    /// with it what others have reached since.
    pub(super) fn share(&self, base: u64, room: f64) -> f64 {
        let mut bytes = 0.0;
        for launch in &self.launches {
            bytes += total(launch);
            if launch.iter().any(|(known, _)| *known == base) {
                return 1.0 - timing::missing(bytes / room);
            }
        }
        0.0
    }

    /// Bytes that were written, and that DRAM does not know yet.
    pub(super) fn dirty(&self) -> f64 {
        self.dirty
    }

    /// What a launch has left.
    pub(super) fn launched(&mut self, left: Left, room: f64) {
        self.dirty = left.dirty;
        self.launches.push_front(left.reached);
        let mut bytes = 0.0;
        let mut counts = 0;
        for launch in &self.launches {
            if bytes >= 4.0 * room {
                break;
            }
            bytes += total(launch);
            counts += 1;
        }
        self.launches.truncate(counts);
    }
}

fn total(launch: &[(u64, f64)]) -> f64 {
    launch.iter().map(|(_, bytes)| bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reached_stays_until_there_is_no_room() {
        let mut cached = Cached::default();
        assert_eq!(cached.share(1, 100.0), 0.0);
        cached.launched(Left { reached: vec![(1, 30.0), (2, 30.0)], dirty: 0.0 }, 100.0);
        assert_eq!(cached.share(1, 100.0), 1.0);
        cached.launched(Left { reached: vec![(3, 55.0)], dirty: 0.0 }, 100.0);
        assert_eq!(cached.share(3, 100.0), 1.0);
        assert!((0.1..0.9).contains(&cached.share(2, 100.0)), "{}", cached.share(2, 100.0));
        cached.launched(Left { reached: vec![(4, 900.0)], dirty: 0.0 }, 100.0);
        assert!(cached.share(4, 100.0) < 0.01 && cached.share(3, 100.0) < 0.01);
        assert_eq!(cached.launches.len(), 1, "what is gone is not kept");
    }
}
