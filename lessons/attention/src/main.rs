//! Attention step by step: what its chain moves, what an online softmax keeps, how exact that is, and where the time
//! goes.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use fusion_course::Source;
use fusion_device::Choice;
use fusion_lesson::{Lesson, LessonError, Options, print};

mod bytes;
mod decode;
mod errors;
mod launch;
mod mask;
mod time;
mod trace;

/// Runs attention as a chain and as one kernel, and its online softmax tile by tile.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// Which device: `auto` takes a GPU when there is one; `gpu`; `emulated`
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    device: Choice,
    /// Only one of the parts
    #[arg(long, value_name = "PART")]
    part: Option<Part>,
    /// Tokens of a sequence, separated by commas [default: 64,256,1024,4096]
    #[arg(long, value_delimiter = ',', value_name = "S,...", value_parser = clap::value_parser!(u32).range(1..=65536))]
    sizes: Vec<u32>,
    /// Heads
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    heads: u16,
    /// Elements of a token in a head
    #[arg(long, value_name = "D", default_value = "64", value_parser = ["64", "128"])]
    head_dim: String,
    /// Scores of a tile of the row that is traced
    #[arg(long, value_name = "T", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    tile: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Launches and bytes of the chain and of one kernel
    Bytes,
    /// The online softmax of one row, tile by tile
    Trace,
    /// How exact it is as scores grow, and what goes wrong without its parts
    Errors,
    /// Where the time goes
    Time,
    /// What a causal mask lets a kernel skip
    Mask,
    /// What one new token of each sequence needs of a paged cache
    Decode,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn open(device: Choice) -> Result<Lesson, LessonError> {
    let own =
        Source { path: "lessons/attention/src/softmax.cu".to_owned(), text: include_str!("softmax.cu").to_owned() };
    Lesson::open(&Options { device, sizes: Vec::new(), counters: false }, &[own])
}

fn run(arguments: &Arguments) -> Result<(), LessonError> {
    let lesson = open(arguments.device)?;
    let mut lengths: Vec<usize> = arguments.sizes.iter().map(|&length| length as usize).collect();
    if lengths.is_empty() {
        lengths = vec![64, 256, 1024, 4096];
    }
    lengths.sort_unstable();
    lengths.dedup();
    let heads = usize::from(arguments.heads);
    let head = if arguments.head_dim == "128" { 128 } else { 64 };
    print(&lesson.headline())?;
    for part in Part::value_variants().iter().filter(|part| arguments.part.is_none_or(|only| only == **part)) {
        print(&match part {
            Part::Bytes => bytes::show(&lengths, heads, head),
            Part::Trace => trace::show(&lesson, arguments.tile.into())?,
            Part::Errors => errors::show(&lesson)?,
            Part::Time => time::show(&lesson, &lengths, heads, head)?,
            Part::Mask => mask::show(&lengths),
            Part::Decode => decode::show(),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// A report is of all that the process had the device do. So one test does all that needs it.
    #[test]
    fn what_the_device_says() {
        if let Err(error) = all() {
            panic!("{error}");
        }
    }

    fn all() -> Result<(), LessonError> {
        let lesson = open(Choice::Emulated)?;
        let lengths = [1, 65, 200];
        let trace = trace::show(&lesson, 4)?;
        let table: Vec<&str> = trace.lines().filter(|line| line.starts_with('|')).collect();
        expect![[r#"
            | tile |       scores | its largest |   m | correction |        l |         o |     o / l |
            |------|--------------|-------------|-----|------------|----------|-----------|-----------|
            | 1    | 1 -0.5 2 0.5 |         2.0 | 2.0 |   0.000000 | 1.673095 |  9.796715 |  5.855445 |
            | 2    | 3 4.5 -1 2.5 |         4.5 | 4.5 |   0.082085 | 1.499888 | -0.645294 | -0.430228 |
            | 3    |  0 4 1.5 3.5 |         4.0 | 4.5 |   1.000000 | 2.535194 |  6.312976 |  2.490135 |
            | 4    |   5 -2 2 4.5 |         5.0 | 5.0 |   0.606531 | 3.194903 | -3.734348 | -1.168846 |"#]]
        .assert_eq(&table.join("\n"));
        for tile in [1, 3, 16] {
            trace::show(&lesson, tile)?;
        }
        let errors = errors::show(&lesson)?;
        // What is left out shows.
        for (way, numbers) in [("as they are", 1), ("begins with 0", 4)] {
            let line = errors.lines().find(|line| line.contains(way)).unwrap_or_default();
            assert_eq!(line.matches("NaN").count(), 5 - numbers, "{errors}");
        }
        let time = time::show(&lesson, &lengths, 2, 64)?;
        assert!(time.contains("times predicted"), "{time}");
        let texts = [trace, errors, time, bytes::show(&lengths, 16, 128), mask::show(&lengths), decode::show()];
        // A page of the book has room for so many columns.
        for line in texts.iter().flat_map(|text| text.lines()) {
            assert!(line.chars().count() <= 108, "{line}");
        }
        Ok(())
    }
}
