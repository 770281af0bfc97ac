//! Memories of a GPU, from registers to DRAM: how long each lets a thread wait, and what helps.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use fusion_course::Source;
use fusion_lesson::{Lesson, LessonError, Options, Size, print};

mod banks;
mod bench;
mod ladder;
mod prefetch;
mod registers;
mod reuse;

use bench::Bench;

/// Shows the latency ladder, bank conflicts, reuse, prefetching, and what local memory costs.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Only this part
    #[arg(long, value_name = "PART")]
    part: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// How long one step of a chain takes in each memory
    Ladder,
    /// A tile that is read down its columns, with and without conflicts
    Banks,
    /// An element that is needed nine times: in L1, in shared memory, in registers
    Reuse,
    /// Tiles that are asked for early
    Prefetch,
    /// Arrays that do not stay in registers
    Registers,
}

const SOURCES: [(&str, &str); 5] = [
    ("ladder", include_str!("ladder.cu")),
    ("banks", include_str!("banks.cu")),
    ("reuse", include_str!("reuse.cu")),
    ("prefetch", include_str!("prefetch.cu")),
    ("registers", include_str!("registers.cu")),
];

/// Columns where a size is a number of elements.
const COLUMNS: usize = 4096;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(Arguments { options, part }: &Arguments) -> Result<(), LessonError> {
    let sources = SOURCES.map(|(name, text)| {
        let path = format!("lessons/shared-memory/src/{name}.cu");
        Source { path, text: text.to_owned() }
    });
    let lesson = Lesson::open(options, &sources)?;
    // The largest of a sweep is more than the emulated device needs here.
    let size = match options.sizes.is_empty() {
        true if lesson.device.is_emulated() => Size::Rows { rows: 512, columns: COLUMNS },
        _ => lesson.largest(),
    };
    let shape = size.rows_of(size.elements().min(COLUMNS));
    let mut bench = Bench::new(&lesson)?;
    print(&lesson.headline())?;
    for chosen in Part::value_variants().iter().filter(|each| part.is_none_or(|only| only == **each)) {
        print(&match chosen {
            Part::Ladder => ladder::show(&mut bench)?,
            Part::Banks => banks::show(&mut bench)?,
            Part::Reuse => reuse::show(&mut bench, shape)?,
            Part::Prefetch => prefetch::show(&mut bench, shape.elements())?,
            Part::Registers => registers::show(&mut bench, shape.elements())?,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn runs(options: &[&str]) {
        let arguments = [&["lesson", "--device", "emulated"], options].concat();
        if let Err(error) = run(&Arguments::parse_from(arguments)) {
            panic!("{options:?}: {error}");
        }
    }

    /// Every result is compared with the host's, and whatever the emulated device finds is an error.
    #[test]
    fn its_kernels_run_clean() {
        runs(&["--sizes", "3x1000"]);
    }

    #[test]
    fn rows_may_have_any_length() {
        for size in ["5x33", "1", "2x1028"] {
            runs(&["--part", "reuse", "--sizes", size]);
        }
    }

    #[test]
    fn there_may_be_one_tile_only() {
        runs(&["--part", "prefetch", "--sizes", "1"]);
    }
}
