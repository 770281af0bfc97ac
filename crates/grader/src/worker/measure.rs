//! Times everything of a day that can be launched alone: the steps of its unfused chains, solutions, ladders and samples.
//!
//! Nothing is judged. The times are what the emulated device's clock is compared with; on the emulated device they are what its clock
//! says, from a few blocks of each launch.

use std::process::ExitCode;
use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_baseline::{Baseline, Clock, Problem, dry_period};
use fusion_course::{Entry, Exercise, Sample, Shape, Shapes, Step, Submission, Work};
use fusion_machine::LaunchReport;
use fusion_machine::report::Dry;
use fusion_timings::{Cache, Record};

use super::judge::{tell, unable};
use super::{MeasureOptions, find};
use crate::bench;
use crate::judgement::RunError;
use crate::protocol::{Message, OPENING};
use crate::session::{Session, within};

/// As for sizes that are asked for: see `bench`.
const BUDGET: u64 = 1 << 29;

/// Elements of the problems that samples are timed at. Fewer are more alike than their kernels are.
const SAMPLED: usize = 1 << 24;

/// Elements below the smallest size of `bench`.
const SMALL: [usize; 2] = [1 << 14, 1 << 16];

/// Bytes that the buffers of one problem may take.
const MOST_BYTES: u64 = 16 << 30;

pub(super) fn run(options: &MeasureOptions, submission: &Submission, top: &[Entry], samples: &[Sample]) -> ExitCode {
    tell(OPENING.to_owned());
    let session = match Session::open_with(options.device.into(), false, within(BUDGET)) {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    let mut measuring = match Measuring::new(&session, options.one_in.get()) {
        Ok(measuring) => measuring,
        Err(error) => return unable(error),
    };
    let wanted = |name: &str| options.exercise.as_deref().is_none_or(|only| only == name);
    for entry in submission.entries.iter().filter(|entry| wanted(entry.exercise.name)) {
        let name = entry.exercise.name;
        // Of answers as beginners write them verdicts are compared, not times: see `verdicts`.
        let timed = |sample: &Sample| is_safe(sample) && sample.verdict != Sample::RIGHT;
        let samples = samples.iter().filter(|sample| sample.entry.exercise.name == name && timed(sample));
        if let Err(error) = measuring.exercise(entry, find(top, name), &samples.collect::<Vec<_>>()) {
            return unable(error);
        }
    }
    ExitCode::SUCCESS
}

/// Whether a GPU survives it: what reads and writes where it should, however wrong its results are.
pub(super) fn is_safe(sample: &Sample) -> bool {
    !Sample::refuses(sample.verdict) || ["values", "launches", "speed"].contains(&sample.verdict)
}

struct Measuring<'a> {
    session: &'a Session,
    stream: Arc<CudaStream>,
    clock: Clock,
    /// One of so many shapes is timed: what a step of a chain reads comes of those before it.
    one_in: usize,
}

impl<'a> Measuring<'a> {
    fn new(session: &'a Session, one_in: usize) -> Result<Self, RunError> {
        let module = fusion_baseline::load(&session.device, &fusion_baseline::timing())
            .map_err(|error| RunError::new("no-compiler", error.to_string()))?;
        let clock = Clock::new(&session.device, Some(&module)).map_err(|error| lost(&error))?;
        Ok(Self { session, stream: session.device.stream.clone(), clock, one_in })
    }

    fn exercise(&mut self, entry: &Entry, top: Option<&Entry>, samples: &[&Sample]) -> Result<(), RunError> {
        let exercise = entry.exercise;
        tell(format!("compiling {}", exercise.name));
        let baseline = self.session.baseline().map_err(|_| failed(exercise, "its unfused chain"))?;
        let rivals = self.session.rivals().map_err(|_| failed(exercise, "what it is compared with"))?;
        let ladder = match exercise.ladder {
            [] => None,
            _ => Some(fusion_baseline::load(&self.session.device, &fusion_baseline::ladder(exercise.name))),
        };
        let ladder = ladder.transpose().map_err(|_| failed(exercise, "its ladder"))?;
        let ladder = Baseline::from_modules(ladder.into_iter().collect());
        let program = |entry: &Entry| self.session.compile(entry).map_err(|_| failed(exercise, &entry.source.path));
        let solution = program(entry)?;
        let top = top.map(|entry| Ok((entry, program(entry)?))).transpose()?;
        let shapes: Vec<Shape> = shapes(exercise).into_iter().step_by(self.one_in).collect();
        let is_sampled = |shape: &Shape| (SAMPLED / 2..=SAMPLED).contains(&shape.elements());
        let samples = if shapes.iter().any(is_sampled) { samples } else { &[] };
        let sampled = samples.iter().map(|sample| Ok((*sample, program(&sample.entry)?)));
        let sampled = sampled.collect::<Result<Vec<_>, RunError>>()?;
        let stream = self.stream.clone();
        for shape in shapes {
            if bytes(exercise, shape) > MOST_BYTES {
                continue;
            }
            tell(format!("timing {} at {shape}", exercise.name));
            if let Some(emulator) = self.session.device.emulator() {
                let dry = Dry { timed: true, period: dry_period(shape), ..Dry::default() };
                emulator.run_dry(&dry).map_err(|error| RunError::new("measure", error.to_string()))?;
            }
            let mut problem = Problem::new(&stream, exercise, shape, 22).map_err(|error| lost(&error))?;
            let gemm = self.session.gemm(exercise).map_err(|_| failed(exercise, "the matrix product"))?;
            let mut time = |name: &str, problem: &mut Problem, program: &Baseline, steps: &[Step]| {
                let (arguments, intermediates) = problem.arguments(gemm);
                let run = || {
                    steps
                        .iter()
                        .try_for_each(|step| program.run_step(&stream, exercise, step, intermediates, &arguments))
                };
                self.time(exercise, shape, name, run)
            };
            // A library's product is not ours to predict.
            for step in exercise.unfused.iter().filter(|step| step.work != Work::Gemm) {
                time(&unfused(exercise, step), &mut problem, baseline, &[*step])?;
            }
            if !exercise.multiplies() {
                time("chain", &mut problem, baseline, exercise.unfused)?;
            }
            if let Some(rival) = &exercise.rival {
                time(&format!("rival {}", rival.name), &mut problem, rivals, &[rival.step])?;
            }
            for (_, rung) in exercise.rungs(shape) {
                time(&format!("rung {}", rung.name), &mut problem, &ladder, &[rung.step])?;
            }
            if exercise.multiplies() {
                continue;
            }
            let mut answers = vec![("solution".to_owned(), entry, &solution)];
            answers.extend(top.as_ref().map(|(entry, program)| ("top".to_owned(), *entry, program)));
            if is_sampled(&shape) {
                let samples = sampled
                    .iter()
                    .map(|(sample, program)| (format!("{} {}", sample.kind(), sample.name), &sample.entry, program));
                answers.extend(samples);
            }
            for (name, entry, program) in answers {
                problem.reset(&stream).map_err(|error| lost(&error))?;
                let run = || {
                    let (arguments, _) = problem.arguments(gemm);
                    (entry.launch)(&stream, &program.module, arguments)
                };
                self.time(exercise, shape, &name, run)?;
            }
        }
        Ok(())
    }

    /// Times something, and tells. What the device refuses is left out.
    fn time(
        &mut self,
        exercise: &Exercise,
        shape: Shape,
        name: &str,
        run: impl FnMut() -> Result<(), DriverError>,
    ) -> Result<(), RunError> {
        self.session.take_report();
        let Ok(times) = self.clock.times(false, run) else {
            tell(format!("{name} was refused at {shape}"));
            return self.stream.synchronize().map_err(|error| lost(&error));
        };
        if self.session.device.emulator().is_some() {
            let untimed = |launch: &LaunchReport| launch.predicted_ns == 0.0;
            if self.session.take_report().launches.iter().any(untimed) {
                tell(format!(
                    "{name} at {shape}: what its blocks do depends on other blocks, so no time follows from some"
                ));
                return Ok(());
            }
        }
        let [low, ns, high] = Record::quartiles(&times);
        let at = at(exercise, shape);
        let record = Record { case: case(exercise), kernel: name.to_owned(), at, cache: Cache::Cold, ns, low, high };
        Message::Measured { record: record.to_string() }.send();
        Ok(())
    }
}

/// What a file of times calls what belongs to an exercise.
pub fn case(exercise: &Exercise) -> String {
    format!("day{}/{}", exercise.day, exercise.name)
}

/// A shape in a file of times.
pub(super) fn at(exercise: &Exercise, shape: Shape) -> String {
    match exercise.shapes {
        Shapes::Elementwise => format!("n={}", shape.elements()),
        Shapes::Rows { .. } | Shapes::Matrix { .. } | Shapes::Tensors { .. } => {
            format!("rows={} columns={}", shape.rows, shape.columns)
        }
        Shapes::Heads { .. } | Shapes::Attention { .. } | Shapes::Routing { .. } | Shapes::Paged { .. } => {
            let sizes = exercise.shapes.sizes(shape);
            sizes.iter().map(|(name, size)| format!("{name}={size}")).collect::<Vec<_>>().join(" ")
        }
        Shapes::Product { .. } => format!("m={} n={} k={}", shape.rows, shape.columns, shape.terms()),
    }
}

/// The sizes of `bench`, smaller ones, and the one for samples.
fn shapes(exercise: &'static Exercise) -> Vec<Shape> {
    let mut shapes = bench::shapes(exercise, &[], false);
    shapes.extend(SMALL.iter().chain([&SAMPLED]).flat_map(|&elements| exercise.large(elements)));
    shapes.sort_by_key(|shape| (shape.elements(), shape.columns, shape.depth, shape.heads, shape.experts, shape.pages));
    shapes.dedup();
    shapes
}

/// Of all buffers of a problem.
fn bytes(exercise: &Exercise, shape: Shape) -> u64 {
    let Exercise { inputs, outputs, intermediates, scratch, .. } = exercise;
    let all = inputs.iter().chain(*outputs).chain(*intermediates).chain(*scratch);
    all.map(|param| param.bytes(shape) as u64).sum()
}

fn failed(exercise: &Exercise, what: &str) -> RunError {
    RunError::new("measure", format!("{}: {what} cannot be prepared", exercise.name))
}

fn lost(error: &DriverError) -> RunError {
    RunError::new("measure", format!("the device failed: {}", fusion_device::describe(error)))
}

/// What a step of the chain is called. One whose kernel has several steps is told apart by what it writes.
fn unfused(exercise: &Exercise, step: &Step) -> String {
    let several = exercise.unfused.iter().filter(|other| other.kernel == step.kernel).count() > 1;
    match step.writes.first().filter(|_| several) {
        Some(result) => format!("unfused {} to {result}", step.kernel),
        None => format!("unfused {}", step.kernel),
    }
}
