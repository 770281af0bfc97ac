//! Launches timed next to each other, each cold and each checked.

use std::time::{Duration, Instant};

use fusion_course::Shape;
use fusion_device::Timer;

use super::ceiling;
use super::clocks::Sampler;
use super::helpers::Helpers;
use super::measure::Plan;
use super::pairs::{Pair, Steady};
use crate::judgement::{Code, Failure, Interval};
use crate::rig::{Rig, SETS, Who};
use crate::trial::Trial;
use crate::trouble::Trouble;

/// Pairs that are queued before the host waits: the device never waits for the host within a batch.
pub(super) const BATCH: usize = 8;

/// Pairs after which a time is as well known as it will be.
const MOST_PAIRS: usize = 2000;

/// Everything that timing needs.
pub(super) struct Bench<'a> {
    pub(super) trial: &'a Trial<'a>,
    pub(super) rig: Rig<'a>,
    pub(super) helpers: Helpers<'a>,
    pub(super) sampler: Sampler,
    pub(super) rng: fastrand::Rng,
    /// Whether the device had to wait for the host within a batch, however long it was held back.
    pub(super) waited: bool,
    /// The checksum of the submission's right outputs for each set; none for a kernel whose results vary.
    expected: [Option<u64>; SETS],
}

impl<'a> Bench<'a> {
    pub(super) fn new(trial: &'a Trial<'a>, shape: Shape) -> Result<Self, Trouble> {
        let rig = Rig::new(trial, shape)?;
        let mut helpers = Helpers::new(trial.session, ceiling::mix(trial.exercise(), shape))?;
        helpers.clock.forget_copies().map_err(Trouble::driver("timing"))?;
        Ok(Self {
            trial,
            rig,
            helpers,
            sampler: Sampler::new(trial.session),
            rng: fastrand::Rng::with_seed(trial.seed),
            waited: false,
            expected: [None; SETS],
        })
    }

    /// Runs the submission on each set of inputs, compares all of its outputs with the reference unless whatever is wrong is timed, too,
    /// and remembers their checksums, by which every timed launch will be checked.
    pub(super) fn verify(&mut self) -> Result<(), Trouble> {
        for set in 0..SETS {
            let mut sums = [0; 2];
            for sum in &mut sums {
                self.rig.reset(Who::Submission, set).map_err(Trouble::driver("preparing a launch"))?;
                self.rig.run(Who::Submission, set)?;
                self.rig.finish()?;
                *sum = self.checksum()?;
            }
            if !self.trial.scope.unverified {
                self.rig.check(set)?;
            }
            self.expected[set] = (sums[0] == sums[1]).then_some(sums[0]);
        }
        Ok(())
    }

    fn checksum(&mut self) -> Result<u64, Trouble> {
        let ours = || Trouble::driver("summing outputs up");
        self.helpers.clear_sums().map_err(ours())?;
        self.helpers.sum(self.rig.outputs(Who::Submission), 0).map_err(ours())?;
        Ok(self.helpers.sums().map_err(ours())?.first().copied().unwrap_or_default())
    }

    /// Keeps the device at work for as long as the plan says, with both and with what runs between them, so that clocks and
    /// caches are as they will be.
    pub(super) fn warm_up(&mut self, plan: &Plan) -> Result<(), Trouble> {
        let sides = [Who::Unfused, Who::Submission];
        self.keep_busy(plan, |bench| Ok(bench.held(|bench| bench.queue(sides), |pair| &pair.timers)?.busy_ms))
    }

    /// Runs batches until the device has been at work for as long as the plan warms up; `batch` returns milliseconds.
    pub(super) fn keep_busy(
        &mut self,
        plan: &Plan,
        mut batch: impl FnMut(&mut Self) -> Result<f64, Trouble>,
    ) -> Result<(), Trouble> {
        let (mut done, begun) = (0.0, Instant::now());
        while done < plan.warm_up.as_secs_f64() * 1e3 && begun.elapsed() < plan.limit {
            done += batch(self)?;
        }
        Ok(())
    }

    /// Pairs of launches until their ratio is known well enough or time is up.
    pub(super) fn pairs(&mut self, sides: [Who; 2], plan: &Plan, limit: Duration) -> Result<Steady, Trouble> {
        let begun = Instant::now();
        self.helpers.clock.shorten();
        let mut all: Vec<Pair> = Vec::new();
        let mut look_at = plan.pairs;
        loop {
            all.extend(self.batch(sides)?);
            let out_of_time = begun.elapsed() >= limit || all.len() >= MOST_PAIRS;
            if all.len() < look_at && !out_of_time {
                continue;
            }
            let steady = Steady::of(&all);
            let narrow = steady.ratio(0).is_some_and(|ratio: Interval| ratio.within(plan.width));
            if (steady.pairs.len() >= plan.pairs && narrow) || out_of_time {
                return Ok(steady);
            }
            // Intervals narrow with the square root of the number, so there is no use in looking often.
            look_at = all.len() + all.len() / 4;
        }
    }

    /// Queues a batch of pairs, then waits for all of it.
    fn batch(&mut self, sides: [Who; 2]) -> Result<Vec<Pair>, Trouble> {
        let held = self.held(|bench| bench.queue(sides), |pair| &pair.timers)?;
        self.collect(sides, &held.queued, held.clock)
    }

    /// Has a batch queued while the device is held back, and waits for all of it.
    pub(super) fn held<Q>(
        &mut self,
        mut queue: impl FnMut(&mut Self) -> Result<Vec<Q>, Trouble>,
        timers: impl Fn(&Q) -> &[Timer],
    ) -> Result<Held<Q>, Trouble> {
        let ours = || Trouble::driver("timing");
        let stream = self.trial.session.device.stream.clone();
        loop {
            self.helpers.clock.hold().map_err(ours())?;
            let whole = Timer::new(&stream).map_err(ours())?;
            whole.start().map_err(ours())?;
            let queued = queue(self)?;
            whole.stop().map_err(ours())?;
            // Had the device begun by now, it might have waited for the host between two events of a timer. The clock
            // of the emulated one stands still while the host queues.
            let begun = queued.first().is_some_and(|first| timers(first).iter().any(Timer::has_started));
            let waits = begun && !self.trial.session.is_emulated();
            let clock = self.wait();
            // Times are read after the whole device is idle.
            self.rig.finish()?;
            if !waits || !self.helpers.clock.lengthen() {
                self.waited |= waits;
                let busy_ms = f64::from(whole.elapsed_ms().map_err(ours())?);
                return Ok(Held { queued, clock, busy_ms });
            }
        }
    }

    fn queue(&mut self, sides: [Who; 2]) -> Result<Vec<Queued>, Trouble> {
        let ours = || Trouble::driver("timing");
        let stream = self.trial.session.device.stream.clone();
        let mut queued = Vec::with_capacity(BATCH);
        self.helpers.clear_sums().map_err(ours())?;
        for _ in 0..BATCH {
            // Contents and places change between calls, and the order within a pair is random.
            let set = self.rng.usize(0..self.rig.choices());
            let first = self.rng.usize(0..2);
            let timers = [Timer::new(&stream).map_err(ours())?, Timer::new(&stream).map_err(ours())?];
            for side in [first, 1 - first] {
                self.rig.reset(sides[side], set).map_err(ours())?;
                let run = || self.rig.run(sides[side], set);
                self.helpers.clock.cold(&timers[side], |error| ours()(error), run)?;
                if sides[side] == Who::Submission {
                    let slot = 2 * queued.len() + side;
                    self.helpers.sum(self.rig.outputs(Who::Submission), slot).map_err(ours())?;
                }
            }
            queued.push(Queued { timers, set });
        }
        Ok(queued)
    }

    /// The times of a batch, after the device is idle.
    fn collect(&mut self, sides: [Who; 2], queued: &[Queued], clock: Option<u32>) -> Result<Vec<Pair>, Trouble> {
        let ours = || Trouble::driver("timing");
        let sums = self.helpers.sums().map_err(ours())?;
        let mut pairs = Vec::with_capacity(queued.len());
        for (index, pair) in queued.iter().enumerate() {
            for (side, who) in sides.into_iter().enumerate() {
                self.check(who, pair.set, sums.get(2 * index + side))?;
            }
            let [above, below] = &pair.timers;
            let nanoseconds = |timer: &Timer| timer.elapsed_ms().map(|ms| f64::from(ms) * 1e6).map_err(ours());
            pairs.push(Pair { above: nanoseconds(above)?, below: nanoseconds(below)?, clock });
        }
        Ok(pairs)
    }

    /// Waits for the stream and samples the clock meanwhile. The lowest sample is the batch's.
    fn wait(&mut self) -> Option<u32> {
        let mut lowest: Option<u32> = None;
        let Ok(done) = self.trial.session.device.stream.record_event(None) else { return None };
        while self.sampler.answers() && !done.is_complete() {
            if let Some(mhz) = self.sampler.sample() {
                lowest = Some(lowest.map_or(mhz, |low| low.min(mhz)));
            }
            // Asking NVML all the time would itself be noise.
            std::thread::sleep(Duration::from_millis(1));
        }
        lowest
    }

    fn check(&self, who: Who, set: usize, sum: Option<&u64>) -> Result<(), Trouble> {
        let Some(expected) = self.expected[set % SETS] else { return Ok(()) };
        if who == Who::Submission && sum.is_some_and(|&sum| sum != expected) {
            let failure =
                Failure::new(Code::Values, "a timed launch left other outputs than the same launch did before")
                    .note("was the call skipped, its result cached, or its work put on another stream?");
            return Err(failure.at(self.rig.shape).into());
        }
        Ok(())
    }
}

/// A pair of queued launches on one set of inputs.
struct Queued {
    timers: [Timer; 2],
    set: usize,
}

/// A batch that has run.
pub(super) struct Held<Q> {
    pub(super) queued: Vec<Q>,
    /// The lowest clock meanwhile, in MHz.
    clock: Option<u32>,
    /// From the end of the wait to the end of the batch, in milliseconds.
    pub(super) busy_ms: f64,
}
