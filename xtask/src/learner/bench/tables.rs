//! The sweep as tables.

use fusion_grader::bench::{Percentiles, Size, Variant};
use fusion_grader::judgement::{Interval, Timing};
use fusion_grader::render::{self, Look};

use super::{Benched, Report};
use crate::learner::microseconds;

/// What the columns are, under the tables.
const LEGEND: &str = "\
GB/s: bytes that must be moved over the time, the same bytes for every variant. Ceiling: kernels that only move bytes, same mix.
Speedup: the unfused chain's time over the variant's. FLOP/B: operations of the definition over the bytes that the variant must move.
";

pub(super) fn text(report: &Report, look: Look) -> String {
    let mut text: String = report.exercises.iter().map(|exercise| exercise_text(exercise, report, look)).collect();
    if !report.exercises.is_empty() {
        text += LEGEND;
    }
    text
}

fn exercise_text(exercise: &Benched, report: &Report, look: Look) -> String {
    let mut text = format!("day {}, {}: {}\n", exercise.day, exercise.name, exercise.definition);
    if let Some(device) = &exercise.device {
        let how = match (&report.date, exercise.measured) {
            (Some(date), true) => format!("measured on {date}, driver for CUDA {}", device.driver),
            _ => "PREDICTED by the emulated device's model: no time here is a measurement".to_owned(),
        };
        text += &format!("{}, {how}", device.name);
        if let Some(ceilings) = exercise.sizes.first().and_then(|size| size.ceilings) {
            let [mix, copy] = [ceilings.mix_gb_per_s, ceilings.copy_gb_per_s];
            text += &format!("; ceiling {mix:.0} GB/s, copy {copy:.0} GB/s");
        }
        text.push('\n');
    }
    if !exercise.sizes.is_empty() {
        text += &format!("\n{}\n\n{}\n", times(exercise, look), speedups(exercise, look));
        text += &accuracy(exercise, look);
        text += &bounds(exercise);
    }
    let products = exercise.sizes.first().and_then(|size| size.products.as_ref());
    for note in products.into_iter().chain(&exercise.notes) {
        text += &format!("note: {note}\n");
    }
    text + "\n"
}

/// Raw times: one row for each variant at each size.
fn times(exercise: &Benched, look: Look) -> String {
    let range = if exercise.measured { "95% interval" } else { "band" };
    let header = ["size", "variant", "basis", "time us", range, "GB/s", "of ceiling", "speedup", "FLOP/B"];
    let mut table = render::blank(header, look);
    for size in &exercise.sizes {
        for variant in &size.variants {
            let figures = variant.timing.as_ref().map(Timing::figures);
            let range = figures.map(|figures| figures.range_ns);
            table.add_row([
                size.shape.clone(),
                variant.name.clone(),
                exercise.basis().to_owned(),
                or_dash(figures.map(|figures| microseconds(figures.time_ns))),
                or_dash(range.map(|(low, high)| format!("{}-{}", microseconds(low), microseconds(high)))),
                or_dash(size.gb_per_s(variant).map(|speed| format!("{speed:.0}"))),
                or_dash(size.share(variant).map(|share| format!("{:.0}%", 100.0 * share))),
                or_dash(figures.and_then(|figures| figures.speedup).map(|ratio| format!("{ratio:.2}x"))),
                or_dash(size.intensity(variant).map(|intensity| format!("{intensity:.3}"))),
            ]);
        }
    }
    table.trim_fmt()
}

/// Speedups over the unfused chain: one row a size, one column a variant.
fn speedups(exercise: &Benched, look: Look) -> String {
    let mut names: Vec<&str> = Vec::new();
    for variant in exercise.sizes.iter().flat_map(|size| &size.variants) {
        if !names.contains(&variant.name.as_str()) {
            names.push(&variant.name);
        }
    }
    let mut table =
        render::blank(["speedup at", "basis"].into_iter().chain(names.iter().copied()).chain(["bytes allow"]), look);
    for size in &exercise.sizes {
        let of = |name: &&str| {
            let variant = size.variants.iter().find(|variant| variant.name == **name);
            or_dash(variant.and_then(|variant| speedup(variant.timing.as_ref()?)))
        };
        let ideal = size.unfused_bytes as f64 / size.needed_bytes.max(1) as f64;
        let row = [size.shape.clone(), exercise.basis().to_owned()].into_iter().chain(names.iter().map(of));
        table.add_row(row.chain([format!("{ideal:.2}x")]));
    }
    table.trim_fmt()
}

/// Errors at the largest size of which they are known, one row for each output of each variant; nothing where they are
/// known of no size.
fn accuracy(exercise: &Benched, look: Look) -> String {
    let header = ["error at", "variant", "output", "kind", "p50", "p90", "p99", "max"];
    let mut table = render::blank(header, look);
    let known = |size: &&Size| size.variants.iter().any(|variant| !variant.accuracy.is_empty());
    let Some(size) = exercise.sizes.iter().rfind(known) else { return String::new() };
    for variant in &size.variants {
        for accuracy in &variant.accuracy {
            for (kind, errors) in
                [("absolute", accuracy.absolute), ("relative", accuracy.relative), ("ULP", accuracy.ulp)]
            {
                let Percentiles { p50, p90, p99, max } = errors;
                let values = [p50, p90, p99, max].map(|error| error_text(kind, error));
                let row = row_head(size, variant, &accuracy.output, kind).into_iter().chain(values);
                table.add_row(row);
            }
        }
    }
    format!("\n{}\n", table.trim_fmt())
}

/// What bounds each variant at the largest size, a line each; nothing where times are measured.
fn bounds(exercise: &Benched) -> String {
    let Some(size) = exercise.sizes.last() else { return String::new() };
    let bounds: Vec<(&str, &String)> =
        size.variants.iter().filter_map(|variant| Some((variant.name.as_str(), variant.bound.as_ref()?))).collect();
    let width = bounds.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let lines: String = bounds.iter().map(|(name, bound)| format!("  {name:width$}  {bound}\n")).collect();
    if lines.is_empty() { lines } else { format!("\nBound at {} (PREDICTED) by\n{lines}", size.shape) }
}

fn row_head(size: &Size, variant: &Variant, output: &str, kind: &str) -> [String; 4] {
    [size.shape.clone(), variant.name.clone(), output.to_owned(), kind.to_owned()]
}

fn error_text(kind: &str, error: f64) -> String {
    match (kind, error) {
        (_, 0.0) => "0".to_owned(),
        ("ULP", error) if error < 1e4 => format!("{error:.2}"),
        _ => format!("{error:.1e}"),
    }
}

fn speedup(timing: &Timing) -> Option<String> {
    match *timing {
        Timing::Measured { speedup: Some(Interval { median, low, high }), .. } if low < high => {
            Some(format!("{median:.2}x [{low:.2}, {high:.2}]"))
        }
        _ => Some(format!("{:.2}x", timing.figures().speedup?)),
    }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}
