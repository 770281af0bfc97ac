//! Four kernels that quantize and go back become one, and a shortcut that is nearly right.

use std::process::ExitCode;

use clap::Parser;
use fusion_course::{Rung, ScalarArg, Source, Step, worked::fake_quantize};
use fusion_lesson::{Lesson, LessonError, Options, Subject};

mod reciprocal;

/// Quantizes unfused and fused, shows launches, bytes and times, and counts what a reciprocal gets wrong.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Values to quantize for the comparison of division with multiplication by the reciprocal; 0 skips it
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    values: usize,
}

const SCALARS: &[ScalarArg] = &[ScalarArg::Named("scale")];

const SUBJECT: Subject = Subject::flat(
    &fake_quantize::OPERATION,
    &[
        Rung::any("fused", Step::elementwise("fake_quantize", &["x"], &["out"]).with(SCALARS)),
        Rung::any(
            "fused, 4 a thread",
            Step::elementwise("fake_quantize_x4", &["x"], &["out"]).with(SCALARS).elements_a_thread(4),
        ),
    ],
);

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(arguments: &Arguments) -> Result<(), LessonError> {
    let source = Source { path: "lessons/quantize/src/fused.cu".to_owned(), text: include_str!("fused.cu").to_owned() };
    let lesson = Lesson::open(&arguments.options, &[source])?;
    fusion_lesson::print(&lesson.headline())?;
    fusion_lesson::print(&lesson.demonstrate(&SUBJECT)?)?;
    if arguments.values > 0 {
        fusion_lesson::print(&reciprocal::compare(&lesson, arguments.values)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the unfused kernels and of the lesson's own: a result that is wrong or a fault that the device finds is an error.
    #[test]
    fn its_kernels_run_clean() {
        let options = ["lesson", "--device", "emulated", "--sizes", "1,255,4099", "--values", "1000"];
        if let Err(error) = run(&Arguments::parse_from(options)) {
            panic!("{error}");
        }
    }
}
