//! The four patterns that a serving engine fuses around its matrix products.
//!
//! Shows each as a chain and as one kernel, in the types that engines use, and a ladder of kernels for a norm that ends in int8.

use std::process::ExitCode;

use clap::Parser;
use fusion_course::{ScalarArg, Source, Step, day24};
use fusion_lesson::{Lesson, LessonError, Selection, Subject};

/// Runs the patterns unfused and fused, and shows launches, bytes and times.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(flatten)]
    selection: Selection,
}

const SILU_MUL: Subject = Subject::flat(
    &day24::silu_mul::EXERCISE,
    &[
        ("fused", Step::elementwise("silu_mul_scalar", &["gate", "up"], &["out"])),
        ("fused, 8 a thread", Step::elementwise("silu_mul_packed", &["gate", "up"], &["out"]).elements_a_thread(8)),
    ],
);

const ADD_RESIDUAL_ACT: Subject = Subject::flat(
    &day24::add_residual_act::EXERCISE,
    &[(
        "fused, activation by argument",
        Step::elementwise("add_residual_by_argument", &["x", "residual"], &["out"]).with(&[ScalarArg::Named("act")]),
    )],
);

const ADD_RMSNORM: Subject = Subject::rows(
    &day24::add_rmsnorm::EXERCISE,
    &[4096],
    &[
        ("row walked twice", Step::by_row("add_rmsnorm_walks", &["x", "weight"], &["residual", "out"])),
        ("row in registers", Step::by_row("add_rmsnorm_held", &["x", "weight"], &["residual", "out"])),
    ],
);

/// Every rung of the ladder, over row lengths.
const LAYERNORM_QUANT: Subject = Subject::ladder(&day24::layernorm_quant::EXERCISE, &[1024, 4096, 16384]);

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(Arguments { selection }: &Arguments) -> Result<(), LessonError> {
    let own =
        Source { path: "lessons/vllm-patterns/src/fused.cu".to_owned(), text: include_str!("fused.cu").to_owned() };
    let lesson = Lesson::open(&selection.options, &[own, fusion_baseline::ladder("layernorm_quant")])?;
    lesson.show(&[SILU_MUL, ADD_RESIDUAL_ACT, ADD_RMSNORM, LAYERNORM_QUANT], selection.operation.as_deref())?;
    fusion_lesson::print(
        "\nThe fewer bytes a pattern must move, the more it gains by moving them once; where it saves a quarter of them, it \
         is the launch that counts at small sizes.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the unfused kernels and of the lesson's own: a result that is wrong or a fault that the device finds is an error.
    #[test]
    fn its_kernels_run_clean() {
        let options = ["lesson", "--device", "emulated", "--sizes", "1,4099,100000"];
        if let Err(error) = run(&Arguments::parse_from(options)) {
            panic!("{error}");
        }
    }
}
