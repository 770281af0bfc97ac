//! Builds submissions with cargo and reads what the compiler says.

mod rustc;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fusion_grader::judgement::{Failure, RunError};
use serde::Deserialize;

#[cfg(target_os = "linux")]
pub(crate) use rustc::rustc_failure;
use rustc::{Answers, Diagnostic};

use crate::interrupt::Interrupt;
use crate::output;
use crate::programs::Programs;

/// An error of the Rust compiler.
#[derive(Clone, Debug)]
pub(crate) struct RustError {
    pub(crate) package: String,
    /// The exercise whose files are to be changed. None for an error in what is not the learner's.
    pub(crate) exercise: Option<&'static str>,
    pub(crate) failure: Failure,
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

pub(crate) fn cargo_works() -> bool {
    let mut probe = cargo();
    probe.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Builds packages in the profile that this program was built in. Compile errors are in the result; an error is what
/// kept cargo from compiling at all.
pub(crate) fn build(root: &Path, packages: &[String], interrupt: &Interrupt) -> Result<Programs, RunError> {
    let mut programs = Programs { root: Some(root.to_owned()), ..Programs::default() };
    let built = cargo_build(root, packages, interrupt, |line| read(line, root, packages, &mut programs))?;
    if !built && programs.errors.is_empty() {
        return Err(RunError::new(
            "build",
            "cargo could not build the submission (its message is above). If the target directory cannot be written, \
             set CARGO_TARGET_DIR to a folder that can",
        ));
    }
    Ok(programs)
}

/// Builds packages, hears cargo's messages, and returns whether all were built.
fn cargo_build(
    root: &Path,
    packages: &[String],
    interrupt: &Interrupt,
    mut hear: impl FnMut(&str),
) -> Result<bool, RunError> {
    let mut command = cargo();
    command.current_dir(root).args(["build", "--keep-going"]);
    // Without colours: messages are part of a report, which may go anywhere.
    command.arg("--message-format=json");
    // Cargo shows its progress on a terminal; elsewhere only what went wrong is of interest.
    match std::io::stderr().is_terminal() {
        true => show_progress(&mut command),
        false => drop(command.arg("--quiet")),
    }
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    for package in packages {
        command.args(["--package", package]);
    }
    let failed = |error: std::io::Error| RunError::new("build", format!("cannot run cargo: {error}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let said = child.stderr.take().map(|stderr| std::thread::spawn(|| pass_on(stderr)));
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        hear(&line.map_err(failed)?);
    }
    let status = child.wait().map_err(failed)?;
    // It ends with cargo, and has nothing to tell.
    let _ended = said.map(std::thread::JoinHandle::join);
    if interrupt.requested() {
        return Err(RunError::new("interrupted", "interrupted while building"));
    }
    Ok(status.success())
}

/// Lets cargo show its progress through a pipe as it would on the terminal behind it.
fn show_progress(command: &mut Command) {
    let look = output::look_of_stderr();
    command.env("CARGO_TERM_PROGRESS_WHEN", "always");
    command.env("CARGO_TERM_PROGRESS_WIDTH", look.width.unwrap_or(80).to_string());
    command.env("CARGO_TERM_COLOR", if look.color { "always" } else { "never" });
}

/// Writes to stderr what cargo says there, but for its summaries of errors that a report shows.
fn pass_on(said: impl Read) {
    let mut line = Vec::new();
    for byte in BufReader::new(said).bytes().map_while(Result::ok) {
        line.push(byte);
        // A progress bar is a line that is written over.
        if matches!(byte, b'\n' | b'\r') {
            if !is_summary(&String::from_utf8_lossy(&line)) {
                let mut stderr = std::io::stderr().lock();
                let _nobody = stderr.write_all(&line).and_then(|()| stderr.flush());
            }
            line.clear();
        }
    }
}

/// Whether a line only says that there are errors.
fn is_summary(line: &str) -> bool {
    line.contains(": could not compile `") || line.contains(": build failed, waiting for other jobs")
}

/// The parts that we read of cargo's messages (*The Cargo Book*, External tools, JSON messages).
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    package_id: Option<String>,
    target: Option<Target>,
    executable: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

fn read(line: &str, root: &Path, packages: &[String], programs: &mut Programs) {
    let Ok(message) = serde_json::from_str::<CargoMessage>(line) else { return };
    match (message.reason.as_str(), message.message) {
        ("compiler-artifact", _) => {
            if let (Some(target), Some(executable)) = (message.target, message.executable)
                && packages.contains(&target.name)
            {
                programs.paths.insert(target.name, executable);
            }
        }
        ("compiler-message", Some(diagnostic)) => {
            let id = message.package_id.unwrap_or_default();
            let package = packages.iter().find(|package| belongs(&id, package));
            match (package, diagnostic.level.as_str()) {
                // Shown with the exercise that it is in.
                (Some(package), "error") if diagnostic.has_place() => {
                    let (exercise, failure) = match Answers::of(root, package) {
                        Some(answers) => answers.explain(diagnostic),
                        None => (None, diagnostic.failure()),
                    };
                    programs.errors.push(RustError { package: package.clone(), exercise, failure });
                }
                _ if diagnostic.is_summary() => {}
                _ => diagnostic.rendered.iter().for_each(|rendered| output::note(rendered.trim_end())),
            }
        }
        _ => {}
    }
}

/// Whether a package id (`path+file:///.../exercises/day22#exercises-day22@0.1.0`) names the package.
fn belongs(id: &str, package: &str) -> bool {
    id.rsplit_once('#').is_some_and(|(_, spec)| spec.split('@').next() == Some(package))
}

/// A file of a library that cargo built: of a crate, by its name in Rust.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug)]
pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
}

/// Builds a package, and names the files of all libraries that it is made of.
#[cfg(target_os = "linux")]
pub(crate) fn libraries(root: &Path, package: &str, interrupt: &Interrupt) -> Result<Vec<Library>, RunError> {
    let mut libraries = Vec::new();
    cargo_build(root, &[package.to_owned()], interrupt, |line| {
        let Ok(message) = serde_json::from_str::<CargoMessage>(line) else { return };
        if let ("compiler-artifact", Some(target)) = (message.reason.as_str(), message.target) {
            let name = target.name.replace('-', "_");
            let files = message.filenames.into_iter().filter(|file| {
                file.extension()
                    .is_some_and(|extension| extension == "rlib" || extension == "rmeta" || extension == "so")
            });
            libraries.extend(files.map(|file| Library { name: name.clone(), file }));
        }
    })?
    .then_some(libraries)
    .ok_or_else(|| RunError::new("build", "cargo could not build the course's libraries"))
}

/// Where the compiler that cargo calls here has its libraries.
#[cfg(target_os = "linux")]
pub(crate) fn sysroot(root: &Path) -> std::io::Result<PathBuf> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let said = rustc.current_dir(root).args(["--print", "sysroot"]).output()?;
    Ok(PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()))
}

/// Errors of an exercise that are shown: the first as it is, the others by their first lines. Later ones often follow from these.
const SHOWN: usize = 3;

/// The first errors of each exercise as one failure, by its name; of what is not the learner's, by the file.
pub(crate) fn by_exercise<'a>(errors: &'a [RustError], package: &str) -> BTreeMap<&'a str, Failure> {
    let mut found: BTreeMap<&str, Vec<&Failure>> = BTreeMap::new();
    for error in errors.iter().filter(|error| error.package == package) {
        let file = error.failure.location.as_ref().map(|location| location.file.as_str());
        found.entry(error.exercise.or(file).unwrap_or_default()).or_default().push(&error.failure);
    }
    found.into_iter().filter_map(|(name, failures)| Some((name, together(&failures)?))).collect()
}

/// The first failure, with the beginnings of the next ones behind it where it is shown as rustc shows it.
fn together(failures: &[&Failure]) -> Option<Failure> {
    let mut first = Failure::clone(failures.first()?);
    if let Some(rendered) = &mut first.rendered {
        let others = failures[1..].iter().filter_map(|failure| failure.rendered.as_deref());
        let shown: String = others.take(SHOWN - 1).map(|other| format!("\n\n{}", beginning(other))).collect();
        let more = match failures.len().saturating_sub(SHOWN) {
            0 => String::new(),
            1 => "\n\n1 more error in this file".to_owned(),
            more => format!("\n\n{more} more errors in this file"),
        };
        *rendered = format!("{}{shown}{more}\n", rendered.trim_end());
    }
    Some(first)
}

/// Of a message of rustc's, what happened and where.
fn beginning(rendered: &str) -> &str {
    let place = rendered.find("--> ").unwrap_or_default();
    let end = rendered[place..].find('\n').map_or(rendered.len(), |end| place + end);
    &rendered[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_grader::judgement::Code;
    use fusion_grader::render;

    const ERROR: &str = r#"{"reason":"compiler-message","package_id":"path+file:///w/exercises/day22#exercises-day22@0.1.0","manifest_path":"x","target":{"kind":["bin"],"name":"exercises-day22"},"message":{"rendered":"error[E0308]: mismatched types\n  label\n","$message_type":"diagnostic","children":[],"level":"error","message":"mismatched types","code":{"code":"E0308","explanation":null},"spans":[{"file_name":"exercises/day22/src/add_gelu.rs","line_start":7,"column_start":5,"is_primary":true,"text":[{"text":"    1","highlight_start":5,"highlight_end":6}]}]}}"#;
    const CLOSING: &str = r#"{"reason":"compiler-message","package_id":"path+file:///w/exercises/day22#exercises-day22@0.1.0","message":{"rendered":"","level":"error","message":"aborting due to 1 previous error","code":null,"spans":[]}}"#;
    const ADVICE: &str = r#"{"reason":"compiler-message","package_id":"path+file:///w/exercises/day22#exercises-day22@0.1.0","message":{"rendered":"","level":"failure-note","message":"For more information about this error, try `rustc --explain E0308`.","code":null,"spans":[]}}"#;
    const ARTIFACT: &str = r#"{"reason":"compiler-artifact","package_id":"x","target":{"kind":["bin"],"name":"solutions-day22"},"executable":"/t/debug/solutions-day22"}"#;

    #[test]
    fn errors_belong_to_the_exercise_whose_file_has_them() {
        let packages = ["exercises-day22".to_owned(), "solutions-day22".to_owned()];
        let mut programs = Programs::default();
        for line in [ERROR, CLOSING, ADVICE, ARTIFACT, "garbage", "{}", "[]", ""] {
            read(line, Path::new(""), &packages, &mut programs);
        }
        assert_eq!(programs.paths["solutions-day22"], Path::new("/t/debug/solutions-day22"));
        assert_eq!(programs.errors.len(), 1);
        let errors = by_exercise(&programs.errors, "exercises-day22");
        let failure = &errors["add_gelu"];
        assert_eq!((failure.code, failure.title.as_str()), (Code::Compile, "mismatched types (E0308)"));
        assert_eq!(failure.location.as_ref().map(|l| (l.line, l.column, l.text.as_str())), Some((7, 5, "    1")));
        // It is shown as rustc shows it, labels and all.
        assert_eq!(render::failure(failure, &[], render::Look::default()), "error[E0308]: mismatched types\n  label");
        assert!(by_exercise(&programs.errors, "solutions-day22").is_empty());
    }

    #[test]
    fn the_first_error_is_shown_whole_and_the_next_ones_by_their_first_lines() {
        let error = |line: u32| {
            let rendered = format!("error[E0425]: no `a{line}`\n  --> a.rs:{line}:1\n   |\n{line} | a{line}\n");
            Failure { rendered: Some(rendered), ..Failure::new(Code::Compile, "") }
        };
        let shown = |count: u32| {
            let failures: Vec<Failure> = (1..=count).map(error).collect();
            together(&failures.iter().collect::<Vec<_>>()).and_then(|failure| failure.rendered).unwrap()
        };
        let one = "error[E0425]: no `a1`\n  --> a.rs:1:1\n   |\n1 | a1\n";
        let three = format!("{one}\nerror[E0425]: no `a2`\n  --> a.rs:2:1\n\nerror[E0425]: no `a3`\n  --> a.rs:3:1\n");
        assert_eq!(shown(1), one);
        assert_eq!(shown(3), three);
        assert_eq!(shown(4), format!("{three}\n1 more error in this file\n"));
        assert_eq!(together(&[]), None);
    }
}
