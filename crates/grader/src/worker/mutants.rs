//! Judges mutants of a submission: many in one process.

mod plan;

use std::cell::RefCell;
use std::process::ExitCode;

use fusion_course::{Entry, Exercise, Shapes, Source};
use fusion_device::{Compiled, EmulatorOptions, Program};
use fusion_mutants::Mutant;
use fusion_toolchain::Toolchain;

use super::Options;
use super::judge::{Judge, unable};
use crate::judgement::{Code, Fate, RunError, Verdict};
use crate::protocol::Message;
use crate::right::Scope;
use crate::session::{BUDGET, Session, within};
use crate::trouble::Trouble;
use plan::Plan;

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
            // A product is cubic where everything else is linear, and takes a larger part of the budget. 33 rows of 64 columns
            // still fit, a single one of the longest, and of the surveyed problem's rows half: beside the matrix, another
            // reading of them is still more than is allowed.
            _ if exercise.multiplies() => Self { right: 33 * 64, lean: exercise.surveyed / 2, budget: BUDGET / 2 },
            Shapes::Elementwise => Self { right: 1 << 18, lean: lean(1 << 18), budget: BUDGET / 16 },
            // Tensors of several chunks.
            Shapes::Tensors { .. } => Self { right: 1 << 16, lean: lean(1 << 18), budget: BUDGET / 16 },
            // Two tiles of a usual size in either direction, with an edge.
            Shapes::Product { .. } => Self { right: 264 * 136, lean: exercise.surveyed, budget: BUDGET / 4 },
            // Several tiles of a usual size in either direction, with an edge.
            Shapes::Attention { .. } => Self { right: 2 * 129 * 128, lean: exercise.surveyed, budget: BUDGET / 4 },
            // Experts with several tiles of tokens.
            Shapes::Routing { .. } => Self { right: 129 * 136, lean: exercise.surveyed, budget: BUDGET / 4 },
            // Sequences of a few parts, with an edge, and groups of more heads than a fragment has rows. A block may have some heads of a
            // part to do.
            Shapes::Paged { .. } => Self { right: 1 << 13, lean: exercise.surveyed, budget: BUDGET / 4 },
            // Hundreds of tokens with few heads, and two with many.
            Shapes::Heads { .. } => Self { right: 1 << 16, lean: lean(1 << 16), budget: BUDGET / 16 },
            // Two rows of the longest, three of the others, and hundreds of short ones: what goes wrong with more rows
            // goes wrong with those. A block may have a whole row to do.
            Shapes::Rows { timed, .. } | Shapes::Matrix { timed } => {
                let longest = timed.iter().copied().max().unwrap_or(0).div_ceil(1 << 14).max(1) as u64;
                Self { right: 2 * 16_388, lean: lean(1 << 16), budget: (BUDGET / 16 * longest).min(BUDGET) }
            }
        }
    }
}

/// Judges the mutants that the options name.
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
    let mut scope = Scope { largest: limits.right, alone: true, unaligned: true, ..Scope::EXERCISE };
    // Looking for it takes longer than to judge a mutant, most of which are judged in a moment.
    let toolchain = match fusion_toolchain::find() {
        Ok(toolchain) => toolchain,
        Err(error) => return unable(RunError::new("no-compiler", error.to_string())),
    };
    let sessions = Sessions { options: &options, toolchain: &toolchain, product: RefCell::default() };
    // Other processes judge other mutants at the same time. One thread also makes what races come out the same every time.
    let first = EmulatorOptions { workers: Some(1), ..within(limits.budget) };
    let planned = sessions.open(&first).map(drop).and_then(|()| Plan::new(&sessions, scope, entry));
    let planned = match planned {
        // Without that promise it must pass.
        Ok(Err(_)) => {
            scope.unaligned = false;
            Plan::new(&sessions, scope, entry)
        }
        planned => planned,
    };
    let plan = match planned {
        Ok(Ok(plan)) => plan,
        Ok(Err(why)) => return unable(RunError::new("build", format!("{} does not pass: {why}", entry.source.path))),
        Err(error) => return unable(error),
    };
    for mutant in tasks {
        match plan.judge(mutant) {
            Ok(fate) => Message::Mutant { id: mutant.id.clone(), fate }.send(),
            Err(error) => return unable(error),
        }
    }
    ExitCode::SUCCESS
}

/// Opens the emulated device, again and again.
struct Sessions<'a> {
    options: &'a Options,
    toolchain: &'a Toolchain,
    /// What multiplies matrices, once it was compiled.
    product: RefCell<Option<Compiled>>,
}

impl Sessions<'_> {
    /// A new session as the one before was, which is gone.
    ///
    /// With it went the last that used the context: whatever was judged before, and whether it spent the context, every
    /// source is given the same addresses.
    fn again(&self) -> Result<Session, RunError> {
        let session = self.open(&EmulatorOptions::default())?;
        if let Some(product) = self.product.borrow().clone() {
            session.reuse(product).map_err(|error| RunError::new("no-compiler", error.to_string()))?;
        }
        Ok(session)
    }

    /// Has later sessions take from this one what is the same for all.
    fn keep(&self, session: &Session) {
        let mut kept = self.product.borrow_mut();
        *kept = kept.take().or_else(|| session.product());
    }

    fn open(&self, emulator: &EmulatorOptions) -> Result<Session, RunError> {
        let session = Session::open_with(self.options.device.into(), self.options.as_gpu, *emulator)?;
        let compiler = session.device.use_toolchain(self.toolchain);
        compiler.map(|()| session).map_err(|error| RunError::new("no-compiler", error.to_string()))
    }
}

/// The submission with another text, compiled; else what that says about the text.
fn compile(session: &Session, entry: &Entry, text: String) -> Result<(Entry, Program), Fate> {
    let source = Source { path: entry.source.path.clone(), text };
    let entry = Entry { source, ..entry.clone() };
    match session.compile(&entry) {
        Ok(program) => Ok((entry, program)),
        Err(Trouble::Failure(failure)) if failure.code == Code::Compile => Err(Fate::NotCompiled),
        Err(Trouble::Failure(failure)) => Err(Fate::Refused { failure }),
        Err(Trouble::Unable(note)) => Err(Fate::Unjudged { note }),
    }
}

/// Judges what was compiled by the parts that the options ask for.
fn judge(session: &Session, options: &Options, scope: Scope<'_>, entry: &Entry, program: &Program) -> Fate {
    let judgement = Judge::new(session, options, scope).program(entry, program);
    if let Some(failure) = judgement.failure() {
        return Fate::Refused { failure: Box::new(failure.clone()) };
    }
    let wanted = |name: &str| options.parts.iter().any(|part| part == name);
    match judgement.parts.views().find(|part| wanted(part.name) && part.verdict != Verdict::Pass) {
        Some(open) => Fate::Unjudged { note: open.note.unwrap_or("no verdict").to_owned() },
        None => Fate::Survived,
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
