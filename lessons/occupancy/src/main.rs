//! Occupancy: how many warps are resident, what limits them, and how many bytes they keep under way.
//!
//! A calculator for any GPU, and one operation at many occupancies on the open device.

use std::process::ExitCode;

use clap::Parser;
use fusion_course::Source;
use fusion_lesson::{Lesson, LessonError, Options};
use fusion_machine::Profile;
use fusion_machine::occupancy::Block;

mod demonstration;
mod gpu;
mod grid;
mod query;

use gpu::Gpu;

/// Shows a GPU's occupancy over block sizes and registers, and runs one operation at many occupancies.
///
/// With --block, --registers or --shared it answers for that block alone; with --profile, for that GPU instead of the
/// open device. Neither needs a device.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Threads of a block
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u32).range(1..=1024))]
    block: Option<u32>,
    /// Registers of a thread, as `ptxas -v` or Nsight Compute tells them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    registers: Option<u32>,
    /// Shared memory of a block in bytes, static and dynamic together
    #[arg(long, value_name = "BYTES")]
    shared: Option<u32>,
    /// Bytes that each thread waits for at once: of all loads that it issues before it uses the first
    #[arg(long, value_name = "N", default_value_t = 16)]
    bytes: u32,
    /// The GPU, such as h200 or t4, or a profile's file [default: the open device, or h200 for a single block]
    #[arg(long, value_name = "GPU", value_parser = fusion_lesson::profile)]
    profile: Option<Profile>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(arguments: &Arguments) -> Result<(), LessonError> {
    let Arguments { options, block, registers, shared, bytes, profile } = arguments;
    let of_profile = profile.as_ref().map(Gpu::of_profile);
    if block.is_some() || registers.is_some() || (shared.is_some() && profile.is_none()) {
        let gpu = of_profile.unwrap_or_else(|| Gpu::of_profile(&Profile::default()));
        let block =
            Block { threads: block.unwrap_or(256), registers: registers.unwrap_or(32), shared: shared.unwrap_or(0) };
        return fusion_lesson::print(&query::answer(&gpu, &block, *bytes));
    }
    if let Some(gpu) = of_profile {
        let text = grid::table(&gpu, shared.unwrap_or(0)) + "\n" + &gpu.source_of_need();
        return fusion_lesson::print(&text);
    }
    let source =
        Source { path: "lessons/occupancy/src/kernels.cu".to_owned(), text: include_str!("kernels.cu").to_owned() };
    let lesson = Lesson::open(options, &[source])?;
    let gpu = Gpu::of_device(&lesson.device);
    fusion_lesson::print(&lesson.headline())?;
    fusion_lesson::print(&format!("\n{}", grid::table(&gpu, 0)))?;
    fusion_lesson::print(&demonstration::run(&lesson, &gpu)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn runs(options: &[&str]) {
        if let Err(error) = run(&Arguments::parse_from([&["lesson"], options].concat())) {
            panic!("{error}");
        }
    }

    /// Of the unfused kernels and of the lesson's own: a result that is wrong or a fault that the device finds is an error.
    #[test]
    fn its_kernels_run_clean() {
        runs(&["--device", "emulated", "--sizes", "1,255,4099"]);
    }

    #[test]
    fn a_single_block_needs_no_device() {
        runs(&["--block", "256", "--registers", "64", "--shared", "20480", "--profile", "rtx3070"]);
        runs(&["--registers", "255"]);
        runs(&["--profile", "t4"]);
    }

    #[test]
    fn what_no_block_has_is_refused() {
        for options in [["--block", "1025"], ["--block", "0"], ["--registers", "256"], ["--profile", "h300"]] {
            assert!(Arguments::try_parse_from([&["lesson"], &options[..]].concat()).is_err(), "{options:?}");
        }
    }
}
