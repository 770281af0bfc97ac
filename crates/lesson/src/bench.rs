//! Timing a chain and its fused form.

use fusion_baseline::{Baseline, Clock, Problem};
use fusion_course::{NoGemm, Rung, Shape, Step};
use fusion_machine::LaunchReport;

use crate::{Lesson, LessonError, Size, Subject, check};

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
    /// The fused kernels of the subject that can do the shape: what each is called, and its time.
    pub fused: Vec<(Rung, f64)>,
    /// What each kernel did, by name and in the order of the chain; empty on a real GPU.
    pub counters: Vec<LaunchReport>,
}

impl Sweep {
    pub(crate) fn run(lesson: &Lesson, subject: &Subject, sizes: &[Size]) -> Result<Sweep, LessonError> {
        let mut clock = lesson.clock().map_err(LessonError::driver("preparing the timer"))?;
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
    lesson.check()?;
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
    // As many bytes as a block may ask for.
    let room = lesson.device.properties.limits.shared_per_block as usize;
    for rung in subject.kernels(shape).into_iter().filter(|rung| rung.step.shared * shape.columns <= room) {
        let step = rung.step;
        problem.reset(stream).map_err(doing())?;
        fused.push((rung, run(&lesson.fused, &[step], &mut problem).map_err(doing())?));
        if exercise.outputs.iter().any(|output| output.updated) {
            // It was updated by every run that was timed.
            problem.reset(stream).map_err(doing())?;
            let (arguments, intermediates) = problem.arguments(&NoGemm);
            lesson.fused.run_step(stream, exercise, &step, intermediates, &arguments).map_err(doing())?;
        }
        check(&problem, stream, step.kernel, |_| true)?;
    }
    let mut counters: Vec<LaunchReport> = Vec::new();
    for launch in lesson.launches()? {
        if counters.iter().all(|known| known.kernel != launch.kernel) {
            counters.push(launch);
        }
    }
    Ok(Point { shape, steps, unfused, fused, counters })
}
