//! Three cases where fusing more is worse, or where less can be fused than it seems.

use std::process::ExitCode;

use clap::Parser;
use fusion_baseline::Baseline;
use fusion_course::{Source, day26::ffn_sublayer};
use fusion_diagnostic::counted;
use fusion_lesson::{Lesson, LessonError, Options};

mod compare;
mod graphs;

use compare::{Bench, Case};

/// Shows what fusing everything costs: a product of matrices, a result that two kernels read, a result that is kept.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Rows of 1024 elements of the feed-forward sublayer [default: 64, and 8192 on a GPU]
    #[arg(long, value_name = "M")]
    rows: Option<usize>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(arguments: &Arguments) -> Result<(), LessonError> {
    let lesson = Lesson::open(&arguments.options, &[])?;
    let path = "lessons/when-not-to-fuse/src/fused.cu".to_owned();
    let source = Source { path, text: include_str!("fused.cu").to_owned() };
    let module = fusion_baseline::load(&lesson.device, &source).map_err(LessonError::Compile)?;
    let emulated = lesson.device.is_emulated();
    let rows = arguments.rows.unwrap_or(if emulated { 64 } else { 8192 }).max(1);
    // The largest of the sweep is more than these cases need on the emulated device.
    let elements = if arguments.options.sizes.is_empty() && emulated { 1 << 20 } else { lesson.largest().elements() };

    let mut bench = Bench::new(&lesson, Baseline::from_modules(vec![module]))?;
    fusion_lesson::print(&lesson.headline())?;
    fusion_lesson::print(&bench.products())?;
    let few = few_blocks(rows, lesson.device.properties.multiprocessors as usize);
    let ffn = Case {
        title: "1. A product of matrices in the middle: out = x + gelu(layernorm(x) W + bias), f16, rows of 1024",
        exercise: &ffn_sublayer::EXERCISE,
        variants: graphs::FFN,
        lesson: &format!(
            "One kernel moves the fewest bytes and loses: the library's product uses tensor cores and a tiling of its own, and \
             the saved bytes do not make up for that. {few}Fuse what is bound by memory."
        ),
    };
    fusion_lesson::print(&bench.compare(&ffn, fusion_course::Shape::of(rows, 1024))?)?;
    for case in [graphs::TWO_CONSUMERS, graphs::KEPT] {
        fusion_lesson::print(&bench.compare(&case, fusion_course::Shape::flat(elements))?)?;
    }
    Ok(())
}

/// What to say of the one kernel's blocks: something only where some multiprocessors have none.
fn few_blocks(rows: usize, multiprocessors: usize) -> String {
    let blocks = rows.div_ceil(graphs::ROWS_A_BLOCK);
    if blocks >= multiprocessors {
        return String::new();
    }
    let [rows, blocks] = [(rows, "row"), (blocks, "block")].map(|(count, what)| counted(count as u64, what));
    format!("(With {rows}, the one kernel also has only {blocks}; --rows gives it more.) ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_of_where_they_are_few() {
        let two = "(With 64 rows, the one kernel also has only 2 blocks; --rows gives it more.) ";
        assert_eq!(few_blocks(64, 132), two);
        assert_eq!(few_blocks(8192, 132), "");
    }

    /// Every result is compared with the reference, and whatever the emulated device finds is an error.
    #[test]
    fn its_kernels_run_clean() {
        let options = ["lesson", "--device", "emulated", "--rows", "33", "--sizes", "4099"];
        if let Err(error) = run(&Arguments::parse_from(options)) {
            panic!("{error}");
        }
    }
}
