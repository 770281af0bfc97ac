//! The comparison with compute-sanitizer that the book shows.
//!
//! `BLESS=1 cargo test -p fusion-ui` writes the book's table anew, and our codes in the record.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use fusion_ui::sanitizer::{Agreement, Record, compare, markdown};
use fusion_ui::{Case, Expected, SUITE};

/// The table stands behind it.
const MARK: &str = "<!-- What follows is printed by `fusion-ui compare --markdown`. -->\n\n";

fn read(path: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// With our codes as the cases have them now: what the tools say cannot change without a GPU, but ours can.
fn record() -> Record {
    let mut record: Record = serde_json::from_str(&read("sanitizer-h200.json").1).unwrap();
    for verdict in &mut record.verdicts {
        let text = SUITE.case(&verdict.case).unwrap_or_else(|| panic!("there is no {}", verdict.case));
        verdict.ours = match Case::parse(&verdict.case, text).unwrap().expected {
            Expected::Pass => Vec::new(),
            Expected::Fail(codes) => codes,
        };
    }
    record
}

#[test]
fn the_book_shows_what_was_recorded() {
    let (record_path, recorded) = read("sanitizer-h200.json");
    let (book_path, book) = read("../../book/src/appendix/compute-sanitizer.md");
    let (before, shown) = book.split_once(MARK).unwrap();
    let record = record();
    let (json, table) = (record.to_json().unwrap(), markdown(&compare(&record.verdicts)));
    if std::env::var_os("BLESS").is_some_and(|bless| bless == "1") {
        std::fs::write(record_path, json).unwrap();
        std::fs::write(book_path, format!("{before}{MARK}{table}")).unwrap();
        return;
    }
    assert_eq!(recorded, json, "the codes of a case have changed since: run this with BLESS=1");
    assert_eq!(shown, table, "the book's table is old: run this with BLESS=1");
}

#[test]
fn every_difference_is_explained() {
    for row in compare(&record().verdicts) {
        let agree = matches!(row.agreement, Agreement::Both | Agreement::Clean);
        assert!(agree || row.note.is_some(), "{}: {:?}", row.case, row.agreement);
    }
}
