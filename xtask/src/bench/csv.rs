//! The sweep as comma-separated values: one line for each variant at each size.

use fusion_grader::bench::{Size, Variant};

use super::Benched;

const HEADER: &str = "exercise,day,device,basis,rows,columns,variant,time_ns,time_low_ns,time_high_ns,gb_per_s,share,\
                      ceiling_gb_per_s,copy_gb_per_s,speedup,speedup_low,speedup_high,flop_per_byte,needed_bytes,\
                      dram_bytes,thread_instructions,pairs,ulp_p50,ulp_p99,ulp_max\n";

pub(super) fn text(exercises: &[Benched]) -> String {
    let mut text = HEADER.to_owned();
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
    let (time, speedup) = (variant.time_ns(), variant.speedup);
    let ulp = variant.accuracy.first().map(|accuracy| accuracy.ulp);
    vec![
        exercise.name.clone(),
        exercise.day.to_string(),
        exercise.device.as_ref().map(|device| device.name.clone()).unwrap_or_default(),
        exercise.basis().to_owned(),
        size.rows.to_string(),
        size.columns.to_string(),
        variant.name.clone(),
        number(time.map(|time| time.median)),
        number(time.map(|time| time.low)),
        number(time.map(|time| time.high)),
        number(size.gb_per_s(variant)),
        number(size.share(variant)),
        number(size.ceilings.map(|ceilings| ceilings.mix_gb_per_s)),
        number(size.ceilings.map(|ceilings| ceilings.copy_gb_per_s)),
        number(speedup.map(|ratio| ratio.median)),
        number(speedup.map(|ratio| ratio.low)),
        number(speedup.map(|ratio| ratio.high)),
        number(size.intensity(variant)),
        size.needed_bytes.to_string(),
        count(variant.dram_bytes),
        count(variant.thread_instructions),
        variant.pairs.to_string(),
        number(ulp.map(|ulp| ulp.p50)),
        number(ulp.map(|ulp| ulp.p99)),
        number(ulp.map(|ulp| ulp.max)),
    ]
}

/// A field as RFC 4180 has it.
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}
