//! The learner's day: what is remembered, and the commands that say it, in a checkout with a script in the place of the grader's worker.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Checkout, code};

fn text(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refused(output: &Output) -> String {
    assert_eq!((code(output), output.stdout.len()), (2, 0));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// So many of the course's exercises pass.
fn of_all(passed: usize, verb: &str) -> String {
    let all: usize = fusion_course::days().iter().map(|day| day.exercises.len()).sum();
    format!(": {passed} of {all} {verb}.\n")
}

#[test]
fn a_day_from_the_first_command_to_the_next_exercise() {
    let checkout = Checkout::new();
    let first = text(&checkout.run(&[]));
    assert!(first.contains(&of_all(0, "pass")) && first.contains("\nNext average: (x + y) / 2 (day 21)\n"), "{first}");
    // The starter is no attempt, but says where one is.
    assert_eq!(code(&checkout.grade("add_gelu")), 1);
    assert!(text(&checkout.run(&["next"])).starts_with("add_gelu: "));
    assert_eq!(code(&checkout.grade("mul_add")), 1);
    assert!(text(&checkout.run(&["history"])).starts_with("nothing was graded yet"));
    checkout.edit("mul_add", "wrong");
    assert_eq!(code(&checkout.grade("mul_add")), 1);
    assert!(text(&checkout.run(&[])).contains("\nYou are at mul_add: "));
    checkout.edit("mul_add", "right");
    assert_eq!(code(&checkout.grade("mul_add")), 0);
    let screen = text(&checkout.run(&[]));
    assert!(screen.contains(&of_all(1, "passes")) && screen.contains("\nNext add_mul_relu: "), "{screen}");
    let history = text(&checkout.run(&["history", "mul_add"]));
    let rows: Vec<&str> = history.lines().filter(|line| line.starts_with("| ") && line.contains(" 20")).collect();
    assert_eq!(rows.len(), 2, "{history}");
    assert!(rows[0].contains("| fail    | values ") && rows[1].starts_with("| best | "), "{history}");
    assert!(rows[1].contains("0.010 us predicted ("), "{history}");
    let kept = checkout.root().join(".course/best/mul_add/mul_add.cu");
    assert_eq!(fs::read_to_string(kept).expect("it is kept"), "right");
    let list = text(&checkout.run(&["list", "day22"]));
    assert!(list.contains("| mul_add         | passed | 0.010 us, 1.50x predicted | 2        |"), "{list}");
    assert!(list.contains("| add_mul_relu <- | new    |"), "{list}");
    checkout.edit("mul_add", "wrong again");
    assert!(text(&checkout.run(&["list", "mul_add"])).contains("passed, changed since"));
}

#[test]
fn programs_read_the_same_as_one_object() {
    let checkout = Checkout::new();
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&text(&checkout.run(arguments))).expect("one JSON object")
    };
    assert_eq!(json(&["history", "--json"])["exercises"], serde_json::json!([]));
    for answer in ["wrong", "right"] {
        checkout.edit("mul_add", answer);
        checkout.grade("mul_add");
    }
    let list = json(&["list", "day22", "--json"]);
    let mul_add = &list["exercises"][0];
    assert_eq!((&list["version"], &list["next"], &list["exit_code"]), (&1.into(), &"add_mul_relu".into(), &0.into()));
    assert_eq!((&mul_add["state"], &mul_add["attempts"]), (&"passed".into(), &2.into()));
    assert_eq!(mul_add["best"]["speed"]["timing"]["basis"], "predicted");
    assert_eq!(list["exercises"][1]["best"], serde_json::Value::Null);
    let next = json(&["next", "--json"]);
    assert_eq!(next["exercise"]["kernel"], "exercises/day22/src/add_mul_relu.cu");
    let history = json(&["history", "--json", "--last", "1"]);
    assert_eq!(history["exercises"][0]["attempts"].as_array().map(Vec::len), Some(1));
    assert_eq!(history["exercises"][0]["best_files"], ".course/best/mul_add");
    let unknown = checkout.run(&["list", "--json", "mul_ad"]);
    let said: serde_json::Value = serde_json::from_slice(&unknown.stdout).expect("one JSON object");
    assert_eq!((code(&unknown), &said["exit_code"]), (2, &2.into()));
    assert!(said["error"]["message"].as_str().is_some_and(|why| why.contains("did you mean `mul_add`")), "{said}");
}

#[test]
fn solutions_are_nobodys_attempts() {
    let checkout = Checkout::new();
    assert_eq!(code(&checkout.run(&["grade", "mul_add", "--solutions", "--prebuilt", "--device", "emulated"])), 0);
    assert!(!checkout.root().join(".course").exists());
}

#[test]
fn what_was_done_survives_a_crash_and_a_file_that_cannot_be_written() {
    let checkout = Checkout::new();
    checkout.edit("mul_add", "right");
    checkout.grade("mul_add");
    let journal = checkout.root().join(".course/attempts.jsonl");
    let whole = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, format!("{whole}{{\"when\":\"20")).expect("a file");
    assert!(text(&checkout.run(&[])).contains(&of_all(1, "passes")));
    // A verdict does not depend on it.
    fs::remove_dir_all(checkout.root().join(".course")).expect("it is there");
    fs::write(checkout.root().join(".course"), "").expect("a file");
    let output = checkout.grade("mul_add");
    assert_eq!(code(&output), 0);
    assert!(String::from_utf8_lossy(&output.stderr).contains("not in your history"), "{output:?}");
}

#[test]
fn a_hint_is_about_the_exercise_that_one_is_at() {
    let checkout = Checkout::new();
    assert!(text(&checkout.run(&["hint"])).starts_with("average: "));
    assert!(text(&checkout.run(&["hint", "2"])).contains("hint 2 of 3"));
    let softmax = text(&checkout.run(&["hint", "softmax", "9"]));
    assert!(softmax.starts_with("softmax: ") && softmax.contains("no more hints"), "{softmax}");
    assert!(refused(&checkout.run(&["hint", "sotfmax"])).contains("did you mean `softmax`"));
}

#[test]
fn outside_of_a_checkout_it_says_where_to_go() {
    let elsewhere = common::Prebuilt::new(common::PASS);
    for arguments in [&[][..], &["list"], &["next"], &["history"], &["hint"]] {
        assert!(refused(&elsewhere.run(arguments)).contains("not run inside the course's folder"), "{arguments:?}");
    }
    assert!(text(&elsewhere.run(&["hint", "mul_add"])).contains("hint 1 of 3"));
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn reset_saves_the_work_and_brings_it_back() {
    let checkout = Checkout::new();
    let answer = || read(checkout.answer("mul_add"));
    let starter = answer();
    assert!(text(&checkout.run(&["reset", "mul_add"])).contains("nothing to reset"));
    assert!(refused(&checkout.run(&["reset", "mul_add", "--undo"])).contains("nothing was saved"));
    checkout.edit("mul_add", "one");
    assert!(text(&checkout.run(&["reset", "mul_add"])).contains("Your work is in .course/saved/mul_add/"));
    assert_eq!(answer(), starter);
    text(&checkout.run(&["reset", "mul_add", "--undo"]));
    assert_eq!(answer(), "one");
    assert!(refused(&checkout.run(&["reset", "mul_add", "--undo"])).contains("nothing more to bring back"));
    // What was begun in between is not lost.
    text(&checkout.run(&["reset", "mul_add"]));
    checkout.edit("mul_add", "two");
    for expected in ["one", "two", "one"] {
        text(&checkout.run(&["reset", "mul_add", "--undo"]));
        assert_eq!(answer(), expected);
    }
    // A file that was deleted comes back.
    fs::remove_file(checkout.answer("mul_add")).expect("it was there");
    text(&checkout.run(&["reset", "mul_add"]));
    assert_eq!(answer(), starter);
    assert!(refused(&checkout.run(&["reset", "day22"])).contains("more than one exercise"));
    assert!(refused(&checkout.run(&["reset", "mul_ad"])).contains("did you mean `mul_add`"));
}

#[test]
fn the_solution_is_shown_after_a_pass() {
    let checkout = Checkout::new();
    assert!(text(&checkout.run(&["diff", "softmax"])).contains("not changed anything yet"));
    checkout.edit("softmax", "// mine\n");
    let diff = text(&checkout.run(&["diff", "softmax"]));
    assert!(diff.contains("--- exercises/day23/starter/softmax.cu\n+++ exercises/day23/src/softmax.cu\n@@ "), "{diff}");
    assert!(diff.contains("\n+// mine\n") && !diff.contains("solutions/"), "{diff}");
    for arguments in [&["solution", "softmax"][..], &["diff", "softmax", "--against", "top"]] {
        assert!(refused(&checkout.run(arguments)).contains("shown when yours passes"), "{arguments:?}");
    }
    assert!(
        text(&checkout.run(&["solution", "softmax", "--force"])).starts_with("// solutions/day23/src/softmax.cu\n")
    );
    checkout.edit("softmax", "right");
    assert_eq!(code(&checkout.grade("softmax")), 0);
    // Without a name it is what was graded last.
    assert!(text(&checkout.run(&["solution"])).contains("solutions/day23/top/softmax.cu\n"));
    let diff = text(&checkout.run(&["diff"]));
    for pair in [
        "--- exercises/day23/starter/softmax.cu\n+++ exercises/day23/src/softmax.cu\n",
        "--- exercises/day23/src/softmax.cu\n+++ solutions/day23/src/softmax.cu\n",
        "--- exercises/day23/src/softmax.cu\n+++ solutions/day23/top/softmax.cu\n",
    ] {
        assert!(diff.contains(pair), "{pair}{diff}");
    }
}

#[test]
fn a_kernel_is_explained_beside_the_solutions_after_a_pass() {
    let checkout = Checkout::new();
    let explain = |more: &[&str]| text(&checkout.run(&[&["explain", "softmax", "--prebuilt"], more].concat()));
    let own = explain(&[]);
    assert!(own.starts_with("softmax: what your kernel became, at N = 5") && !own.contains("solution"), "{own}");
    for row in [
        "| registers per thread    | 30",
        "| spilled                 | 4 bytes stored, 8 loaded",
        "    7 | add.f32 %f1, %f2, %f3;",
    ] {
        assert!(own.contains(row), "{row}\n{own}");
    }
    checkout.edit("softmax", "right");
    let graded = checkout.grade("softmax");
    assert!(String::from_utf8_lossy(&graded.stdout).contains("explain softmax\n"), "{graded:?}");
    let both = explain(&[]);
    assert!(both.contains("| the solution ") && both.contains("| the top rung "), "{both}");
    assert!(both.contains("the solution: bound by memory's bandwidth, which is used 95%"), "{both}");
    let object: serde_json::Value = serde_json::from_str(&explain(&["--json"])).expect("one JSON object");
    let names: Vec<&str> =
        object["variants"].as_array().into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!((names, &object["version"]), (vec!["yours", "solution", "top"], &1.into()));
    assert!(refused(&checkout.run(&["explain", "sofmax"])).contains("did you mean the exercise `softmax`?"));
    assert!(refused(&checkout.run(&["explain", "E-NULL", "--json"])).contains("--json is for an exercise"));
}

/// The course's own starters are what its exercises are at first. (In a learner's checkout they differ, and this says nothing.)
#[test]
fn every_exercise_has_its_starter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let names = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("list").current_dir(&root).output().expect("it runs");
    for line in text(&names).lines().filter(|line| line.starts_with("| 2")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells[2].trim_end_matches(" <-");
        for extension in ["cu", "rs"] {
            let path = root.join(format!("exercises/day{}/starter/{name}.{extension}", cells[1]));
            assert!(read(path).contains("// TODO("), "{name}.{extension}");
        }
    }
}
