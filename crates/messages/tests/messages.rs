//! Every mistake: `grade` must say of it what the text beside it says. The answers without a mistake must pass.
//!
//! `BLESS=1 cargo test -p fusion-messages` writes the texts anew. Look at what changed before you keep it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use fusion_grader::judgement::{Judgement, Verdict};
use fusion_grader::protocol::Message;
use fusion_grader::render;
use libtest_mimic::{Arguments, Failed, Trial};

const WORKER: &str = env!("CARGO_BIN_EXE_fusion-messages");

/// What the worker's messages begin with.
const TOKEN: &str = "messages";

fn main() -> ExitCode {
    let listed = ask(Path::new("."), &["list"]).into_iter().find_map(|message| match message {
        Message::Listed { exercises, samples, .. } => Some((exercises, samples)),
        _ => None,
    });
    let Some((exercises, samples)) = listed else {
        eprintln!("the worker lists nothing");
        return ExitCode::FAILURE;
    };
    let right = exercises.into_iter().map(|exercise| Trial::test(exercise.clone(), move || pass(&exercise)));
    let wrong = samples.into_iter().map(|mistake| {
        let name = format!("{}/{}", mistake.exercise, mistake.name);
        Trial::test(name, move || compare(&mistake.exercise, &mistake.name))
    });
    libtest_mimic::run(&Arguments::from_args(), right.chain(wrong).collect()).exit_code()
}

/// An answer without a mistake: right and lean. How fast a beginner's kernel is, is another question.
fn pass(exercise: &str) -> Result<(), Failed> {
    let judgement = judge(&["--exercise", exercise, "--parts", "right,lean"])?;
    let parts = &judgement.parts;
    match Verdict::combine([parts.right.verdict, parts.lean.verdict]) {
        Verdict::Pass => Ok(()),
        verdict => Err(format!("it is judged {verdict}:\n{}", said(&judgement)).into()),
    }
}

/// A mistake.
fn compare(exercise: &str, name: &str) -> Result<(), Failed> {
    let mut judgement = judge(&["--exercise", exercise, "--sample", name])?;
    judgement.sample = None;
    let found = said(&judgement);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("mistakes").join(exercise).join(name).with_extension("txt");
    if std::env::var_os("BLESS").is_some_and(|bless| bless == "1") {
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        return Ok(std::fs::write(path, found)?);
    }
    let expected = if path.exists() { std::fs::read_to_string(path)? } else { String::new() };
    match expected == found {
        true => Ok(()),
        false => Err(format!("it is told otherwise\nexpected:\n{expected}\nfound:\n{found}").into()),
    }
}

/// What `grade` prints above the table, and where it sends the learner.
fn said(judgement: &Judgement) -> String {
    let next = render::next(judgement).map_or_else(|| "Next: nothing".to_owned(), |place| format!("Next: {place}"));
    let text = format!("{}{next}\n", render::details(judgement, render::Look::default()));
    // The launches with edits lie where the build script wrote them.
    let (file, edited) =
        (format!("exercises/day{}/src/{}.rs", judgement.day, judgement.name), format!("/{}/", judgement.name));
    let words = text.split_inclusive(['\n', ' ']).map(|word| match word.split_once(".rs") {
        Some((path, rest)) if path.contains(&edited) && path.contains("/fusion-messages-") => format!("{file}{rest}"),
        _ => word.to_owned(),
    });
    words.collect()
}

fn judge(arguments: &[&str]) -> Result<Judgement, Failed> {
    // In an empty folder, where the learner's files are not what was judged, nor others.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let messages = ask(&folder, &[&["judge", "--device", "emulated"], arguments].concat());
    let judged = messages.into_iter().find_map(|message| match message {
        Message::Judged { judgement, .. } => Some(*judgement),
        _ => None,
    });
    judged.ok_or_else(|| "the worker gives no verdict".into())
}

/// What a worker says.
fn ask(folder: &Path, arguments: &[&str]) -> Vec<Message> {
    let mut command = Command::new(WORKER);
    command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut worker) = command.spawn() else { return Vec::new() };
    // It ends when this closes. Through a pipe, messages come on standard output.
    let stdin = worker.stdin.take().map(|mut stdin| stdin.write_all(format!("{TOKEN}\n").as_bytes()).map(|()| stdin));
    let printed = worker.wait_with_output().map(|output| output.stdout).unwrap_or_default();
    drop(stdin);
    String::from_utf8_lossy(&printed).lines().filter_map(|line| Message::parse(line, TOKEN)).collect()
}
