//! Did each parameter receive all of a number? A `u32` for a `size_t` is right as long as the four bytes behind it are 0.
//!
//! The driver sees where the launch function has its arguments, and some places tell ([`Argument::short`]). Whatever the place, a size of
//! more than 32 bits tells: it arrives whole, or it does not. Such launches are dry, and no block of them is executed: how long a
//! row a kernel can do is another matter. A launch that is refused passes arguments, too; of one that is never asked for, nothing
//! is said.

use cudarc::driver::DriverError;
use fusion_course::{CHOICES, Case, DeviceBuffer, Exercise, Extent, Inputs, Param, Shape, Shapes};
use fusion_device::Emulator;
use fusion_machine::report::Dry;
use fusion_machine::{Argument, LaunchReport, Report};

use crate::cause::Short;
use crate::trial::Trial;
use crate::trouble::Trouble;

/// A size whose lower half is the remainder of no division by a smaller power of two: whoever passes one is not to blame.
const SIZE: usize = (1 << 32) + (1 << 31) + 5;

/// Half of a number of eight bytes.
const LOWER: u64 = u32::MAX as u64;

/// Bytes after which the memory of such a problem repeats itself. Nobody reads it.
const PERIOD: u64 = 1 << 12;

/// A launch that executes no block: no grid has this one.
const NO_BLOCK: u64 = u64::MAX;

/// What the launches of a submission have passed so far.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// Parameters for which fewer bytes were passed, as far as places tell, with the problem.
    short: Vec<(Shape, Short)>,
    /// The most launches and copies of a problem.
    works: u64,
}

impl Passed {
    pub(super) fn look(&mut self, report: &Report, shape: Shape) {
        let launches = &report.launches;
        self.works = self.works.max(launches.len() as u64 + report.copies);
        for short in launches.iter().flat_map(|launch| parameters(launch, |argument| argument.short)) {
            if !self.short.iter().any(|(_, known)| known.is_of(&short)) {
                self.short.push((shape, short));
            }
        }
    }

    /// Whether it launches no more than it may. With a launch for each row, or a copy to the host, a very large problem
    /// would take more time or memory than there is, and it is refused for that anyway.
    pub(super) fn is_lean(&self, exercise: &Exercise) -> bool {
        self.works <= u64::from(exercise.launches)
    }

    /// Judges a submission whose results are right.
    pub(super) fn judge(&self, trial: &Trial<'_>) -> Result<(), Trouble> {
        let Some(emulator) = trial.session.device.emulator() else { return Ok(()) };
        let exercise = trial.exercise();
        let mut whole = Vec::new();
        for shape in shapes(exercise) {
            if !self.is_lean(exercise) {
                break;
            }
            trial.tell(format!("right: the arguments for {}", trial.name(shape)));
            let asked = ask(trial, emulator, shape);
            emulator.run_dry(&Dry::default()).map_err(|error| Trouble::Unable(error.to_string()))?;
            let launches = asked.map_err(Trouble::driver("preparing a dry launch"))?;
            let received = |of: fn(u64) -> bool| {
                let is = move |argument: &Argument| argument.bytes.len() == 8 && argument.unsigned().is_some_and(of);
                launches.iter().flat_map(move |launch| parameters(launch, is))
            };
            whole.extend(received(|value| value == SIZE as u64));
            // Of several launches that share the work, the last ones may be told what is left.
            let cut = received(|value| value != SIZE as u64 && value & LOWER == SIZE as u64 & LOWER);
            if let Some(cut) = { cut }.find(|cut| !whole.iter().any(|whole| whole.is_of(cut))) {
                return Err(Trouble::from(cut.failure(&trial.entry.source, Some(SIZE as u64))).at(trial.name(shape)));
            }
        }
        // Bytes that the submission has packed itself may lie anywhere.
        match self.short.iter().find(|(_, short)| !whole.iter().any(|whole| whole.is_of(short))) {
            Some((shape, short)) => Err(Trouble::from(short.failure(&trial.entry.source, None)).at(trial.name(*shape))),
            None => Ok(()),
        }
    }
}

/// The parameters of a launch whose arguments are like that.
fn parameters(launch: &LaunchReport, like: impl Fn(&Argument) -> bool) -> impl Iterator<Item = Short> {
    let found = launch.arguments.iter().enumerate().filter(move |(_, argument)| !argument.float && like(argument));
    found.map(|(index, argument)| Short::new(&launch.kernel, index, argument))
}

/// Sizes of more than 32 bits, one at a time.
fn shapes(exercise: &Exercise) -> Vec<Shape> {
    let (rows, columns) = (Shape::of(SIZE, 1), Shape::of(1, SIZE));
    let products = [[SIZE, 1, 1], [1, SIZE, 1], [1, 1, SIZE]];
    match exercise.shapes {
        Shapes::Elementwise => vec![columns],
        Shapes::Rows { .. } | Shapes::Matrix { .. } => vec![rows, columns],
        Shapes::Product { .. } => products.map(|[m, n, k]| Shape::product(m, n, k)).into(),
        // A launch is given none.
        Shapes::Tensors { .. } => Vec::new(),
        // Of tokens alone there may be so many.
        Shapes::Heads { .. } => vec![Shape::tokens(SIZE, [1, 1], 2)],
        Shapes::Attention { elements, .. } => {
            let head = elements.iter().copied().min().unwrap_or(1);
            vec![Shape::attention([SIZE, SIZE], 1, head), Shape::attention([1, 1], SIZE, head)]
        }
        Shapes::Routing { .. } => {
            let sizes = [[SIZE, 2, 1, 1], [1, SIZE, 1, 1], [1, 2, SIZE, 1], [1, 2, 1, SIZE]];
            sizes.map(|[tokens, experts, hidden, inter]| Shape::routing(tokens, experts, hidden, inter)).into()
        }
        // Of sequences alone there may be so many.
        Shapes::Paged { elements, .. } => {
            vec![Shape::paged(SIZE, [1, 1], elements.iter().copied().min().unwrap_or(1), 1)]
        }
    }
}

/// The elements of a buffer. A square matrix of so many columns has no place anywhere, nor have the pages of so many sequences; nobody
/// reads them, and the launches before a matrix is multiplied by are seen with one of one element.
fn elements(param: &Param, shape: Shape) -> usize {
    if matches!(param.extent, Extent::Square | Extent::Cache) { 1 } else { param.len(shape) }
}

/// What the launch function passes for a shape.
fn ask(trial: &Trial<'_>, emulator: &Emulator, shape: Shape) -> Result<Vec<LaunchReport>, DriverError> {
    let Trial { session, entry, program, .. } = *trial;
    let exercise = entry.exercise;
    // What is made now, by whomever, repeats itself, and what is launched is not executed.
    let dry = Dry { blocks: vec![NO_BLOCK], budget: 0, period: PERIOD, ..Dry::default() };
    if emulator.run_dry(&dry).is_err() {
        // Another version, which the next launch finds out.
        return Ok(Vec::new());
    }
    let stream = &session.device.stream;
    let make = |params: &[Param]| -> Result<Vec<DeviceBuffer>, DriverError> {
        params.iter().map(|param| DeviceBuffer::poisoned(stream, param.dtype, elements(param, shape), 0)).collect()
    };
    let (mut inputs, mut outputs, mut scratch) =
        (make(exercise.inputs)?, make(exercise.outputs)?, make(exercise.scratch)?);
    let experts = shape.experts.map(|_| CHOICES);
    let one = Shape { rows: 1, columns: 1, depth: shape.depth.map(|_| 1), heads: None, experts, pages: None };
    // A head has at least a pair.
    let one = shape.heads.map_or(one, |_| match shape.is_attention() {
        true => Shape::attention([1, 1], 1, shape.head()),
        false if shape.pages.is_some() => Shape::paged(1, [1, 1], shape.head(), 1),
        false => Shape::tokens(1, [1, 1], 2),
    });
    let Case { scalars, .. } = (exercise.make)(one, &mut Inputs::new(trial.seed));
    session.take_report();
    // Why it may not succeed is of no concern.
    session.launch(entry, program, [&mut *inputs, &mut *outputs, &mut *scratch], &scalars, shape).ok();
    stream.synchronize().ok();
    session.take_report();
    let seen = session.seen();
    let ours = program.compiled.kernels();
    let launches = seen.launches.iter().chain(&seen.stopped).filter(|launch| ours.contains(&launch.kernel.as_str()));
    Ok(launches.cloned().collect())
}
