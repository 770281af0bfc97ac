//! One variant timed by itself, by the rules that `xtask rivals` has for everybody: see `xtask/rivals/rivals.py`.
//!
//! Pairs tell more about two variants of ours. But fills, checksums and the other variant run between their launches, and between
//! those of others only the flush does: whatever that makes of caches and address translation, a comparison wants it alike.

use std::slice;
use std::time::Instant;

use fusion_device::Timer;

use super::bench::{BATCH, Bench};
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
        let stream = self.session.device.stream.clone();
        let (mut done, begun) = (0.0, Instant::now());
        while done < plan.warm_up.as_secs_f64() * 1e3 && begun.elapsed() < plan.limit {
            let timer = Timer::new(&stream).map_err(ours())?;
            timer.start().map_err(ours())?;
            self.batch_alone(who)?;
            timer.stop().map_err(ours())?;
            done += f64::from(timer.elapsed_ms().map_err(ours())?);
        }
        let (mut times, begun, mut look_at) = (Vec::new(), Instant::now(), plan.pairs);
        loop {
            times.extend(self.batch_alone(who)?);
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

    fn batch_alone(&mut self, who: Who) -> Result<Vec<f64>, Trouble> {
        let ours = || Trouble::driver("timing");
        let (queued, _) = self.held(|bench| bench.queue_alone(who), slice::from_ref::<Timer>)?;
        queued.iter().map(|timer| timer.elapsed_ms().map(|ms| f64::from(ms) * 1e6).map_err(ours())).collect()
    }

    fn queue_alone(&mut self, who: Who) -> Result<Vec<Timer>, Trouble> {
        let ours = || Trouble::driver("timing");
        let stream = self.session.device.stream.clone();
        // What reads its own output must find in it what it expects; anything else need not be made ready.
        let updates = self.rig.entry.exercise.outputs.iter().any(|output| output.updated);
        let mut queued = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            let set = self.rng.usize(0..self.rig.choices());
            if updates {
                self.rig.reset(who, set).map_err(ours())?;
            }
            let timer = Timer::new(&stream).map_err(ours())?;
            self.helpers.flush().map_err(ours())?;
            timer.start().map_err(ours())?;
            self.rig.run(who, set)?;
            timer.stop().map_err(ours())?;
            queued.push(timer);
        }
        Ok(queued)
    }
}
