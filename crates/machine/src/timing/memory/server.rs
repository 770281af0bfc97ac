//! What takes one request after the other.

use crate::timing::Ticks;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Server {
    /// When it is free, in parts of a tick, too: a sector may take less than one.
    free: f64,
    /// For how long it has had work.
    worked: f64,
}

impl Server {
    /// Takes a request that comes at `now`, for so many ticks: when it begins.
    pub(super) fn take(&mut self, now: Ticks, time: f64) -> Ticks {
        let begun = self.free.max(now as f64);
        self.free = begun + time;
        self.worked += time;
        begun as Ticks
    }

    /// As [`Server::take`], where it may have begun up to so many ticks before the request came.
    pub(super) fn take_early(&mut self, now: Ticks, time: f64, early: f64) {
        self.free = self.free.max(now as f64 - early) + time;
        self.worked += time;
    }

    pub(super) fn worked(&self) -> f64 {
        self.worked
    }

    pub(super) fn free(&self) -> Ticks {
        self.free as Ticks
    }

    pub(super) fn wait_until(&mut self, time: Ticks) {
        self.free = self.free.max(time as f64);
    }
}
