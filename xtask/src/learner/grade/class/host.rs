//! Builds the program that holds a submission's Rust code: by one call of the compiler, which can read nothing but what that takes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use fusion_course::Exercise;
use fusion_grader::judgement::{Code, Failure, RunError};

use super::submission::Taken;
use crate::build::{self, Library};
use crate::confine::{self, Who};
use crate::interrupt::Interrupt;
use crate::judge::Stop;
use crate::process::{self, End, Said, Watch};
use crate::programs;

/// What a submission may use, and the main function.
const EXTERNS: &[&str] = &["cudarc", "fusion_course", "fusion_grader", "half"];

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
        let folder = taken.folder.path();
        let cannot = |error: io::Error| Stop::Error(RunError::new("build", format!("cannot build: {error}")));
        let into = folder.join("build");
        fs::create_dir(&into).map_err(cannot)?;
        fs::write(folder.join("main.rs"), main_of(exercise)).map_err(cannot)?;
        let program = into.join("host");
        let mut said = Vec::new();
        let mut failure = None;
        let mut command = self.command(folder, &into, &program).map_err(cannot)?;
        let end = process::run(&mut command, watch, |line| {
            if let Said::Complained(line) | Said::Printed(line) = line {
                if let Some(found) = build::rustc_failure(&line) {
                    failure.get_or_insert(found);
                } else if !line.starts_with('{') && said.len() < 20 {
                    said.push(line);
                }
            }
        });
        match end.map_err(cannot)? {
            End::Exited(0) => Ok(Ok(program)),
            End::Interrupted => Err(Stop::Interrupted),
            End::Exited(code) if code == i32::from(confine::EXIT_CODE) => {
                Err(Stop::Error(RunError::new("not-contained", said.join("\n"))))
            }
            end => {
                let mut failure = failure.unwrap_or_else(|| {
                    let failure = Failure::new(Code::Compile, "the Rust code does not become a program");
                    said.iter().fold(failure.note(format!("the compiler: {end:?}")), |failure, line| failure.note(line))
                });
                if let Some(location) = &mut failure.location {
                    // It was compiled under its copy's name.
                    location.file.clone_from(&taken.launch_name);
                }
                Ok(Err(failure))
            }
        }
    }

    fn command(&self, folder: &Path, into: &Path, program: &Path) -> io::Result<Command> {
        let libraries = self.folder.path().join("libraries");
        let mut rustc = Command::new(self.sysroot.join("bin/rustc"));
        rustc.args(["main.rs", "--crate-name=submission", "--crate-type=bin", "--edition=2024", "--error-format=json"]);
        rustc.args(["--cap-lints=allow", "-o"]).arg(program);
        rustc.arg("-L").arg(format!("dependency={}", libraries.display()));
        for (name, file) in &self.externs {
            rustc.arg("--extern").arg(format!("{name}={}", file.display()));
        }
        let read = [self.sysroot.clone(), libraries, folder.to_owned()];
        let mut command = confine::command(Who::Compiler, &rustc, &read, &[into.to_owned()])?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("TMPDIR", into).current_dir(folder);
        Ok(command)
    }
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
