//! The day's files agree with each other: starters with solutions, and wrong kernels with their headers.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fusion_course::drift;

#[test]
fn solving_only_changes_the_marked_regions() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in solutions_day25::submission().entries {
        for extension in ["cu", "rs"] {
            let file = format!("src/{}.{extension}", entry.exercise.name);
            let solution = fs::read_to_string(package.join(&file)).unwrap();
            let starter = fs::read_to_string(package.join("../../exercises/day25").join(&file)).unwrap();
            if let Err(drift) = drift::check(&starter, &solution) {
                panic!("{file}: {drift}");
            }
        }
    }
}

#[test]
fn every_exercise_has_six_wrong_kernels_each_with_a_reason() {
    let mut counts = BTreeMap::new();
    for wrong in solutions_day25::wrong() {
        assert!(!wrong.reason.is_empty(), "{}: the first line is no `// wrong: <reason>: <sentence>`", wrong.name);
        *counts.entry(wrong.entry.exercise.name).or_insert(0) += 1;
    }
    for entry in solutions_day25::submission().entries {
        let count = counts.get(entry.exercise.name).copied().unwrap_or(0);
        assert!(count >= 6, "{}: {count} wrong kernels", entry.exercise.name);
    }
}
