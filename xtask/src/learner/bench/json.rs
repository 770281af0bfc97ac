//! The sweep as one JSON object: what was timed, and what the tables make of it.

use fusion_grader::bench::{Size, Variant};
use serde_json::{Value, json};

use super::{Benched, Report};

/// The report, in which each variant also has its bytes a second, its share of the ceiling and its intensity.
pub(super) fn text(report: &Report) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(report)?;
    for (index, exercise) in report.exercises.iter().enumerate() {
        add(&mut value["exercises"][index], exercise);
    }
    serde_json::to_string_pretty(&value)
}

fn add(value: &mut Value, exercise: &Benched) {
    for (index, size) in exercise.sizes.iter().enumerate() {
        for (place, variant) in size.variants.iter().enumerate() {
            let fields = figures(exercise, size, variant);
            if let Some(variant) = value["sizes"][index]["variants"][place].as_object_mut() {
                variant.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
            }
        }
    }
}

/// As the columns of the tables and of `--csv` have them; null where there is none.
fn figures(exercise: &Benched, size: &Size, variant: &Variant) -> [(&'static str, Value); 4] {
    [
        ("basis", json!(exercise.basis())),
        ("gb_per_s", json!(size.gb_per_s(variant))),
        ("share", json!(size.share(variant))),
        ("flop_per_byte", json!(size.intensity(variant))),
    ]
}
