//! Is it as much faster than the unfused chain as the bytes say?
//!
//! On a GPU this is measured ([`measure`]); on the emulated device it is predicted from the machine's model.

mod bench;
mod ceiling;
mod clocks;
mod helpers;
mod measure;
mod pairs;
mod sweep;

pub(crate) use measure::{Plan, measure};
pub(crate) use sweep::Sweep;

use fusion_course::{Exercise, Shape};
use fusion_machine::Report;

use crate::judgement::{Code, Contest, Failure, Fast, Interval, Verdict};
use crate::session::Session;
use crate::survey::Survey;

/// The ratio that passes: a fraction of the ideal byte ratio, so that it transfers between GPUs.
pub(crate) fn bar(exercise: &Exercise, shape: Shape) -> f64 {
    exercise.bar * exercise.ideal_speedup(shape)
}

/// The verdict of the emulated device's model: at the shape that is worst.
pub(crate) fn predict(session: &Session, exercise: &Exercise, surveys: &[Survey]) -> Fast {
    Fast::worst(surveys.iter().map(|survey| predict_shape(session, exercise, survey)).collect())
}

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
        fast.failure = Some(too_slow(&fast).at(survey.shape));
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
    failure.note("let neighbouring threads touch neighbouring elements; then let each thread load and store 16 bytes")
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
