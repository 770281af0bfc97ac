//! A new exercise: its files land where they belong, its Rust is this program's, its kernels compile, its mistakes can be made.

mod common;

use std::fs;
use std::path::Path;

use common::{Checkout, code};
use fusion_device::{Choice, Device, Options, Source};

/// What the specification knows as its crate.
pub(crate) use fusion_course::*;

#[path = "../src/maintainer/new/template/specification.rs"]
#[allow(dead_code, unreachable_pub)]
mod specification;

#[path = "../src/maintainer/new/template/starter.rs"]
#[allow(unreachable_pub)]
mod starter;

#[path = "../src/maintainer/new/template/solution.rs"]
#[allow(unsafe_code, unreachable_pub)]
mod solution;

const SOLUTION: &str = include_str!("../src/maintainer/new/template/solution.cu");

fn copy(checkout: &Checkout, path: &str) {
    let to = checkout.root().join(path);
    fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path), to).expect("a file");
}

#[test]
fn the_files_of_an_exercise_land_where_they_belong() {
    let checkout = Checkout::new();
    for list in ["crates/course/src/day22.rs", "book/src/day22/exercises.md", "book/src/day22/index.md"] {
        copy(&checkout, list);
    }
    let output = checkout.run(&["new", "22", "twice_product"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{said}{}", String::from_utf8_lossy(&output.stderr));
    let read =
        |path: &str| fs::read_to_string(checkout.root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(read("crates/course/src/day22/twice_product.rs").contains("    name: \"twice_product\",\n    day: 22,\n"));
    assert!(read("crates/course/src/day22.rs").contains("    twice_product,\n] }"));
    assert!(
        read("book/src/day22/exercises.md")
            .contains("\n| `twice_product` | FILL IN the operation | FILL IN | FILL IN |\n")
    );
    assert!(read("book/src/day22/index.md").contains("`quantize_int8`, `twice_product` |\n"));
    for line in said.lines().filter_map(|line| line.strip_prefix("  ")) {
        let path = line.split_whitespace().next().unwrap_or_default();
        assert!(!path.contains('/') || path.starts_with('/') || !read(path).contains("new_exercise"), "{path}");
    }
    assert_eq!(read("exercises/day22/src/twice_product.cu"), read("exercises/day22/starter/twice_product.cu"));
    // A second time nothing is written.
    let again = checkout.run(&["new", "22", "twice_product"]);
    assert_eq!(code(&again), 2);
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already, and nothing was written"));
}

#[test]
fn its_launches_have_the_signature_of_its_specification() {
    let source = || fusion_course::Source { path: "new_exercise.cu".to_owned(), text: SOLUTION.to_owned() };
    for launch in [starter::new_exercise, solution::new_exercise] {
        assert_eq!(specification::entry(launch, source()).exercise.name, "new_exercise");
    }
    let exercise = &specification::EXERCISE;
    assert_eq!(exercise.levels().len(), 3);
    let case = (exercise.make)(Shape::flat(5), &mut Inputs::new(1));
    assert_eq!((exercise.reference)(&case).len(), exercise.outputs.len());
}

#[test]
fn its_kernels_compile_and_its_mistakes_can_be_made() {
    let wrong = include_str!("../src/maintainer/new/template/wrong.toml");
    let mistakes = fusion_edits::read(wrong).expect("a list of mistakes");
    assert!(mistakes.len() >= 6);
    let launch = include_str!("../src/maintainer/new/template/solution.rs");
    for (name, mistake) in &mistakes {
        for (text, edits) in [(SOLUTION, &mistake.cu), (launch, &mistake.rs)] {
            assert!(fusion_edits::apply(text, edits).is_ok(), "{name}");
        }
    }
    if fusion_toolchain::find().is_err() {
        eprintln!("skipped: there is no NVRTC to compile with");
        return;
    }
    let device = Device::open(Choice::Emulated).expect("an emulated device");
    let compile = |name: &str, text: &str| {
        let compiled = device.compile(&Source { name, text }, &[], &Options::default());
        assert!(compiled.is_ok(), "{name}: {compiled:?}");
    };
    compile("starter.cu", include_str!("../src/maintainer/new/template/starter.cu"));
    compile("solution.cu", SOLUTION);
    for (name, mistake) in &mistakes {
        compile(name, &fusion_edits::apply(SOLUTION, &mistake.cu).expect("it applies"));
    }
}
