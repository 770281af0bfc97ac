//! Is it right? Every shape, twice, with new values at the same addresses.
//!
//! The second call with other values refuses results that were cached by pointer and calls that were skipped. Before
//! every launch the outputs hold poison, so an element that is right was written by this very launch.

mod bench;

use fusion_course::{Case, Inputs, Shape};
use fusion_diagnostic::Diagnostic;
use fusion_machine::report::Class;
use serde::{Deserialize, Serialize};

use crate::explain;
use crate::judgement::{Code, Evidence, Failure, IDLE, Part, Verdict, Witness};
use crate::problem::{self, Expected, Threads};
use crate::trial::Trial;
use crate::trouble::Trouble;
use bench::Bench;

/// Calls for each shape.
const CALLS: usize = 2;

/// At what a submission is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope<'a> {
    /// Elements of the largest shape.
    pub(crate) largest: usize,
    /// Whether the unfused chain does not run beside it: its figures are for comparison only.
    pub(crate) alone: bool,
    /// Whether one view at a time begins at an element that no vector access can begin at. Exercises do not ask for
    /// that, and the solutions can do it.
    pub(crate) unaligned: bool,
    /// The only shapes that are judged, if not all.
    pub(crate) only: Option<&'a [Shape]>,
}

impl Scope<'_> {
    /// What exercises ask for.
    pub(crate) const EXERCISE: Self = Self { largest: usize::MAX, alone: false, unaligned: false, only: None };

    /// Whether *right* is judged at a shape.
    pub(crate) fn has(&self, shape: Shape) -> bool {
        shape.elements() <= self.largest && self.keeps(shape)
    }

    /// Whether *lean* is, whose shapes have a size of their own.
    pub(crate) fn keeps(&self, shape: Shape) -> bool {
        self.only.is_none_or(|only| only.contains(&shape))
    }
}

/// What was checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Right {
    /// The devices it was judged on.
    pub devices: Vec<String>,
    /// Shapes and launches checked, over all devices.
    pub shapes: u32,
    pub launches: u32,
}

impl Evidence for Right {
    const NAME: &'static str = "right";
    const WITNESS: Witness = Witness::Both;

    fn judge(trial: &Trial<'_>) -> Result<Part<Self>, Trouble> {
        let device = trial.session.info.name.clone();
        let mut found = Found { right: Self { devices: vec![device.clone()], ..Self::default() }, ..Found::default() };
        let said = match judge_all(trial, &mut found) {
            Ok(()) => Part::pass(),
            Err(Trouble::Failure(failure)) => Part::refused(Failure { device: Some(device), ..*failure }),
            Err(Trouble::Unable(note)) => Part::ungraded(note),
        };
        Ok(Part { advice: found.advice, ..said.with(found.right) })
    }

    fn cell(&self, part: &Part<Self>) -> Option<String> {
        (part.verdict == Verdict::Pass).then(|| format!("{} launches", self.launches))
    }

    fn join(self, gpu: Self) -> Self {
        Self {
            devices: [self.devices, gpu.devices].concat(),
            shapes: self.shapes + gpu.shapes,
            launches: self.launches + gpu.launches,
        }
    }

    fn explains(code: Code) -> bool {
        is_about_values(code)
    }
}

/// What is known so far.
#[derive(Debug, Default)]
struct Found {
    right: Right,
    /// `L-` and `W-` codes of the emulated device.
    advice: Vec<Diagnostic>,
}

/// Judges a submission at all of its exercise's shapes.
fn judge_all(trial: &Trial<'_>, found: &mut Found) -> Result<(), Trouble> {
    let Trial { seed, scope, .. } = *trial;
    let exercise = trial.exercise();
    let mut bench = Bench::new(trial)?;
    for shape in exercise.problems(seed).into_iter().filter(|&shape| scope.has(shape)) {
        trial.tell(format!("right: {}", trial.name(shape)));
        judge_shape(&mut bench, shape, found).map_err(|trouble| sharpen(trouble, &mut bench, shape))?;
    }
    let moved = problem::to_move(exercise, seed).filter(|&shape| scope.unaligned && scope.has(shape));
    if let Some(shape) = moved {
        let params = exercise.inputs.len() + exercise.outputs.len();
        // No number of elements that is not a multiple of four suits an access to four of them.
        for (param, elements) in (0..params).flat_map(|param| (1..4).map(move |elements| (param, elements))) {
            trial.tell(format!("right: {}, view {param} moved by {elements}", trial.name(shape)));
            bench.move_view(param, elements);
            judge_shape(&mut bench, shape, found)?;
        }
    }
    Ok(())
}

fn judge_shape(bench: &mut Bench<'_>, shape: Shape, found: &mut Found) -> Result<(), Trouble> {
    let trial = bench.trial;
    judge_calls(bench, shape, found).map_err(|trouble| trouble.at(trial.name(shape)))
}

fn judge_calls(bench: &mut Bench<'_>, shape: Shape, found: &mut Found) -> Result<(), Trouble> {
    let (exercise, seed) = (bench.trial.exercise(), bench.trial.seed);
    found.right.shapes += 1;
    // Each shape has values of its own, whatever was judged before it.
    let mut inputs = Inputs::new(seed ^ ((shape.rows as u64) << 40) ^ shape.columns as u64);
    let cases: Vec<Case> = (0..CALLS).map(|_| (exercise.make)(shape, &mut inputs)).collect();
    bench.prepare(shape)?;
    for (call, case) in cases.iter().enumerate() {
        found.right.launches += 1;
        let ran = bench.launch(case)?;
        explain::gather(&mut found.advice, explain::told(&ran.advice, |class| class != Class::Speed));
        check(bench, case, ran.threads, &ran.outputs).map_err(|trouble| match trouble {
            Trouble::Failure(failure) if is_about_values(failure.code) => {
                let mut failure = *failure;
                if ran.idle {
                    failure = failure.note(IDLE);
                }
                if call > 0 {
                    failure = failure.note(
                        "the first call with this shape was right; this one has other values at the same addresses: they are \
                         harder, or something was kept from call to call",
                    );
                }
                failure.into()
            }
            trouble => trouble,
        })?;
    }
    Ok(())
}

/// A small problem is all tail. Where one fails, a larger one may tell whether only the tail is wrong, which says more.
fn sharpen(trouble: Trouble, bench: &mut Bench<'_>, shape: Shape) -> Trouble {
    let Some(telling) = problem::telling(bench.trial.exercise(), bench.trial.seed) else { return trouble };
    match &trouble {
        Trouble::Failure(failure) if is_about_values(failure.code) && shape.elements() < telling.elements() => {}
        _ => return trouble,
    }
    match judge_shape(bench, telling, &mut Found::default()) {
        Err(Trouble::Failure(sharper)) if sharper.code == Code::Tail => Trouble::Failure(sharper),
        _ => trouble,
    }
}

fn is_about_values(code: Code) -> bool {
    matches!(code, Code::Values | Code::Unwritten | Code::Tail)
}

/// What a launch must leave behind: inputs and surroundings untouched, and the right outputs.
fn check(
    bench: &Bench<'_>,
    case: &Case,
    threads: Option<Threads>,
    outputs: &[fusion_course::Data],
) -> Result<(), Trouble> {
    if let Some(failure) = bench.damage(case)? {
        return Err(failure.into());
    }
    let exercise = bench.trial.exercise();
    let references = (exercise.reference)(case);
    let expected = Expected { exercise, shape: case.shape, references: &references, before: &case.initial, threads };
    for (index, output) in outputs.iter().enumerate() {
        expected.check(index, output).map_err(|mut failure| {
            let written = failure.mismatch.as_ref().filter(|wrong| !wrong.unwritten);
            let operands = written.and_then(|wrong| problem::operands(exercise, case, wrong.index as usize));
            failure.notes.splice(0..0, operands);
            failure
        })?;
    }
    Ok(())
}

/// The failure of work that the given stream does not wait for.
fn other_stream() -> Failure {
    Failure::new(Code::Stream, "the work is not on the stream that the launch function was given")
        .note("launch with `stream.launch_builder(...)` on that stream, or make it wait for the other one")
}
