//! `fusion-conformance`: runs the PTX instruction suite on the emulated device or on a real GPU.
//!
//! Exit codes: 0 all passed, 1 some failed, 2 something could not be run.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use fusion_conformance::sweep::cases;
use fusion_conformance::{Case, Failure, SUITE, Session, approx, module_text};
use fusion_device::{Choice, Device};

/// Runs small PTX files and compares their results with what the PTX ISA manual asks for.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// What to run on: auto, gpu or emulated
    #[arg(long, default_value = "auto")]
    device: Choice,
    /// Only name the files
    #[arg(long)]
    list: bool,
    /// Only print the modules that would be loaded
    #[arg(long, conflicts_with = "list")]
    print: bool,
    /// Measure the approximate instructions instead: the largest error of each, and a checksum of its results
    #[arg(long, conflicts_with_all = ["list", "print", "quiet"])]
    approx: bool,
    /// With --approx, take every so many-th input; by default 1 on a GPU, 4099 on the emulated device
    #[arg(long, requires = "approx", value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// Run each instruction on 32,768 operands instead, and print a digest of its results
    #[arg(long, conflicts_with_all = ["list", "print", "quiet", "approx"])]
    sweep: bool,
    /// With --sweep, write the results into a folder, a file for each instruction
    #[arg(long, requires = "sweep", value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// With --sweep, compare the results with those that --save wrote on another device
    #[arg(long, requires = "sweep", value_name = "FOLDER")]
    against: Option<PathBuf>,
    /// Say nothing about files that pass
    #[arg(long, short)]
    quiet: bool,
    /// Parts of names, such as `warp/` or `cvt.rn`, or .ptx files on disk; all of the suite when absent
    words: Vec<String>,
}

impl Arguments {
    /// Whether a name contains one of the words, if there are any.
    fn names(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}

fn main() -> ExitCode {
    fusion_suite::main(|out| try_main(&Arguments::parse(), out))
}

fn try_main(arguments: &Arguments, out: &mut impl Write) -> Result<ExitCode, Box<dyn Error>> {
    if arguments.approx {
        return approximations(arguments, out);
    }
    if arguments.sweep {
        return sweep(arguments, out);
    }
    let files = SUITE.find(&arguments.words)?;
    if arguments.list {
        files.iter().try_for_each(|(name, _)| writeln!(out, "{name}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut cases = Vec::with_capacity(files.len());
    for (name, text) in &files {
        cases.push(Case::parse(name, text).map_err(|error| format!("{name}: {error}"))?);
    }
    if arguments.print {
        cases.iter().try_for_each(|case| writeln!(out, "{}", module_text(case)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut session = Session::open(arguments.device)?;
    writeln!(out, "running {} files on {}", cases.len(), session.device_name())?;
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for case in &cases {
        match session.run(case)? {
            None => {
                skipped += 1;
                writeln!(out, "skip {}: it needs {}", case.name, case.target)?;
            }
            Some(Ok(())) => {
                passed += 1;
                if !arguments.quiet {
                    writeln!(out, "pass {}", case.name)?;
                }
            }
            Some(Err(failure)) => {
                failed += 1;
                writeln!(out, "FAIL {}: {failure}", case.name)?;
            }
        }
    }
    writeln!(out, "{passed} passed, {failed} failed, {skipped} skipped")?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the instructions whose names contain one of the words on the operands of the sweep.
fn sweep(arguments: &Arguments, out: &mut impl Write) -> Result<ExitCode, Box<dyn Error>> {
    let mut session = Session::open(arguments.device)?;
    let mut all_same = true;
    for case in cases()?.iter().filter(|case| arguments.names(&case.name)) {
        let file = case.name.replace('/', ".");
        match session.sweep(case)? {
            None => {}
            // Not every form that could be written is one.
            Some(Err(Failure::Load(_))) if case.name.starts_with("forms/") => {}
            Some(Err(failure)) => {
                all_same = false;
                writeln!(out, "FAIL {}: {failure}", case.name)?;
            }
            Some(Ok(results)) => {
                if let Some(folder) = &arguments.save {
                    fs::create_dir_all(folder)?;
                    fs::write(folder.join(&file), results.bytes())?;
                }
                let Some(folder) = &arguments.against else {
                    writeln!(out, "{:016x} {}", results.digest(), case.name)?;
                    continue;
                };
                // A device that is too old for it has left no file.
                let Ok(elsewhere) = fs::read(folder.join(&file)) else { continue };
                if let Some(differences) = results.differences(case, &elsewhere) {
                    all_same = false;
                    write!(out, "DIFFERENT {}\n{differences}", case.name)?;
                }
            }
        }
    }
    Ok(if all_same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures the instructions whose names contain one of the words.
fn approximations(arguments: &Arguments, out: &mut impl Write) -> Result<ExitCode, Box<dyn Error>> {
    let device = Device::open(arguments.device)?;
    let every = arguments.every.unwrap_or(if device.is_emulated() { 4099 } else { 1 });
    writeln!(out, "inputs: 1 of {every}, on {}", device.properties.name)?;
    writeln!(out, "{:<21} {:>13}  {:>13}  at input       checksum", "instruction", "largest error", "PTX ISA")?;
    for instruction in approx::INSTRUCTIONS {
        if !arguments.names(instruction.name) {
            continue;
        }
        let measured = approx::measure(instruction, &device, every)?;
        writeln!(out, "{}", measured.row(instruction))?;
    }
    Ok(ExitCode::SUCCESS)
}
