//! Runs the variants of a case and puts them side by side.

use fusion_baseline::{Baseline, Multiplier, Problem};
use fusion_course::{Exercise, Shape, Step, Work};
use fusion_lesson::{Clock, Lesson, LessonError, check, duration, grouped, new_table};

/// An operation and ways to compute it.
pub(crate) struct Case<'a> {
    pub(crate) title: &'static str,
    pub(crate) exercise: &'static Exercise,
    pub(crate) variants: &'static [Variant],
    /// What to see in the table.
    pub(crate) lesson: &'a str,
}

/// One way: its launches.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) steps: &'static [Step],
}

/// What it takes to run variants.
pub(crate) struct Bench<'a> {
    lesson: &'a Lesson,
    /// The lesson's own kernels.
    own: Baseline,
    multiplier: Multiplier,
    clock: Clock,
    /// What a copy reaches, in bytes a second.
    ceiling: f64,
}

/// What a variant took.
struct Took {
    ns: f64,
    /// Thread instructions, on the emulated device.
    instructions: Option<u64>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(lesson: &'a Lesson, own: Baseline) -> Result<Self, LessonError> {
        let multiplier = Multiplier::new(&lesson.device).map_err(LessonError::Compile)?;
        let mut clock = lesson.clock().map_err(LessonError::driver("preparing the timer"))?;
        let ceiling = clock.ceiling().map_err(LessonError::driver("measuring a copy"))?;
        Ok(Self { lesson, own, multiplier, clock, ceiling })
    }

    /// Who multiplies matrices, as a line.
    pub(crate) fn products(&self) -> String {
        format!("{}.", self.multiplier.describe())
    }

    /// Runs each variant, checks what it wrote, and returns what to print.
    pub(crate) fn compare(&mut self, case: &Case<'_>, shape: Shape) -> Result<String, LessonError> {
        let Case { exercise, .. } = *case;
        let stream = self.lesson.device.stream.clone();
        let failed = || LessonError::driver(format!("{} at {shape}", exercise.name));
        let mut problem = Problem::new(&stream, exercise, shape, 26).map_err(failed())?;

        let times = format!("time, {}", self.lesson.times());
        let mut table = new_table(&["", "launches", "bytes moved", "instructions", &times, "speedup", "of a copy"]);
        let mut first = None;
        for variant in case.variants {
            problem.reset(&stream).map_err(failed())?;
            let took = self.run(exercise, &mut problem, variant)?;
            let who = format!("\"{}\"", variant.name);
            check(&problem, &stream, &who, |param| variant.steps.iter().any(|step| step.writes.contains(&param.name)))?;
            let bytes: u64 = variant.steps.iter().map(|step| step.bytes(exercise, shape)).sum();
            let slowest = *first.get_or_insert(took.ns);
            table.add_row([
                variant.name.to_owned(),
                variant.steps.len().to_string(),
                grouped(bytes as usize),
                took.instructions.map_or("not counted".to_owned(), |count| grouped(count as usize)),
                duration(took.ns),
                format!("{:.2}x", slowest / took.ns),
                format!("{:.0}%", 100.0 * bytes as f64 / (took.ns * 1e-9) / self.ceiling),
            ]);
        }
        Ok(format!("\n{}, {shape}\n\n{table}\n\n{}", case.title, case.lesson))
    }

    fn run(&mut self, exercise: &Exercise, problem: &mut Problem, variant: &Variant) -> Result<Took, LessonError> {
        let stream = self.lesson.device.stream.clone();
        let failed = || LessonError::driver(format!("{} of {}", variant.name, exercise.name));
        let (arguments, intermediates) = problem.arguments(&self.multiplier);
        let (lesson, own) = (self.lesson, &self.own);
        let launch = || {
            variant.steps.iter().try_for_each(|step| {
                let known = step.work == Work::Gemm || own.kernel(step.kernel).is_err();
                let program = if known { lesson.unfused() } else { own };
                program.run_step(&stream, exercise, step, intermediates, &arguments)
            })
        };
        let Some(emulator) = self.lesson.device.emulator() else {
            let ns = self.clock.median(launch).map_err(failed())?;
            return Ok(Took { ns, instructions: None });
        };
        // What was launched before is not this variant's.
        let report = || emulator.take_report().map_err(|error| LessonError::Wrong(error.to_string()));
        self.multiplier.predict(&mut report()?);
        launch().map_err(failed())?;
        stream.synchronize().map_err(failed())?;
        let mut report = report()?;
        if let Some(fault) = report.faults.first() {
            return Err(LessonError::Wrong(format!("kernel `{}`: {}", fault.kernel, fusion_diagnostic::say(fault))));
        }
        self.multiplier.predict(&mut report);
        Ok(Took {
            ns: report.launches.iter().map(|launch| launch.predicted_ns).sum(),
            instructions: Some(report.launches.iter().map(|launch| launch.counters.thread_instructions).sum()),
        })
    }
}
