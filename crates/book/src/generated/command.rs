//! Runs one command of the listing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::listing::Output;
use crate::Failure;

/// What a command made.
#[derive(Debug)]
pub(crate) struct Made {
    printed: String,
    folder: TempDir,
}

/// Runs the command from the repository's root, without a shell. `cargo xtask book` has cleared what would change what it prints.
pub(crate) fn run(root: &Path, output: &Output) -> Result<Made, Failure> {
    let folder = TempDir::new().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
    // The folder, or a file in it.
    let mut words = output.command.split_whitespace().map(|word| match word.strip_prefix("{out}") {
        Some(file) => folder.path().join(file.trim_start_matches('/')),
        None => PathBuf::from(word),
    });
    let program = match words.next() {
        Some(word) if word == Path::new("cargo") => std::env::var_os("CARGO").map_or(word, PathBuf::from),
        Some(word) => word,
        None => return Err("an entry of book/generated.toml has no command".to_owned()),
    };
    let mut command = Command::new(program);
    command.args(words).current_dir(root).stdin(Stdio::null()).stderr(Stdio::piped());
    match output.pictured() {
        true => command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1").env("COLUMNS", "100"),
        false => command.env("NO_COLOR", "1").env("COLUMNS", "120"),
    };
    command.envs(&output.env);
    let done = command.output().map_err(|error| format!("cannot run `{}`: {error}", output.command))?;
    if done.status.code() != Some(output.status) {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("`{}` failed ({}):\n{}", output.command, done.status, said.trim_end()));
    }
    let printed = String::from_utf8(done.stdout).map_err(|_| format!("`{}` prints no UTF-8", output.command))?;
    Ok(Made { printed, folder })
}

impl Made {
    /// What a file of the entry should be. What a command prints as text has the command in its first line, as what is measured has.
    pub(crate) fn text(&self, output: &Output, file: &str) -> Result<String, Failure> {
        if output.printed() {
            let command = &output.command;
            if output.pictured() {
                let shown = format!("\u{1b}[1m$ {command}\u{1b}[0m\n{}", self.printed);
                return Ok(anstyle_svg::Term::new().render_svg(&shown));
            }
            return Ok(match file.ends_with(".txt") {
                true => format!("# {command}\n\n{}", self.printed.trim_start_matches('\n')),
                false => self.printed.clone(),
            });
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        let path = self.folder.path().join(name);
        std::fs::read_to_string(path).map_err(|error| {
            let written: Vec<String> = std::fs::read_dir(self.folder.path())
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            let (command, written) = (&output.command, written.join(", "));
            format!("`{command}` made no {name} ({error}); it made: {written}. Correct `files` in book/generated.toml")
        })
    }
}
