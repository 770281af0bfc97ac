//! Timing a chain and its fused form.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{NoGemm, Shape, Step};
use fusion_device::Timer;
use fusion_machine::LaunchReport;
use kernels::{Baseline, Flush};

use crate::{Lesson, LessonError, Problem, Subject};

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
        let shapes = subject.shapes(sizes);
        let points =
            shapes.into_iter().map(|shape| point(lesson, subject, &mut clock, shape)).collect::<Result<_, _>>()?;
        Ok(Sweep { points, ceiling })
    }
}

fn point(lesson: &Lesson, subject: &Subject, clock: &mut Clock, shape: Shape) -> Result<Point, LessonError> {
    let exercise = subject.exercise;
    let stream = &lesson.device.stream;
    let doing = || LessonError::driver(format!("{} of {} elements", exercise.name, shape.elements()));
    // What was launched before is another point's.
    reports(lesson)?;
    let mut problem = Problem::new(stream, exercise, shape, 22).map_err(doing())?;

    let mut run = |program: &Baseline, steps: &[Step], problem: &mut Problem| {
        let (arguments, intermediates) = problem.arguments(&NoGemm);
        let launch = |step| program.run_step(stream, exercise, step, intermediates, &arguments);
        clock.median(|| steps.iter().try_for_each(launch))
    };
    let mut steps = Vec::with_capacity(exercise.unfused.len());
    for step in exercise.unfused {
        steps.push(run(&lesson.unfused, &[*step], &mut problem).map_err(doing())?);
    }
    let unfused = run(&lesson.unfused, exercise.unfused, &mut problem).map_err(doing())?;
    let mut fused = Vec::new();
    for (_, step) in subject.kernels(shape) {
        problem.reset(stream).map_err(doing())?;
        fused.push(run(&lesson.fused, &[step], &mut problem).map_err(doing())?);
        if exercise.outputs.iter().any(|output| output.updated) {
            // It was updated by every run that was timed.
            problem.reset(stream).map_err(doing())?;
            let (arguments, intermediates) = problem.arguments(&NoGemm);
            lesson.fused.run_step(stream, exercise, &step, intermediates, &arguments).map_err(doing())?;
        }
        problem.check(stream, step.kernel, |_| true)?;
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
            Err(LessonError::Wrong(format!("kernel `{}` is wrong: {}", fault.kernel, fusion_diagnostic::say(fault))))
        }
        None => Ok(report.launches),
    }
}

/// Times work on the device: measured on a real GPU, with the L2 flushed before each run; predicted on the emulated one.
#[derive(Debug)]
pub struct Clock {
    stream: Arc<CudaStream>,
    timer: Timer,
    emulated: bool,
    flush: Option<Flush>,
}

impl Clock {
    /// # Errors
    /// The driver's, when there is no memory for what empties the cache.
    pub fn new(lesson: &Lesson) -> Result<Clock, DriverError> {
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
    ///
    /// # Errors
    /// The driver's, of `work` or of the events around it.
    pub fn median(&mut self, mut work: impl FnMut() -> Result<(), DriverError>) -> Result<f64, DriverError> {
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
    ///
    /// # Errors
    /// The driver's, when there is no memory for the copy.
    pub fn ceiling(&mut self) -> Result<f64, DriverError> {
        let stream = self.stream.clone();
        let len = if self.emulated { 64 << 20 } else { 1 << 30 };
        let from = stream.alloc_zeros::<u8>(len)?;
        let mut to = stream.alloc_zeros::<u8>(len)?;
        let ns = self.median(|| stream.memcpy_dtod(&from, &mut to))?;
        Ok(2.0 * len as f64 / (ns * 1e-9))
    }
}
