//! `cargo xtask registers`: what the course's kernels take, as the emulated devices say without a GPU, beside what a GPU's driver says
//! of the same kernels.
//!
//! A process uses one device, so each device is asked by a process of its own: this program, with `--rows`.

mod sources;
mod table;

use std::process::{Command, Stdio};

use fusion_device::{Choice, Device, KernelError, Kind, Options as Compilation};
use fusion_grader::judgement::RunError;
use fusion_machine::Profile;
use serde::{Deserialize, Serialize};

use crate::{output, programs, toolchain};

/// The environment variable that chooses which GPU is emulated.
const PROFILE: &str = fusion_profile::CHOICE;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 no difference, 1 a GPU's driver says otherwise, 2 something could not be compiled or asked for."
)]
pub(crate) struct Options {
    /// What to ask: emulated (every GPU that there is), gpu (and beside it the emulated one of its kind), or auto
    #[arg(long, default_value = "auto")]
    device: Choice,
    /// Ask this process's device and print JSON
    #[arg(long, hide = true)]
    rows: bool,
}

/// What one device says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Answer {
    device: String,
    emulated: bool,
    compute_capability: (u32, u32),
    /// NVRTC's version.
    compiler: (u32, u32),
    kernels: Vec<Kernel>,
    /// What could not be compiled or asked for.
    problems: Vec<String>,
}

/// What `cuFuncGetAttribute` says of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kernel {
    file: String,
    name: String,
    taken: Taken,
}

/// For each thread registers and bytes of local memory; bytes of static shared memory and of constants; the most threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Taken {
    registers: i32,
    local: i32,
    shared: i32,
    constant: i32,
    threads: i32,
}

/// Prints the tables and returns the exit code.
pub(crate) fn run(options: &Options) -> u8 {
    let told = if options.rows { rows(options.device) } else { tables(options.device) };
    told.unwrap_or_else(|error| {
        output::note(&format!("error: {}", error.message));
        2
    })
}

/// Asks every device that is wanted, and compares.
fn tables(choice: Choice) -> Result<u8, RunError> {
    toolchain::ready()?;
    let first = match choice {
        Choice::Emulated => None,
        _ => Some(ask(choice, None)?).filter(|answer| !answer.emulated),
    };
    let wanted = |profile: &&Profile| first.as_ref().is_none_or(|gpu| profile.compute == gpu.compute_capability);
    let answers: Vec<Answer> = Profile::all()
        .iter()
        .filter(wanted)
        .map(|profile| ask(Choice::Emulated, Some(profile)))
        .collect::<Result<_, _>>()?;
    if let (Some(gpu), []) = (&first, &answers[..]) {
        let (major, minor) = gpu.compute_capability;
        return Err(RunError::new("registers", format!("no GPU of compute capability {major}.{minor} is emulated")));
    }
    let parts: Vec<String> =
        answers.iter().map(|emulated| table::text(emulated, first.as_ref(), output::look())).collect();
    if !output::print(&parts.join("\n")) {
        return Ok(2);
    }
    let problems: Vec<&String> = first.iter().chain(&answers).flat_map(|answer| &answer.problems).collect();
    problems.iter().for_each(|problem| output::note(&format!("error: {problem}")));
    let differs = first.iter().any(|gpu| answers.iter().any(|emulated| table::differs(emulated, gpu)));
    Ok(if problems.is_empty() { u8::from(differs) } else { 2 })
}

/// What the device of another process says.
fn ask(choice: Choice, profile: Option<&Profile>) -> Result<Answer, RunError> {
    let whom = profile.map_or("the device", |profile| &profile.name);
    output::note(&format!("compiling all kernels for {whom}"));
    let failed = |why: String| RunError::new("registers", format!("a process that asks a device failed: {why}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let device = match choice {
        Choice::Auto => "auto",
        Choice::Gpu => "gpu",
        Choice::Emulated => "emulated",
    };
    let mut command = Command::new(program);
    command.args(["registers", "--rows", "--device", device]).stdin(Stdio::null()).stderr(Stdio::inherit());
    if let Some(profile) = profile {
        command.env(PROFILE, &profile.id);
    }
    let ended = command.output().map_err(|error| failed(error.to_string()))?;
    if !ended.status.success() {
        return Err(failed("its message is above".to_owned()));
    }
    serde_json::from_slice(&ended.stdout).map_err(|error| failed(error.to_string()))
}

/// Prints what this process's device says.
fn rows(choice: Choice) -> Result<u8, RunError> {
    let failed = |error: &dyn std::fmt::Display| RunError::new("registers", error.to_string());
    let root = programs::workspace_root().ok_or_else(|| failed(&"this is not run inside the course's folder"))?;
    let device = Device::open(choice).map_err(|error| failed(&error))?;
    let mut answer = Answer {
        device: device.properties.name.clone(),
        emulated: device.kind == Kind::Emulated,
        compute_capability: device.properties.compute_capability,
        compiler: device.compiler().map_err(|error| failed(&error))?.version(),
        ..Answer::default()
    };
    let headers = sources::headers(&root).map_err(|error| failed(&error))?;
    let headers: Vec<_> = headers.iter().map(|header| header.as_source()).collect();
    for file in sources::kernels(&root).map_err(|error| failed(&error))? {
        // As the grader and the lessons compile it: then this is what they load.
        match device.compile(&file.as_source(), &headers, &Compilation::default()) {
            Ok(program) => {
                for name in program.compiled.kernels() {
                    match taken(&program, name) {
                        Ok(taken) => {
                            answer.kernels.push(Kernel { file: file.name.clone(), name: name.to_owned(), taken });
                        }
                        Err(error) => answer.problems.push(format!("{}: {name}: {error}", file.name)),
                    }
                }
            }
            Err(error) => answer.problems.push(format!("{} on {}: {error}", file.name, answer.device)),
        }
    }
    let json = serde_json::to_string(&answer).map_err(|error| failed(&error))?;
    Ok(if output::print(&json) { 0 } else { 2 })
}

fn taken(program: &fusion_device::Program, name: &str) -> Result<Taken, KernelError> {
    let kernel = program.kernel(name)?;
    let of = |value: Result<i32, _>| value.map_err(|error| KernelError::Driver { kernel: name.to_owned(), error });
    Ok(Taken {
        registers: of(kernel.num_regs())?,
        local: of(kernel.local_size_bytes())?,
        shared: of(kernel.shared_size_bytes())?,
        constant: of(kernel.const_size_bytes())?,
        threads: of(kernel.max_threads_per_block())?,
    })
}
