//! The multiprocessors' clock, where NVML answers.

use fusion_device::SmClock;

use crate::judgement::Clocks;
use crate::session::Session;

/// A source of clock samples that may have none.
pub(super) struct Sampler {
    clock: Option<SmClock>,
    seen: Vec<u32>,
}

impl Sampler {
    pub(super) fn new(session: &Session) -> Self {
        Self { clock: SmClock::of(&session.device), seen: Vec::new() }
    }

    /// The clock now, in MHz.
    pub(super) fn sample(&mut self) -> Option<u32> {
        let mhz = self.clock.as_ref()?.mhz()?;
        self.seen.push(mhz);
        Some(mhz)
    }

    /// Whether there is any point in asking.
    pub(super) fn answers(&self) -> bool {
        self.clock.is_some()
    }

    /// All samples so far.
    pub(super) fn clocks(&self) -> Option<Clocks> {
        let mut seen = self.seen.clone();
        seen.sort_unstable();
        Some(Clocks { min: *seen.first()?, median: *seen.get(seen.len() / 2)?, max: *seen.last()? })
    }
}
