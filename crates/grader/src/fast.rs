//! Is it as much faster than the unfused chain as the bytes say?
//!
//! On a GPU this is measured ([`measure`]); on the emulated device it is predicted from the machine's model.

mod alone;
mod bench;
mod ceiling;
mod clocks;
mod helpers;
mod measure;
mod pairs;
mod sweep;

pub(crate) use measure::{Plan, measure};
pub(crate) use sweep::Sweep;

use fusion_course::{Exercise, Extent, Shape, Shapes};
use fusion_machine::{Counters, Report};

use crate::judgement::{Code, Contest, Failure, Fast, Interval, Verdict};
use crate::session::Session;
use crate::survey::Survey;

/// The ratio that passes: a fraction of the ideal byte ratio, so that it transfers between GPUs. Where that is less than 1, as at a
/// shape whose bytes are mostly a matrix of weights, it is 1: what is slower than the chain has not paid.
pub(crate) fn bar(exercise: &Exercise, shape: Shape) -> f64 {
    (exercise.bar * exercise.ideal_speedup(shape)).max(1.0)
}

/// The verdict of the emulated device's model: at the shape that is worst.
pub(crate) fn predict(session: &Session, exercise: &Exercise, surveys: &[Survey]) -> Fast {
    Fast::worst(surveys.iter().map(|survey| predict_shape(session, exercise, survey)).collect())
}

/// Threads of a warp.
const LANES: u64 = 32;

/// Bytes that a thread loads or stores at once, on average, from which on there is little to be won by more.
const WIDE: f64 = 12.0;

/// Why a kernel to beat is none on the emulated device.
const MODEL: &str = "not judged on the emulated device: its model counts bytes and instructions, and two kernels that move the \
                     same bytes take nearly the same time by it";

fn predict_shape(session: &Session, exercise: &Exercise, survey: &Survey) -> Fast {
    let time = |report: &Report| report.launches.iter().map(|launch| launch.predicted_ns).sum::<f64>();
    let (yours, unfused) = (time(&survey.submission), time(&survey.unfused));
    let ratio = Interval::exact(if yours > 0.0 { unfused / yours } else { 0.0 });
    let bytes = exercise.minimum_bytes(survey.shape);
    let mut fast = Fast {
        verdict: ratio.against(bar(exercise, survey.shape)),
        measured: false,
        device: Some(session.info.name.clone()),
        driver: Some(session.info.driver.clone()),
        shape: Some(survey.shape.to_string()),
        ratio: Some(ratio),
        bar: Some(bar(exercise, survey.shape)),
        ideal: Some(exercise.ideal_speedup(survey.shape)),
        time_ns: Some(yours),
        unfused_time_ns: Some(unfused),
        gb_per_s: (yours > 0.0).then(|| bytes as f64 / yours),
        cold: true,
        rival: exercise.rival.map(|rival| Contest {
            name: rival.name.to_owned(),
            bar: rival.bar,
            note: Some(MODEL.to_owned()),
            ..Contest::default()
        }),
        ..Fast::default()
    };
    if fast.verdict == Verdict::Fail {
        let failure = too_slow(&fast).note(slowed_by(exercise, survey));
        fast.failure = Some(failure.at(exercise.shapes.describe(survey.shape)));
    }
    fast
}

/// The failure of a submission that misses the bar.
fn too_slow(fast: &Fast) -> Failure {
    let ratio = fast.ratio.unwrap_or_default();
    let how = if fast.measured { "measured" } else { "predicted" };
    let mut title = format!("{:.2}x the speed of the unfused chain ({how})", ratio.median);
    if let Some(bar) = fast.bar {
        title += &format!(", and {bar:.2}x is asked for");
    }
    let mut failure = Failure::new(Code::Speed, title);
    if let Some(ideal) = fast.ideal {
        failure = failure.note(format!("the bytes allow {ideal:.2}x: what keeps the kernel from moving them as fast?"));
    }
    if let Some(share) = fast.share {
        failure
            .notes
            .push(format!("it reaches {:.0}% of what a plain copy of the same bytes reaches here", 100.0 * share));
    }
    failure
}

/// What to look at on a GPU, where nothing was counted: what costs most comes first.
const IN_ORDER: &str = "in this order: read every element once and keep it in a register; let neighbouring threads touch \
                        neighbouring elements; let each thread load and store 16 bytes";

/// What the counts say about a submission that the model finds slow.
fn slowed_by(exercise: &Exercise, survey: &Survey) -> String {
    /// How much more than needed is worth a word.
    const MUCH: f64 = 1.25;
    let shape = survey.shape;
    let total = |report: &Report| {
        report.launches.iter().fold(Counters::default(), |mut sum, launch| {
            sum += launch.counters;
            sum
        })
    };
    let (sum, chain) = (total(&survey.submission), total(&survey.unfused));
    // What all rows share is asked for by each of them, and comes from a cache.
    let read = exercise.inputs.iter().chain(exercise.outputs.iter().filter(|output| output.updated));
    let once: usize = read
        .map(|param| match param.extent {
            Extent::Columns => shape.rows * param.bytes(shape),
            _ => param.bytes(shape),
        })
        .sum();
    let load = sum.global_load;
    let ratio = |above: u64, below: f64| if below > 0.0 { above as f64 / below } else { 0.0 };
    let again = ratio(load.bytes, once as f64);
    let both = sum.global_store.bytes + load.bytes;
    let spread = ratio(32 * (load.sectors + sum.global_store.sectors), both as f64);
    let width = ratio(both, (LANES * (load.requests + sum.global_store.requests)) as f64);
    match () {
        () if sum.local_load.bytes > 0 => {
            "an array that registers do not hold lies in memory, and is read from there: \
                                           use constants as its indices (`#pragma unroll`), or a smaller one"
                .to_owned()
        }
        // A product of matrices reads them again whoever makes it.
        () if again > MUCH && !exercise.multiplies() => {
            let rows = match exercise.shapes {
                Shapes::Rows { .. } => "; the longer the row, the more threads it takes",
                Shapes::Elementwise => "",
            };
            format!(
                "the threads ask for {again:.1} times the bytes of the inputs: what is read again comes from a cache, and takes \
                 its time. Read each element once and keep it in a register{rows}"
            )
        }
        () if spread > MUCH => {
            "let neighbouring threads touch neighbouring elements: a warp asks for more sectors than its \
                                bytes fill"
                .to_owned()
        }
        () if ratio(sum.warp_instructions, chain.warp_instructions as f64) > 1.0 => format!(
            "its warps execute {} instructions, and those of the whole chain {}: do threads without work go through loops \
             that are made for longer problems?",
            sum.warp_instructions, chain.warp_instructions
        ),
        () if width < WIDE => "let each thread load and store 16 bytes at once".to_owned(),
        () => {
            let each = ratio(sum.thread_instructions, shape.elements() as f64);
            format!("its accesses are as they should be; {each:.0} instructions an element are what is left to save")
        }
    }
}

/// The failure of a submission that does not beat the kernel which is already fused.
fn beaten(contest: &Contest) -> Failure {
    let ratio = contest.ratio.unwrap_or_default();
    let title =
        format!("{:.2}x the speed of {} (measured), and {:.2}x is asked for", ratio.median, contest.name, contest.bar);
    Failure::new(Code::Speed, title)
        .note(format!(
            "{} moves the same bytes: what it does not do is to have enough of them on their way at once",
            contest.name
        ))
        .note("let each thread load 16 bytes with one instruction, and several of those before it uses the first")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_course::{day22::add_gelu, day26::ffn_sublayer};
    use fusion_machine::LaunchReport;
    use fusion_machine::report::Traffic;

    const SHAPE: Shape = Shape { rows: 1024, columns: 1024 };

    /// A softmax that reads and writes so many floats for each element, so many bytes at once.
    fn advice(change: impl Fn(&mut Counters)) -> String {
        advice_on(&fusion_course::day23::softmax::EXERCISE, change)
    }

    fn advice_on(exercise: &Exercise, change: impl Fn(&mut Counters)) -> String {
        let traffic = |bytes: u64| Traffic { requests: bytes / 512, sectors: bytes / 32, bytes };
        let bytes = 4 * SHAPE.elements() as u64;
        let mut counters = Counters {
            global_load: traffic(bytes),
            global_store: traffic(bytes),
            warp_instructions: 1000,
            thread_instructions: 32_000,
            ..Counters::default()
        };
        let report = |counters| Report {
            launches: vec![LaunchReport { counters, ..LaunchReport::default() }],
            ..Report::default()
        };
        let unfused = report(counters);
        change(&mut counters);
        let survey = Survey { shape: SHAPE, submission: report(counters), unfused };
        slowed_by(exercise, &survey)
    }

    #[test]
    fn what_slows_a_kernel_is_told_from_its_counts() {
        for (said, text) in [
            (
                "3.0 times the bytes",
                advice(|c| c.global_load = Traffic { bytes: 3 * c.global_load.bytes, ..c.global_load }),
            ),
            ("neighbouring", advice(|c| c.global_load.sectors *= 8)),
            ("16 bytes at once", advice(|c| c.global_load.requests *= 4)),
            ("pragma unroll", advice(|c| c.local_load.bytes = 4)),
            ("1001 instructions", advice(|c| c.warp_instructions += 1)),
            ("instructions an element", advice(|_| ())),
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }

    /// What is updated must be read too, and whoever multiplies matrices reads them again.
    #[test]
    fn what_must_be_read_is_read_once() {
        let bytes = 6 * SHAPE.elements() as u64;
        let loads = Traffic { requests: bytes / 512, sectors: bytes / 32, bytes };
        let text = advice_on(&fusion_course::day24::add_rmsnorm::EXERCISE, |c| c.global_load = loads);
        assert!(text.contains("instructions an element"), "{text}");
        let again = Traffic { requests: bytes / 32, sectors: bytes / 2, bytes: 16 * bytes };
        let text = advice_on(&ffn_sublayer::EXERCISE, |c| c.global_load = again);
        assert!(!text.contains("times the bytes"), "{text}");
    }

    #[test]
    fn nothing_slower_than_the_chain_passes() {
        let shape = Shape::flat(1 << 20);
        assert_eq!(bar(&add_gelu::EXERCISE, shape), 0.85 * add_gelu::EXERCISE.ideal_speedup(shape));
        assert_eq!(bar(&ffn_sublayer::EXERCISE, Shape { rows: 64, columns: 1024 }), 1.0);
    }
}
