//! Judges mutants of a submission: many in one process.

use std::process::ExitCode;

use fusion_course::{Entry, Exercise, Shapes, Source};
use fusion_device::{EmulatorOptions, Program};
use fusion_mutants::Mutant;

use super::Options;
use super::judge::{Judge, unable};
use crate::judgement::{Code, Fate, Judgement, RunError, Verdict};
use crate::protocol::Message;
use crate::right::Scope;
use crate::session::{BUDGET, Session};
use crate::trouble::Trouble;

/// At what mutants are judged. They are many, so they get a small part of what submissions get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    /// Elements of the largest problem for *right*.
    right: usize,
    /// Elements of a problem for *lean*.
    lean: usize,
    /// Warp instructions until a kernel counts as never ending.
    budget: u64,
}

impl Limits {
    fn of(exercise: &Exercise) -> Self {
        let lean = |elements: usize| elements.min(exercise.surveyed);
        match exercise.shapes {
            // A product is cubic where everything else is linear, and a block of one alone takes more than a part of the
            // budget. 33 rows of 64 columns still fit, and of the surveyed problem's rows half: beside the matrix, another
            // reading of them is still more than is allowed.
            _ if exercise.multiplies() => Self { right: 1 << 12, lean: exercise.surveyed / 2, budget: BUDGET },
            Shapes::Elementwise => Self { right: 1 << 18, lean: lean(1 << 18), budget: BUDGET / 16 },
            // Three rows of every length, and hundreds of short ones: what goes wrong with more rows goes wrong with those.
            Shapes::Rows { .. } => Self { right: 1 << 14, lean: lean(1 << 16), budget: BUDGET / 16 },
        }
    }
}

/// Judges the mutants that the options name, whether they are *right* and *lean*.
///
/// The submission itself is judged first. Where it stands views that are not aligned for vector accesses, its mutants
/// are judged with such views too: what it can do, they must not lose.
pub(super) fn run(options: &Options, entry: &Entry) -> ExitCode {
    let made = fusion_mutants::mutants(&entry.source.text);
    let mut tasks: Vec<&Mutant> = Vec::new();
    for id in &options.mutant {
        match made.iter().find(|mutant| mutant.id == *id) {
            Some(mutant) => tasks.push(mutant),
            None => return unable(RunError::new("unknown-target", format!("there is no mutant `{id}`"))),
        }
    }
    let limits = Limits::of(entry.exercise);
    let options = Options { size: Some(options.size.unwrap_or(limits.lean)), ..options.clone() };
    let mut scope = Scope { largest: limits.right, alone: true, unaligned: true };
    // Looking for it takes longer than to judge a mutant, most of which are judged in a moment.
    let toolchain = match fusion_toolchain::find() {
        Ok(toolchain) => toolchain,
        Err(error) => return unable(RunError::new("no-compiler", error.to_string())),
    };
    let open = |emulator| {
        let session = Session::open_with(options.device.into(), options.as_gpu, emulator)?;
        let compiler = session.device.use_toolchain(&toolchain);
        compiler.map(|()| session).map_err(|error| RunError::new("no-compiler", error.to_string()))
    };
    // Other processes judge other mutants at the same time. One thread also makes what races come out the same every time.
    let first =
        EmulatorOptions { instruction_budget: Some(limits.budget), workers: Some(1), ..EmulatorOptions::default() };
    let original = match open(first).map(|session| judge_original(&session, &options, scope, entry)) {
        // Without that promise it must pass.
        Ok(Err(_)) => {
            scope.unaligned = false;
            open(EmulatorOptions::default()).map(|session| judge_original(&session, &options, scope, entry))
        }
        judged => judged,
    };
    let original = match original {
        Ok(Ok(code)) => code,
        Ok(Err(why)) => return unable(RunError::new("build", format!("{} does not pass: {why}", entry.source.path))),
        Err(error) => return unable(error),
    };
    for mutant in tasks {
        // With the session the last that uses the context goes, and the next is new: whatever was judged before, and
        // whether it spent the context, every mutant is given the same addresses.
        let session = match open(EmulatorOptions::default()) {
            Ok(session) => session,
            Err(error) => return unable(error),
        };
        let source = Source { path: entry.source.path.clone(), text: mutant.text.clone() };
        let entry = Entry { exercise: entry.exercise, source, launch: entry.launch.clone() };
        let fate = match session.compile(&entry) {
            Err(Trouble::Failure(failure)) if failure.code == Code::Compile => Fate::NotCompiled,
            Err(Trouble::Failure(failure)) => Fate::Refused { failure },
            Err(Trouble::Unable(note)) => Fate::Unjudged { note },
            Ok(program) if original == instructions(&program) => Fate::SameCode,
            Ok(program) => fate(Judge::new(&session, &options, scope).program(&entry, &program)),
        };
        Message::Mutant { id: mutant.id.clone(), fate }.send();
    }
    ExitCode::SUCCESS
}

/// The instructions of the submission, if it passes.
fn judge_original(session: &Session, options: &Options, scope: Scope, entry: &Entry) -> Result<Vec<String>, String> {
    let program = session.compile(entry).map_err(|trouble| match trouble {
        Trouble::Failure(failure) => failure.title,
        Trouble::Unable(note) => note,
    })?;
    match fate(Judge::new(session, options, scope).program(entry, &program)) {
        Fate::Survived => Ok(instructions(&program)),
        Fate::Refused { failure } => Err(failure.title),
        Fate::Unjudged { note } => Err(note),
        Fate::NotCompiled | Fate::SameCode => Err("no verdict".to_owned()),
    }
}

fn fate(judgement: Judgement) -> Fate {
    match judgement.right.failure.or(judgement.lean.failure) {
        Some(failure) => Fate::Refused { failure: Box::new(failure) },
        None if (judgement.right.verdict, judgement.lean.verdict) == (Verdict::Pass, Verdict::Pass) => Fate::Survived,
        None => {
            let note = judgement.right.note.or(judgement.lean.note);
            Fate::Unjudged { note: note.unwrap_or_else(|| "no verdict".to_owned()) }
        }
    }
}

fn instructions(program: &Program) -> Vec<String> {
    without_places(&program.compiled.ptx).map(str::to_owned).collect()
}

/// The lines of PTX but those that only say where in the source it comes from: comments, lines and files.
fn without_places(ptx: &str) -> impl Iterator<Item = &str> {
    let tells = |line: &&str| !(line.is_empty() || [".loc", ".file", "//"].iter().any(|start| line.starts_with(start)));
    // Debug sections come last, and hold names and positions.
    ptx.lines().map(str::trim).take_while(|line| !line.starts_with(".section")).filter(tells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_make_code_different() {
        let one = "// a\n.entry k()\n\t.loc\t1 2 3\n\tret;\n.file 1 \"a.cu\"\n\t.section\t.debug_str\n{ x }";
        let other = ".entry k()\n\n\tret;\n\t.section .debug_str\n{ y }";
        assert!(without_places(one).eq(without_places(other)));
        assert!(!without_places(one).eq(without_places(".entry k()\nexit;")));
    }
}
