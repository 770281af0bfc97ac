//! Is it right? Every shape, twice, with new values at the same addresses.
//!
//! The second call with other values refuses results that were cached by pointer and calls that were skipped. Before
//! every launch the outputs hold poison, so an element that is right was written by this very launch. The emulated device also
//! knows which bytes were written, whatever they hold. There, a third call with the second one's values must give the same bits.

mod bench;
mod dry;
mod few;
mod many;
mod otherwise;
mod passed;
mod rows;
mod suspects;

use fusion_course::{Case, Data, Exercise, Extent, Inputs, Shape, Source};
use fusion_diagnostic::{Diagnostic, counted};
use fusion_machine::report::{Class, Code as Finding};
use serde::{Deserialize, Serialize};

use crate::explain;
use crate::judgement::{Code, EMPTY, Evidence, Failure, IDLE, Mismatch, Part, Side, Verdict, Witness};
use crate::problem::{self, Expected};
use crate::trial::Trial;
use crate::trouble::Trouble;
use bench::{Bench, Ran};

/// Calls for each shape.
const CALLS: usize = 2;

/// Elements of the largest problem that is run a third time.
const REPEATED: usize = 1 << 12;

/// Rows from which on it is the grid that is looked at, for which one call will do: so many blocks take their time.
const MANY_ROWS: usize = 1 << 15;

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
    /// Whether a launch is timed however wrong its results are.
    pub(crate) unverified: bool,
    /// Whether it is a rung of a ladder, of which the next one may be the one to load less often.
    pub(crate) rung: bool,
    /// The only shapes that are judged, if not all.
    pub(crate) only: Option<&'a [Shape]>,
}

impl Scope<'_> {
    /// What exercises ask for.
    pub(crate) const EXERCISE: Self =
        Self { largest: usize::MAX, alone: false, unaligned: false, unverified: false, rung: false, only: None };

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
        (part.verdict == Verdict::Pass).then(|| counted(self.launches.into(), "launch"))
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
        judge_shape(&mut bench, shape, found).map_err(|trouble| {
            let trouble = otherwise::compare(sharpen(trouble, &mut bench, shape), &mut bench, shape);
            rows::compare(trouble, &mut bench, shape)
        })?;
    }
    few::judge(&mut bench, found)?;
    let unaligned = scope.unaligned || exercise.begins_anywhere();
    let moved = problem::to_move(exercise, seed).filter(|&shape| unaligned && scope.has(shape));
    if let Some(shape) = moved {
        let params = exercise.inputs.iter().chain(exercise.outputs).enumerate();
        // A table begins where an entry may.
        let params = params.filter(|(_, param)| !param.extent.is_table()).map(|(param, _)| param);
        // No number of elements that is not a multiple of four suits an access to four of them.
        for (param, elements) in params.flat_map(|param| (1..4).map(move |elements| (param, elements))) {
            trial.tell(format!("right: {}, view {param} moved by {elements}", trial.name(shape)));
            bench.move_view(param, elements);
            judge_shape(&mut bench, shape, found)?;
        }
    }
    // Kernels of others, and those for some shapes only, are not asked for the largest.
    if !trial.session.judges_as_gpu() && !scope.alone && scope.only.is_none() {
        bench.passed.judge(trial)?;
        if bench.passed.is_lean(exercise) {
            dry::judge(trial)?;
        }
    }
    Ok(())
}

fn judge_shape(bench: &mut Bench<'_>, shape: Shape, found: &mut Found) -> Result<(), Trouble> {
    let trial = bench.trial;
    judge_calls(bench, shape, found).map_err(|trouble| nothing_to_do(trouble, shape).at(trial.name(shape)))
}

/// A failure where there are no elements, with what avoids all of them. Whatever fails there need not have been launched.
fn nothing_to_do(mut trouble: Trouble, shape: Shape) -> Trouble {
    if let Trouble::Failure(failure) = &mut trouble
        && shape.elements() == 0
        // An empty grid or block is told with that advice already.
        && !failure.diagnostic.as_ref().is_some_and(|told| {
            matches!(told.code.parse(), Ok(Finding::LaunchGrid | Finding::LaunchBlock))
        })
    {
        failure.add_note("there are no elements, and so there is nothing to do: `return Ok(())` before the launch");
        failure.side = Some(Side::Launch);
    }
    trouble
}

/// The values of a shape: its own, whatever was judged before it.
fn values(seed: u64, shape: Shape) -> Inputs {
    Inputs::new(seed ^ ((shape.rows as u64) << 40) ^ ((shape.terms() as u64) << 20) ^ shape.columns as u64)
}

fn judge_calls(bench: &mut Bench<'_>, shape: Shape, found: &mut Found) -> Result<(), Trouble> {
    let (exercise, seed) = (bench.trial.exercise(), bench.trial.seed);
    found.right.shapes += 1;
    let mut inputs = values(seed, shape);
    let calls = if shape.rows < MANY_ROWS { CALLS } else { 1 };
    let mut cases: Vec<Case> = (0..calls).map(|_| (exercise.make)(shape, &mut inputs)).collect();
    bench.prepare(shape)?;
    cases.iter_mut().for_each(|case| bench.fill_tables(case));
    let mut last = Vec::new();
    for (call, case) in cases.iter().enumerate() {
        found.right.launches += 1;
        if calls == 1 && many::is_right(bench, case)? {
            continue;
        }
        let ran = launch(bench, case, found).map_err(|trouble| bench.explain(trouble, case))?;
        check(bench, case, &ran)
            .map_err(|trouble| match trouble {
                Trouble::Failure(failure) if is_about_values(failure.code) => {
                    let mut failure = *failure;
                    if ran.idle {
                        failure = failure.note(IDLE);
                        failure.side = Some(Side::Launch);
                    }
                    failure = empty_kernel(failure, &bench.trial.entry.source, exercise.name);
                    if ran.silent && !failure.notes.iter().any(|note| note == EMPTY) {
                        failure = failure.note(SILENT);
                    }
                    let Trial { entry, program, .. } = *bench.trial;
                    failure = suspects::look(failure, &entry.source, &program.compiled.diagnostics);
                    if call > 0 {
                        let kept =
                            failure.mismatch.as_ref().is_some_and(|wrong| is_kept(exercise, &cases[call - 1], wrong));
                        failure = failure.note(if kept { KEPT } else { OTHER_VALUES });
                    }
                    failure.into()
                }
                trouble => trouble,
            })
            .map_err(|trouble| bench.explain(trouble, case))?;
        last = ran.outputs;
    }
    let repeats = !bench.trial.session.judges_as_gpu() && !bench.trial.scope.alone && shape.elements() <= REPEATED;
    match cases.last() {
        // Not on a GPU, where sums by atomics come in another order each time, and rightly so.
        Some(case) if repeats && calls == CALLS => {
            found.right.launches += 1;
            let again = launch(bench, case, found)?;
            // First what only another launch tells.
            match differing(exercise, &last, &again.outputs) {
                Some(failure) => Err(failure.into()),
                None => check(bench, case, &again),
            }
        }
        _ => Ok(()),
    }
}

/// One launch, with what it found in passing.
fn launch(bench: &mut Bench<'_>, case: &Case, found: &mut Found) -> Result<Ran, Trouble> {
    let ran = bench.launch(case)?;
    explain::gather(&mut found.advice, explain::told(&ran.advice, |class| class != Class::Speed));
    if ran.allocations > 0 {
        bench.trial.note_allocations(case.shape, ran.allocations);
    }
    Ok(ran)
}

/// A failure with the fact that the kernel has an empty body, as a starter's has.
fn empty_kernel(failure: Failure, source: &Source, name: &str) -> Failure {
    let text = &source.text;
    let tokens = fusion_cpp::tokens(text);
    let words: Vec<&str> = tokens.iter().map(|token| token.text(text)).collect();
    let declared = words.windows(2).position(|pair| pair == [name, "("]);
    let body = declared.and_then(|at| words[at..].iter().position(|word| *word == "{").map(|body| at + body));
    if body.is_none_or(|body| words.get(body + 1) != Some(&"}")) {
        return failure;
    }
    Failure { location: explain::declaration(name, source), ..failure }.note(EMPTY)
}

/// Whether a wrong element is what the values of the call before make of it.
fn is_kept(exercise: &Exercise, before: &Case, wrong: &Mismatch) -> bool {
    let output = exercise.outputs.iter().position(|output| output.name == wrong.output);
    let references = (exercise.reference)(before);
    let kept = output.and_then(|output| Some((references.get(output)?, exercise.tolerances.get(output)?)));
    kept.is_some_and(|(reference, tolerance)| {
        let Some(index) = usize::try_from(wrong.index).ok().filter(|&index| index < reference.len()) else {
            return false;
        };
        let allowed = |right: f64| tolerance.absolute + tolerance.relative * right.abs();
        !wrong.unwritten
            && reference.expected(index).into_iter().any(|right| (wrong.actual - right).abs() <= allowed(right))
    })
}

/// The note of a submission whose kernel has something in its body, and does not come to a store.
const SILENT: &str = "the kernel ran, and no thread stored anything";

/// The note on an element that is what the call before made of it.
const KEPT: &str = "that is what the first call with this shape had there; this one has other values at the same addresses: \
                    something was kept from call to call";

/// The note on an element that is not.
const OTHER_VALUES: &str = "with other values of the inputs, the call before was right";

/// The failure of a launch that gives other bits than the same one before it. Both are within the tolerance, or one was never looked at:
/// what the result depends on is not the inputs alone. On the emulated device, whose schedule is fixed, the blame is not the device's.
fn differing(exercise: &Exercise, last: &[Data], again: &[Data]) -> Option<Failure> {
    let outputs = exercise.outputs.iter().zip(last.iter().zip(again));
    let mut found = outputs.filter_map(|(param, (last, again))| {
        let index = last.first_other(again)?;
        let [was, is] = [last, again].map(|data| data.get(index).unwrap_or(f64::NAN));
        let title = format!("`{}[{index}]` is {is}, and was {was} when the same launch was made before", param.name);
        Some(Failure::new(Code::Values, title).note(
            "inputs, sizes and scalars are the same: the result depends on something else, such as a count of calls, a clock, or \
             what an earlier launch left behind",
        ))
    });
    found.next()
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
fn check(bench: &Bench<'_>, case: &Case, ran: &Ran) -> Result<(), Trouble> {
    if let Some(failure) = bench.damage(case)? {
        return Err(failure.into());
    }
    if case.shape.elements() == 0 {
        // There is nothing to launch, and so an element per row of no columns is not written either.
        return Ok(());
    }
    let exercise = bench.trial.exercise();
    let references = (exercise.reference)(case);
    let expected =
        Expected { exercise, shape: case.shape, references: &references, before: &case.initial, threads: ran.threads };
    for (index, output) in in_order(exercise).filter_map(|index| Some((index, ran.outputs.get(index)?))) {
        // The device knows what was written, also where that is what memory was filled with.
        let written = !bench.trial.session.judges_as_gpu() && ran.unwritten.get(index) == Some(&None);
        expected.check(index, output, written).map_err(|mut failure| {
            // Where an output has one number for each row, what the row has once may say why none was written.
            let by_row = exercise.outputs.get(index).is_some_and(|output| output.extent == Extent::Rows);
            let wrong = failure.mismatch.as_ref().filter(|wrong| by_row || !wrong.unwritten);
            let operands = wrong.and_then(|wrong| problem::operands(exercise, case, wrong.index as usize));
            failure.notes.splice(0..0, operands);
            failure
        })?;
    }
    let unwritten = exercise.outputs.iter().zip(&ran.unwritten).find_map(|(param, first)| Some((param, (*first)?)));
    match unwritten {
        Some((param, first)) => {
            Err(Failure::new(Code::Unwritten, format!("`{}[{first}]` was never written", param.name))
                .note("what was in memory before the launch is what the result should be: it is right by chance")
                .into())
        }
        None => Ok(()),
    }
}

/// The outputs as they come about: what a row has once, such as a scale, before the elements that are made with it.
fn in_order(exercise: &Exercise) -> impl Iterator<Item = usize> {
    let of = |once: bool| {
        let outputs = exercise.outputs.iter().enumerate();
        outputs.filter(move |(_, output)| (output.extent != Extent::Elements) == once).map(|(index, _)| index)
    };
    of(true).chain(of(false))
}

/// The failure of work that the given stream does not wait for.
pub(crate) fn other_stream() -> Failure {
    Failure::new(Code::Stream, "the work is not on the stream that the launch function was given")
        .note("launch with `stream.launch_builder(...)` on that stream, or make it wait for the other one")
}
