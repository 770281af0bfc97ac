//! The measurement: pairs of cold launches, next to each other, until their ratio is known.

use std::time::Duration;

use fusion_course::{Exercise, Shape};

use super::bench::Bench;
use super::ceiling;
use super::{Contest, Fast, IN_ORDER, bar, beaten, tflop_per_s, too_slow};
use crate::judgement::{Basis, Code, Failure, Interval, Part, Timing, Verdict};
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

impl Plan {
    /// How a submission is measured for its verdict. On the emulated device, whose clock does not scatter, it is a test.
    fn of(trial: &Trial<'_>) -> Self {
        let plan = match trial.session.is_emulated() {
            true => Self { warm_up: Duration::ZERO, elements: 1 << 16, ..Self::default() },
            false => Self::default(),
        };
        Self { elements: trial.size.unwrap_or(plan.elements), ..plan }
    }
}

/// How far the unfused chain may seem to differ from itself.
const SELF_TEST: f64 = 0.01;

/// How far above the measured ceiling a speed may lie.
const IMPOSSIBLE: f64 = 1.05;

const QUIET: &str = "quiet the machine (no other work on the GPU, no display, steady clocks) and grade again";

/// Measures a submission against the unfused chain at each large shape.
pub(super) fn measure(trial: &Trial<'_>) -> Result<Vec<Part<Fast>>, Trouble> {
    let plan = Plan::of(trial);
    let shapes = trial.large();
    let plan = Plan { limit: plan.limit / shapes.len().max(1) as u32, ..plan };
    let mut judged: Vec<Part<Fast>> = Vec::with_capacity(shapes.len());
    for (index, _) in shapes {
        let shape = fitting_shape(trial, plan.elements, index)?;
        trial.tell(format!("fast: preparing {shape}"));
        let mut bench = Bench::new(trial, shape)?;
        // That the machine is quiet is found out once.
        let self_test = judged.last().and_then(|part| part.evidence.as_ref()?.self_test);
        judged.push(judge(&mut bench, &plan, self_test)?);
    }
    Ok(judged)
}

/// Judges the one shape that this was made for. The self-test is made where there is none yet.
fn judge(bench: &mut Bench<'_>, plan: &Plan, known: Option<Interval>) -> Result<Part<Fast>, Trouble> {
    let trial = bench.trial;
    let (session, seed, shape, exercise) = (trial.session, trial.seed, bench.rig.shape, trial.exercise());
    bench.verify()?;
    trial.tell(format!("fast: warming up at {shape}"));
    bench.warm_up(plan)?;
    let bytes = exercise.minimum_bytes(shape);
    let ceiling = ceiling::measure(session, &mut bench.helpers, bytes)?;
    let mut fast = Fast {
        device: session.info.name.clone(),
        driver: session.info.driver.clone(),
        shape: shape.to_string(),
        bar: bar(exercise, shape),
        ideal: exercise.ideal_speedup(shape),
        ceiling_gb_per_s: Some(ceiling),
        cold: true,
        self_test: known,
        ..Fast::default()
    };
    let mut said = Part::default();
    // One automatic retry: a burst of noise passes.
    for attempt in ["", " again"] {
        if !fast.self_test.is_some_and(is_quiet) {
            trial.tell(format!("fast: the unfused chain against itself{attempt}"));
            fast.self_test = bench.pairs([Who::Unfused; 2], plan, plan.limit / 4)?.ratio(seed);
        }
        trial.tell(format!("fast: measuring {shape}{attempt}"));
        let timing = bench.pairs([Who::Unfused, Who::Submission], plan, plan.limit)?.timing(seed);
        fast.tflop_per_s = timing.as_ref().and_then(|timing| tflop_per_s(trial.exercise(), shape, timing));
        said = conclude(exercise, &mut fast, timing, bytes);
        if let (Some(rival), true) = (exercise.rival, said.verdict != Verdict::Fail) {
            trial.tell(format!("fast: measuring {shape} beside {}{attempt}", rival.name));
            let timing = bench.pairs([Who::Rival, Who::Submission], plan, plan.limit)?.timing(seed);
            let bar = timing.as_ref().map_or(rival.bar, |timing| within_reach(rival.bar, timing, bytes, ceiling));
            let contest = Contest { name: rival.name.to_owned(), bar, timing, note: None };
            said = conclude_contest(said, exercise, &contest);
            fast.rival = Some(contest);
        }
        if said.verdict != Verdict::Inconclusive {
            break;
        }
    }
    fast.sm_clock_mhz = bench.sampler.clocks();
    // Whether anything was left undone or done late shows only after everything has ended.
    bench.rig.finish()?;
    if let Some(failure) = &mut said.failure {
        failure.shape = Some(shape.to_string());
        failure.device = Some(session.info.name.clone());
    }
    Ok(said.with(fast))
}

/// The share of the ceiling that is asked for at most.
const OF_THE_CEILING: f64 = 0.95;

/// The bar of a contest on this device, whose memory moves `ceiling` GB/s at most. A kernel at the ceiling cannot be
/// faster. So where the other kernel is near the ceiling, the bar is lower: below 1 where the other one reaches more than
/// that share. What distinguishes the two kernels there is the width of their accesses, which *lean* judges.
fn within_reach(bar: f64, timing: &Timing, bytes: u64, ceiling: f64) -> f64 {
    let (Timing::Measured { other_ns, .. } | Timing::Predicted { other_ns, .. }) = timing;
    match other_ns {
        Some(other) if bytes > 0 && ceiling > 0.0 => bar.min(OF_THE_CEILING * other.median * ceiling / bytes as f64),
        _ => bar,
    }
}

/// Whether the unfused chain took as long as itself.
fn is_quiet(own: Interval) -> bool {
    (own.median - 1.0).abs() <= SELF_TEST
}

/// The verdict over a measurement.
fn conclude(exercise: &Exercise, fast: &mut Fast, timing: Option<Timing>, bytes: u64) -> Part<()> {
    fast.timing = timing;
    let Some(timing) = fast.timing.clone() else { return unsteady() };
    fast.gb_per_s = timing.gb_per_s(bytes);
    let ceiling = fast.ceiling_gb_per_s.unwrap_or_default();
    fast.share = fast.gb_per_s.filter(|_| ceiling > 0.0).map(|speed| speed / ceiling);
    if fast.share.is_some_and(|share| share > IMPOSSIBLE) {
        let speed = fast.gb_per_s.unwrap_or_default();
        return Part::refused(
            Failure::new(Code::Impossible, "faster than this device's memory allows: work was skipped")
                .note(format!(
                    "{speed:.0} GB/s of compulsory bytes, where a kernel that only moves such bytes reaches {ceiling:.0}"
                ))
                .note("every call must read all inputs and write all outputs"),
        );
    }
    let own = fast.self_test.unwrap_or_default();
    if !is_quiet(own) {
        return Part::open(format!("the unfused chain differs from itself by a factor of {:.3}: {QUIET}", own.median));
    }
    match timing.verdict(fast.bar) {
        Verdict::Pass => Part::pass(),
        Verdict::Fail => {
            let failure = too_slow(exercise, fast, &timing);
            Part::refused(if fast.tflop_per_s.is_some() { failure } else { failure.note(IN_ORDER) })
        }
        _ => Part::open(undecided("the ratio", &timing, fast.bar)),
    }
}

/// The verdict with a contest against a kernel that is already fused, beside one over the chain that passed or is open.
pub(super) fn conclude_contest(said: Part<()>, exercise: &Exercise, contest: &Contest) -> Part<()> {
    let other = match &contest.timing {
        // What is predicted is known or not, whichever launches it is beside.
        None if contest.note.is_some() => Part::pass(),
        None => unsteady(),
        Some(timing) => match timing.verdict(contest.bar) {
            Verdict::Pass => Part::pass(),
            Verdict::Fail => Part::refused(beaten(exercise, contest, timing)),
            _ => Part::open(undecided(&format!("the ratio to {}", contest.name), timing, contest.bar)),
        },
    };
    Part {
        verdict: Verdict::combine([said.verdict, other.verdict]),
        failure: said.failure.or(other.failure),
        note: said.note.or(other.note),
        ..said
    }
}

fn unsteady() -> Part<()> {
    Part::open(format!("no pair of launches had steady clocks: {QUIET}"))
}

fn undecided(what: &str, timing: &Timing, bar: f64) -> String {
    if timing.basis() == Basis::Predicted {
        return format!("{what}: {}", super::predict::undecided(timing, bar));
    }
    let Some(Interval { low, high, .. }) = timing.speedup() else { return format!("{what} is not known: {QUIET}") };
    format!("{what} lies between {low:.3} and {high:.3}, and the bar of {bar:.3} between them: {QUIET}")
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
        Rig::bytes(exercise, shape(elements)) + bytes + fusion_baseline::Flush::bytes(session.info.l2_bytes) as u64
    };
    let mut elements = elements.max(1);
    // A product of matrices gets no larger than its largest timed shape.
    while exercise.minimum_bytes(shape(elements)) < 4 * session.info.l2_bytes
        && shape(2 * elements) != shape(elements)
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
    use assert_approx_eq::assert_approx_eq;

    use super::*;
    use crate::fast::pairs::{Pair, Steady};

    /// Pairs of which the side above takes so many times as long.
    fn timing(ratio: f64, scatter: f64) -> Option<Timing> {
        let mut rng = fastrand::Rng::with_seed(3);
        let pairs = (0..40)
            .map(|_| {
                let noise = (scatter * (2.0 * rng.f64() - 1.0)).exp();
                Pair { above: 1e6 * ratio * noise, below: 1e6, clock: None }
            })
            .collect();
        Steady { pairs, dropped: 1 }.timing(1)
    }

    fn measured(ratio: f64, scatter: f64, own: f64, ceiling: f64) -> Part<Fast> {
        let mut fast = Fast {
            bar: 1.42,
            ideal: 1.67,
            ceiling_gb_per_s: Some(ceiling),
            self_test: Some(Interval::exact(own)),
            ..Fast::default()
        };
        conclude(&Exercise::TEMPLATE, &mut fast, timing(ratio, scatter), 3_800_000_000).with(fast)
    }

    #[test]
    fn a_bar_over_a_kernel_near_the_ceiling_is_within_reach() {
        // The other kernel moves 3.6 GB in 1 ms.
        let timing = timing(1.0, 0.0).unwrap();
        let bar = |ceiling| within_reach(1.15, &timing, 3_600_000_000, ceiling);
        assert_approx_eq!(bar(4800.0), 1.15);
        assert_approx_eq!(bar(4000.0), 0.95 * 4000.0 / 3600.0, 1e-3);
        assert_approx_eq!(bar(3600.0), 0.95, 1e-3);
        // Without bytes or a ceiling there is nothing to go by.
        assert_approx_eq!(within_reach(1.15, &timing, 0, 4000.0), 1.15);
        assert_approx_eq!(bar(0.0), 1.15);
    }

    #[test]
    fn verdicts_of_a_measurement() {
        let passed = measured(1.6, 0.01, 1.0, 4000.0);
        assert_eq!((passed.verdict, passed.view().cell.contains("95% of ceiling")), (Verdict::Pass, true));
        let evidence = passed.evidence.unwrap();
        assert!(matches!(evidence.timing, Some(Timing::Measured { pairs: 40, dropped: 1, .. })));
        assert_approx_eq!(evidence.share.unwrap(), 0.95, 1e-9);
        let failed = measured(1.2, 0.01, 1.0, 4000.0);
        assert_eq!((failed.verdict, failed.failure.unwrap().code), (Verdict::Fail, Code::Speed));
        assert_eq!(measured(1.42, 0.2, 1.0, 4000.0).verdict, Verdict::Inconclusive);
        let noisy = measured(1.6, 0.01, 1.02, 4000.0);
        assert_eq!(noisy.verdict, Verdict::Inconclusive);
        assert!(noisy.note.unwrap().contains("differs from itself by a factor of 1.020"));
    }

    #[test]
    fn a_kernel_to_beat_must_be_beaten_too() {
        let beside = |timing| {
            conclude_contest(
                Part::pass(),
                &Exercise::TEMPLATE,
                &Contest { name: "the scalar one".to_owned(), bar: 1.05, timing, note: None },
            )
        };
        assert_eq!(beside(timing(1.1, 0.0)).verdict, Verdict::Pass);
        let lost = beside(timing(1.0, 0.0));
        assert_eq!(lost.verdict, Verdict::Fail);
        let title = lost.failure.unwrap().title;
        assert_eq!(title, "1.00x the speed of the scalar one (measured), and 1.05x is asked for");
        let nothing = beside(None);
        assert_eq!((nothing.verdict, nothing.note.is_some()), (Verdict::Inconclusive, true));
    }

    #[test]
    fn faster_than_memory_is_refused() {
        assert_eq!(measured(1.6, 0.01, 1.0, 3000.0).failure.unwrap().code, Code::Impossible);
    }

    #[test]
    fn no_steady_pair_is_no_verdict() {
        let said = conclude(&Exercise::TEMPLATE, &mut Fast::default(), None, 1);
        assert_eq!((said.verdict, said.note.is_some()), (Verdict::Inconclusive, true));
    }
}
