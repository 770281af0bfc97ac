use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::python::Python;
use super::wheels::{PLATFORMS, Wheel};
use crate::{FetchError, Progress};

/// How often the progress bar looks at what pip has written.
const TICK: Duration = Duration::from_millis(100);

/// Lets pip download the wheels into `staging`, and returns the directory that holds them.
///
/// pip checks the hashes. It is a child in this process's group, so that Ctrl-C at a terminal ends both; when this
/// function returns early it is killed.
pub(super) fn download(
    python: &Python,
    wheels: &[Wheel],
    staging: &Path,
    progress: &mut dyn Progress,
) -> Result<PathBuf, FetchError> {
    let (requirements, temporary, into) =
        (staging.join("requirements.txt"), staging.join("pip"), staging.join("wheels"));
    let text: String = wheels.iter().map(Wheel::requirement).collect();
    std::fs::write(&requirements, text).map_err(|error| FetchError::io(&requirements, error))?;
    for directory in [&temporary, &into] {
        std::fs::create_dir(directory).map_err(|error| FetchError::io(directory, error))?;
    }

    let mut command = python.command();
    command.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
    command.args(["--disable-pip-version-check", "--no-input", "--no-cache-dir", "--progress-bar=off", "--retries=3"]);
    command.args(PLATFORMS.iter().flat_map(|platform| ["--platform", platform]));
    command.arg("--dest").arg(&into).arg("--requirement").arg(&requirements);
    // A half-finished download stays inside staging, where the next attempt removes it and where its size can be seen.
    command.envs(["TMPDIR", "TMP", "TEMP"].map(|name| (name, &temporary)));
    // The reader's own pip settings hold (a mirror, a proxy, a certificate), except one that forbids this use of pip.
    command.env("PIP_REQUIRE_VIRTUALENV", "0");
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = KillOnDrop(child.map_err(|error| FetchError::io(staging, error))?);

    let total = wheels.iter().map(|wheel| wheel.size).sum();
    progress.start("fetching NVRTC and the CUDA headers", total);
    let lines = child.0.stderr.take().map(lines);
    let said = follow(lines, &[&temporary, &into], progress);
    progress.finish();
    let status = child.0.wait().map_err(|error| FetchError::io(staging, error))?;
    if status.success() { Ok(into) } else { Err(diagnose(&said, status, staging)) }
}

/// Relays how pip gets on until it closes its stderr, and returns all that it said there.
fn follow(lines: Option<Receiver<String>>, directories: &[&Path], progress: &mut dyn Progress) -> String {
    let (mut said, mut warned, mut done) = (String::new(), false, 0);
    let Some(lines) = lines else { return said };
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                if line.contains("Retrying (") && !std::mem::replace(&mut warned, true) {
                    progress.note("the package index does not answer; pip is trying again");
                }
                said += &line;
                said.push('\n');
            }
            Err(RecvTimeoutError::Timeout) => {
                // pip copies each wheel from the one to the other and then forgets the first: the larger one counts.
                done = directories.iter().map(|directory| size(directory)).max().unwrap_or(0).max(done);
                progress.advance(done);
            }
            Err(RecvTimeoutError::Disconnected) => return said,
        }
    }
}

/// The lines of a pipe, read on a thread that ends with the pipe.
fn lines(stderr: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            if sender.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

/// The bytes of all files below a directory. Files come and go meanwhile, so whatever fails counts nothing.
fn size(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// pip has one exit status for every failure, so its words decide. The first row that matches wins: a full disk, for
/// example, can show itself as a bad hash further down.
fn diagnose(said: &str, status: ExitStatus, staging: &Path) -> FetchError {
    let has = |needles: &[&str]| needles.iter().any(|needle| said.contains(needle));
    let detail = last_words(said);
    if has(&[
        "No space left on device",
        "[Errno 28]",
        "Disk quota exceeded",
        "[Errno 122]",
        "not enough space on the disk",
    ]) {
        FetchError::DiskFull { path: staging.parent().unwrap_or(staging).to_owned(), needed: super::SPACE_NEEDED }
    } else if has(&["DO NOT MATCH THE HASHES"]) {
        FetchError::WrongHash { detail: hashes(said) }
    } else if has(&["CERTIFICATE_VERIFY_FAILED", "SSLCertVerificationError", "certificate verify failed"]) {
        FetchError::Certificate { detail }
    } else if has(&[
        "Retrying (",
        "Temporary failure in name resolution",
        "Failed to establish a new connection",
        "Network is unreachable",
        "Max retries exceeded",
        "Read timed out",
        "ProxyError",
        "ConnectionResetError",
        "IncompleteRead",
    ]) {
        FetchError::NoNetwork { detail }
    } else if has(&["No matching distribution found", "Could not find a version"]) {
        FetchError::NotOnIndex { detail }
    } else if has(&["No module named pip"]) {
        FetchError::NoPip { python: "python3".to_owned() }
    } else {
        let said: Vec<&str> = said.lines().collect();
        let end = said[said.len().saturating_sub(12)..].join("\n");
        FetchError::Pip { status: status.to_string(), said: if end.is_empty() { "(nothing)".to_owned() } else { end } }
    }
}

/// The line that names the cause best: the last error, or what the last retry was for.
fn last_words(said: &str) -> String {
    let cause = said.lines().rev().find_map(|line| line.split_once("broken by '").map(|(_, cause)| cause));
    if let Some(cause) = cause {
        let cause = cause.rsplit_once("': /").map_or(cause, |(cause, _)| cause);
        // `NewConnectionError('<object at 0x7f...>: Connection refused')`
        let cause = cause.rsplit_once(">: ").map_or(cause, |(_, cause)| cause);
        return cause.trim_end_matches(['\'', ')']).to_owned();
    }
    let error = said.lines().rev().find(|line| line.starts_with("ERROR: "));
    let line = error.or_else(|| said.lines().rev().find(|line| !line.trim().is_empty()));
    line.unwrap_or("pip said nothing").trim_start_matches("ERROR: ").to_owned()
}

/// The part of pip's message that has the package and the two hashes.
fn hashes(said: &str) -> String {
    let lines = said.lines().map(str::trim);
    let telling =
        lines.filter(|line| ["Expected", "Got ", "from http", "nvidia"].iter().any(|word| line.contains(word)));
    telling.map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
