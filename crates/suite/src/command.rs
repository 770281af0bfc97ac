//! The main function of a suite's command line.

use std::error::Error;
use std::io::{self, StdoutLock};
use std::process::ExitCode;

/// Runs a command that writes to stdout. A reader who closed the pipe has seen enough, which is no error; of any other error
/// stderr is told, and the exit code is 2.
pub fn main(run: impl FnOnce(&mut StdoutLock<'static>) -> Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    match run(&mut io::stdout().lock()) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
