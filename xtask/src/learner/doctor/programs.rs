//! Programs of others: whether they are there, and which version they say that they are.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The first line that a program prints, if it runs and succeeds.
pub(super) fn says(program: &str, arguments: &[&str]) -> Option<String> {
    says_in(None, program, arguments)
}

/// The same in a folder, which decides for some which version runs.
pub(super) fn says_in(folder: Option<&PathBuf>, program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let output = command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}

/// The path of a program that a shell would find.
pub(super) fn path_of(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// The first version in a text: `rustc 1.95.0 (59807616e 2026-04-14)` is 1.95.0.
pub(super) fn version(text: &str) -> Option<Version> {
    let words = text.split_whitespace().map(|word| word.trim_start_matches('v'));
    words.into_iter().find_map(|word| {
        let digits: &str = word.split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or_default();
        let numbers: Result<Vec<u32>, _> = digits.split('.').map(str::parse).collect();
        numbers.ok().filter(|numbers| numbers.len() > 1).map(Version)
    })
}

/// Numbers with dots between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(Vec<u32>);

impl Version {
    /// The release that this is a version of: 0.5 of 0.5.4.
    pub(super) fn release(&self) -> &[u32] {
        &self.0[..self.0.len().min(2)]
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (text, expected) in [
            ("rustc 1.95.0 (59807616e 2026-04-14)", Some("1.95.0")),
            ("cargo 1.97.0-nightly (e7d92d8 2026-05-01)", Some("1.97.0")),
            ("mdbook v0.5.4", Some("0.5.4")),
            ("git version 2.39.5 (Apple Git-154)", Some("2.39.5")),
            ("tmux 3.3a", Some("3.3")),
            ("Ubuntu clangd version 22.1.1 (ssh://x/y 7a2b)", Some("22.1.1")),
            ("nothing of the kind 7", None),
        ] {
            assert_eq!(version(text).map(|it| it.to_string()).as_deref(), expected, "{text}");
        }
        assert!(version("a 1.100.0") > version("b 1.89"));
    }

    #[test]
    fn a_program_that_is_not_there_says_nothing() {
        assert_eq!(says("no-such-program", &["--version"]), None);
        assert_eq!(path_of("no-such-program"), None);
    }
}
