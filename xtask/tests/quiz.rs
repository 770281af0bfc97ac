//! A quiz, answered through a pipe.

mod common;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use common::{Checkout, code};

/// A checkout with the knowledge check of Day 22.
fn checkout() -> Checkout {
    let checkout = Checkout::new();
    let page = "book/src/day22/check.md";
    let to = checkout.root().join(page);
    fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page), to).expect("a page");
    checkout
}

fn answered(checkout: &Checkout, arguments: &[&str], lines: &str) -> Output {
    let mut command = checkout.command(&["quiz", "--no-run"]);
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("xtask runs");
    // A quiz that has ended reads no more.
    let _closed = child.stdin.take().expect("a pipe").write_all(lines.as_bytes());
    child.wait_with_output().expect("it ends")
}

fn text(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn answers_are_judged_kept_and_compared() {
    let checkout = checkout();
    let said = text(&answered(&checkout, &["day22"], "2\nmany\n20\n16\n24/16\n\ny\n"));
    for part in [
        "What do you expect of mul_add: q * k + v?",
        "> Right. 2: mul, add.",
        "> Type a number, such as 12 or 1.5; Enter alone skips it, and q ends the quiz.\n> No. 24: mul reads 8 and writes 4, add reads 8",
        "> Right. 24 / 16 = 1.50.",
        "The knowledge check of day 22",
        "Name three things that fusion saves.\nYour answer, or nothing to see it: \nMemory traffic",
        "\n4 of 5 right.\n",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let marks = fs::read_to_string(checkout.root().join(".course/quiz.jsonl")).expect("it is kept");
    let marks: Vec<serde_json::Value> = marks.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(
        (marks.len(), &marks[1]["question"], &marks[1]["given"], &marks[1]["right"]),
        (5, &"mul_add/chain".into(), &"20".into(), &false.into())
    );
    // The next time it is another exercise's turn.
    let said = text(&answered(&checkout, &["day22"], "3\nq\n"));
    assert!(
        said.contains("What do you expect of add_mul_relu") && said.contains("of 1 right. Last time it was 4 of 5."),
        "{said}"
    );
    let said = text(&answered(&checkout, &["add_gelu"], "2\n20\n12\n1.67\n"));
    assert!(said.contains("4 of 4 right.") && !said.contains("knowledge check"), "{said}");
}

#[test]
fn a_quiz_without_answers_or_without_a_day_says_so() {
    let checkout = checkout();
    assert!(text(&answered(&checkout, &["day22"], "")).ends_with("Nothing was answered.\n"));
    assert!(!checkout.root().join(".course").exists());
    let unknown = answered(&checkout, &["day2"], "");
    assert_eq!(code(&unknown), 2);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `day21`"), "{unknown:?}");
}

#[test]
fn where_nothing_can_be_kept_it_goes_on() {
    let checkout = checkout();
    fs::create_dir_all(checkout.root().join(".course/quiz.jsonl")).expect("a folder in the place of the file");
    let output = answered(&checkout, &["mul_add"], "2\n24\n");
    assert!(text(&output).contains("\n2 of 2 right."), "{output:?}");
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(notes.matches("your answers are not kept").count(), 1, "{notes}");
}
