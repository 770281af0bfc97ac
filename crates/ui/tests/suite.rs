//! What the suite must hold, whatever the device finds.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use fusion_ui::{Case, Expected, SUITE};

fn cases() -> Vec<Case> {
    SUITE.cases().map(|(name, text)| Case::parse(name, text).unwrap_or_else(|e| panic!("{name}: {e}"))).collect()
}

#[test]
fn there_are_enough_of_both_kinds() {
    let (mut failing, mut passing) = (0, 0);
    let mut classes: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for case in cases() {
        let passes = case.expected == Expected::Pass;
        *(if passes { &mut passing } else { &mut failing }) += 1;
        let class = case.name.split('/').next().unwrap().to_owned();
        classes.entry(class).or_default()[usize::from(passes)] += 1;
    }
    assert!(failing >= 80 && passing >= 40, "{failing} failing, {passing} passing");
    for row in ["memory", "init", "race", "sync", "arithmetic", "performance", "input", "planted", "cluster", "tensor"]
    {
        let counts = classes.get(row).copied().unwrap_or_default();
        assert!(counts.iter().all(|&count| count > 0), "{row}: {counts:?}");
    }
}

#[test]
fn whatever_passes_is_near_something_that_fails() {
    for case in cases() {
        match (&case.expected, &case.near) {
            (Expected::Fail(_), None) => {}
            (Expected::Fail(_), Some(_)) => panic!("{} fails and is near another", case.name),
            (Expected::Pass, near) => {
                let near = near.as_deref().unwrap_or_default();
                let text =
                    SUITE.case(near).unwrap_or_else(|| panic!("{} is near `{near}`, which is not there", case.name));
                let fails = matches!(Case::parse(near, text).unwrap().expected, Expected::Fail(_));
                assert!(fails, "{} is near `{near}`, which passes", case.name);
            }
        }
    }
}

#[test]
fn a_report_stands_beside_each_that_fails() {
    for case in cases().iter().filter(|case| !case.pending) {
        let fails = matches!(case.expected, Expected::Fail(_));
        // On disk: those that the program carries are older than the ones that a blessing has just written.
        let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels").join(format!("{}.report", case.name));
        assert_eq!(report.is_file(), fails, "{}", case.name);
    }
}

/// The book leaves out the lines about the launch by their number.
#[test]
fn the_book_shows_the_planted_bugs_without_their_directives() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/appendix/ten-bugs.md");
    let book = std::fs::read_to_string(book).unwrap();
    for case in cases().iter().filter(|case| case.name.starts_with("planted/") && case.near.is_none()) {
        let is_text = |line: &str| !["// fail:", "// checks:", "// launch:"].iter().any(|word| line.starts_with(word));
        let first = case.source.lines().position(is_text).unwrap() + 1;
        for included in [format!("{}.cu:{first}:}}}}", case.name), format!("{}.report}}}}", case.name)] {
            assert!(book.contains(&included), "there is no {included}");
        }
    }
}
