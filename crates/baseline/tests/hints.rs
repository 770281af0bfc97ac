//! The code of the hints compiles where it is to stand: in the starter. Needs NVRTC, and passes without a word where there is none.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use fusion_device::{Choice, Device, Options, Source};

/// The starter's kernel before anything is written into it.
const EMPTY: &str = "{\n}\n";

#[test]
fn the_code_of_hints_compiles() {
    let Ok(toolchain) = fusion_toolchain::find() else { return };
    let device = Device::open(Choice::Emulated).unwrap();
    device.use_toolchain(&toolchain).unwrap();
    for exercise in fusion_course::days().iter().flat_map(|day| day.exercises) {
        let path = format!("exercises/day{}/starter/{}.cu", exercise.day, exercise.name);
        let starter = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&path)).unwrap();
        for hint in exercise.levels() {
            let code = code(hint.text);
            let text = with(&starter, &code);
            let source = Source { name: &path, text: &text };
            if let Err(error) = device.compile(&source, &fusion_baseline::includes(), &Options::default()) {
                panic!("{}, hint \"{}\": {error}", exercise.name, hint.heading);
            }
        }
        let last = exercise.levels().pop().unwrap();
        assert!(!code(last.text).is_empty(), "{}: the last hint has no code", exercise.name);
    }
}

/// Pieces of code that a hint has, each with whether it is the body of the starter's kernel.
fn code(hint: &str) -> Vec<(bool, &str)> {
    let fences = hint.split("```").skip(1).step_by(2);
    fences.map(|fence| fence.split_once('\n').unwrap()).map(|(info, code)| (info == "cpp,body", code)).collect()
}

fn with(starter: &str, code: &[(bool, &str)]) -> String {
    let pieces =
        |wanted| code.iter().filter(move |(body, _)| *body == wanted).map(|(_, code)| *code).collect::<String>();
    let (before, kernel) = starter.split_once("\nextern \"C\" __global__").unwrap();
    assert!(kernel.contains(EMPTY), "the starter's kernel is not empty");
    let kernel = kernel.replacen(EMPTY, &format!("{{\n{}}}\n", pieces(true)), 1);
    format!("{before}\n{}\nextern \"C\" __global__{kernel}", pieces(false))
}
