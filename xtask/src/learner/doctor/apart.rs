//! A check in a process of its own: what it opens may end that process, and not this one.

use std::process::Command;
use std::time::Duration;

use super::check::{Apart, Check, Finding};
use super::report::Report;
use crate::interrupt::Interrupt;
use crate::process::{self, End, Said, Watch};

/// A driver that works answers within a second, and NVRTC within a few where a disk is slow.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn look(check: &Check, apart: &Apart) -> Finding {
    let mut said = String::new();
    let ended = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.args(["doctor", "--here", "--json", check.name]);
        process::run(&mut command, &Watch { limit: LIMIT, interrupt: &Interrupt::default() }, |line| {
            if let Said::Printed(line) = line {
                said += &line;
            }
        })
    });
    match serde_json::from_str::<Report>(&said).ok().and_then(Report::only) {
        Some(finding) => finding,
        None => silent(apart, ended),
    }
}

/// What is said of a process that has said nothing.
fn silent(apart: &Apart, ended: std::io::Result<End>) -> Finding {
    let how = match ended {
        Ok(End::Killed(signal)) => format!("ended the process: {}", process::signal_name(signal)),
        Ok(End::TimedOut) => format!("did not return within {} seconds", LIMIT.as_secs()),
        Ok(_) => "ended the process".to_owned(),
        Err(error) => return Finding::problem(format!("a second process cannot be started: {error}"), apart.fix),
    };
    Finding::problem(format!("{} {how}", apart.doing), apart.fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_ends_its_process_is_named() {
        let apart = Apart { doing: "opening it", fix: "leave it" };
        for (ended, says) in [
            (Ok(End::Killed(11)), "opening it ended the process: SIGSEGV"),
            (Ok(End::TimedOut), "opening it did not return within 60 seconds"),
            (Ok(End::Exited(2)), "opening it ended the process"),
            (Err(std::io::Error::other("no room")), "a second process cannot be started: no room"),
        ] {
            let finding = silent(&apart, ended);
            assert!(finding.found.starts_with(says) && finding.fix.as_deref() == Some("leave it"), "{finding:?}");
        }
    }
}
