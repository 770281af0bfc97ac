//! A day's files agree with each other: starters with solutions, and samples with exercises; and predicted verdicts with measured ones.
//! All days share this file.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fusion_course::{Sample, drift};
use fusion_grader::verdicts::{self, Agreement, Ratio, Ruling};
use fusion_grader::worker;

#[test]
fn solving_only_changes_the_marked_regions() {
    let day = env!("CARGO_PKG_NAME").trim_start_matches("solutions-");
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let exercises = package.join("../../exercises").join(day);
    for entry in crate::submission().entries {
        for extension in ["cu", "rs"] {
            let file = format!("src/{}.{extension}", entry.exercise.name);
            let [starter, solution] =
                [&exercises, package].map(|folder| fs::read_to_string(folder.join(&file)).unwrap());
            if let Err(drift) = drift::check(&starter, &solution) {
                panic!("{file}: {drift}");
            }
        }
    }
}

#[test]
fn every_exercise_has_six_wrong_kernels_and_every_sample_a_verdict() {
    let mut counts = BTreeMap::new();
    for sample in crate::samples() {
        let Sample { name, verdict, sentence, ref entry } = sample;
        assert!(sentence.ends_with('.'), "{name}: what it is about is no sentence");
        assert!(!Sample::refuses(verdict) || is_verdict(verdict), "{name}: the grader never says `{verdict}`");
        *counts.entry(entry.exercise.name).or_insert(0) += u32::from(Sample::refuses(verdict));
    }
    for entry in crate::submission().entries {
        let count = counts.get(entry.exercise.name).copied().unwrap_or(0);
        assert!(count >= 6, "{}: {count} wrong kernels", entry.exercise.name);
    }
}

/// All stored predictions are held against what was measured, and some are made anew. `cargo xtask validate --verdicts`
/// makes all of them.
#[test]
fn predicted_verdicts_are_not_contrary_to_those_of_an_h200() {
    const ONE_IN: usize = 16;
    let own = crate::submission();
    let of_day = |ruling: &Ruling| own.entries.iter().any(|entry| entry.exercise.name == ruling.exercise);
    let mut measured = verdicts::h200().unwrap();
    measured.retain(of_day);
    let mut stored = verdicts::predicted().unwrap();
    stored.retain(of_day);
    let predicted = worker::predicted(&own, &crate::top(), &crate::samples(), &measured, ONE_IN).unwrap();
    // Of a day of which verdicts were measured, some answers are known.
    assert_eq!(predicted.is_empty(), measured.is_empty());
    for ruling in stored.iter().chain(&predicted) {
        let known = measured.iter().find(|known| known.key() == ruling.key());
        assert!(ruling.agreement(known) != Agreement::Contrary, "{ruling} is predicted, {} measured", known.unwrap());
    }
    for ruling in &predicted {
        let is_stored = stored.iter().any(|stored| stored.key() == ruling.key() && is_alike(stored, ruling));
        assert!(is_stored, "{ruling} is predicted, and not stored: `cargo xtask validate --verdicts --store`");
    }
}

/// Whether speedups are nearly the same: a time depends a little on where buffers lie, and that on what was made before.
fn is_alike(one: &Ruling, other: &Ruling) -> bool {
    let alike = |one: Option<Ratio>, other: Option<Ratio>| match (one, other) {
        (Some(one), Some(other)) => (one.speedup.median / other.speedup.median - 1.0).abs() <= 0.05,
        (one, other) => one.is_none() && other.is_none(),
    };
    alike(one.chain, other.chain) && alike(one.rival, other.rival)
}

/// Whether the grader can give it: the code of a failure, or of what the emulated device finds.
fn is_verdict(verdict: &str) -> bool {
    let found = |code: &str| fusion_machine::report::Code::ALL.iter().any(|known| known.as_str() == code);
    match verdict.split_once(' ') {
        Some(("fault" | "warning", code)) => found(code),
        _ => fusion_grader::judgement::Code::ALL.iter().any(|code| code.to_string() == verdict),
    }
}
