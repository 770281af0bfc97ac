//! The four patterns that a serving engine fuses around its matrix products.
//!
//! Shows each as a chain and as one kernel, in the types that engines use, and a ladder of kernels for a norm that ends in int8.

use std::process::ExitCode;

use clap::Parser;
use fusion_course::{Rung, ScalarArg, Source, Step, day24, worked};
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
        Rung::any("fused", Step::elementwise("silu_mul_scalar", &["gate", "up"], &["out"])),
        Rung::any(
            "fused, 8 a thread",
            Step::elementwise("silu_mul_packed", &["gate", "up"], &["out"]).elements_a_thread(8),
        ),
    ],
);

const ADD_RESIDUAL_ACT: Subject = Subject::flat(
    &day24::add_residual_act::EXERCISE,
    &[Rung::any(
        "fused, activation by argument",
        Step::elementwise("add_residual_by_argument", &["x", "residual"], &["out"]).with(&[ScalarArg::Named("act")]),
    )],
);

const ADD_RMSNORM: Subject = Subject::rows(
    &day24::add_rmsnorm::EXERCISE,
    &[4096],
    &[
        Rung::any("row walked twice", Step::by_row("add_rmsnorm_walks", &["x", "weight"], &["residual", "out"])),
        Rung::any("row in registers", Step::by_row("add_rmsnorm_held", &["x", "weight"], &["residual", "out"]))
            .up_to(4096)
            .multiple_of(8),
    ],
);

/// What the chapters work through, here and below; the others are exercises.
const BIAS_RELU: Subject = Subject::rows(
    &worked::bias_act::RELU,
    &[4096],
    &[Rung::any("fused", Step::by_row("bias_relu", &["x", "bias"], &["out"]))],
);
const BIAS_GELU: Subject = Subject::rows(
    &worked::bias_act::GELU,
    &[4096],
    &[Rung::any("fused", Step::by_row("bias_gelu", &["x", "bias"], &["out"]))],
);
const BIAS_SILU: Subject = Subject::rows(
    &worked::bias_act::SILU,
    &[4096],
    &[Rung::any("fused", Step::by_row("bias_silu", &["x", "bias"], &["out"]))],
);

const RMSNORM_QUANT: Subject = Subject::rows(
    &worked::rmsnorm_quant::OPERATION,
    &[1024, 4096, 16384],
    &[
        Rung::any(
            "row walked three times",
            Step::by_row("rmsnorm_quant_walks", &["x", "weight"], &["q", "scale"]).elements_of_row(16),
        ),
        Rung::any(
            "row in shared memory",
            Step::by_row("rmsnorm_quant_shared", &["x", "weight"], &["q", "scale"])
                .elements_of_row(16)
                .row_in_shared(size_of::<f32>()),
        ),
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
    let subjects =
        [SILU_MUL, ADD_RESIDUAL_ACT, BIAS_RELU, BIAS_GELU, BIAS_SILU, ADD_RMSNORM, RMSNORM_QUANT, LAYERNORM_QUANT];
    lesson.show(&subjects, selection.operation.as_deref())?;
    fusion_lesson::print(
        "\nFusion saves bytes, and at small sizes it saves launches. The speedup also depends on how each kernel \
         accesses memory, and on how often its threads wait.",
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
