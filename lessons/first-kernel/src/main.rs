//! First kernels, step by step, on the emulated GPU or on a real one.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use cudarc::driver::DriverError;
use fusion_device::{Choice, Device, EmulatorOptions, Options, Program, Source, describe};
use fusion_diagnostic::{Look, say_all};
use fusion_lesson::{LessonError, print, use_compiler};

mod launch;

const PATH: &str = "lessons/first-kernel/src/kernels.cu";
const TEXT: &str = include_str!("kernels.cu");

/// Runs the kernels of "CUDA in thirty minutes" and shows what they compute.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// Which device: `auto` takes a GPU when there is one; `gpu`; `emulated`
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    device: Choice,
    /// Run one step instead of all
    #[arg(long, value_name = "STEP", conflicts_with = "race")]
    step: Option<Step>,
    /// Leave out the barrier of `reverse`, and show what the emulated GPU says
    #[arg(long)]
    race: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Step {
    /// Each thread prints what it knows about itself
    Hello,
    /// A complete kernel: y = a * x
    Scale,
    /// Shared memory and a barrier
    Reverse,
    /// `__restrict__` and `__launch_bounds__`
    Promises,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(arguments: &Arguments) -> Result<(), LessonError> {
    let gpu = Gpu::open(arguments.device)?;
    if arguments.race {
        return gpu.race();
    }
    let steps = arguments.step.map_or_else(|| Step::value_variants().to_vec(), |step| vec![step]);
    for (index, step) in steps.into_iter().enumerate() {
        if index > 0 {
            print("")?;
        }
        gpu.step(step)?;
    }
    Ok(())
}

/// The open device with the lesson's kernels.
struct Gpu {
    device: Device,
    program: Program,
}

impl Gpu {
    fn open(choice: Choice) -> Result<Gpu, LessonError> {
        let device = Device::open(choice).map_err(LessonError::Open)?;
        use_compiler(&device)?;
        let source = Source { name: PATH, text: TEXT };
        let program = device.compile(&source, &[], &Options::default()).map_err(LessonError::Compile)?;
        if let Some(emulator) = device.emulator() {
            // What it finds is asked for below; from here on it prints no faults itself.
            emulator.set(&EmulatorOptions::default()).map_err(|error| LessonError::Wrong(error.to_string()))?;
        }
        Ok(Gpu { device, program })
    }

    /// Runs a step and shows what came of it.
    fn step(&self, step: Step) -> Result<(), LessonError> {
        let (stream, module) = (&self.device.stream, &self.program.module);
        match step {
            Step::Hello => {
                print("hello: 2 blocks of 4 threads")?;
                self.right("hello", launch::hello(stream, module))
            }
            Step::Scale | Step::Promises => {
                let name = if matches!(step, Step::Scale) { "scale" } else { "scale_promised" };
                let x = count(1000);
                let y = self.right(name, launch::scale_on_gpu(stream, module, name, &x, 3.0))?;
                print(&format!("{name}: y = 3 * x for {} elements, in 4 blocks of 256 threads", x.len()))?;
                print(&format!("x = {}", ends(&x)))?;
                print(&format!("y = {}", ends(&y)))
            }
            Step::Reverse => {
                print("reverse: reverses the order within each group of 64 elements, with 2 blocks of 64 threads")?;
                let x = count(128);
                let y = self.right("reverse", launch::reverse_on_gpu(stream, module, "reverse", &x))?;
                show_groups(&x, &y)
            }
        }
    }

    /// The kernel without its barrier, and what the emulated GPU says of it.
    fn race(&self) -> Result<(), LessonError> {
        print("reverse_race: the same without __syncthreads()")?;
        let x = count(128);
        let (stream, module) = (&self.device.stream, &self.program.module);
        let y = launch::reverse_on_gpu(stream, module, "reverse_race", &x).map_err(failed("reverse_race"))?;
        show_groups(&x, &y)?;
        print("")?;
        if self.device.is_emulated() {
            return print(self.found()?.trim_end());
        }
        print("A real GPU does not look for races: the result may be right or wrong, and no error is shown.")?;
        print("Run this with --device emulated to see the report.")
    }

    /// What a kernel that has no mistake gave. Readers change kernels, so a mistake is shown with its lines.
    fn right<T>(&self, kernel: &str, given: Result<T, DriverError>) -> Result<T, LessonError> {
        match self.found()?.as_str() {
            "" => given.map_err(failed(kernel)),
            found => {
                Err(LessonError::Wrong(format!("the emulated GPU found a mistake in a kernel\n\n{}", found.trim_end())))
            }
        }
    }

    /// What the emulated GPU found wrong since it was last asked, with the kernel's lines. A real GPU says nothing.
    fn found(&self) -> Result<String, LessonError> {
        let Some(emulator) = self.device.emulator() else { return Ok(String::new()) };
        let report = emulator.take_report().map_err(|error| LessonError::Wrong(error.to_string()))?;
        let sources: &[(&str, &str)] = &[(PATH, TEXT)];
        Ok(fusion_diagnostic::all(&say_all(&report.faults), sources, Look::default()))
    }
}

/// Names the kernel whose launch failed.
fn failed(kernel: &str) -> impl FnOnce(DriverError) -> LessonError {
    move |error| LessonError::Wrong(format!("running `{kernel}` failed: {}", describe(&error)))
}

/// Each group of 64 numbers, before and after.
fn show_groups(x: &[f32], y: &[f32]) -> Result<(), LessonError> {
    for (name, numbers) in [("x", x), ("y", y)] {
        for (label, group) in ["[0..64]  ", "[64..128]"].iter().zip(numbers.chunks(64)) {
            print(&format!("{name}{label} = {}", ends(group)))?;
        }
    }
    Ok(())
}

/// 0, 1, 2 and so on.
fn count(n: u16) -> Vec<f32> {
    (0..n).map(f32::from).collect()
}

/// The first and the last three numbers.
fn ends(numbers: &[f32]) -> String {
    let text = |numbers: &[f32]| numbers.iter().map(f32::to_string).collect::<Vec<_>>().join(", ");
    match numbers {
        [a, b, c, .., x, y, z] => format!("{}, ..., {}", text(&[*a, *b, *c]), text(&[*x, *y, *z])),
        few => text(few),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One after the other: the tests of a process share its device, and with it what is found.
    #[test]
    fn its_kernels_run_clean_and_the_race_is_found() -> Result<(), LessonError> {
        if let Err(error) = run(&Arguments::parse_from(["lesson", "--device", "emulated"])) {
            panic!("{error}");
        }
        let gpu = Gpu::open(Choice::Emulated)?;
        let y = launch::reverse_on_gpu(&gpu.device.stream, &gpu.program.module, "reverse_race", &count(64))
            .map_err(failed("reverse_race"))?;
        assert_ne!(y.first(), Some(&63.0));
        assert!(gpu.found()?.starts_with("error[E-RACE-SHARED]"));
        Ok(())
    }
}
