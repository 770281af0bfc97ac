//! Timing a chain and its fused form.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{Arguments, Case, DeviceBuffer, Exercise, Inputs, Param, Shape, Step};
use fusion_device::Timer;
use fusion_machine::LaunchReport;
use kernels::{Baseline, Flush};

use crate::{Lesson, LessonError, Subject};

/// One operation over all sizes.
#[derive(Debug)]
pub struct Sweep {
    pub points: Vec<Point>,
    /// What a large device-to-device copy reaches, in bytes read and written a second.
    pub ceiling: f64,
}

/// Times at one size, in nanoseconds.
#[derive(Debug)]
pub struct Point {
    pub shape: Shape,
    /// One for each step of the chain.
    pub steps: Vec<f64>,
    /// The whole chain, launched back to back.
    pub unfused: f64,
    /// One for each fused kernel of the subject.
    pub fused: Vec<f64>,
    /// What each kernel did, by name and in the order of the chain; empty on a real GPU.
    pub counters: Vec<LaunchReport>,
}

/// Repetitions on a real GPU; the emulated device gives the same answer every time.
const REPEAT: usize = 15;

impl Sweep {
    pub(crate) fn run(lesson: &Lesson, subject: &Subject, sizes: &[usize]) -> Result<Sweep, LessonError> {
        let mut clock = Clock::new(lesson).map_err(LessonError::driver("preparing the timer"))?;
        let ceiling = clock.ceiling().map_err(LessonError::driver("measuring a copy"))?;
        let points = sizes.iter().map(|&n| point(lesson, subject, &mut clock, n)).collect::<Result<_, _>>()?;
        Ok(Sweep { points, ceiling })
    }
}

fn point(lesson: &Lesson, subject: &Subject, clock: &mut Clock, n: usize) -> Result<Point, LessonError> {
    let exercise = subject.exercise;
    let stream = &lesson.device.stream;
    let shape = Shape::flat(n);
    let case = (exercise.make)(shape, &mut Inputs::new(22));
    let doing = || LessonError::driver(format!("{} of {n} elements", exercise.name));
    // What was launched before is another point's.
    reports(lesson)?;
    let mut buffers = Buffers::new(stream, exercise, &case).map_err(doing())?;

    let mut time = |steps: &[Step]| buffers.time(clock, stream, &lesson.unfused, exercise, &case, steps);
    let steps = exercise.unfused.iter().map(|step| time(&[*step])).collect::<Result<_, _>>().map_err(doing())?;
    let unfused = time(exercise.unfused).map_err(doing())?;
    let mut fused = Vec::with_capacity(subject.fused.len());
    for (_, step) in subject.fused {
        buffers.poison(stream).map_err(doing())?;
        fused.push(buffers.time(clock, stream, &lesson.fused, exercise, &case, &[*step]).map_err(doing())?);
        buffers.check(stream, exercise, &case, step.kernel)?;
    }
    let mut counters: Vec<LaunchReport> = Vec::new();
    for launch in reports(lesson)? {
        if counters.iter().all(|known| known.kernel != launch.kernel) {
            counters.push(launch);
        }
    }
    Ok(Point { shape, steps, unfused, fused, counters })
}

/// The launches since the last call, on the emulated device.
///
/// # Errors
/// The first fault that the device found in them.
pub(crate) fn reports(lesson: &Lesson) -> Result<Vec<LaunchReport>, LessonError> {
    let Some(emulator) = lesson.device.emulator() else { return Ok(Vec::new()) };
    let report = emulator.take_report().map_err(|error| LessonError::Wrong(error.to_string()))?;
    match report.faults.first() {
        Some(fault) => {
            Err(LessonError::Wrong(format!("kernel `{}` is wrong: {}: {}", fault.kernel, fault.code, fault.title)))
        }
        None => Ok(report.launches),
    }
}

/// The device buffers of one case.
struct Buffers {
    inputs: Vec<DeviceBuffer>,
    outputs: Vec<DeviceBuffer>,
    intermediates: Vec<DeviceBuffer>,
}

impl Buffers {
    fn new(stream: &Arc<CudaStream>, exercise: &Exercise, case: &Case) -> Result<Buffers, DriverError> {
        let blank = |params: &[Param]| -> Result<Vec<_>, DriverError> {
            params.iter().map(|p| DeviceBuffer::poisoned(stream, p.dtype, p.len(case.shape), 0)).collect()
        };
        let inputs =
            case.inputs.iter().map(|data| DeviceBuffer::from_host(stream, data, 0)).collect::<Result<_, _>>()?;
        Ok(Buffers { inputs, outputs: blank(exercise.outputs)?, intermediates: blank(exercise.intermediates)? })
    }

    /// Fills the outputs anew, so that a kernel that writes nothing cannot pass with another's results.
    fn poison(&mut self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        self.outputs.iter_mut().try_for_each(|output| output.poison(stream))
    }

    /// The time of these launches, back to back.
    fn time(
        &mut self,
        clock: &mut Clock,
        stream: &Arc<CudaStream>,
        program: &Baseline,
        exercise: &Exercise,
        case: &Case,
        steps: &[Step],
    ) -> Result<f64, DriverError> {
        let arguments = Arguments {
            inputs: &self.inputs,
            outputs: &mut self.outputs,
            scalars: &case.scalars,
            rows: case.shape.rows,
            columns: case.shape.columns,
        };
        let intermediates = &self.intermediates;
        clock.median(|| {
            steps.iter().try_for_each(|step| program.run_step(stream, exercise, step, intermediates, &arguments))
        })
    }

    fn check(
        &self,
        stream: &Arc<CudaStream>,
        exercise: &Exercise,
        case: &Case,
        kernel: &str,
    ) -> Result<(), LessonError> {
        let references = (exercise.reference)(case);
        for ((buffer, reference), tolerance) in self.outputs.iter().zip(references).zip(exercise.tolerances) {
            let actual = buffer.read(stream).map_err(LessonError::driver("reading the result"))?;
            let checked = reference.check(&actual, *tolerance);
            checked.map_err(|mismatch| LessonError::Wrong(format!("the kernel {kernel} is wrong: {mismatch}")))?;
        }
        Ok(())
    }
}

/// Times work on the device.
struct Clock {
    stream: Arc<CudaStream>,
    timer: Timer,
    emulated: bool,
    flush: Option<Flush>,
}

impl Clock {
    fn new(lesson: &Lesson) -> Result<Clock, DriverError> {
        let device = &lesson.device;
        let stream = device.stream.clone();
        // Every launch on the emulated device finds a cold cache.
        let flush = match &lesson.timing {
            Some(module) => Some(Flush::new(&stream, module, device.properties.l2_bytes)?),
            None => None,
        };
        Ok(Clock { timer: Timer::new(&stream)?, stream, emulated: device.is_emulated(), flush })
    }

    /// The median time of `work` in nanoseconds.
    fn median(&mut self, mut work: impl FnMut() -> Result<(), DriverError>) -> Result<f64, DriverError> {
        let repeat = if self.emulated { 1 } else { REPEAT };
        let mut times = Vec::with_capacity(repeat);
        if !self.emulated {
            work()?;
        }
        for _ in 0..repeat {
            if let Some(flush) = &mut self.flush {
                flush.run(&self.stream)?;
            }
            self.timer.start()?;
            work()?;
            self.timer.stop()?;
            times.push(f64::from(self.timer.elapsed_ms()?) * 1e6);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }

    /// What a device-to-device copy reaches, in bytes read and written a second.
    fn ceiling(&mut self) -> Result<f64, DriverError> {
        let stream = self.stream.clone();
        let len = if self.emulated { 64 << 20 } else { 1 << 30 };
        let from = stream.alloc_zeros::<u8>(len)?;
        let mut to = stream.alloc_zeros::<u8>(len)?;
        let ns = self.median(|| stream.memcpy_dtod(&from, &mut to))?;
        Ok(2.0 * len as f64 / (ns * 1e-9))
    }
}
