//! Builds the program that holds a submission's Rust code: by one call of the compiler, which can read nothing but what that takes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fusion_course::Exercise;
use fusion_grader::judgement::{Code, Failure, RunError};

use super::submission::Taken;
use crate::build::{self, Library};
use crate::confine::{self, Files, Who};
use crate::interrupt::Interrupt;
use crate::judge::{self, Stop};
use crate::process::{self, End, Said, Watch};
use crate::programs;

/// What a submission may use, and the main function.
const EXTERNS: &[&str] = &["cudarc", "fusion_course", "fusion_grader", "half"];

/// The file of the main function, and what it is called where somebody reads of it who has never seen it.
const MAIN: &str = "main.rs";
const GENERATED: &str = "(the main function that class mode adds)";

/// How long a program that does nothing may take to be built, and to start.
const REHEARSAL: Duration = Duration::from_secs(120);

/// Its main function: a worker's token is the last that it is told, and so it ends once it has a device.
const IDLE: &str = "\
fn main() -> std::process::ExitCode {
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let parent = std::os::fd::AsFd::as_fd(&std::io::stdin()).try_clone_to_owned().unwrap();
    std::os::unix::net::UnixStream::from(parent).shutdown(std::net::Shutdown::Read).unwrap();
    let source = fusion_course::Source { path: String::new(), text: String::new() };
    let launch: fusion_course::Bound = std::sync::Arc::new(|_, _, _| Ok(()));
    let Some(exercise) = fusion_course::find(\"mul_add\") else { return std::process::ExitCode::FAILURE };
    fusion_grader::class::host(fusion_course::Entry { exercise, source, rust: None, launch })
}
";

/// What came of a call of the compiler.
#[derive(Debug)]
struct Built {
    program: PathBuf,
    failure: Option<Failure>,
    said: Vec<String>,
    end: End,
}

/// The course's libraries, in a folder with nothing else in it, and a compiler.
#[derive(Debug)]
pub(super) struct Libraries {
    folder: tempfile::TempDir,
    externs: Vec<(String, PathBuf)>,
    sysroot: PathBuf,
}

impl Libraries {
    /// Builds them with cargo: they are the course's own.
    pub(super) fn build(interrupt: &Interrupt) -> Result<Self, RunError> {
        let Some(root) = programs::workspace_root().filter(|_| build::cargo_works()) else {
            let why = "--class builds submissions, and needs cargo and this repository";
            return Err(RunError::new("build", why));
        };
        // Those that this program is made of: cargo has built them already.
        let built = build::libraries(&root, "xtask", interrupt)?;
        Self::gather(&root, built).map_err(|error| RunError::new("build", format!("cannot gather libraries: {error}")))
    }

    fn gather(root: &Path, built: Vec<Library>) -> io::Result<Self> {
        let sysroot = build::sysroot(root)?;
        let profile = built.iter().find_map(|library| library.file.parent()?.parent()).unwrap_or(root);
        let place = profile.join("class");
        fs::create_dir_all(&place)?;
        let folder = tempfile::Builder::new().prefix("run-").tempdir_in(&place)?;
        let libraries = folder.path().join("libraries");
        fs::create_dir(&libraries)?;
        let mut externs = Vec::new();
        for Library { name, file } in built {
            let Some(copy) = file.file_name().map(|file| libraries.join(file)) else { continue };
            fs::hard_link(&file, &copy).or_else(|_| fs::copy(&file, &copy).map(|_| ()))?;
            if EXTERNS.contains(&name.as_str()) && copy.extension().is_some_and(|it| it == "rlib") {
                externs.push((name, copy));
            }
        }
        Ok(Self { folder, externs, sysroot })
    }

    /// A folder for what belongs to this run; it is removed with this.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The program, or why there is none.
    pub(super) fn host(
        &self,
        taken: &Taken,
        exercise: &Exercise,
        watch: &Watch<'_>,
    ) -> Result<Result<PathBuf, Failure>, Stop> {
        let Built { program, failure, said, end } = self.build_host(taken.folder.path(), &main_of(exercise), watch)?;
        match end {
            End::Exited(0) => Ok(Ok(program)),
            End::Interrupted => Err(Stop::Interrupted),
            End::Exited(code) if code == i32::from(confine::EXIT_CODE) => {
                Err(Stop::Error(RunError::new("not-contained", said.join("\n"))))
            }
            End::Exited(_) => {
                let failure = failure.unwrap_or_else(|| {
                    let failure = Failure::new(Code::Compile, "the Rust code does not become a program");
                    said.iter().fold(failure, |failure, line| failure.note(line))
                });
                Ok(Err(placed(failure, exercise, taken)))
            }
            End::TimedOut => {
                let title = format!("the Rust code is not built after {} s", watch.limit.as_secs());
                let failure = Failure::new(Code::Timeout, title);
                Ok(Err(failure.note("code that takes so long to compile? --timeout gives it more seconds")))
            }
            end => {
                let died = judge::death(end, watch.limit, "", &said);
                let mut failure = Failure::new(Code::Compile, "the compiler did not finish").note(died.title);
                failure.notes.extend(said);
                Ok(Err(failure))
            }
        }
    }

    /// Calls the compiler.
    fn build_host(&self, folder: &Path, main: &str, watch: &Watch<'_>) -> Result<Built, Stop> {
        let cannot = |error: io::Error| Stop::Error(RunError::new("build", format!("cannot build: {error}")));
        let into = folder.join("build");
        fs::create_dir(&into).map_err(cannot)?;
        fs::write(folder.join(MAIN), main).map_err(cannot)?;
        let program = into.join("host");
        let mut said = Vec::new();
        let mut failure = None;
        let mut command = self.command(folder, &into, &program).map_err(cannot)?;
        let end = process::run(&mut command, watch, |line| {
            if let Said::Complained(line) | Said::Printed(line) = line {
                if let Some(found) = build::rustc_failure(&line, |said| said.replace(MAIN, GENERATED)) {
                    failure.get_or_insert(found);
                } else if !line.starts_with('{') && said.len() < 20 {
                    said.push(line);
                }
            }
        });
        Ok(Built { program, failure, said, end: end.map_err(cannot)? })
    }

    /// Builds and starts a program with a launch function that does nothing. What goes wrong with this one is no
    /// submission's fault: a linker that is missing, a machine on which programs cannot be confined, a driver that does
    /// not load.
    pub(super) fn rehearse(&self, driver: &Path, interrupt: &Interrupt) -> Result<(), Stop> {
        let watch = Watch { limit: REHEARSAL, interrupt };
        let wrong = |end: End, said: &[String], doing: &str| match end {
            End::Interrupted => Stop::Interrupted,
            end => {
                let unconfined = end == End::Exited(i32::from(confine::EXIT_CODE));
                let code = if unconfined { "not-contained" } else { "build" };
                let said = said.join("\n");
                Stop::Error(RunError::new(
                    code,
                    format!("a program that does nothing cannot be {doing} ({end:?}): {said}"),
                ))
            }
        };
        let cannot = |error: io::Error| Stop::Error(RunError::new("build", format!("cannot build: {error}")));
        let folder = tempfile::Builder::new().prefix("rehearsal-").tempdir_in(self.folder()).map_err(cannot)?;
        let built = self.build_host(folder.path(), IDLE, &watch)?;
        if built.end != End::Exited(0) {
            let why: Vec<String> = built.failure.map(|failure| failure.title).into_iter().chain(built.said).collect();
            return Err(wrong(built.end, &why, "built"));
        }
        // Inside of two confinements, as a submission's. It ends because nobody asks it anything.
        let files = [confine::program().map_err(cannot)?, built.program.clone(), driver.to_owned()];
        let host = confine::command(Who::Submission, &Command::new(&built.program), Files::read(&files[1..]));
        let worker = host.and_then(|host| confine::command(Who::Worker, &host, Files::read(&files)));
        let mut worker = worker.map_err(cannot)?;
        worker.env_clear().env("FUSION_EMULATOR", driver).current_dir("/");
        let mut said = Vec::new();
        let end = process::run(&mut worker, &watch, |heard| {
            if let Said::Complained(line) | Said::Printed(line) = heard {
                said.push(line);
            }
        });
        match end.map_err(cannot)? {
            End::Exited(0) => Ok(()),
            end => Err(wrong(end, &said, "started")),
        }
    }

    fn command(&self, folder: &Path, into: &Path, program: &Path) -> io::Result<Command> {
        let libraries = self.folder.path().join("libraries");
        let mut rustc = Command::new(self.sysroot.join("bin/rustc"));
        rustc.args([MAIN, "--crate-name=submission", "--crate-type=bin", "--edition=2024", "--error-format=json"]);
        // Nobody reads the libraries' debug information, and most of the linker's work would be to copy it.
        rustc.args(["--cap-lints=allow", "-Cstrip=debuginfo", "-o"]).arg(program);
        rustc.arg("-L").arg(format!("dependency={}", libraries.display()));
        for (name, file) in &self.externs {
            rustc.arg("--extern").arg(format!("{name}={}", file.display()));
        }
        let read = [self.sysroot.clone(), libraries, folder.to_owned()];
        let mut command =
            confine::command(Who::Compiler, &rustc, Files { read: &read, list: &[], write: &[into.to_owned()] })?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("TMPDIR", into).current_dir(folder);
        Ok(command)
    }
}

/// A failure under the names that the submission's author knows.
fn placed(mut failure: Failure, exercise: &Exercise, taken: &Taken) -> Failure {
    let name = exercise.name;
    if failure.location.as_ref().is_some_and(|location| location.file == MAIN) {
        let title = format!("`{name}.rs` must have `pub fn {name}` with the starter's parameters");
        let rendered = failure.rendered.map(|text| text.replace(MAIN, GENERATED));
        let said = failure.title;
        failure = Failure::new(Code::Compile, title).note(format!("the compiler says: {said}"));
        failure.rendered = rendered;
    } else if let Some(location) = &mut failure.location {
        // It was compiled under its copy's name.
        location.file.clone_from(&taken.launch_name);
    }
    failure
}

/// The main function of a submission's program.
fn main_of(exercise: &Exercise) -> String {
    let (name, day) = (exercise.name, exercise.day);
    format!(
        "mod {name};\n\
         fn main() -> std::process::ExitCode {{\n\
         \x20   let source = fusion_course::Source {{ path: String::new(), text: String::new() }};\n\
         \x20   fusion_grader::class::host(fusion_course::day{day}::{name}::entry({name}::{name}, source))\n\
         }}\n"
    )
}
