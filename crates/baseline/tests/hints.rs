//! The code of the hints compiles where it is to stand: in the starter. Needs NVRTC, and passes without a word where there is none.
//! Rust code of a hint is the solution's, which cargo compiles.

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

#[test]
fn rust_code_of_hints_is_the_solutions() {
    for exercise in fusion_course::days().iter().flat_map(|day| day.exercises) {
        let path = format!("../../solutions/day{}/src/{}.rs", exercise.day, exercise.name);
        let solution = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let known: Vec<&str> = solution.lines().map(str::trim).collect();
        for hint in exercise.levels() {
            let rust = fences(hint.text).filter(|(info, _)| info.starts_with("rust"));
            for line in rust.flat_map(|(_, code)| code.lines()).map(str::trim) {
                assert!(
                    line.starts_with("//") || known.contains(&line),
                    "{}: the solution lacks `{line}`",
                    exercise.name
                );
            }
        }
    }
}

/// The fences of a hint: what stands behind the first three backquotes, and the code.
fn fences(hint: &str) -> impl Iterator<Item = (&str, &str)> {
    hint.split("```").skip(1).step_by(2).map(|fence| fence.split_once('\n').unwrap())
}

/// Pieces of CUDA C++ that a hint has, each with whether it is the body of the starter's kernel.
fn code(hint: &str) -> Vec<(bool, &str)> {
    fences(hint).filter(|(info, _)| info.starts_with("cpp")).map(|(info, code)| (info == "cpp,body", code)).collect()
}

fn with(starter: &str, code: &[(bool, &str)]) -> String {
    let pieces =
        |wanted| code.iter().filter(move |(body, _)| *body == wanted).map(|(_, code)| *code).collect::<String>();
    let (before, kernel) = starter.split_once("\nextern \"C\" __global__").unwrap();
    assert!(kernel.contains(EMPTY), "the starter's kernel is not empty");
    let kernel = kernel.replacen(EMPTY, &format!("{{\n{}}}\n", pieces(true)), 1);
    format!("{before}\n{}\nextern \"C\" __global__{kernel}", pieces(false))
}
