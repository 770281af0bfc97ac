//! Where the time goes, by the length of the sequence.

use fusion_baseline::{Baseline, Clock, Problem, dry_period};
use fusion_course::{Exercise, NoGemm, Rung, Shape, Step, day28};
use fusion_device::Emulator;
use fusion_lesson::{Lesson, LessonError, check, duration, grouped, new_table};
use fusion_machine::report::Dry;

const EXERCISE: &Exercise = &day28::attention_row::EXERCISE;
/// A problem that is small enough to be computed on the host: with heads of several tiles, of which the last is no
/// whole one.
const CHECKED: usize = 70;

/// The chain and the rungs, and what times them.
struct Bench<'a> {
    lesson: &'a Lesson,
    ladder: Baseline,
    clock: Clock,
}

/// Times in nanoseconds.
struct Times {
    steps: Vec<f64>,
    chain: f64,
    rungs: Vec<f64>,
}

pub(crate) fn show(lesson: &Lesson, lengths: &[usize], heads: usize, head: usize) -> Result<String, LessonError> {
    let ladder = fusion_baseline::load(&lesson.device, &fusion_baseline::ladder(EXERCISE.name));
    let ladder = Baseline::from_modules(vec![ladder.map_err(LessonError::Compile)?]);
    let clock = lesson.clock().map_err(LessonError::driver("preparing the timer"))?;
    let mut bench = Bench { lesson, ladder, clock };
    bench.check(Shape::attention([2, 2], CHECKED, head))?;

    let names = EXERCISE.unfused.iter().flat_map(|step| step.writes.iter().copied());
    let header = ["tokens", "chain"].into_iter().chain(names).chain(EXERCISE.ladder.iter().map(|rung| rung.name));
    let mut table = new_table(&header.chain(["speedup"]).collect::<Vec<_>>());
    for &length in lengths {
        let shape = Shape::attention([heads; 2], length, head);
        let times = bench.times(shape)?;
        let of_steps: f64 = times.steps.iter().sum();
        let last = times.rungs.last().copied().unwrap_or(f64::NAN);
        let mut row = vec![grouped(length), duration(times.chain)];
        row.extend(times.steps.iter().map(|step| format!("{:.0}%", 100.0 * step / of_steps)));
        row.extend(times.rungs.iter().map(|rung| duration(*rung)));
        row.push(format!("{:.2}x", times.chain / last));
        table.add_row(row);
    }
    Ok(format!(
        "\n4. Where the time goes: {heads} heads with {head} elements in f32, times {}\n\n\
         Shares are those of the chain's launches, each by itself, named by what they write. The speedup is that of\n\
         the last kernel over the chain. Each kernel's result was compared with f64 at {CHECKED} tokens.\n\n{table}",
        lesson.times()
    ))
}

impl Bench<'_> {
    /// Runs everything once on a small problem and compares the results.
    fn check(&self, shape: Shape) -> Result<(), LessonError> {
        let stream = &self.lesson.device.stream;
        let doing = || LessonError::driver(format!("{} of {CHECKED} tokens", EXERCISE.name));
        let mut problem = Problem::new(stream, EXERCISE, shape, 28).map_err(doing())?;
        let chain = [(self.lesson.unfused(), "the chain", EXERCISE.unfused.to_vec())];
        let rungs = EXERCISE.ladder.iter().map(|Rung { name, step, .. }| (&self.ladder, *name, vec![*step]));
        for (program, name, steps) in chain.into_iter().chain(rungs) {
            problem.reset(stream).map_err(doing())?;
            run(stream, program, &steps, &mut problem).map_err(doing())?;
            check(&problem, stream, name, |_| true)?;
        }
        self.lesson.check()
    }

    fn times(&mut self, shape: Shape) -> Result<Times, LessonError> {
        let dry = self.lesson.device.emulator().cloned();
        let period = Dry { period: dry_period(shape), ..Dry::default() };
        let doing = || LessonError::driver(format!("{} of {} tokens", EXERCISE.name, shape.terms()));
        // Large problems are not executed on the emulated device: their memory repeats itself, and blocks that are
        // chosen run.
        set(dry.as_ref(), &period)?;
        let problem = Problem::new(&self.lesson.device.stream, EXERCISE, shape, 28);
        set(dry.as_ref(), &Dry::default())?;
        let mut problem = problem.map_err(doing())?;
        let mut time = |program: &Baseline, steps: &[Step]| -> Result<f64, LessonError> {
            let stream = &self.lesson.device.stream;
            let Some(emulator) = &dry else {
                return self.clock.median(|| run(stream, program, steps, &mut problem)).map_err(doing());
            };
            stream.synchronize().map_err(doing())?;
            self.lesson.check()?;
            emulator.empty_cache();
            set(Some(emulator), &Dry { timed: true, ..period.clone() })?;
            let ran = run(stream, program, steps, &mut problem).and_then(|()| stream.synchronize());
            set(Some(emulator), &Dry::default())?;
            ran.map_err(doing())?;
            let report = emulator.take_report().map_err(|error| LessonError::Wrong(error.to_string()))?;
            if !report.faults.is_empty() {
                return Err(LessonError::Wrong(format!("a kernel is wrong at {} tokens", shape.terms())));
            }
            report.predicted_ns().ok_or_else(|| LessonError::Wrong("a launch has no time".to_owned()))
        };
        let chain = self.lesson.unfused();
        let steps = EXERCISE.unfused.iter().map(|step| time(chain, &[*step])).collect::<Result<_, _>>()?;
        let whole = time(chain, EXERCISE.unfused)?;
        let rungs = EXERCISE.ladder.iter().map(|rung| time(&self.ladder, &[rung.step])).collect::<Result<_, _>>()?;
        Ok(Times { steps, chain: whole, rungs })
    }
}

fn run(
    stream: &std::sync::Arc<cudarc::driver::CudaStream>,
    program: &Baseline,
    steps: &[Step],
    problem: &mut Problem,
) -> Result<(), cudarc::driver::DriverError> {
    let (arguments, intermediates) = problem.arguments(&NoGemm);
    steps.iter().try_for_each(|step| program.run_step(stream, EXERCISE, step, intermediates, &arguments))
}

fn set(emulator: Option<&Emulator>, dry: &Dry) -> Result<(), LessonError> {
    emulator.map_or(Ok(()), |emulator| emulator.run_dry(dry)).map_err(|error| LessonError::Wrong(error.to_string()))
}
