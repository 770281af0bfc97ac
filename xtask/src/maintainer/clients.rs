//! `cargo xtask clients`: programs of strangers, built and run as their users do, on the emulated GPU.
//!
//! The programs are in `xtask/clients`. Each says `right` when its results are, and names what must be found: `<- CODE` at the end of the
//! line that it is found at. What they need is installed by pip into an environment of their own in the course's cache; where that cannot be done
//! the command says so and succeeds, for a machine without a network is no mistake of the course.

mod environment;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use self::environment::Environment;
use super::choices;
use crate::interrupt::{self, Interrupt};
use crate::output;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Write the transcripts that the book shows anew, instead of comparing them
    #[arg(long)]
    bless: bool,
}

/// How a program is built and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// By Python, with numba-cuda.
    Numba,
    /// `nvcc -cudart shared` to PTX.
    Nvcc,
    /// The same with `-rdc=true`, and a second file whose name ends in `_device`.
    Separate,
    /// The same as `Nvcc` with `--default-stream per-thread`.
    PerThread,
    /// A C compiler, `-lcuda`.
    C,
}
use Kind::{C, Numba, Nvcc, PerThread, Separate};

const PROGRAMS: &[(Kind, &str)] = &[
    (Numba, "vector_add.py"),
    (Numba, "matmul.py"),
    (Numba, "reduction.py"),
    (Numba, "atomics.py"),
    (Numba, "race.py"),
    (Nvcc, "runtime.cu"),
    (Nvcc, "capture.cu"),
    (Nvcc, "stray.cu"),
    (Separate, "separate.cu"),
    (PerThread, "per_thread.cu"),
    (PerThread, "per_thread_race.cu"),
    (C, "driver.c"),
];

/// Programs whose reports the book shows: the file there, and the command as the reader writes it.
const SHOWN: &[(&str, &str, &str)] = &[
    ("race.py", "numba.txt", "cargo xtask run -- python race.py"),
    ("stray.cu", "nvcc.txt", "cargo xtask run -- ./stray"),
];

/// What must come of a program: the codes of errors with their lines, 0 where there is none.
type Findings = BTreeSet<(String, u64)>;

/// Checks all programs and returns the exit code.
pub(crate) fn run(options: &Options, interrupt: &Interrupt) -> u8 {
    let Some(folder) = folder() else {
        output::note("error: `clients` is run in the course's workspace");
        return 2;
    };
    let environment = match Environment::get(&folder) {
        Ok(environment) => environment,
        Err(why) => {
            output::note(&format!("skipped: {why}"));
            return 0;
        }
    };
    let (mut passed, mut failed) = (0, 0);
    for (kind, name) in PROGRAMS {
        if interrupt.requested() {
            return interrupt::EXIT_CODE;
        }
        let program = match environment.program(*kind, &folder, name) {
            Ok(program) => program,
            Err(environment::Absent::Skip(why)) => {
                output::note(&format!("{name}: skipped: {why}"));
                continue;
            }
            Err(environment::Absent::Fail(why)) => {
                output::note(&format!("{name}: {why}"));
                failed += 1;
                continue;
            }
        };
        let checked = check(&folder, name, &program, options.bless);
        // Ctrl-C reaches the program as well.
        if interrupt.requested() {
            return interrupt::EXIT_CODE;
        }
        match checked {
            Ok(()) => {
                passed += 1;
                output::note(&format!("{name}: ok"));
            }
            Err(why) => {
                failed += 1;
                output::note(&format!("{name}: {why}"));
            }
        }
    }
    output::note(&format!("\n{passed} passed, {failed} failed"));
    output::note(&environment.commands());
    u8::from(failed > 0)
}

fn folder() -> Option<PathBuf> {
    let root = crate::programs::workspace_root()?;
    Some(root.join("xtask/clients"))
}

fn check(folder: &Path, name: &str, program: &[PathBuf], bless: bool) -> Result<(), String> {
    let source = std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string())?;
    let expected = expected(&source);
    let ran = emulated(folder, &["--json"], program)?;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let object: Value = serde_json::from_slice(&ran.stdout).map_err(|error| format!("no JSON ({error}):\n{said}"))?;
    let found = found(&object);
    if found != expected {
        return Err(format!("found {found:?} where {expected:?} is stated:\n{said}{object:#}"));
    }
    let code = ran.status.code();
    if code != Some(i32::from(!expected.is_empty())) {
        return Err(format!("ended with {code:?}:\n{said}"));
    }
    // What a wrong program computes is no matter.
    if !said.lines().any(|line| line == "right") && !expected.iter().any(|(_, line)| *line > 0) {
        return Err(format!("its results are not right:\n{said}"));
    }
    match SHOWN.iter().find(|(shown, ..)| *shown == name) {
        Some((_, file, command)) => transcript(folder, file, command, program, bless),
        None => Ok(()),
    }
}

/// Compares what a reader sees with what the book shows.
fn transcript(folder: &Path, file: &str, command: &str, program: &[PathBuf], bless: bool) -> Result<(), String> {
    let ran = emulated(folder, &[], program)?;
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let text = format!("$ {command}\n{stdout}{stderr}");
    let path = folder.join("../../book/src/appendix/clients").join(file);
    if bless {
        return std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()));
    }
    let shown = std::fs::read_to_string(&path).unwrap_or_default();
    match shown == text {
        true => Ok(()),
        false => Err(format!(
            "the book's {file} is not what it says now; `cargo xtask clients --bless` writes it anew:\n{text}"
        )),
    }
}

/// Runs a program as `cargo xtask run` does, in the programs' folder.
fn emulated(folder: &Path, options: &[&str], program: &[PathBuf]) -> Result<Output, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.current_dir(folder).arg("run").args(options).arg("--").args(program).stdin(Stdio::null());
    choices::clear(&mut command);
    command.output().map_err(|error| format!("cannot be run: {error}"))
}

/// The codes that a source states, with their lines.
fn expected(source: &str) -> Findings {
    let marked = source.lines().enumerate().filter_map(|(i, line)| {
        let (_, rest) = line.split_once("<- ")?;
        let code = rest.split_whitespace().next()?.to_owned();
        Some((code, if rest.contains("without a line") { 0 } else { i as u64 + 1 }))
    });
    marked.collect()
}

fn found(object: &Value) -> Findings {
    let processes = object["processes"].as_array().into_iter().flatten();
    let findings = processes.flat_map(|process| process["findings"].as_array().into_iter().flatten());
    let errors = findings.filter(|finding| finding["severity"] == "error");
    errors
        .map(|error| (error["code"].as_str().unwrap_or_default().to_owned(), error["line"].as_u64().unwrap_or(0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_state_what_is_found() {
        let source = "a\n  b(); // <- E-OOB-GLOBAL\n// <- E-COPY without a line\n";
        assert_eq!(expected(source), [("E-COPY".to_owned(), 0), ("E-OOB-GLOBAL".to_owned(), 2)].into());
        let object = serde_json::json!({"processes": [{"findings": [
            {"code": "E-NULL", "severity": "error", "line": 3},
            {"code": "E-COPY", "severity": "error", "line": null},
            {"code": "P-DIVERGENT", "severity": "advice", "line": 1},
        ]}]});
        assert_eq!(found(&object), [("E-COPY".to_owned(), 0), ("E-NULL".to_owned(), 3)].into());
    }

    #[test]
    fn every_program_is_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
        for (_, name) in PROGRAMS {
            let source = std::fs::read_to_string(folder.join(name)).unwrap();
            assert!(source.contains("right") || !expected(&source).is_empty(), "{name}");
        }
        assert!(SHOWN.iter().all(|(shown, ..)| PROGRAMS.iter().any(|(_, name)| name == shown)));
    }
}
