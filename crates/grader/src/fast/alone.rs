//! One variant timed by itself, by the rules that `xtask rivals` has for everybody: see `xtask/rivals/rivals.py`.
//!
//! Pairs tell more about two variants of ours. But fills, checksums and the other variant run between their launches, and between
//! those of others only the flush does: whatever that makes of caches and address translation, a comparison wants it alike.

use std::slice;
use std::time::Instant;

use fusion_device::Timer;

use super::bench::{BATCH, Bench, Held};
use super::measure::Plan;
use crate::rig::Who;
use crate::statistics;
use crate::trouble::Trouble;

/// Runs after which a time is as well known as it will be.
const MOST_RUNS: usize = 1000;

impl Bench<'_> {
    /// Times of cold launches, in nanoseconds, after a warm-up.
    pub(super) fn alone(&mut self, who: Who, plan: &Plan, seed: u64) -> Result<Vec<f64>, Trouble> {
        let ours = || Trouble::driver("timing");
        // What reads its own output finds in it what the launch before has left: nobody looks at the values.
        self.rig.reset(who, 0).map_err(ours())?;
        self.helpers.clock.shorten();
        self.keep_busy(plan, |bench| Ok(bench.batch_alone(who)?.busy_ms))?;
        let (mut times, begun, mut look_at) = (Vec::new(), Instant::now(), plan.pairs);
        loop {
            for timer in self.batch_alone(who)?.queued {
                times.push(f64::from(timer.elapsed_ms().map_err(ours())?) * 1e6);
            }
            let late = begun.elapsed() > plan.limit && times.len() >= plan.pairs;
            let ends = late || times.len() >= MOST_RUNS;
            if times.len() < look_at && !ends {
                continue;
            }
            let narrow = statistics::median_interval(&times, seed).is_some_and(|time| time.within(plan.width));
            if ends || narrow {
                return Ok(times);
            }
            look_at = times.len() + times.len() / 4;
        }
    }

    fn batch_alone(&mut self, who: Who) -> Result<Held<Timer>, Trouble> {
        self.held(|bench| bench.queue_alone(who), slice::from_ref::<Timer>)
    }

    fn queue_alone(&mut self, who: Who) -> Result<Vec<Timer>, Trouble> {
        let ours = || Trouble::driver("timing");
        let stream = self.trial.session.device.stream.clone();
        let mut queued = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            let set = self.rng.usize(0..self.rig.choices());
            let timer = Timer::new(&stream).map_err(ours())?;
            self.helpers.clock.cold(&timer, |error| ours()(error), || self.rig.run(who, set))?;
            queued.push(timer);
        }
        Ok(queued)
    }
}
