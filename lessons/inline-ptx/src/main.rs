//! Inline PTX: five tasks in plain CUDA C++ and by instructions that it has no word for, and mistakes that compile.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use fusion_device::{Choice, CompileError, Device, EmulatorOptions, Options, Program, Source, describe};
use fusion_diagnostic::{Look, say_all};
use fusion_lesson::{LessonError, launches, new_table, print, use_compiler};

mod launch;
mod tasks;

use launch::launch;
use tasks::{Task, tasks};

const KERNELS: (&str, &str) = ("lessons/inline-ptx/src/kernels.cu", include_str!("kernels.cu"));
const MISTAKES: (&str, &str) = ("lessons/inline-ptx/src/mistakes.cu", include_str!("mistakes.cu"));
const TWICE: (&str, &str) = ("lessons/inline-ptx/src/twice.cu", include_str!("twice.cu"));

/// Warp instructions of a loop before it counts as one without an end: all of the lesson's end after some hundred.
const BUDGET: u64 = 100_000;

/// Runs kernels with inline PTX beside plain ones, shows their PTX, and mistakes that compile.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// Which device: `auto` takes a GPU when there is one; `gpu`; `emulated`
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    device: Choice,
    /// Show the PTX of a kernel of `kernels.cu` or `mistakes.cu` instead
    #[arg(long, value_name = "KERNEL", conflicts_with = "mistake")]
    ptx: Option<String>,
    /// Run a kernel with a mistake instead, and show what the emulated GPU says
    #[arg(long, value_name = "MISTAKE")]
    mistake: Option<Mistake>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mistake {
    /// An atomic operation without `volatile`, whose result nothing reads
    Lost,
    /// A load without `volatile` in a loop that waits
    Poll,
    /// A generic address for `ld.shared`
    Generic,
    /// A shuffle that names lanes which do not come
    Half,
    /// Rows of a matrix at no multiple of 16 bytes
    Rows,
    /// A register that is declared twice
    Twice,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(arguments: &Arguments) -> Result<(), LessonError> {
    // A loop without an end is to be found soon.
    let budget = matches!(arguments.mistake, Some(Mistake::Poll)).then_some(BUDGET);
    let options = EmulatorOptions { block_budget: budget, ..EmulatorOptions::default() };
    let gpu = Gpu::open(arguments.device, &options)?;
    match (&arguments.ptx, arguments.mistake) {
        (Some(kernel), _) => gpu.show(kernel),
        (None, Some(mistake)) => gpu.mistake(mistake),
        (None, None) => gpu.compare(),
    }
}

struct Gpu {
    device: Device,
    kernels: Program,
    mistakes: Program,
}

impl Gpu {
    fn open(choice: Choice, options: &EmulatorOptions) -> Result<Gpu, LessonError> {
        let device = Device::open_with(choice, options).map_err(LessonError::Open)?;
        use_compiler(&device)?;
        let [kernels, mistakes] = [KERNELS, MISTAKES].map(|source| compile(&device, source));
        let (kernels, mistakes) = (kernels.map_err(LessonError::Compile)?, mistakes.map_err(LessonError::Compile)?);
        if let Some(emulator) = device.emulator() {
            // What it finds is asked for below; from here on it prints no faults itself.
            emulator.set(&EmulatorOptions::default()).map_err(|error| LessonError::Wrong(error.to_string()))?;
        }
        Ok(Gpu { device, kernels, mistakes })
    }

    /// Each task by both kernels, with what a warp executes for it.
    fn compare(&self) -> Result<(), LessonError> {
        let emulated = self.device.is_emulated();
        let mut header = vec!["task", "kernel"];
        header.extend(emulated.then_some("PTX instructions per warp"));
        header.push("result");
        let mut table = new_table(&header);
        for task in tasks() {
            let inline = format!("{}_inline", task.kernel);
            for (what, kernel) in [(task.what, task.kernel), ("", &inline)] {
                let executed = self.right(&task, kernel)?;
                let mut row = vec![what.to_owned(), kernel.to_owned()];
                row.extend(executed.map(|executed| executed.to_string()));
                row.push("right".to_owned());
                table.add_row(row);
            }
        }
        print(&format!(
            "{}: every result is compared with the host's, bit by bit.\n\n{table}",
            self.device.properties.name
        ))
    }

    /// Runs a kernel that has no mistake. Returns how many instructions a warp executed, which only the emulated device counts.
    fn right(&self, task: &Task, kernel: &str) -> Result<Option<u64>, LessonError> {
        let words = task.expected.len();
        let found = launch(&self.device, &self.kernels, kernel, task.threads, &task.inputs, words);
        let found = found.map_err(|error| LessonError::Wrong(format!("`{kernel}` failed: {}", describe(&error))))?;
        if found != task.expected {
            return Err(LessonError::Wrong(format!("the result of `{kernel}` is wrong")));
        }
        let executed = launches(&self.device)?.last().map(|launch| launch.counters.warp_instructions);
        Ok(executed.map(|executed| executed / u64::from(task.threads / 32)))
    }

    /// Prints the PTX of a kernel.
    fn show(&self, kernel: &str) -> Result<(), LessonError> {
        let programs = [&self.kernels, &self.mistakes];
        match programs.iter().find_map(|program| body(&program.compiled.ptx, kernel)) {
            Some(text) => print(&text),
            None => Err(LessonError::Unknown(format!("no kernel of this lesson is called `{kernel}`"))),
        }
    }

    /// Runs a kernel that has a mistake.
    fn mistake(&self, mistake: Mistake) -> Result<(), LessonError> {
        let (kernel, threads) = match mistake {
            Mistake::Lost => return self.lost(),
            Mistake::Twice => return self.twice(),
            Mistake::Poll => ("poll", 64),
            Mistake::Generic => ("generic", 32),
            Mistake::Half => ("half_of_the_lanes", 32),
            Mistake::Rows => ("rows", 32),
        };
        if !self.device.is_emulated() {
            return print("A real GPU hangs, is stopped, or goes on with any result. Run this with --device emulated.");
        }
        // What it finds is shown below; the launch fails, or its result is of no interest.
        launch(&self.device, &self.mistakes, kernel, threads, &[], threads as usize).ok();
        match self.found()?.trim_end() {
            "" => Err(LessonError::Wrong(format!("nothing was found wrong with `{kernel}`"))),
            found => print(found),
        }
    }

    /// The atomic operation that is not there, beside the one that is.
    fn lost(&self) -> Result<(), LessonError> {
        for kernel in ["lost", "kept"] {
            let counted = launch(&self.device, &self.mistakes, kernel, 64, &[], 1);
            let counted = counted.map_err(|error| LessonError::Wrong(describe(&error)))?;
            print(&format!("{kernel}: 64 threads, {} counted", counted.first().copied().unwrap_or_default()))?;
        }
        Ok(())
    }

    /// What becomes of a source whose PTX declares a register twice.
    fn twice(&self) -> Result<(), LessonError> {
        match compile(&self.device, TWICE) {
            Ok(_) => Err(LessonError::Wrong("the register was declared twice, and that passed".to_owned())),
            Err(error) => print(error.to_string().trim_end()),
        }
    }

    /// What the emulated GPU found wrong, with the kernel's lines.
    fn found(&self) -> Result<String, LessonError> {
        let Some(emulator) = self.device.emulator() else { return Ok(String::new()) };
        let report = emulator.take_report().map_err(|error| LessonError::Wrong(error.to_string()))?;
        Ok(fusion_diagnostic::all(&say_all(&report.faults), &[MISTAKES], Look::default()))
    }
}

fn compile(device: &Device, (name, text): (&str, &str)) -> Result<Program, CompileError> {
    device.compile(&Source { name, text }, &[], &Options::default())
}

/// A kernel's instructions, without the lines of the source that they are from.
fn body(ptx: &str, kernel: &str) -> Option<String> {
    let (_, from) = ptx.split_once(&format!(".entry {kernel}("))?;
    let (_, inside) = from.split_once("\n{")?;
    let (inside, _) = inside.split_once("\n}")?;
    let lines = inside.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with(".loc"));
    let indented = |line: &str| match line.strip_prefix('\t') {
        Some(instruction) => format!("    {}", instruction.split_whitespace().collect::<Vec<_>>().join(" ")),
        None => line.to_owned(),
    };
    Some(lines.map(indented).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// A report is of all that the process had the device do: one test takes what the other one has done.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn its_kernels_run_clean() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = run(&Arguments::parse_from(["lesson", "--device", "emulated"])) {
            panic!("{error}");
        }
    }

    #[test]
    fn what_the_compiler_removes_and_moves() -> Result<(), LessonError> {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let gpu = Gpu::open(Choice::Emulated, &EmulatorOptions::default())?;
        for kernel in ["kept", "poll_volatile"] {
            let word = launch(&gpu.device, &gpu.mistakes, kernel, 64, &[], 1);
            assert_eq!(word.map_err(LessonError::driver(kernel))?, [if kernel == "kept" { 64 } else { 1 }]);
        }
        assert!(compile(&gpu.device, TWICE).is_err());
        // What was refused is in the report, which the other test is not to find.
        gpu.device
            .emulator()
            .map(fusion_device::Emulator::take_report)
            .transpose()
            .map_err(|error| LessonError::Wrong(error.to_string()))?;
        let ptx = |kernel: &str| body(&gpu.mistakes.compiled.ptx, kernel).unwrap_or_default();
        assert!(!ptx("lost").contains("atom"));
        assert!(ptx("kept").contains("atom"));
        // The last jump goes back to the label of the loop. One load stands before it, the other one behind.
        for (kernel, inside) in [("poll", false), ("poll_volatile", true)] {
            let text = ptx(kernel);
            let jump = text.rfind("bra").unwrap_or_default();
            let label =
                text.get(jump..).and_then(|rest| rest.split([' ', ';', '\t']).find(|word| word.starts_with('$')));
            let label = label.and_then(|label| text.find(&format!("{label}:")));
            let load = text.find("ld.relaxed");
            assert!(label.is_some() && load.is_some() && (load > label) == inside, "{text}");
        }
        Ok(())
    }
}
