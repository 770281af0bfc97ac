use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use crate::FetchError;

/// A Python 3 that runs and has pip.
#[derive(Debug)]
pub(crate) struct Python {
    program: OsString,
    arguments: &'static [&'static str],
}

/// Finds one: the one that was asked for, and only that, or else by the usual names.
pub(crate) fn find(explicit: Option<&OsStr>) -> Result<Python, FetchError> {
    let candidates = match explicit {
        Some(program) => vec![Python { program: program.to_owned(), arguments: &[] }],
        None => vec![
            Python { program: "python3".into(), arguments: &[] },
            Python { program: "python".into(), arguments: &[] },
            // The launcher that Python's Windows installer puts on the path.
            Python { program: "py".into(), arguments: &["-3"] },
        ],
    };
    let tried = candidates.iter().map(Python::display).collect();
    let mut without_pip = None;
    for python in candidates {
        // A name on the path proves nothing: Windows has a `python3` that opens a shop, version managers have shims.
        if !python.succeeds(&["-c", "import sys; sys.exit(sys.version_info[0] != 3)"]) {
            continue;
        }
        if python.succeeds(&["-m", "pip", "--version"]) {
            return Ok(python);
        }
        without_pip.get_or_insert(python.display());
    }
    Err(match without_pip {
        Some(python) => FetchError::NoPip { python },
        None => FetchError::NoPython { tried },
    })
}

impl Python {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.arguments).stdin(Stdio::null());
        command
    }

    fn succeeds(&self, arguments: &[&str]) -> bool {
        let status = self.command().args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// As it is typed in a shell.
    pub(crate) fn display(&self) -> String {
        let mut words = vec![self.program.to_string_lossy().into_owned()];
        words.extend(self.arguments.iter().map(|&word| word.to_owned()));
        words.join(" ")
    }
}
