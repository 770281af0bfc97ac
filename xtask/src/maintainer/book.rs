//! `cargo xtask book`: makes and checks the book. The work is done by a package of its own, so that learners, who do not need it, do not
//! build it.

use std::ffi::OsString;
use std::process::Command;

use super::choices;
use crate::output;

/// The command's options are those of `fusion-book`.
#[derive(Clone, Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Options {
    /// `--check`, `--browser`, `--screenshots FOLDER`, `--only TEXT`; `--help` tells more
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

/// Runs the package and returns its exit code.
pub(crate) fn run(options: &Options) -> u8 {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["run", "--quiet", "--package", "fusion-book", "--"]).args(&options.options);
    choices::clear(&mut command);
    match command.status() {
        // Ended by a signal: interrupted.
        Ok(status) => status.code().map_or(130, |code| u8::try_from(code).unwrap_or(2)),
        Err(error) => {
            output::note(&format!("error: cannot run cargo: {error}"));
            2
        }
    }
}
