//! A day's files agree with each other: starters with solutions, and wrong kernels with exercises. All days share this file.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fusion_course::drift;

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
fn every_exercise_has_six_wrong_kernels_each_with_a_reason() {
    let mut counts = BTreeMap::new();
    for wrong in crate::wrong() {
        assert!(wrong.sentence.ends_with('.'), "{}: its mistake is no sentence", wrong.name);
        assert!(!wrong.reason.is_empty(), "{}: it is refused for nothing", wrong.name);
        *counts.entry(wrong.entry.exercise.name).or_insert(0) += 1;
    }
    for entry in crate::submission().entries {
        let count = counts.get(entry.exercise.name).copied().unwrap_or(0);
        assert!(count >= 6, "{}: {count} wrong kernels", entry.exercise.name);
    }
}
