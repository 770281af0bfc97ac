//! Operations on rows: a reduction, and a use of what was reduced, in one kernel.
//!
//! Shows what it takes to read a row once, and what reading it again costs at each row length.

use std::process::ExitCode;

use clap::Parser;
use fusion_course::{Rung, Source, Step, day23, worked};
use fusion_lesson::{Lesson, LessonError, Selection, Subject};

/// Runs operations on rows unfused and fused, and shows launches, bytes and times.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(flatten)]
    selection: Selection,
}

const L2NORM: Subject = Subject::rows(
    &day23::l2norm::EXERCISE,
    &[4096],
    &[
        Rung::any("row walked twice", Step::by_row("l2norm_walks", &["x"], &["out"])),
        Rung::any(
            "row in shared memory",
            Step::by_row("l2norm_shared", &["x"], &["out"]).row_in_shared(size_of::<f32>()),
        ),
        Rung::any("row in registers", Step::by_row("l2norm_held", &["x"], &["out"])).up_to(4096).multiple_of(4),
    ],
);

const NORM_INPUTS: &[&str] = &["x", "gamma", "beta", "bias"];

const LAYERNORM_BIAS_GELU: Subject = Subject::rows(
    &day23::layernorm_bias_gelu::EXERCISE,
    &[4096],
    &[
        Rung::any("row walked three times", Step::by_row("layernorm_bias_gelu_walks", NORM_INPUTS, &["out"])),
        Rung::any("row in registers", Step::by_row("layernorm_bias_gelu_held", NORM_INPUTS, &["out"]))
            .up_to(4096)
            .multiple_of(4),
    ],
);

/// What the chapter works through; the others are exercises.
const LOG_SOFTMAX: Subject = Subject::rows(
    &worked::log_softmax::OPERATION,
    &[1024, 4096, 16384],
    &[
        Rung::any("row walked three times", Step::by_row("log_softmax_walks", &["x"], &["out"]).elements_of_row(16)),
        Rung::any(
            "row in shared memory",
            Step::by_row("log_softmax_shared", &["x"], &["out"]).elements_of_row(16).row_in_shared(size_of::<f32>()),
        ),
    ],
);

/// Rows that are longer than a block has room for.
const LOG_SOFTMAX_LONG: Subject = Subject::rows(
    &worked::log_softmax::LONG,
    &[131_072],
    &[
        Rung::any("row walked three times", Step::by_row("log_softmax_walks", &["x"], &["out"]).elements_of_row(16)),
        Rung::any("row walked twice", Step::by_row("log_softmax_online", &["x"], &["out"]).elements_of_row(16)),
    ],
);

/// Every rung of the ladder, over row lengths.
const SOFTMAX: Subject = Subject::ladder(&day23::softmax::EXERCISE, &[1024, 4096, 16384]);

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(Arguments { selection }: &Arguments) -> Result<(), LessonError> {
    let own = Source { path: "lessons/rows/src/fused.cu".to_owned(), text: include_str!("fused.cu").to_owned() };
    let lesson = Lesson::open(&selection.options, &[own, fusion_baseline::ladder("softmax")])?;
    lesson
        .show(&[L2NORM, LOG_SOFTMAX, LOG_SOFTMAX_LONG, LAYERNORM_BIAS_GELU, SOFTMAX], selection.operation.as_deref())?;
    fusion_lesson::print(
        "\nThe chain writes and reads the row between its launches; the fused kernels read it once from DRAM. If a kernel walks \
         over a row again, the row comes from a cache, as long as the cache still has it.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the unfused kernels and of the lesson's own: a result that is wrong or a fault that the device finds is an error.
    #[test]
    fn its_kernels_run_clean() {
        let options = ["lesson", "--device", "emulated", "--sizes", "1,100000"];
        if let Err(error) = run(&Arguments::parse_from(options)) {
            panic!("{error}");
        }
    }
}
