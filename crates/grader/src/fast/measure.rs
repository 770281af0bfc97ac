//! The measurement: pairs of cold launches, next to each other, until their ratio is known.

use std::time::Duration;

use fusion_course::Shape;

use super::bench::Bench;
use super::ceiling;
use super::pairs::Steady;
use super::{IN_ORDER, bar, beaten, too_slow};
use crate::judgement::{Code, Contest, Failure, Fast, Interval, Verdict};
use crate::rig::{Rig, Who};
use crate::trial::Trial;
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
    /// Wall time after which the measurement ends as it is: over all shapes, without preparation and a retry.
    pub(crate) limit: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            elements: 1 << 26,
            warm_up: Duration::from_millis(200),
            pairs: 31,
            width: 0.02,
            limit: Duration::from_secs(15),
        }
    }
}

/// How far the unfused chain may seem to differ from itself.
const SELF_TEST: f64 = 0.01;

/// How far above the measured ceiling a speed may lie.
const IMPOSSIBLE: f64 = 1.05;

const QUIET: &str = "quiet the machine (no other work on the GPU, no display, steady clocks) and grade again";

/// Measures a submission against the unfused chain at each large shape; the worst decides.
pub(crate) fn measure(trial: &Trial<'_>, plan: &Plan) -> Result<Fast, Trouble> {
    let shapes = trial.exercise().large(plan.elements).len().max(1);
    let plan = Plan { limit: plan.limit / shapes as u32, ..*plan };
    let mut judged = Vec::with_capacity(shapes);
    // That the machine is quiet is found out once.
    let mut self_test = None;
    for index in 0..shapes {
        let shape = fitting_shape(trial, plan.elements, index)?;
        trial.tell(format!("fast: preparing {shape}"));
        let mut bench = Bench::new(trial, shape)?;
        let fast = judge(&mut bench, &plan, self_test)?;
        self_test = fast.self_test;
        judged.push(fast);
    }
    Ok(Fast::worst(judged))
}

/// Judges the one shape that this was made for. The self-test is made where there is none yet.
fn judge(bench: &mut Bench<'_>, plan: &Plan, known: Option<Interval>) -> Result<Fast, Trouble> {
    let trial = bench.trial;
    let (session, seed, shape, exercise) = (trial.session, trial.seed, bench.rig.shape, trial.exercise());
    bench.verify()?;
    trial.tell(format!("fast: warming up at {shape}"));
    bench.warm_up(plan)?;
    let bytes = exercise.minimum_bytes(shape);
    let ceiling = ceiling::measure(session, &mut bench.helpers, bytes)?;
    let mut fast = Fast {
        measured: true,
        device: Some(session.info.name.clone()),
        driver: Some(session.info.driver.clone()),
        shape: Some(shape.to_string()),
        bar: Some(bar(exercise, shape)),
        ideal: Some(exercise.ideal_speedup(shape)),
        ceiling_gb_per_s: Some(ceiling),
        cold: true,
        self_test: known,
        ..Fast::default()
    };
    // One automatic retry: a burst of noise passes.
    for attempt in ["", " again"] {
        if !fast.self_test.is_some_and(is_quiet) {
            trial.tell(format!("fast: the unfused chain against itself{attempt}"));
            fast.self_test = bench.pairs([Who::Unfused; 2], plan, plan.limit / 4)?.ratio(seed);
        }
        trial.tell(format!("fast: measuring {shape}{attempt}"));
        let steady = bench.pairs([Who::Unfused, Who::Submission], plan, plan.limit)?;
        conclude(&mut fast, &steady, bytes, seed);
        if let (Some(rival), true) = (exercise.rival, fast.verdict != Verdict::Fail) {
            trial.tell(format!("fast: measuring {shape} beside {}{attempt}", rival.name));
            let steady = bench.pairs([Who::Rival, Who::Submission], plan, plan.limit)?;
            let contest = Contest { name: rival.name.to_owned(), bar: rival.bar, ..Contest::default() };
            conclude_contest(&mut fast, contest, &steady, seed);
        }
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

/// Whether the unfused chain took as long as itself.
fn is_quiet(own: Interval) -> bool {
    (own.median - 1.0).abs() <= SELF_TEST
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
    if !is_quiet(own) {
        let text = format!("the unfused chain differs from itself by a factor of {:.3}: {QUIET}", own.median);
        fast.note = Some(text);
        return;
    }
    let bar = fast.bar.unwrap_or_default();
    fast.verdict = ratio.against(bar);
    match fast.verdict {
        Verdict::Fail => fast.failure = Some(too_slow(fast).note(IN_ORDER)),
        Verdict::Inconclusive => fast.note = Some(undecided("the ratio", ratio, bar)),
        _ => {}
    }
}

/// The verdict over a contest with a kernel that is already fused, beside one over the chain that passed or is open.
fn conclude_contest(fast: &mut Fast, mut contest: Contest, steady: &Steady, seed: u64) {
    contest.pairs = steady.pairs.len() as u32;
    contest.ratio = steady.ratio(seed);
    contest.time_ns = steady.times().map(|(rival, _)| rival);
    let verdict = contest.ratio.map_or(Verdict::Inconclusive, |ratio| ratio.against(contest.bar));
    match (verdict, contest.ratio) {
        (Verdict::Fail, _) if fast.failure.is_none() => fast.failure = Some(beaten(&contest)),
        (Verdict::Inconclusive, Some(ratio)) if fast.note.is_none() => {
            let what = format!("the ratio to {}", contest.name);
            fast.note = Some(undecided(&what, ratio, contest.bar));
        }
        (Verdict::Inconclusive, None) if fast.note.is_none() => {
            fast.note = Some(format!("no pair of launches had steady clocks: {QUIET}"));
        }
        _ => {}
    }
    fast.verdict = Verdict::combine([fast.verdict, verdict]);
    fast.rival = Some(contest);
}

fn undecided(what: &str, ratio: Interval, bar: f64) -> String {
    format!("{what} lies between {:.3} and {:.3}, and the bar of {bar:.3} between them: {QUIET}", ratio.low, ratio.high)
}

/// The largest shape, of those at that index, up to so many elements that leaves half of the device's free memory alone, and at least four
/// times the L2 where that much fits.
fn fitting_shape(trial: &Trial<'_>, elements: usize, index: usize) -> Result<Shape, Trouble> {
    let (session, exercise) = (trial.session, trial.exercise());
    let (free, _) = session.device.context.mem_get_info().map_err(Trouble::driver("asking for free memory"))?;
    let budget = free as u64 / 2;
    let shape = |elements| exercise.large(elements).get(index).copied().unwrap_or(Shape::flat(elements));
    let needed = |elements| {
        let bytes = exercise.minimum_bytes(shape(elements));
        Rig::bytes(exercise, shape(elements)) + bytes + kernels::Flush::bytes(session.info.l2_bytes) as u64
    };
    let mut elements = elements.max(1);
    while exercise.minimum_bytes(shape(elements)) < 4 * session.info.l2_bytes
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast::pairs::Pair;

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
    fn a_kernel_to_beat_must_be_beaten_too() {
        let contest = || Contest { name: "the scalar one".to_owned(), bar: 1.05, ..Contest::default() };
        let beside = |ratio: f64| {
            let mut fast = measured(1.6, 0.01, 1.0);
            let pairs = vec![Pair { above: 1e6 * ratio, below: 1e6, clock: None }; 40];
            conclude_contest(&mut fast, contest(), &Steady { pairs, dropped: 0 }, 1);
            fast
        };
        let won = beside(1.1);
        assert_eq!((won.verdict, won.rival.unwrap().pairs), (Verdict::Pass, 40));
        let lost = beside(1.0);
        assert_eq!(lost.verdict, Verdict::Fail);
        let title = lost.failure.unwrap().title;
        assert_eq!(title, "1.00x the speed of the scalar one (measured), and 1.05x is asked for");
        let mut nothing = measured(1.6, 0.01, 1.0);
        conclude_contest(&mut nothing, contest(), &Steady::default(), 1);
        assert_eq!((nothing.verdict, nothing.note.is_some()), (Verdict::Inconclusive, true));
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
