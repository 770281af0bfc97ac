//! The measurement: pairs of cold launches, next to each other, until their ratio is known.

use std::time::{Duration, Instant};

use fusion_course::{Entry, Shape};
use fusion_device::{Program, Timer};
use kernels::Baseline;

use super::ceiling;
use super::clocks::Sampler;
use super::helpers::Helpers;
use super::pairs::{Pair, Steady};
use super::{bar, too_slow};
use crate::judgement::{Code, Failure, Fast, Interval, Verdict};
use crate::problem;
use crate::rig::{Rig, SETS, Who};
use crate::session::Session;
use crate::trouble::Trouble;

/// How long and how finely to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Elements, if the device's memory allows; less otherwise.
    pub(crate) elements: usize,
    /// GPU time before anything counts.
    pub(crate) warm_up: Duration,
    /// Pairs at least.
    pub(crate) pairs: usize,
    /// How far the ends of the interval may lie from the median, as a part of it.
    pub(crate) width: f64,
    /// Wall time after which the measurement ends as it is.
    pub(crate) limit: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            elements: 1 << 26,
            warm_up: Duration::from_millis(200),
            pairs: 31,
            width: 0.02,
            limit: Duration::from_secs(20),
        }
    }
}

/// Pairs that are queued before the host waits: the device never waits for the host within a batch.
const BATCH: usize = 8;

/// Pairs after which a time is as well known as it will be.
const MOST_PAIRS: usize = 2000;

/// How far the unfused chain may seem to differ from itself.
const SELF_TEST: f64 = 0.01;

/// How far above the measured ceiling a speed may lie.
const IMPOSSIBLE: f64 = 1.05;

const QUIET: &str = "quiet the machine (no other work on the GPU, no display, steady clocks) and grade again";

/// Measures a submission against the unfused chain. `tell` hears what is being done.
pub(crate) fn measure(
    session: &Session,
    entry: &Entry,
    program: &Program,
    baseline: &Baseline,
    plan: &Plan,
    seed: u64,
    tell: &dyn Fn(String),
) -> Result<Fast, Trouble> {
    let shape = fitting_shape(session, entry, plan.elements)?;
    tell(format!("fast: preparing {shape}"));
    let mut bench = Bench {
        session,
        rig: Rig::new(session, entry, program, baseline, shape, seed)?,
        helpers: Helpers::new(session, ceiling::mix(entry.exercise, shape))?,
        sampler: Sampler::new(session),
        rng: fastrand::Rng::with_seed(seed),
        expected: [None; SETS],
    };
    bench.verify()?;
    tell("fast: warming up".to_owned());
    bench.warm_up(plan)?;
    let bytes = entry.exercise.minimum_bytes(shape);
    let ceiling = ceiling::measure(session, &mut bench.helpers, bytes)?;

    let mut fast = Fast {
        measured: true,
        device: Some(session.info.name.clone()),
        driver: Some(session.info.driver.clone()),
        shape: Some(shape.to_string()),
        bar: Some(bar(entry.exercise, shape)),
        ideal: Some(entry.exercise.ideal_speedup(shape)),
        ceiling_gb_per_s: Some(ceiling),
        cold: true,
        ..Fast::default()
    };
    // One automatic retry: a burst of noise passes.
    for attempt in ["", " again"] {
        tell(format!("fast: the unfused chain against itself{attempt}"));
        let own = bench.pairs([Who::Unfused; 2], plan, plan.limit / 4)?;
        fast.self_test = own.ratio(seed);
        tell(format!("fast: measuring{attempt}"));
        let steady = bench.pairs([Who::Unfused, Who::Submission], plan, plan.limit)?;
        conclude(&mut fast, &steady, bytes, seed);
        if fast.verdict != Verdict::Inconclusive {
            break;
        }
    }
    fast.sm_clock_mhz = bench.sampler.clocks();
    // Whether anything was left undone or done late shows only after everything has ended.
    bench.rig.finish()?;
    if let Some(failure) = &mut fast.failure {
        failure.shape = Some(shape.to_string());
        failure.device = Some(session.info.name.clone());
    }
    Ok(fast)
}

/// The verdict over a measurement.
fn conclude(fast: &mut Fast, steady: &Steady, bytes: u64, seed: u64) {
    (fast.failure, fast.note) = (None, None);
    fast.verdict = Verdict::Inconclusive;
    fast.pairs = steady.pairs.len() as u32;
    fast.dropped = steady.dropped as u32;
    let (Some(ratio), Some((unfused, yours))) = (steady.ratio(seed), steady.times()) else {
        fast.note = Some(format!("no pair of launches had steady clocks: {QUIET}"));
        return;
    };
    fast.ratio = Some(ratio);
    fast.time_ns = Some(yours);
    fast.unfused_time_ns = Some(unfused);
    let speed = bytes as f64 / yours;
    fast.gb_per_s = Some(speed);
    fast.share = fast.ceiling_gb_per_s.filter(|&ceiling| ceiling > 0.0).map(|ceiling| speed / ceiling);
    if fast.share.is_some_and(|share| share > IMPOSSIBLE) {
        fast.verdict = Verdict::Fail;
        fast.failure = Some(
            Failure::new(Code::Impossible, "faster than this device's memory allows: work was skipped")
                .note(format!(
                    "{speed:.0} GB/s of compulsory bytes, where a kernel that only moves such bytes reaches {:.0}",
                    fast.ceiling_gb_per_s.unwrap_or_default()
                ))
                .note("every call must read all inputs and write all outputs"),
        );
        return;
    }
    let own = fast.self_test.unwrap_or_default();
    if (own.median - 1.0).abs() > SELF_TEST {
        let text = format!("the unfused chain differs from itself by a factor of {:.3}: {QUIET}", own.median);
        fast.note = Some(text);
        return;
    }
    let bar = fast.bar.unwrap_or_default();
    fast.verdict = ratio.against(bar);
    match fast.verdict {
        Verdict::Fail => fast.failure = Some(too_slow(fast)),
        Verdict::Inconclusive => {
            fast.note = Some(format!(
                "the ratio lies between {:.3} and {:.3}, and the bar of {bar:.3} between them: {QUIET}",
                ratio.low, ratio.high
            ));
        }
        _ => {}
    }
}

/// The largest shape up to so many elements that leaves half of the device's free memory alone, and at least four
/// times the L2 where that much fits.
fn fitting_shape(session: &Session, entry: &Entry, elements: usize) -> Result<Shape, Trouble> {
    let (free, _) = session.device.context.mem_get_info().map_err(Trouble::driver("asking for free memory"))?;
    let budget = free as u64 / 2;
    let shape = |elements| problem::large(entry.exercise, elements);
    let needed = |elements| {
        let bytes = entry.exercise.minimum_bytes(shape(elements));
        Rig::bytes(entry, shape(elements)) + bytes + kernels::Flush::bytes(session.info.l2_bytes) as u64
    };
    let mut elements = elements.max(1);
    while entry.exercise.minimum_bytes(shape(elements)) < 4 * session.info.l2_bytes
        && needed(2 * elements) <= budget
        && !session.is_emulated()
    {
        elements *= 2;
    }
    while needed(elements) > budget && elements > 1 << 10 {
        elements /= 2;
    }
    Ok(shape(elements))
}

/// Everything that timing needs.
struct Bench<'a> {
    session: &'a Session,
    rig: Rig<'a>,
    helpers: Helpers<'a>,
    sampler: Sampler,
    rng: fastrand::Rng,
    /// The checksum of the submission's right outputs for each set; none for a kernel whose results vary.
    expected: [Option<u64>; SETS],
}

impl Bench<'_> {
    /// Runs the submission on each set of inputs, compares all of its outputs with the reference, and remembers their
    /// checksums, by which every timed launch will be checked.
    fn verify(&mut self) -> Result<(), Trouble> {
        for set in 0..SETS {
            let mut sums = [0; 2];
            for sum in &mut sums {
                self.rig.reset(Who::Submission, set).map_err(Trouble::driver("preparing a launch"))?;
                self.rig.run(Who::Submission, set)?;
                self.rig.finish()?;
                *sum = self.checksum()?;
            }
            self.rig.check(set)?;
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

    /// Runs both for as long as the plan says, so that clocks and caches are as they will be.
    fn warm_up(&mut self, plan: &Plan) -> Result<(), Trouble> {
        let (mut done, begun) = (0.0, Instant::now());
        while done < plan.warm_up.as_secs_f64() * 1e9 && begun.elapsed() < plan.limit {
            let pairs = self.batch([Who::Unfused, Who::Submission])?;
            done += pairs.iter().map(|pair| pair.above + pair.below).sum::<f64>();
        }
        Ok(())
    }

    /// Pairs of launches until their ratio is known well enough or time is up.
    fn pairs(&mut self, sides: [Who; 2], plan: &Plan, limit: Duration) -> Result<Steady, Trouble> {
        let begun = Instant::now();
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
        let ours = || Trouble::driver("timing");
        let stream = self.session.device.stream.clone();
        let mut queued: Vec<[Option<Timed>; 2]> = Vec::with_capacity(BATCH);
        self.helpers.clear_sums().map_err(ours())?;
        for _ in 0..BATCH {
            // Contents change between calls, and the order within a pair is random.
            let set = self.rng.usize(0..SETS);
            let first = self.rng.usize(0..2);
            let mut pair = [None, None];
            for side in [first, 1 - first] {
                let slot = 2 * queued.len() + side;
                let timer = Timer::new(&stream).map_err(ours())?;
                self.rig.reset(sides[side], set).map_err(ours())?;
                self.helpers.flush().map_err(ours())?;
                timer.start().map_err(ours())?;
                self.rig.run(sides[side], set)?;
                timer.stop().map_err(ours())?;
                if sides[side] == Who::Submission {
                    self.helpers.sum(self.rig.outputs(Who::Submission), slot).map_err(ours())?;
                }
                pair[side] = Some(Timed { timer, set, slot });
            }
            queued.push(pair);
        }
        let clock = self.wait();
        // Times are read after the whole device is idle.
        self.rig.finish()?;
        let sums = self.helpers.sums().map_err(ours())?;
        let mut pairs = Vec::with_capacity(BATCH);
        for [above, below] in queued.iter() {
            let (Some(above), Some(below)) = (above, below) else { continue };
            for (timed, who) in [(above, sides[0]), (below, sides[1])] {
                self.check(timed, who, &sums)?;
            }
            let nanoseconds = |timed: &Timed| timed.timer.elapsed_ms().map(|ms| f64::from(ms) * 1e6).map_err(ours());
            pairs.push(Pair { above: nanoseconds(above)?, below: nanoseconds(below)?, clock });
        }
        Ok(pairs)
    }

    /// Waits for the stream and samples the clock meanwhile. The lowest sample is the batch's.
    fn wait(&mut self) -> Option<u32> {
        let mut lowest: Option<u32> = None;
        let Ok(done) = self.session.device.stream.record_event(None) else { return None };
        while self.sampler.answers() && !done.is_complete() {
            if let Some(mhz) = self.sampler.sample() {
                lowest = Some(lowest.map_or(mhz, |low| low.min(mhz)));
            }
            // Asking NVML all the time would itself be noise.
            std::thread::sleep(Duration::from_millis(1));
        }
        lowest
    }

    fn check(&self, timed: &Timed, who: Who, sums: &[u64]) -> Result<(), Trouble> {
        let Some(expected) = self.expected[timed.set] else { return Ok(()) };
        if who == Who::Submission && sums.get(timed.slot).is_some_and(|&sum| sum != expected) {
            let failure =
                Failure::new(Code::Values, "a timed launch left other outputs than the same launch did before")
                    .note("was the call skipped, its result cached, or its work put on another stream?");
            return Err(failure.at(self.rig.shape).into());
        }
        Ok(())
    }
}

/// A queued launch.
struct Timed {
    timer: Timer,
    set: usize,
    slot: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ratio: f64, scatter: f64, own: f64) -> Fast {
        let mut rng = fastrand::Rng::with_seed(3);
        let pairs = (0..40)
            .map(|_| {
                let noise = (scatter * (2.0 * rng.f64() - 1.0)).exp();
                Pair { above: 1e6 * ratio * noise, below: 1e6, clock: None }
            })
            .collect();
        let mut fast = Fast {
            measured: true,
            bar: Some(1.42),
            ideal: Some(1.67),
            ceiling_gb_per_s: Some(4000.0),
            self_test: Some(Interval::exact(own)),
            ..Fast::default()
        };
        conclude(&mut fast, &Steady { pairs, dropped: 1 }, 3_800_000_000, 1);
        fast
    }

    #[test]
    fn verdicts_of_a_measurement() {
        let passed = measured(1.6, 0.01, 1.0);
        assert_eq!((passed.verdict, passed.pairs, passed.dropped), (Verdict::Pass, 40, 1));
        assert!((passed.share.unwrap() - 0.95).abs() < 1e-9);
        let failed = measured(1.2, 0.01, 1.0);
        assert_eq!(failed.verdict, Verdict::Fail);
        assert_eq!(failed.failure.unwrap().code, Code::Speed);
        assert_eq!(measured(1.42, 0.2, 1.0).verdict, Verdict::Inconclusive);
        let noisy = measured(1.6, 0.01, 1.02);
        assert_eq!(noisy.verdict, Verdict::Inconclusive);
        assert!(noisy.note.unwrap().contains("differs from itself by a factor of 1.020"));
    }

    #[test]
    fn faster_than_memory_is_refused() {
        let mut fast = Fast { ceiling_gb_per_s: Some(3000.0), ..measured(1.6, 0.01, 1.0) };
        let pairs = vec![Pair { above: 1.6e6, below: 1e6, clock: None }; 40];
        conclude(&mut fast, &Steady { pairs, dropped: 0 }, 3_800_000_000, 1);
        assert_eq!(fast.failure.unwrap().code, Code::Impossible);
    }

    #[test]
    fn no_steady_pair_is_no_verdict() {
        let mut fast = Fast::default();
        conclude(&mut fast, &Steady::default(), 1, 1);
        assert_eq!((fast.verdict, fast.note.is_some()), (Verdict::Inconclusive, true));
    }
}
