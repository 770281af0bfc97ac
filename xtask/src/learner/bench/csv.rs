//! The sweep as comma-separated values: one line for each variant at each size.

use fusion_grader::bench::{Accuracy, Percentiles, Size, Variant};
use fusion_grader::judgement::Timing;

use super::Benched;

const COLUMNS: &str = "exercise,day,device,basis,rows,columns,variant,time_ns,time_low_ns,time_high_ns,gb_per_s,share,\
                       ceiling_gb_per_s,copy_gb_per_s,speedup,speedup_low,speedup_high,flop_per_byte,needed_bytes,\
                       dram_bytes,thread_instructions,pairs";

/// A column's name and where its value is.
type Column<From, To> = (&'static str, fn(&From) -> To);

/// How errors are counted; of several outputs the worst stands in the line, as the line is a variant's.
const ERRORS: [Column<Accuracy, Percentiles>; 3] =
    [("absolute", |error| error.absolute), ("relative", |error| error.relative), ("ulp", |error| error.ulp)];
const PARTS: [Column<Percentiles, f64>; 4] =
    [("p50", |of| of.p50), ("p90", |of| of.p90), ("p99", |of| of.p99), ("max", |of| of.max)];

pub(super) fn text(exercises: &[Benched]) -> String {
    let mut text = COLUMNS.to_owned();
    for (kind, _) in ERRORS {
        PARTS.iter().for_each(|(part, _)| text += &format!(",{kind}_{part}"));
    }
    text.push('\n');
    for exercise in exercises {
        for size in &exercise.sizes {
            for variant in &size.variants {
                let line: Vec<String> = fields(exercise, size, variant).iter().map(|field| quoted(field)).collect();
                text += &line.join(",");
                text.push('\n');
            }
        }
    }
    text
}

fn fields(exercise: &Benched, size: &Size, variant: &Variant) -> Vec<String> {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let count = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let figures = variant.timing.as_ref().map(Timing::figures);
    let range = figures.map(|figures| figures.range_ns);
    let (speedup, pairs) = match &variant.timing {
        Some(Timing::Measured { speedup, pairs, .. }) => (speedup.map(|ratio| (ratio.low, ratio.high)), *pairs),
        _ => (None, 0),
    };
    let mut fields = vec![
        exercise.name.clone(),
        exercise.day.to_string(),
        exercise.device.as_ref().map(|device| device.name.clone()).unwrap_or_default(),
        exercise.basis().to_owned(),
        size.rows.to_string(),
        size.columns.to_string(),
        variant.name.clone(),
        number(figures.map(|figures| figures.time_ns)),
        number(range.map(|(low, _)| low)),
        number(range.map(|(_, high)| high)),
        number(size.gb_per_s(variant)),
        number(size.share(variant)),
        number(size.ceilings.map(|ceilings| ceilings.mix_gb_per_s)),
        number(size.ceilings.map(|ceilings| ceilings.copy_gb_per_s)),
        number(figures.and_then(|figures| figures.speedup)),
        number(speedup.map(|(low, _)| low)),
        number(speedup.map(|(_, high)| high)),
        number(size.intensity(variant)),
        size.needed_bytes.to_string(),
        count(variant.dram_bytes),
        count(variant.thread_instructions),
        pairs.to_string(),
    ];
    for (_, kind) in ERRORS {
        for (_, part) in PARTS {
            let errors = variant.accuracy.iter().map(|accuracy| part(&kind(accuracy)));
            fields.push(number(errors.reduce(f64::max)));
        }
    }
    fields
}

/// A field as RFC 4180 has it.
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}
