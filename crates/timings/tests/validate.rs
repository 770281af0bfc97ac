//! The clock against an H200: it may not become worse.

#![allow(clippy::unwrap_used)]

use fusion_device::Compiler;
use fusion_machine::Profile;
use fusion_timings::{BARS, Errors, Record, h200, validate};

/// One of so many points. All of them, which takes minutes, are what `cargo xtask validate` compares, with the book's
/// page on it.
const ONE_IN: usize = 8;

#[test]
fn predictions_are_as_near_as_they_were() {
    let compiler = Compiler::open(&fusion_toolchain::find().unwrap()).unwrap();
    let records: Vec<Record> = h200().unwrap().into_iter().step_by(ONE_IN).collect();
    let compared = validate(&compiler, &Profile::default(), None, &records, |_| {}).unwrap();
    for bar in BARS {
        let errors = Errors::of(compared.iter().filter(|point| point.role == bar.role));
        assert!(errors.points * ONE_IN * 2 > bar.points && bar.holds(&errors), "{bar:?}: {errors:?}");
    }
}
