//! The clock against an H200: it may not become worse.

#![allow(clippy::unwrap_used)]

use fusion_device::Compiler;
use fusion_machine::Profile;
use fusion_timings::{Errors, Role, h200, validate};

#[test]
fn predictions_are_as_near_as_they_were() {
    let compiler = Compiler::open(&fusion_toolchain::find().unwrap()).unwrap();
    let compared = validate(&compiler, &Profile::default(), None, &h200().unwrap(), |_| {}).unwrap();
    let errors = |role| Errors::of(compared.iter().filter(|point| point.role == role));
    // The bars: a median of 10%, nine of ten within 25%, none beyond 60%.
    let held_out = errors(Role::HeldOut);
    assert!(
        held_out.points > 600 && held_out.median < 0.07 && held_out.p90 < 0.20 && held_out.worst < 0.60,
        "{held_out:?}"
    );
    // Of kernels that came later, written by others: at first 7.8%, 32% and 286%.
    let by_others = errors(Role::ByOthers);
    assert!(
        by_others.points > 500 && by_others.median < 0.08 && by_others.p90 < 0.27 && by_others.worst < 0.9,
        "{by_others:?}"
    );
    let fitted = errors(Role::Fitted);
    assert!(fitted.points > 450 && fitted.median < 0.05 && fitted.p90 < 0.15 && fitted.worst < 0.50, "{fitted:?}");
}
