//! The sweep as pictures.

use fusion_chart::{
    Basis, Ceiling, Heading, LineChart, Quantity, Roofline, RooflinePoint, Rule, Series, TrafficBar, TrafficChart,
    TrafficStep,
};
use fusion_grader::bench::{Size, StepBytes};

use super::{Benched, Report};

/// File names and SVG texts.
pub(super) fn all(exercise: &Benched, report: &Report) -> Vec<(String, String)> {
    let Some(largest) = exercise.sizes.last() else { return Vec::new() };
    let file = |what: &str| format!("{}-{what}.svg", exercise.name);
    let mut pictures = vec![
        (file("time"), time(exercise, report).render()),
        (file("speed"), speed(exercise, largest, report).render()),
        (file("traffic"), traffic(exercise, largest, report).render()),
    ];
    pictures.extend(roofline(exercise, largest, report).map(|picture| (file("roofline"), picture.render())));
    pictures
}

fn heading(exercise: &Benched, report: &Report, what: &str) -> Heading {
    let device = exercise.device.as_ref().map(|device| device.name.as_str());
    let date = report.date.as_deref().filter(|_| exercise.measured);
    let parts: Vec<&str> = device.into_iter().chain(date).chain([report.command.as_str()]).collect();
    Heading {
        title: format!("{}: {what}", exercise.name),
        basis: if exercise.measured { Basis::Measured } else { Basis::Predicted },
        source: parts.join(", "),
    }
}

/// What the lines of a picture run over.
struct Run<'a> {
    sizes: Vec<&'a Size>,
    x: Quantity,
    place: fn(&Size) -> f64,
    over: String,
}

/// Elements; or row lengths, at the largest number of elements, where several of them have as many: they would all stand at one
/// place.
fn run(exercise: &Benched) -> Run<'_> {
    let most = exercise.sizes.iter().map(Size::elements).max().unwrap_or(0);
    let mut largest: Vec<&Size> = exercise.sizes.iter().filter(|size| size.elements() == most).collect();
    if largest.len() > 1 {
        largest.sort_by_key(|size| size.columns);
        return Run {
            sizes: largest,
            x: Quantity::count("elements a row"),
            place: |size| size.columns as f64,
            over: format!("row length, {most} elements"),
        };
    }
    Run {
        sizes: exercise.sizes.iter().collect(),
        x: Quantity::count("elements"),
        place: |size| size.elements() as f64,
        over: "size".to_owned(),
    }
}

/// A line for each variant, of what `value` makes of it.
fn lines(run: &Run<'_>, value: impl Fn(&Size, &fusion_grader::bench::Variant) -> Option<f64>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for size in &run.sizes {
        for variant in &size.variants {
            let Some(value) = value(size, variant) else { continue };
            let point = ((run.place)(size), value);
            match series.iter_mut().find(|line| line.name == variant.name) {
                Some(line) => line.points.push(point),
                None => series.push(Series { name: variant.name.clone(), points: vec![point] }),
            }
        }
    }
    series
}

fn time(exercise: &Benched, report: &Report) -> LineChart {
    let run = run(exercise);
    LineChart {
        heading: heading(exercise, report, &format!("time over {}", run.over)),
        series: lines(&run, |_, variant| Some(variant.timing.as_ref()?.figures().time_ns / 1e9)),
        x: run.x,
        y: Quantity::seconds("time"),
        rules: Vec::new(),
    }
}

fn speed(exercise: &Benched, largest: &Size, report: &Report) -> LineChart {
    let run = run(exercise);
    LineChart {
        heading: heading(exercise, report, &format!("compulsory bytes a second over {}", run.over)),
        series: lines(&run, |size, variant| Some(size.gb_per_s(variant)? * 1e9)),
        x: run.x,
        y: Quantity::bytes_per_second("compulsory bytes a second"),
        rules: (largest.ceilings.iter())
            .map(|ceilings| Rule { label: "moving bytes only".to_owned(), value: ceilings.mix_gb_per_s * 1e9 })
            .collect(),
    }
}

/// Every variant at the largest size; none where operations are not stated.
fn roofline(exercise: &Benched, size: &Size, report: &Report) -> Option<Roofline> {
    let (flops, ceilings) = (size.flops?, size.ceilings?);
    let points = size.variants.iter().filter_map(|variant| {
        Some(RooflinePoint {
            label: variant.name.clone(),
            intensity: size.intensity(variant)?,
            rate: flops / variant.timing.as_ref()?.figures().time_ns * 1e9,
        })
    });
    let peak = ceilings.peak_gflop_per_s.map(|peak| Ceiling { label: "float32 FMA".to_owned(), value: peak * 1e9 });
    Some(Roofline {
        heading: heading(exercise, report, &format!("roofline at {}", size.shape)),
        bandwidths: vec![Ceiling { label: "DRAM".to_owned(), value: ceilings.mix_gb_per_s * 1e9 }],
        peaks: peak.into_iter().collect(),
        points: points.collect(),
    })
}

/// Bytes per element by the byte model, which is that of the specification.
fn traffic(exercise: &Benched, size: &Size, report: &Report) -> TrafficChart {
    let each = |bytes: u64| bytes as f64 / size.elements().max(1) as f64;
    let bar = |name: &str, launches: &[StepBytes]| TrafficBar {
        name: name.to_owned(),
        steps: (launches.iter())
            .map(|step| TrafficStep { name: step.kernel.clone(), read: each(step.read), written: each(step.written) })
            .collect(),
    };
    TrafficChart {
        heading: Heading {
            basis: Basis::Counted,
            source: report.command.clone(),
            ..heading(exercise, report, "bytes per element")
        },
        bars: vec![bar("unfused", &size.steps), bar("fused", &size.fused)],
    }
}
