//! Four chains of elementwise kernels, unfused beside fused.
//!
//! Shows what fusion saves: bytes at large sizes, launches at small ones.

use std::process::ExitCode;

use clap::Parser;
use fusion_course::{Rung, Source, Step, day22, worked};
use fusion_lesson::{Lesson, LessonError, Selection, Subject};

/// Runs chains of elementwise kernels unfused and fused, and shows launches, bytes and times.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(flatten)]
    selection: Selection,
}

const MUL_ADD: Subject = Subject::flat(
    &day22::mul_add::EXERCISE,
    &[Rung::any("fused", Step::elementwise("mul_add", &["q", "k", "v"], &["out"]))],
);

/// What the chapter works through; the others are exercises.
const ADD_SIGMOID: Subject = Subject::flat(
    &worked::add_sigmoid::OPERATION,
    &[Rung::any("fused", Step::elementwise("add_sigmoid", &["a", "b"], &["out"]))],
);

const ADD_MUL_EXP: Subject = Subject::flat(
    &day22::add_mul_exp::EXERCISE,
    &[Rung::any("fused", Step::elementwise("add_mul_exp", &["x", "y"], &["out"]))],
);

const ADD_MUL_RELU: Subject = Subject::flat(
    &day22::add_mul_relu::EXERCISE,
    &[Rung::any("fused", Step::elementwise("add_mul_relu", &["a", "b"], &["out"]))],
);

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(Arguments { selection }: &Arguments) -> Result<(), LessonError> {
    let source =
        Source { path: "lessons/fundamentals/src/fused.cu".to_owned(), text: include_str!("fused.cu").to_owned() };
    let lesson = Lesson::open(&selection.options, &[source])?;
    lesson.show(&[ADD_SIGMOID, MUL_ADD, ADD_MUL_EXP, ADD_MUL_RELU], selection.operation.as_deref())?;
    fusion_lesson::print(
        "\nAt the largest sizes bytes decide: the speedup is near the ratio of the bytes. At the smallest sizes \
         launches decide. Fewer launches take less time, but the speedup is not always the ratio of the launches.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the unfused kernels and of the lesson's own: a result that is wrong or a fault that the device finds is an error.
    #[test]
    fn its_kernels_run_clean() {
        let options = ["lesson", "--device", "emulated", "--sizes", "1,255,4099"];
        if let Err(error) = run(&Arguments::parse_from(options)) {
            panic!("{error}");
        }
    }
}
