//! No command of a learner's ends in a panic or a backtrace, whatever is wrong with files, arguments or where its output goes.
#![cfg(target_os = "linux")]

mod common;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Checkout;

/// Words of a command line, and `$` for the argument that a situation has for it.
const COMMANDS: &[&[&str]] = &[
    &[],
    &["--help"],
    &["list"],
    &["list", "--json", "$"],
    &["next"],
    &["next", "$"],
    &["hint", "$"],
    &["hint", "softmax", "9"],
    &["history"],
    &["history", "--json", "$"],
    &["diff", "mul_add"],
    &["diff", "$"],
    &["solution", "mul_add", "--force"],
    &["solution", "$"],
    &["reset", "mul_add"],
    &["reset", "mul_add", "--undo"],
    &["reset", "$"],
    &["explain"],
    &["explain", "E-NULL"],
    &["explain", "$"],
    &["explain", "mul_add", "--prebuilt"],
    &["completions", "bash"],
    &["man"],
    &["man", "$"],
    &["quiz", "mul_add", "--no-run"],
    &["quiz", "$"],
    &["grade", "mul_add", "--prebuilt", "--device", "emulated"],
    &["grade", "$", "--prebuilt"],
    &["bench", "mul_add", "--prebuilt", "--device", "emulated"],
    &["bench", "mul_add", "--prebuilt", "--sizes", "$"],
    &["profile", "mul_add", "--prebuilt", "--no-ncu", "--svg", "$"],
    &["profile", "mul_add", "--prebuilt", "--profile", "$"],
    &["play", "$"],
    &["play", "--new", "$"],
    &["play", "no-text.cu"],
    &["play", "."],
    &["run", "--", "$"],
    &["update"],
    &["update", "--from", "$"],
    &["update", "--undo"],
    &["watch", "$"],
    &["doctor", "$"],
    &["new", "22", "$"],
    &["$"],
];

/// Makes something wrong with a checkout.
type Spoil = fn(&Checkout);

/// What is wrong with the checkout.
const SPOILT: &[(&str, Spoil)] = &[
    ("nothing is wrong", |_| {}),
    ("the course's notes cannot be written", |checkout| write(&checkout.root().join(".course"), b"")),
    ("notes are no text", |checkout| {
        for name in
            ["attempts.jsonl", "quiz.jsonl", "update.json", "best/mul_add/mul_add.cu", "saved/mul_add/x/mul_add.cu"]
        {
            write(&checkout.root().join(".course").join(name), b"\xff\xfe\n{\"when\":1}\n{}");
        }
    }),
    ("an answer is no text", |checkout| write(&checkout.answer("mul_add"), b"// \xff\n")),
    ("files are gone", |checkout| {
        for folder in ["exercises/day22/src", "exercises/day22/starter", "solutions"] {
            fs::remove_dir_all(checkout.root().join(folder)).expect("a folder");
        }
    }),
    ("a folder is where a file should be", |checkout| {
        fs::remove_file(checkout.answer("mul_add")).expect("a file");
        fs::create_dir(checkout.answer("mul_add")).expect("a folder");
    }),
];

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, bytes).expect("a file");
}

/// Where standard output goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Out {
    Kept,
    /// As behind `| head -1`, when that has ended.
    Closed,
    /// A disk without room.
    Full,
}

/// A command that waits for ever is ended after this.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a command to its end and returns what is wrong with that.
fn run(mut command: Command, out: Out) -> Option<String> {
    // A file has room for whatever is complained of.
    let mut complaints = tempfile::tempfile().expect("a file");
    let stderr = complaints.try_clone().expect("a file");
    command.stdin(Stdio::null()).stderr(stderr).env("RUST_BACKTRACE", "1");
    match out {
        Out::Kept => command.stdout(Stdio::null()),
        Out::Closed => command.stdout(Stdio::piped()),
        Out::Full => command.stdout(File::options().write(true).open("/dev/full").expect("Linux has one")),
    };
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Some(format!("cannot be started: {error}")),
    };
    drop(child.stdout.take());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            let _ended = child.kill();
            let _ended = child.wait();
            return Some("does not end".to_owned());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut bytes = Vec::new();
    complaints.rewind().and_then(|()| complaints.read_to_end(&mut bytes)).expect("a file");
    let said = String::from_utf8_lossy(&bytes);
    let is_panic =
        ["panicked at", "internal error", "stack backtrace", "RUST_BACKTRACE"].iter().any(|word| said.contains(word));
    // Codes of a shell are those of `run`.
    let ended_well = status.code().is_some_and(|code| matches!(code, 0..=2 | 126 | 127));
    (is_panic || !ended_well).then(|| format!("{status}: {}", said.chars().take(2000).collect::<String>()))
}

fn check(checkout: &Checkout, situation: &str, argument: &OsString, out: Out, wrong: &mut Vec<String>) {
    for words in COMMANDS {
        let mut command = checkout.command(&[]);
        command.args(words.iter().map(|word| if *word == "$" { argument.clone() } else { word.into() }));
        if let Some(problem) = run(command, out) {
            let shown: String = argument.to_string_lossy().chars().take(40).collect();
            wrong.push(format!("{words:?} with {shown:?}, {out:?}, where {situation}: {problem}"));
        }
    }
}

#[test]
fn no_command_panics() {
    let mut wrong = Vec::new();
    let plain = OsString::from("mul_ad");
    for (situation, spoil) in SPOILT {
        let checkout = Checkout::new();
        write(&checkout.root().join("no-text.cu"), b"// \xff\n");
        spoil(&checkout);
        check(&checkout, situation, &plain, Out::Kept, &mut wrong);
    }
    let checkout = Checkout::new();
    for out in [Out::Closed, Out::Full] {
        check(&checkout, "nothing is wrong", &plain, out, &mut wrong);
    }
    let arguments =
        ["", "\n", "-", "../../..", "\u{fc}\u{202e}", "999999999999999999999999", "0x0", "NaN"].map(OsString::from);
    let others = [OsString::from_vec(vec![b'a', 0xff]), OsString::from("x".repeat(100_000))];
    for argument in arguments.iter().chain(&others) {
        check(&checkout, "the argument is odd", argument, Out::Kept, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} commands end badly:\n{}", wrong.len(), wrong.join("\n\n"));
}
