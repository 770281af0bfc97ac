//! One large problem, for counting and timing: sets of inputs, and buffers for the submission and the unfused chain side
//! by side.
//!
//! The values repeat, see [`Values`].

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use fusion_baseline::{Periods, Place, Seen, Tables, Values, buffers, dry_period, intermediates, memory};
use fusion_course::{Arguments, Case, DeviceBuffer, Exercise, Inputs, Param, Shape};
use fusion_machine::report::Dry;
use fusion_machine::{Checks, Report};

use crate::bench::Accuracy;
use crate::known::Run;
use crate::problem::Expected;
use crate::profile::Predicted;
use crate::trial::Trial;
use crate::trouble::Trouble;

/// Sets of inputs where launches are timed on a GPU. The emulated device's counts and times take one.
pub(crate) const SETS: usize = 2;

/// Times that each set lies on the device where its inputs have no more than [`SMALL`] bytes. A launch of some microseconds is
/// faster or slower by up to a tenth for where its buffers lie, so that several places make a fairer time.
const PLACES: usize = 4;
const SMALL: usize = 16 << 20;

/// Why a kernel that is known to end did not.
pub(crate) const TOO_LARGE: &str =
    "too large for the emulated device, where a launch may execute only so many instructions";

/// Whose launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Submission,
    Unfused,
    /// The fused kernel that the exercise names as one to beat; it writes where the chain writes.
    Rival,
    /// A rung of the exercise's ladder, by its place there; its kernel is in one of the baseline's modules.
    Rung(usize),
    /// The top rung of the ladder; it writes where the chain writes.
    Top,
}

/// Everything that a launch of either needs.
pub(crate) struct Rig<'a> {
    trial: &'a Trial<'a>,
    pub(crate) shape: Shape,
    sets: Vec<Set>,
    intermediates: Vec<DeviceBuffer>,
    submission: Vec<DeviceBuffer>,
    unfused: Vec<DeviceBuffer>,
    scratch: Vec<DeviceBuffer>,
}

/// One set of inputs.
struct Set {
    values: Values,
    places: Vec<Place>,
    /// Of each place, the tables that name the submission's outputs, and those that name the chain's.
    tables: Vec<[Tables; 2]>,
}

impl<'a> Rig<'a> {
    pub(crate) fn new(trial: &'a Trial<'a>, shape: Shape) -> Result<Self, Trouble> {
        let (session, exercise) = (trial.session, trial.exercise());
        let stream = &session.device.stream;
        let margin = session.margin();
        let ours = || Trouble::driver("making buffers");
        // Compiling takes long, and must not fall into the first launch that is timed.
        if !trial.scope.alone {
            session.baseline()?;
        }
        let count = if session.judges_as_gpu() { SETS } else { 1 };
        let cases = cases(exercise, shape, trial.seed).take(count);
        let mut sets = cases.map(|case| Set::new(trial, shape, case)).collect::<Result<Vec<_>, _>>()?;
        let submission = buffers(stream, exercise.outputs, shape, margin).map_err(ours())?;
        let unfused = buffers(stream, exercise.outputs, shape, 0).map_err(ours())?;
        for Set { places, tables, .. } in &mut sets {
            let of = |place: &Place, outputs| Tables::new(stream, exercise, shape, &place.inputs, outputs);
            let both = |place| Ok([of(place, &submission)?, of(place, &unfused)?]);
            *tables = places.iter().map(both).collect::<Result<_, _>>().map_err(ours())?;
        }
        let rig = Self {
            trial,
            shape,
            sets,
            intermediates: intermediates(stream, exercise, shape).map_err(ours())?,
            submission,
            unfused,
            scratch: buffers(stream, exercise.scratch, shape, margin).map_err(ours())?,
        };
        stream.synchronize().map_err(ours())?;
        Ok(rig)
    }

    /// The same for times on the emulated device, of which a problem may be as large as a GPU's: its memory repeats itself.
    pub(crate) fn sampled(trial: &'a Trial<'a>, shape: Shape) -> Result<Self, Trouble> {
        trial.session.run_dry(&Dry { period: dry_period(shape), ..Dry::default() })?;
        let rig = Self::new(trial, shape);
        trial.session.run_dry(&Dry::default())?;
        rig
    }

    /// Bytes that a rig of this shape takes on the device.
    pub(crate) fn bytes(exercise: &Exercise, shape: Shape) -> u64 {
        let sum = |params: &[Param]| params.iter().map(|param| param.bytes(shape) as u64).sum::<u64>();
        // What an updated output holds before is kept beside the inputs.
        let updated = exercise.outputs.iter().filter(|param| param.updated);
        let initial: u64 = updated.map(|param| param.bytes(shape) as u64).sum();
        (SETS * places(exercise, shape)) as u64 * (sum(exercise.inputs) + initial)
            + sum(exercise.intermediates)
            + sum(exercise.scratch)
            + 2 * sum(exercise.outputs)
    }

    /// How many sets and places there are to choose from.
    pub(crate) fn choices(&self) -> usize {
        self.sets.iter().map(|set| set.places.len()).sum()
    }

    /// Which set a choice is, and in which of its places.
    fn place(&self, choice: usize) -> (usize, usize) {
        let set = choice % self.sets.len();
        (set, choice / self.sets.len() % self.sets[set].places.len())
    }

    /// Queues filling the outputs with poison, or with what they must hold before, and the scratch with poison.
    pub(crate) fn reset(&mut self, who: Who, set: usize) -> Result<(), DriverError> {
        let (set, which) = self.place(set);
        let stream = &self.trial.session.device.stream;
        let (side, outputs) = match who {
            Who::Submission => (0, &mut self.submission),
            _ => (1, &mut self.unfused),
        };
        for scratch in &mut self.scratch {
            scratch.poison_contents(stream)?;
        }
        let Set { places, tables, .. } = &mut self.sets[set];
        tables[which][side].copy_to(stream, &mut places[which].inputs)?;
        places[which].reset(stream, outputs)
    }

    /// Has the emulated device count the scratch as never written; not for launches that are timed, as it waits.
    fn forget(&self) -> Result<(), DriverError> {
        self.scratch.iter().try_for_each(|buffer| memory::forget(&self.trial.session.device, buffer))
    }

    /// Queues one run.
    pub(crate) fn run(&mut self, who: Who, set: usize) -> Result<(), Trouble> {
        let Trial { session, entry, program, .. } = *self.trial;
        let (set, which) = self.place(set);
        let Set { values, places, .. } = &mut self.sets[set];
        let inputs = &mut places[which].inputs;
        let scratch = &mut self.scratch;
        if who == Who::Submission {
            let buffers = [&mut **inputs, &mut *self.submission, scratch];
            return session.launch(entry, program, buffers, &values.case.scalars, self.shape);
        }
        if let (Who::Top, Some((entry, program))) = (who, self.trial.top) {
            let buffers = [&mut **inputs, &mut *self.unfused, scratch];
            return session.launch(entry, program, buffers, &values.case.scalars, self.shape);
        }
        let arguments = Arguments {
            inputs,
            outputs: &mut self.unfused,
            scratch,
            gemm: session.gemm(entry.exercise)?,
            scalars: &values.case.scalars,
            rows: self.shape.rows,
            columns: self.shape.columns,
            depth: self.shape.depth,
            heads: self.shape.heads,
            experts: self.shape.experts,
            pages: self.shape.pages,
        };
        let (stream, exercise) = (&session.device.stream, entry.exercise);
        let queued = match (who, &exercise.rival) {
            (Who::Rival, Some(rival)) => {
                session.rivals()?.run_step(stream, exercise, &rival.step, &self.intermediates, &arguments)
            }
            (Who::Rung(index), _) if index < exercise.ladder.len() => {
                let step = &exercise.ladder[index].step;
                self.trial.ladder()?.run_step(stream, exercise, step, &self.intermediates, &arguments)
            }
            _ => session.baseline()?.run(stream, exercise, &mut self.intermediates, arguments),
        };
        queued.map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_LAUNCH_TIMEOUT if session.is_emulated() => Trouble::Unable(TOO_LARGE.to_owned()),
            _ if who == Who::Unfused => Trouble::driver("running the unfused chain")(error),
            _ => Trouble::driver("running a kernel of the course")(error),
        })
    }

    /// Waits for everything on the device, which also brings up what went wrong there.
    pub(crate) fn finish(&self) -> Result<(), Trouble> {
        let Trial { session, entry, program, .. } = *self.trial;
        session.device.context.synchronize().map_err(|error| session.explain(error, entry, program, self.shape))
    }

    /// One run on the emulated device, with all checks, and what it counted.
    pub(crate) fn count(&mut self, who: Who) -> Result<Report, Trouble> {
        self.count_with(who, Checks::ALL)
    }

    /// The same with these checks. They take a third of the time, and say nothing new of what was judged elsewhere.
    pub(crate) fn count_with(&mut self, who: Who, checks: Checks) -> Result<Report, Trouble> {
        let session = self.trial.session;
        self.reset(who, 0).map_err(Trouble::driver("preparing a launch"))?;
        self.forget().map_err(Trouble::driver("preparing a launch"))?;
        self.finish()?;
        session.take_report();
        session.with_checks(checks, || self.run(who, 0).and_then(|()| self.finish()))?;
        let report = session.take_report();
        session.refuse_faults(&report, self.trial.entry, self.shape)?;
        Ok(report)
    }

    /// What the emulated device counts of the unfused chain, without checks: the chain's kernels have tests of their own.
    pub(crate) fn count_unfused(&mut self) -> Result<Report, Trouble> {
        let session = self.trial.session;
        session.known.count(self.run_of(Who::Unfused), || self.count_with(Who::Unfused, Checks::NONE))
    }

    fn run_of(&self, who: Who) -> Run {
        Run { exercise: self.trial.exercise().name, shape: self.shape, seed: self.trial.seed, who }
    }

    /// What a run with a cold cache takes by the emulated device's clock, from a few blocks of each launch. The rig is a sampled one.
    ///
    /// None where the time does not follow from single blocks, or one of them does something wrong.
    pub(crate) fn predict(&mut self, who: Who) -> Result<Option<Predicted>, Trouble> {
        let session = self.trial.session;
        session.known.time(self.run_of(who), || self.predict_with(who, false))
    }

    /// The same, `traced` with what the warps do, and when.
    pub(crate) fn predict_with(&mut self, who: Who, traced: bool) -> Result<Option<Predicted>, Trouble> {
        let session = self.trial.session;
        self.reset(who, 0).map_err(Trouble::driver("preparing a launch"))?;
        self.finish()?;
        session.take_report();
        session.run_dry(&Dry { period: dry_period(self.shape), timed: true, traced, ..Dry::default() })?;
        // Checks never change a time, and what they find, *right* has asked for.
        let ran = session.with_checks(Checks::NONE, || self.run(who, 0).and_then(|()| self.finish()));
        session.run_dry(&Dry::default())?;
        let mut report = session.take_report();
        ran?;
        Ok(Predicted::of(&mut report))
    }

    /// A few blocks of a launch of the submission on the emulated device, one by one, each within so many warp instructions.
    pub(crate) fn blocks(&mut self, blocks: Vec<u64>, budget: u64) -> Result<Report, Trouble> {
        let session = self.trial.session;
        self.reset(Who::Submission, 0).map_err(Trouble::driver("preparing a launch"))?;
        self.finish()?;
        session.take_report();
        session.run_dry(&Dry { blocks, budget, ..Dry::default() })?;
        let ran = self.run(Who::Submission, 0).and_then(|()| self.finish());
        session.run_dry(&Dry::default())?;
        let report = session.take_report();
        ran.map(|()| report)
    }

    /// What a run of this problem takes by the emulated device's clock, whose launches are executed for it.
    pub(crate) fn time(&mut self, who: Who) -> Result<Option<Predicted>, Trouble> {
        let session = self.trial.session;
        session.set_times(true)?;
        let report = self.count(who);
        session.set_times(false)?;
        Ok(Predicted::of(&mut report?))
    }

    /// The inputs of the first set.
    pub(crate) fn inputs(&self) -> &[DeviceBuffer] {
        self.sets.first().and_then(|set| set.places.first()).map_or(&[], |place| &place.inputs)
    }

    /// The submission's outputs, for kernels of our own to read.
    pub(crate) fn outputs(&self, who: Who) -> &[DeviceBuffer] {
        match who {
            Who::Submission => &self.submission,
            _ => &self.unfused,
        }
    }

    /// Compares the submission's outputs with the reference, period by period.
    pub(crate) fn check(&self, set: usize) -> Result<(), Trouble> {
        let stream = &self.trial.session.device.stream;
        let values = &self.sets[self.place(set).0].values;
        let Values { exercise, case, .. } = values;
        let references = values.references();
        let expected = Expected { exercise, shape: case.shape, references, before: &case.initial, threads: None };
        let failed = |error| Trouble::driver("reading outputs")(error);
        values.look(stream, (&self.submission, self.shape), Periods::All, failed, |seen| {
            let Seen { output, from, actual, reference, .. } = seen;
            expected.check_part(output, &actual, reference).map_err(|mut failure| {
                if from > 0 {
                    failure.notes.push(format!("indices are counted from element {from} of the large problem"));
                }
                let told = "small problems were right: is a size special, or an index too narrow?";
                failure.notes.push(told.to_owned());
                failure.shape = Some(self.shape.to_string());
                failure.into()
            })
        })
    }

    /// How far one period of somebody's outputs is from the reference. Nothing under a causal mask: of a long sequence the reference has some
    /// results, and bounds of the others.
    pub(crate) fn accuracy(&self, who: Who, set: usize) -> Result<Vec<Accuracy>, Trouble> {
        if self.trial.exercise().causal {
            return Ok(Vec::new());
        }
        let stream = &self.trial.session.device.stream;
        let failed = |error| Trouble::driver("reading outputs")(error);
        let mut errors = Vec::new();
        let values = &self.sets[self.place(set).0].values;
        values.look(stream, (self.outputs(who), self.shape), Periods::First, failed, |seen| {
            errors.push(Accuracy::of(seen.param.name, seen.reference, &seen.actual));
            Ok(())
        })?;
        Ok(errors)
    }
}

impl Set {
    fn new(trial: &Trial<'_>, shape: Shape, case: Case) -> Result<Self, Trouble> {
        let (session, exercise) = (trial.session, trial.exercise());
        let values = Values::new(exercise, case);
        // Nothing depends on places where times are predicted.
        let count = if session.judges_as_gpu() { places(exercise, shape) } else { 1 };
        let stream = &session.device.stream;
        let place = |_| Place::new(stream, exercise, &values.case, shape, session.margin());
        let places = (0..count).map(place).collect::<Result<_, _>>().map_err(Trouble::driver("making inputs"))?;
        Ok(Self { values, places, tables: Vec::new() })
    }
}

/// What the sets of a large problem hold, one after the other: one period of each.
pub fn cases(exercise: &Exercise, shape: Shape, seed: u64) -> impl Iterator<Item = Case> {
    let mut inputs = Inputs::new(seed.wrapping_add(0x5eed));
    (0..SETS).map(move |_| (exercise.make)(exercise.period(shape), &mut inputs))
}

/// In how many places each set of inputs of this shape lies.
fn places(exercise: &Exercise, shape: Shape) -> usize {
    let bytes: usize = exercise.inputs.iter().map(|param| param.bytes(shape)).sum();
    if bytes <= SMALL { PLACES } else { 1 }
}
