//! Is it right with more elements than 31 or 32 bits count? Dry launches, on the emulated device.
//!
//! Buffers of so many elements are memory that repeats itself, and of a launch only a few blocks are executed: the first ones,
//! some on the way, the last, and the one that the last elements should belong to. What is held against a submission is what
//! these blocks have done, never what was not seen. Of what they leave open, such as a block that has too much to do, or blocks that
//! communicate, nothing is said. Nor is anything where several launches share the work ([`between`]), unless the blocks of the last one
//! find all that they read.
//!
//! A launch function that panics or returns an error here fails: sizes are any number of elements, and no limit of a device stands
//! in the way of these. A row is no longer than at other sizes, a grid may have 2^31 - 1 blocks along x, and memory is not backed.
//! The one exception is memory that a launch function asks for, which *lean* judges.

mod between;
pub(super) mod blocks;
mod scalars;

use cudarc::driver::DriverError;
use fusion_baseline::Tables;
use fusion_course::paged::GROUP;
use fusion_course::{Case, Data, DeviceBuffer, Inputs, Param, Shape, Shapes};
use fusion_device::Emulator;
use fusion_diagnostic::counted;
use fusion_machine::LaunchReport;
use fusion_machine::report::{Dry, Status};

use crate::explain;
use crate::judgement::{Code, Failure, Side};
use crate::problem;
use crate::trial::Trial;
use crate::trouble::Trouble;
use blocks::{Blocks, Output};

/// Elements, at least: an `int` is too small for the first, and an `unsigned int` for the second.
const SIZES: [usize; 2] = [(1 << 31) + 5, (1 << 32) + 5];

/// Elements after which an elementwise problem repeats itself: a multiple of what a block may do, and no power of two.
const PERIOD: usize = 512 * 127;

/// Warp instructions that a block may take.
pub(super) const BUDGET: u64 = 1 << 17;

/// The same where a block goes over all keys of a head: hundreds of them, as a grid has fewer heads than there are elements.
const BUDGET_OF_HEADS: u64 = 1 << 21;

/// Columns of a product's result, and terms of its sums. No more than the narrowest tile has: what a block writes is then consecutive.
const NARROW: usize = 32;

/// Judges a submission that is right at all other sizes.
pub(super) fn judge(trial: &Trial<'_>) -> Result<(), Trouble> {
    let Some(emulator) = trial.session.device.emulator() else { return Ok(()) };
    // The library's product is none of the submission's launches.
    if trial.exercise().multiplies() {
        return Ok(());
    }
    for elements in SIZES {
        let Some(shape) = at_least(elements, trial.exercise().shapes) else { return Ok(()) };
        trial.tell(format!("right: a few blocks of {}", trial.name(shape)));
        let problem = Problem::new(trial, emulator, shape);
        let found = problem.and_then(|mut problem| problem.judge());
        let ended = emulator.run_dry(&Dry::default());
        // What was refused, or found in passing, is of no concern.
        trial.session.take_report();
        match found {
            Ok(Some(failure)) => return Err(Trouble::from(failure).at(trial.name(shape))),
            Err(Ended::GaveUp(failure)) => return Err(Trouble::from(failure).at(trial.name(shape))),
            Ok(None) | Err(Ended::Open) => {}
            Err(Ended::Ours(error)) => return Err(Trouble::driver("preparing a dry launch")(error)),
        }
        ended.map_err(|error| Trouble::Unable(error.to_string()))?;
    }
    Ok(())
}

/// The smallest shape with so many elements; rows are as short as those that are timed.
///
/// A mixture of experts has none: which rows a block has follows from a table of all tokens, so that no few blocks have the work of a
/// period, and the table alone would take gigabytes.
fn at_least(elements: usize, shapes: Shapes) -> Option<Shape> {
    Some(match shapes {
        Shapes::Elementwise => Shape::flat(elements),
        Shapes::Rows { timed, .. } | Shapes::Matrix { timed } => {
            let columns = timed.iter().copied().min().unwrap_or(1).max(1);
            Shape::of(elements.div_ceil(columns), columns)
        }
        // The largest tensor of a few would have no fewer.
        Shapes::Tensors { .. } => Shape::flat(elements),
        Shapes::Heads { timed } => {
            let [queries, keys, head] =
                timed.iter().copied().min_by_key(|[queries, _, head]| queries * head).unwrap_or([1, 1, 2]);
            Shape::tokens(elements.div_ceil(queries * head), [queries, keys], head)
        }
        // More tokens rather than more heads than a grid has along y. It is the keys that have so many elements.
        Shapes::Attention { elements: each, grouped, .. } => {
            const HEADS: usize = 65_000;
            let (group, head) = (if grouped { 2 } else { 1 }, each.iter().copied().min().unwrap_or(1));
            let length = elements.div_ceil(HEADS / group * head) | 1;
            // And one more, which begins where so many bits no longer count.
            let heads = elements.div_ceil(length * head) + 1;
            Shape::attention([group * heads, heads], length, head)
        }
        // One page and one head of keys: there, whatever the order of the grid, the last blocks have the last sequences, of whose heads
        // of queries there may be as many blocks.
        Shapes::Paged { elements: each, .. } => {
            const QUERIES: usize = 8;
            let head = each.iter().copied().min().unwrap_or(1);
            Shape::paged(elements.div_ceil(QUERIES * head), [QUERIES, 1], head, 1)
        }
        // As few columns and terms as a tile has: rows there may be any number of, and a block is to end soon.
        Shapes::Product { .. } => Shape::product(elements.div_ceil(NARROW), NARROW, NARROW),
        Shapes::Routing { .. } => return None,
    })
}

/// The part of it after which everything repeats itself: rows by eights, so that no element lies across an end.
fn period(shape: Shape) -> Shape {
    // Two heads of keys: where one repeats itself, a head that begins some rows late has the same keys in another order, and the same
    // result.
    if shape.is_attention() {
        let [group, _] = shape.group_of_heads().heads.unwrap_or_default();
        return Shape::attention([2 * group, 2], shape.terms(), shape.head());
    }
    // Their tables name pages: only whole groups of sequences repeat themselves. Memory does after a multiple of eight bytes, which the
    // lengths of one group are not.
    if shape.pages.is_some() {
        return Shape { rows: 2 * GROUP, ..shape };
    }
    if shape.rows == 1 {
        return Shape::flat(PERIOD);
    }
    let eights = (PERIOD / 8 / shape.columns).max(7) | 1;
    Shape { rows: 8 * eights, ..shape }
}

/// Why a problem is judged no further.
enum Ended {
    /// The launch function did not launch what it was asked for.
    GaveUp(Box<Failure>),
    /// It does not come down to launches whose blocks can be looked at.
    Open,
    /// The driver refused something of the grader's.
    Ours(DriverError),
}

impl From<DriverError> for Ended {
    fn from(error: DriverError) -> Self {
        Ended::Ours(error)
    }
}

/// A problem that is too large to be run.
struct Problem<'a> {
    trial: &'a Trial<'a>,
    emulator: &'a Emulator,
    shape: Shape,
    /// One period.
    case: Case,
    inputs: Vec<DeviceBuffer>,
    outputs: Vec<DeviceBuffer>,
    scratch: Vec<DeviceBuffer>,
}

impl<'a> Problem<'a> {
    fn new(trial: &'a Trial<'a>, emulator: &'a Emulator, shape: Shape) -> Result<Self, Ended> {
        let exercise = trial.exercise();
        let case = (exercise.make)(period(shape), &mut Inputs::new(trial.seed ^ shape.elements() as u64));
        let make = |params: &[Param]| -> Result<Vec<DeviceBuffer>, DriverError> {
            params.iter().map(|param| buffer(trial, emulator, param, shape)).collect()
        };
        let (mut inputs, outputs, scratch) = (make(exercise.inputs)?, make(exercise.outputs)?, make(exercise.scratch)?);
        for (buffer, data) in inputs.iter_mut().zip(&case.inputs) {
            buffer.write(&trial.session.device.stream, data)?;
        }
        emulator.run_dry(&Dry::default()).ok();
        let stream = &trial.session.device.stream;
        Tables::new(stream, exercise, shape, &inputs, &outputs)?.copy_to(stream, &mut inputs)?;
        Ok(Self { trial, emulator, shape, case, inputs, outputs, scratch })
    }

    /// What is wrong with what a few blocks do.
    fn judge(&mut self) -> Result<Option<Failure>, Ended> {
        let first = self.launch(vec![0])?;
        let Some(last) = first.last() else { return Ok(None) };
        let mut telling = Blocks::telling(last, &self.places());
        between::add_last(&mut telling, &first);
        let launches = self.launch(telling)?;
        let Some((launch, before)) = launches.split_last() else { return Ok(None) };
        // A later launch may have read what nobody has written, and gone astray. The first reads inputs alone.
        let alone = before.is_empty() || !between::reads(launch, &self.places());
        let known = alone && between::is_complete(before, &self.lent());
        let judged = if known { &launches[..] } else { &launches[..1] };
        let mut executed_blocks = judged.iter().flat_map(|launch| launch.dry.iter().map(move |block| (launch, block)));
        let stopped = executed_blocks.find_map(|(launch, block)| Some((launch, block.index, block.fault.as_deref()?)));
        if let Some((launch, index, fault)) = stopped {
            let stray = matches!(fault.kind.status(), Status::IllegalAddress | Status::MisalignedAddress);
            let told = explain::faults(std::slice::from_ref(fault), self.trial.entry).filter(|_| stray);
            return Ok(match told {
                Some(Trouble::Failure(mut failure)) => {
                    failure.add_note(format!("it is block {index}"));
                    let mut failure = self.note(*failure, launch);
                    // It is right at all sizes that fewer bits count: a guard is not what it lacks.
                    failure.diagnostic.iter_mut().for_each(|told| told.help.clear());
                    Some(failure)
                }
                _ => None,
            });
        }
        if !known {
            return Ok(None);
        }
        let blocks = Blocks::new(launch, &self.places());
        if let Some(failure) = self.wrong(&blocks)? {
            return Ok(Some(before.iter().fold(self.note(failure, launch), |mut failure, launch| {
                failure.add_note(format!("before it, {}", executed(launch)));
                failure
            })));
        }
        if let Some((failure, each)) = blocks.too_few() {
            return Ok(Some(match each.filter(|_| !self.trial.entry.source.text.contains("gridDim")) {
                Some(each) => self.short_grid(failure, each, launch),
                None => self.note(failure, launch),
            }));
        }
        Ok(blocks.left_out().map(|failure| self.note(failure, launch)))
    }

    /// Executes these blocks of each of the submission's launches, if there are no more than are allowed, and no copies.
    fn launch(&mut self, blocks: Vec<u64>) -> Result<Vec<LaunchReport>, Ended> {
        let Trial { session, entry, program, .. } = *self.trial;
        let stream = &session.device.stream;
        for (index, buffer) in self.outputs.iter_mut().enumerate() {
            buffer.poison(stream)?;
            if let Some(Some(data)) = self.case.initial.get(index) {
                buffer.write(stream, data)?;
            }
        }
        stream.synchronize()?;
        session.take_report();
        // What the submission allocates repeats itself, too.
        let budget = if self.shape.is_attention() { BUDGET_OF_HEADS } else { BUDGET };
        let dry = Dry { blocks, budget, period: 4 * period(self.shape).elements() as u64, ..Dry::default() };
        if self.emulator.run_dry(&dry).is_err() {
            return Err(Ended::Open);
        }
        let buffers = [&mut *self.inputs, &mut *self.outputs, &mut *self.scratch];
        let launched = session.launch(entry, program, buffers, &self.case.scalars, self.shape);
        let finished = stream.synchronize();
        self.emulator.run_dry(&Dry::default()).ok();
        let report = session.take_report();
        launched.map_err(gave_up)?;
        let few = (1..=entry.exercise.launches as usize).contains(&report.launches.len());
        let executed = report.launches.iter().all(|launch| !launch.dry.is_empty());
        match finished.is_ok() && few && executed && report.copies == 0 {
            true => Ok(report.launches),
            false => Err(Ended::Open),
        }
    }

    /// Where the lent buffers are, and after how many bytes each repeats itself.
    fn lent(&self) -> Vec<between::Lent> {
        let stream = &self.trial.session.device.stream;
        let params = self.trial.exercise().scratch.iter().zip(&self.scratch);
        let lent = |(param, buffer): (&Param, &DeviceBuffer)| between::Lent {
            base: buffer.address(stream),
            bytes: param.bytes(self.shape) as u64,
            period: param.bytes(period(self.shape)) as u64,
        };
        params.map(lent).collect()
    }

    /// Where the outputs are.
    fn places(&self) -> Vec<Output> {
        let stream = &self.trial.session.device.stream;
        let outputs = self.trial.exercise().outputs.iter().zip(&self.outputs);
        outputs.map(|(param, buffer)| Output::new(param, buffer, stream)).collect()
    }

    /// An element that a block wrote, and that is wrong.
    fn wrong(&self, blocks: &Blocks) -> Result<Option<Failure>, Ended> {
        let exercise = self.trial.exercise();
        let references = (exercise.reference)(&self.case);
        let outputs = exercise.outputs.iter().zip(&self.outputs).zip(&references).zip(exercise.tolerances);
        for (at, (((param, buffer), reference), tolerance)) in outputs.enumerate() {
            let actual: Data = buffer.read_part(&self.trial.session.device.stream, 0, reference.len())?;
            let index = |element: u64| param.within(self.case.shape, self.shape, element as usize);
            let wrong =
                |&(element, place): &(u64, usize)| reference.refuses_at(&actual, place, index(element), *tolerance);
            let mut written: Box<dyn Iterator<Item = (u64, usize)>> = match self.shape.pages {
                // Blocks of one period have written what all of the last launch read.
                Some(_) => Box::new(blocks.written_last(at, reference.len())),
                None => Box::new(blocks.written_once(at, reference.len())),
            };
            if let Some((element, place)) = written.find(wrong) {
                let value = problem::number(actual.get(place).unwrap_or(f64::NAN));
                let expected = problem::either(reference.expected(index(element)));
                let title = format!("`{}[{element}]` is {value}, expected {expected}", param.name);
                return Ok(Some(Failure::new(Code::Large, title)));
            }
        }
        Ok(None)
    }

    /// Too few blocks of a kernel whose threads cannot go on behind the last of them: it does not ask for the size of the grid.
    fn short_grid(&self, mut failure: Failure, each: u64, launch: &LaunchReport) -> Failure {
        let (blocks, _) = sizes(launch);
        let elements = self.shape.elements() as u64;
        if elements != elements & u64::from(u32::MAX) && blocks <= (elements & u64::from(u32::MAX)).max(1) {
            return self.note(failure, launch);
        }
        failure.add_note(executed(launch));
        failure.add_note(format!(
            "{} of {} elements reach {} of them: launch as many as it takes, or let each thread of the kernel go on with \
             index + gridDim.x * blockDim.x",
            counted(blocks, "block"),
            each,
            blocks.saturating_mul(each)
        ));
        failure.side = Some(Side::Launch);
        failure
    }

    /// How it was found out, and what to look at.
    fn note(&self, mut failure: Failure, launch: &LaunchReport) -> Failure {
        let (blocks, threads) = sizes(launch);
        failure.add_note(executed(launch));
        let elements = self.shape.elements() as u64;
        let lower = elements & u64::from(u32::MAX);
        // As many blocks as the lower half of the size has elements, or fewer.
        if elements != lower && blocks <= lower.max(1) && blocks.saturating_mul(threads) < elements >> 16 {
            failure.side = Some(Side::Launch);
            failure.add_note(format!(
                "{} for {elements} elements: was the size cut to 32 bits?",
                counted(blocks, "block")
            ));
            return failure;
        }
        match scalars::cut(launch, self.shape) {
            Some(told) => {
                failure.side = told.launch.then_some(Side::Launch);
                failure.add_note(told.text);
            }
            None => failure.add_note(
                "use `size_t` for sizes and indices, in the kernel and in its launch: `(size_t)blockIdx.x * blockDim.x + threadIdx.x`",
            ),
        }
        failure
    }
}

/// Blocks of a launch, and threads of each.
fn sizes(launch: &LaunchReport) -> (u64, u64) {
    (blocks::count(launch), launch.block.into_iter().map(u64::from).fold(1, u64::saturating_mul))
}

/// Of what launch a few blocks were executed.
fn executed(launch: &LaunchReport) -> String {
    let (blocks, threads) = sizes(launch);
    format!(
        "`{}` was launched with {} of {}, of which a few were executed",
        launch.kernel,
        counted(blocks, "block"),
        counted(threads, "thread")
    )
}

/// What came out of a launch function that panicked or returned an error.
fn gave_up(trouble: Trouble) -> Ended {
    match trouble {
        Trouble::Failure(mut failure) if matches!(failure.code, Code::Panic | Code::Launch) => {
            (failure.code, failure.side) = (Code::Large, Some(Side::Launch));
            failure.add_note(
                "sizes are any number of elements, also more than 31 or 32 bits count: compute with them as `usize`, and convert \
                 what is small again, such as the number of blocks",
            );
            Ended::GaveUp(failure)
        }
        _ => Ended::Open,
    }
}

/// A buffer for a shape, which repeats itself if it grows with the shape.
fn buffer(trial: &Trial<'_>, emulator: &Emulator, param: &Param, shape: Shape) -> Result<DeviceBuffer, DriverError> {
    let period = if param.extent.grows_with_rows() { param.bytes(period(shape)) as u64 } else { 0 };
    // One that cannot be told so is of another version, which the first launch finds out.
    emulator.run_dry(&Dry { period, ..Dry::default() }).ok();
    DeviceBuffer::poisoned(&trial.session.device.stream, param.dtype, param.len(shape), 0)
}
