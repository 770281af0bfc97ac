//! The same bytes in fewer, wider accesses.
//!
//! Shows scalar and vectorized forms of two fused kernels, with the requests that each makes.

use std::process::ExitCode;

use clap::Parser;
use fusion_course::{Rung, ScalarArg, Source, Step, day25, worked};
use fusion_lesson::{Lesson, LessonError, Options, Selection, Subject};

/// Runs fused kernels in several widths beside the unfused chain, and shows launches, bytes, requests and times.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(flatten)]
    selection: Selection,
}

/// What the chapter works through; the others are exercises.
const ADD_SIGMOID: Subject = Subject::flat(
    &worked::add_sigmoid::OPERATION,
    &[
        Rung::any("scalar", Step::elementwise("add_sigmoid_scalar", &["a", "b"], &["out"])),
        Rung::any("float4", Step::elementwise("add_sigmoid_float4", &["a", "b"], &["out"]).elements_a_thread(4)),
    ],
);

const RELU_BF16: Subject = Subject::flat(
    &worked::relu_bf16::OPERATION,
    &[
        Rung::any("scalar", Step::elementwise("relu_bf16_scalar", &["x"], &["out"])),
        Rung::any(
            "2 float4, a block apart",
            Step::elementwise("relu_bf16_beside", &["x"], &["out"]).elements_a_thread(8),
        ),
        Rung::any(
            "2 float4, neighbours",
            Step::elementwise("relu_bf16_neighbours", &["x"], &["out"]).elements_a_thread(8),
        ),
    ],
);

const ADD_GELU: Subject = Subject::flat(
    &day25::add_gelu_vec::EXERCISE,
    &[
        Rung::any("scalar", Step::elementwise("add_gelu_scalar_width", &["a", "b"], &["out"])),
        Rung::any("float4", Step::elementwise("add_gelu_float4", &["a", "b"], &["out"]).elements_a_thread(4)),
        Rung::any("2 float4", Step::elementwise("add_gelu_2_float4", &["a", "b"], &["out"]).elements_a_thread(8)),
        Rung::any("4 float4", Step::elementwise("add_gelu_4_float4", &["a", "b"], &["out"]).elements_a_thread(16)),
    ],
);

const SCALARS: &[ScalarArg] = &[ScalarArg::Named("scale"), ScalarArg::Named("zero_point")];

const QUANTIZE: Subject = Subject::flat(
    &day25::quantize_int8_vec::EXERCISE,
    &[
        Rung::any("scalar", Step::elementwise("quantize_scalar", &["x"], &["out"]).with(SCALARS)),
        Rung::any("float4", Step::elementwise("quantize_vec1", &["x"], &["out"]).with(SCALARS).elements_a_thread(4)),
        Rung::any("4 float4", Step::elementwise("quantize_vec4", &["x"], &["out"]).with(SCALARS).elements_a_thread(16)),
        Rung::any(
            "16 neighbours, no division",
            Step::elementwise("quantize_neighbours", &["x"], &["out"]).with(SCALARS).elements_a_thread(16),
        ),
        Rung::any(
            "4 float4, no division",
            Step::elementwise("quantize_vec4_product", &["x"], &["out"]).with(SCALARS).elements_a_thread(16),
        ),
    ],
);

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(Arguments { selection }: &Arguments) -> Result<(), LessonError> {
    let source =
        |name: &str, text: &str| Source { path: format!("lessons/vectorization/src/{name}.cu"), text: text.to_owned() };
    let sources = [
        source("worked", include_str!("worked.cu")),
        source("add_gelu", include_str!("add_gelu.cu")),
        source("quantize", include_str!("quantize.cu")),
    ];
    // What this lesson is about is in the requests.
    let options = Options { counters: true, ..selection.options.clone() };
    let lesson = Lesson::open(&options, &sources)?;
    lesson.show(&[ADD_SIGMOID, RELU_BF16, ADD_GELU, QUANTIZE], selection.operation.as_deref())?;
    fusion_lesson::print(
        "\nAll fused kernels move the same bytes. A vector of 16 bytes needs a quarter of the requests of a float, and keeps four \
         times as much on the way for each thread; with too many elements per thread, small sizes have too few threads.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the unfused kernels and of the lesson's own: a result that is wrong or a fault that the device finds is an error.
    #[test]
    fn its_kernels_run_clean() {
        let options = ["lesson", "--device", "emulated", "--sizes", "1,2,3,255,4099"];
        if let Err(error) = run(&Arguments::parse_from(options)) {
            panic!("{error}");
        }
    }
}
