//! A headless Chromium of our own, with an empty profile and no network.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::cdp::Cdp;
use crate::Failure;

/// A running browser; it ends with this value.
#[derive(Debug)]
pub(crate) struct Chromium {
    process: Child,
    address: String,
    _profile: TempDir,
}

const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

const OPTIONS: [&str; 14] = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    // Containers have little of it.
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--allow-file-access-from-files",
    "--remote-debugging-port=0",
    // Whatever asks for another machine fails, and is seen to.
    "--host-resolver-rules=MAP * ~NOTFOUND",
];

impl Chromium {
    /// Starts a browser that can be found.
    pub(crate) fn start() -> Result<Chromium, Failure> {
        let profile = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let program = find().ok_or(
            "no Chromium found. Install it (Debian: apt-get install chromium; Fedora: dnf install chromium; macOS: brew install \
             --cask chromium), or set CHROMIUM to its program",
        )?;
        let mut command = Command::new(&program);
        command.args(OPTIONS).arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        // In a container, as root, Chromium's own sandbox cannot be made. The pages are our own.
        command.arg("--no-sandbox");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut said = String::new();
        let mut address = None;
        if let Some(stderr) = process.stderr.take() {
            let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
            for line in lines.by_ref() {
                if let Some(found) = line.strip_prefix("DevTools listening on ") {
                    address = Some(found.trim().to_owned());
                    break;
                }
                said.push_str(&line);
                said.push('\n');
            }
            // A full pipe would stop the browser.
            std::thread::spawn(move || lines.for_each(drop));
        }
        match address {
            Some(address) => Ok(Chromium { process, address, _profile: profile }),
            None => {
                let _ended = process.kill().and_then(|()| process.wait());
                Err(format!("{} did not start:\n{}", program.display(), said.trim_end()))
            }
        }
    }

    /// A connection to it.
    pub(crate) fn connect(&self) -> Result<Cdp, Failure> {
        Cdp::connect(&self.address)
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ended = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// The program that `CHROMIUM` names, or the first on the path.
fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let path: OsString = std::env::var_os("PATH")?;
    let mac = PathBuf::from("/Applications/Chromium.app/Contents/MacOS/Chromium");
    NAMES
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .chain([mac])
        .find(|program| program.is_file())
}
