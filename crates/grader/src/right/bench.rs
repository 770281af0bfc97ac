//! Runs one launch under watch, on either device.

use cudarc::driver::DriverError;
use fusion_baseline::{Hold, Place, buffers, memory, tables};
use fusion_course::{Case, Data, DeviceBuffer, Shape};
use fusion_device::Timer;
use fusion_machine::report::{Dry, LaunchReport};
use fusion_machine::{Fault, Report};

use super::dry::BUDGET;
use super::dry::blocks::{self, Output};
use super::other_stream;
use super::passed::Passed;
use crate::cause;
use crate::judgement::{Code, Failure};
use crate::problem;
use crate::problem::Threads;
use crate::trial::Trial;
use crate::trouble::Trouble;

/// Buffers of one shape, and what it takes to launch under watch.
///
/// On a GPU the stream is first held up by a kernel that only waits; then come, in stream order, fresh inputs, poison
/// for the outputs, the submission's work, and a copy of the outputs. Work on another stream does not wait: it sees
/// the wrong inputs, and its outputs are overwritten by poison or come too late for the copy. On the emulated device,
/// which runs everything at once, the stream's own clock tells whether the work was on it.
pub(super) struct Bench<'a> {
    pub(super) trial: &'a Trial<'a>,
    /// Holds up the stream for long enough for a kernel on another one to run; none on the emulated device, where
    /// nothing waits.
    gate: Option<Hold>,
    /// The view, counted over inputs and outputs, that begins so many elements past where its allocation does.
    moved: Option<(usize, usize)>,
    inputs: Vec<DeviceBuffer>,
    outputs: Vec<DeviceBuffer>,
    scratch: Vec<DeviceBuffer>,
    /// On a GPU: the copy of the outputs.
    copies: Vec<DeviceBuffer>,
    /// On the emulated device: what the launches have passed.
    pub(super) passed: Passed,
    /// The most rows that a block had so far, where there was one launch.
    pub(super) rows_of_block: usize,
}

/// What a launch left behind.
pub(super) struct Ran {
    pub(super) outputs: Vec<Data>,
    /// Those of the last launch, where the device tells.
    pub(super) threads: Option<Threads>,
    /// Whether the device says that nothing at all was launched.
    pub(super) idle: bool,
    /// Whether the device says that there was a launch, and that no thread of any stored something.
    pub(super) silent: bool,
    /// What the emulated device found that is no error.
    pub(super) advice: Vec<Fault>,
    /// The first element of each output with a byte that was never written, where the device tells.
    pub(super) unwritten: Vec<Option<usize>>,
    /// Device allocations of the launch function.
    pub(super) allocations: u64,
}

impl<'a> Bench<'a> {
    pub(super) fn new(trial: &'a Trial<'a>) -> Result<Self, Trouble> {
        let session = trial.session;
        let gate = match session.is_emulated() {
            true => None,
            false => Some(Hold::new(&session.timing()?).map_err(Trouble::driver("making the gate"))?),
        };
        Ok(Self {
            trial,
            gate,
            moved: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            scratch: Vec::new(),
            copies: Vec::new(),
            passed: Passed::default(),
            rows_of_block: 0,
        })
    }

    /// Lets a view, counted over inputs and outputs, begin so many elements past where its allocation does, and all
    /// others where theirs do.
    pub(super) fn move_view(&mut self, param: usize, elements: usize) {
        self.moved = Some((param, elements));
    }

    /// Makes buffers for a shape.
    pub(super) fn prepare(&mut self, shape: Shape) -> Result<(), Trouble> {
        let (session, exercise) = (self.trial.session, self.trial.exercise());
        let stream = &session.device.stream;
        let margin = session.margin();
        let make = |params, margin| buffers(stream, params, shape, margin).map_err(Trouble::driver("making buffers"));
        self.inputs = make(exercise.inputs, margin)?;
        self.outputs = make(exercise.outputs, margin)?;
        self.scratch = make(exercise.scratch, margin)?;
        if let Some((moved, elements)) = self.moved {
            let params = exercise.inputs.iter().chain(exercise.outputs);
            let buffers = self.inputs.iter_mut().chain(&mut self.outputs);
            if let Some((param, buffer)) = params.zip(buffers).nth(moved) {
                let margin = margin + elements * param.dtype.bytes();
                let moved = DeviceBuffer::for_param(stream, param, shape, margin);
                *buffer = moved.map_err(Trouble::driver("making buffers"))?;
            }
        }
        if session.judges_as_gpu() {
            self.copies = make(exercise.outputs, 0)?;
        }
        Ok(())
    }

    /// Has a case's tables hold where the buffers are.
    pub(super) fn fill_tables(&self, case: &mut Case) {
        let (stream, exercise) = (&self.trial.session.device.stream, self.trial.exercise());
        for (index, table) in tables(stream, exercise, case.shape, &self.inputs, &self.outputs) {
            case.inputs[index] = table;
        }
    }

    /// A failure with its cause, where the last launch shows it.
    pub(super) fn explain(&self, trouble: Trouble, case: &Case) -> Trouble {
        let Trouble::Failure(failure) = trouble else { return trouble };
        let Trial { session, entry, .. } = *self.trial;
        let exercise = entry.exercise;
        let params = exercise.inputs.iter().chain(exercise.outputs).chain(exercise.scratch);
        let buffers =
            params.zip(self.inputs.iter().chain(&self.outputs).chain(&self.scratch)).map(|(param, buffer)| {
                let address = buffer.address(&session.device.stream);
                cause::Buffer { param, address }
            });
        let buffers = buffers.collect();
        let report = session.seen();
        let seen =
            cause::Seen { exercise, source: &entry.source, rust: entry.rust.as_ref(), case, buffers, report: &report };
        cause::explain(*failure, &seen).into()
    }

    pub(super) fn launch(&mut self, case: &Case) -> Result<Ran, Trouble> {
        if self.trial.session.judges_as_gpu() { self.launch_gated(case) } else { self.launch_emulated(case) }
    }

    fn launch_emulated(&mut self, case: &Case) -> Result<Ran, Trouble> {
        let Trial { session, entry, program, .. } = *self.trial;
        self.run_emulated(case, |buffers| session.launch(entry, program, buffers, &case.scalars, case.shape))
    }

    /// Has the buffers hold what they must before a launch, on the emulated device.
    fn fill(&mut self, case: &Case) -> Result<(), DriverError> {
        let device = &self.trial.session.device;
        let stream = &device.stream;
        for (buffer, data) in self.inputs.iter_mut().zip(&case.inputs) {
            buffer.write(stream, data)?;
        }
        for (index, buffer) in self.outputs.iter_mut().enumerate() {
            buffer.poison(stream)?;
            if let Some(Some(data)) = case.initial.get(index) {
                buffer.write(stream, data)?;
            } else {
                memory::forget(device, buffer)?;
            }
        }
        for buffer in &mut self.scratch {
            buffer.poison(stream)?;
            memory::forget(device, buffer)?;
        }
        Ok(())
    }

    /// Executes these blocks of the submission's launch on the emulated device. None where it does not come down to one
    /// launch, or something is found.
    pub(super) fn launch_blocks(&mut self, case: &Case, blocks: Vec<u64>) -> Result<Option<LaunchReport>, Trouble> {
        let Trial { session, entry, program, .. } = *self.trial;
        let ours = || Trouble::driver("preparing a launch");
        self.fill(case).map_err(ours())?;
        session.device.context.synchronize().map_err(ours())?;
        session.take_report();
        session.run_dry(&Dry { blocks, budget: BUDGET, ..Dry::default() })?;
        let buffers = [&mut *self.inputs, &mut *self.outputs, &mut *self.scratch];
        let launched = session.launch(entry, program, buffers, &case.scalars, case.shape);
        let finished = session.device.stream.synchronize();
        session.run_dry(&Dry::default())?;
        let mut report = session.take_report();
        let Report { launches, faults, advice, copies, allocations, .. } = &report;
        let one = launches.len() == 1 && *copies == 0 && faults.is_empty() && advice.is_empty() && *allocations == 0;
        self.passed.look(&report, case.shape);
        Ok(report.launches.pop().filter(|_| one && launched.is_ok() && finished.is_ok()))
    }

    /// Where the outputs are.
    pub(super) fn places(&self) -> Vec<Output> {
        let stream = &self.trial.session.device.stream;
        let outputs = self.trial.exercise().outputs.iter().zip(&self.outputs);
        outputs.map(|(param, buffer)| Output::new(param, buffer, stream)).collect()
    }

    /// What the outputs hold.
    pub(super) fn read_outputs(&self) -> Result<Vec<Data>, Trouble> {
        self.read(&self.outputs)
    }

    /// What comes of work on the emulated device that is queued by `queue`, which has inputs, outputs and scratch memory.
    pub(super) fn run_emulated(
        &mut self,
        case: &Case,
        queue: impl FnOnce([&mut [DeviceBuffer]; 3]) -> Result<(), Trouble>,
    ) -> Result<Ran, Trouble> {
        let Trial { session, entry, program, .. } = *self.trial;
        let stream = &session.device.stream;
        let ours = || Trouble::driver("preparing a launch");
        self.fill(case).map_err(ours())?;
        let timer = Timer::new(stream).map_err(ours())?;
        session.take_report();
        timer.start().map_err(ours())?;
        litter();
        queue([&mut *self.inputs, &mut *self.outputs, &mut *self.scratch])?;
        // An error here is the submission's, and waiting for the stream brings it up again.
        let stopped = timer.stop();
        session.finish(entry, program, case.shape)?;
        stopped.map_err(ours())?;
        let elapsed = f64::from(timer.elapsed_ms().map_err(ours())?) * 1e6;
        session.device.context.synchronize().map_err(|error| session.explain(error, entry, program, case.shape))?;
        let report = session.take_report();
        session.refuse_faults(&report, entry, case.shape)?;
        self.passed.look(&report, case.shape);
        if let [launch] = &report.launches[..] {
            let blocks = blocks::count(launch).max(1) as usize;
            self.rows_of_block = self.rows_of_block.max(case.shape.rows.div_ceil(blocks));
        }
        // The stream's clock advances by what runs on it, or by what it waits for.
        let longest = report.launches.iter().map(|launch| launch.predicted_ns).fold(0.0, f64::max);
        if elapsed < 0.9 * longest {
            return Err(other_stream().into());
        }
        let threads = report.launches.last().map(Threads::of);
        let idle = report.launches.is_empty() && report.copies == 0;
        let stores = |launch: &LaunchReport| {
            let counted = &launch.counters;
            counted.global_store.requests + counted.global_atomic.requests + counted.dram_write_bytes > 0
        };
        let silent = !report.launches.is_empty() && !report.launches.iter().any(stores);
        let first = |output| memory::unwritten(&session.device, output);
        let unwritten = self.outputs.iter().map(first).collect();
        let outputs = self.read(&self.outputs)?;
        Ok(Ran { outputs, threads, idle, silent, advice: report.advice, unwritten, allocations: report.allocations })
    }

    fn launch_gated(&mut self, case: &Case) -> Result<Ran, Trouble> {
        let Trial { session, entry, program, .. } = *self.trial;
        let stream = &session.device.stream;
        let ours = || Trouble::driver("preparing a launch");
        let place = Place::new(stream, entry.exercise, case, case.shape, 0).map_err(ours())?;
        // Until the gate opens, the inputs hold what no reference comes from.
        for buffer in &mut self.inputs {
            buffer.poison(stream).map_err(ours())?;
        }
        for buffer in self.outputs.iter_mut().chain(&mut self.copies).chain(&mut self.scratch) {
            buffer.poison(stream).map_err(ours())?;
        }
        session.device.context.synchronize().map_err(ours())?;

        self.gate.iter().try_for_each(|gate| gate.run(stream)).map_err(ours())?;
        place.copy_inputs(stream, &mut self.inputs).map_err(ours())?;
        place.reset(stream, &mut self.outputs).map_err(ours())?;
        let buffers = [&mut *self.inputs, &mut *self.outputs, &mut *self.scratch];
        session.launch(entry, program, buffers, &case.scalars, case.shape)?;
        for (output, copy) in self.outputs.iter().zip(&mut self.copies) {
            // An error here is the submission's, and waiting for the stream brings it up again.
            let _submissions = memory::copy(stream, (output, 0), (copy, 0), memory::bytes(output));
        }
        session.finish(entry, program, case.shape)?;
        let outputs = self.read(&self.copies)?;
        session.device.context.synchronize().map_err(|error| session.explain(error, entry, program, case.shape))?;
        // What arrives after the stream has finished was not on it.
        let late = self.read(&self.outputs)?;
        if outputs.iter().zip(&late).any(|(early, late)| early.to_bytes() != late.to_bytes()) {
            return Err(other_stream().into());
        }
        let (advice, unwritten) = Default::default();
        Ok(Ran { outputs, threads: None, idle: false, silent: false, advice, unwritten, allocations: 0 })
    }

    fn read(&self, buffers: &[DeviceBuffer]) -> Result<Vec<Data>, Trouble> {
        let read =
            buffers.iter().map(|buffer| buffer.read(&self.trial.session.device.stream)).collect::<Result<_, _>>();
        read.map_err(Trouble::driver("reading buffers"))
    }

    /// Inputs or surroundings that the last launch changed.
    pub(super) fn damage(&self, case: &Case) -> Result<Option<Failure>, Trouble> {
        let exercise = self.trial.exercise();
        let stream = &self.trial.session.device.stream;
        let ours = || Trouble::driver("checking buffers");
        if let Some(failure) = problem::check_inputs(exercise, case, &self.inputs, stream).map_err(ours())? {
            debug_assert_eq!(failure.code, Code::Inputs);
            return Ok(Some(failure));
        }
        let all =
            [(exercise.inputs, &self.inputs), (exercise.outputs, &self.outputs), (exercise.scratch, &self.scratch)];
        for (params, buffers) in all {
            if let Some(failure) = problem::check_margins(params, buffers, case.shape, stream).map_err(ours())? {
                return Ok(Some(failure));
            }
        }
        Ok(None)
    }
}

/// Leaves something on the stack where the launch function is to have its variables, so that what lies beside them is seldom 0 by
/// chance: an argument that is too short is then a wrong one.
#[inline(never)]
fn litter() {
    std::hint::black_box(&mut [0xa5_u8; 1 << 14]);
}
