//! The worker of class mode, which has the reference and the device, and asks the submission's program what to launch.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use fusion_course::Source;
use fusion_grader::worker::contained::{Contained, judge};

use crate::confine::{self, Files, Who};
use crate::{emulated, output};

/// What it judges.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    exercise: String,
    /// The `.cu`
    #[arg(long)]
    source: PathBuf,
    /// What the `.cu` is called in messages
    #[arg(long)]
    name: String,
    /// The program that holds the submission's Rust code
    #[arg(long)]
    host: PathBuf,
    /// The emulated driver
    #[arg(long)]
    driver: PathBuf,
    #[arg(long)]
    size: Option<usize>,
}

impl Options {
    /// The command that a worker is started by.
    pub(crate) fn command(&self) -> std::io::Result<Command> {
        let mut command = Command::new(confine::program()?);
        command.arg("contained").arg(&self.exercise).arg("--source").arg(&self.source).arg("--name").arg(&self.name);
        command.arg("--host").arg(&self.host).arg("--driver").arg(&self.driver);
        if let Some(size) = self.size {
            command.arg("--size").arg(size.to_string());
        }
        Ok(command)
    }

    pub(crate) fn new(
        exercise: &str,
        source: PathBuf,
        name: String,
        host: PathBuf,
        driver: PathBuf,
        size: Option<usize>,
    ) -> Self {
        Self { exercise: exercise.to_owned(), source, name, host, driver, size }
    }

    fn contained(&self) -> Result<Contained, String> {
        let exercise = fusion_course::find(&self.exercise).ok_or("there is no such exercise")?;
        let text = std::fs::read_to_string(&self.source).map_err(|error| format!("the source: {error}"))?;
        let files: Vec<PathBuf> =
            [self.host.clone(), self.driver.clone()].into_iter().chain(emulated::file()).collect();
        let mut host = confine::command(Who::Submission, &Command::new(&self.host), Files::read(&files))
            .map_err(|error| error.to_string())?;
        host.env_clear().env("FUSION_EMULATOR", &self.driver).current_dir("/");
        // What a launch may ask for depends on the GPU.
        if let Some(gpu) = std::env::var_os(fusion_profile::CHOICE) {
            host.env(fusion_profile::CHOICE, gpu);
        }
        Ok(Contained { exercise, source: Source { path: self.name.clone(), text }, host, size: self.size })
    }
}

pub(crate) fn run(options: &Options) -> ExitCode {
    match options.contained() {
        Ok(contained) => judge(contained),
        Err(error) => {
            output::note(&error);
            ExitCode::from(2)
        }
    }
}
