//! The form of `book/generated.toml`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::value::Datetime;

use super::excerpt::Excerpt;

/// All entries.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listing {
    #[serde(rename = "output")]
    pub(crate) outputs: Vec<Output>,
    /// What pages show of outputs that are wider than a page.
    #[serde(default, rename = "excerpt")]
    pub(crate) excerpts: Vec<Excerpt>,
}

/// One command and what it makes: either its standard output as `file`, or `files` that it writes into the folder `{out}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    /// As a reader would type it, from the repository's root. Words are separated by spaces; there is no shell.
    pub(crate) command: String,
    /// Set for the command, in addition to what it inherits. `COLUMNS` is 120 without it.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// The exit status that the command has to have: 1 of one that finds what it was shown.
    #[serde(default)]
    pub(crate) status: i32,
    /// Under `book/src`: takes what the command prints; as a picture of a terminal, where it is an `.svg`.
    file: Option<String>,
    /// Under `book/src`: where `files` go.
    folder: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    /// Measured on a GPU: not made anew here, and the first line names machine, date and command.
    #[serde(default)]
    pub(crate) gpu: bool,
    pub(crate) machine: Option<String>,
    pub(crate) date: Option<Datetime>,
}

impl Output {
    /// The files under `book/src` that this entry makes.
    pub(crate) fn files(&self) -> Vec<String> {
        match (&self.file, &self.folder) {
            (Some(file), _) => vec![file.clone()],
            (None, Some(folder)) => self.files.iter().map(|file| format!("{folder}/{file}")).collect(),
            (None, None) => Vec::new(),
        }
    }

    /// Whether the command prints its one file.
    pub(crate) fn printed(&self) -> bool {
        self.file.is_some()
    }

    /// Whether its file is a picture of what the command prints, in colour.
    pub(crate) fn pictured(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.ends_with(".svg"))
    }

    fn problem(&self) -> Option<&'static str> {
        let parts = |path: &str| path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if self.command.trim().is_empty() {
            Some("`command` is empty")
        } else if self.file.is_some() && (self.folder.is_some() || !self.files.is_empty()) {
            Some("`file` takes what the command prints, `folder` and `files` what it writes: choose one")
        } else if self.files().is_empty() {
            Some("names no files: give `file`, or `folder` and `files`")
        } else if self.files().iter().any(|file| parts(file)) {
            Some("files are paths under book/src, without `..`")
        } else if !self.gpu && !self.printed() && !self.command.contains("{out}") {
            Some("`files` come from a folder that the command writes: give it `{out}` as an argument")
        } else if self.gpu && (self.machine.as_deref().unwrap_or_default().is_empty() || self.date.is_none()) {
            Some("a measured output needs `machine` and `date`")
        } else if !self.gpu && (self.machine.is_some() || self.date.is_some()) {
            Some("`machine` and `date` are for what is measured: add `gpu = true`, or remove them")
        } else {
            None
        }
    }
}

impl Listing {
    /// Whether a command reads what another one makes.
    pub(crate) fn reads_output(&self, output: &Output) -> bool {
        let mut files = self.outputs.iter().flat_map(Output::files);
        files.any(|file| output.command.contains(&format!("book/src/{file}")))
    }

    /// Reads and checks the entries.
    pub(crate) fn parse(text: &str) -> Result<Listing, String> {
        let listing: Listing = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut seen = BTreeSet::new();
        for output in &listing.outputs {
            if let Some(problem) = output.problem() {
                return Err(format!("the entry of `{}` {problem}", output.command));
            }
            if let Some(twice) = output.files().into_iter().find(|file| !seen.insert(file.clone())) {
                return Err(format!("`{twice}` is made twice"));
            }
        }
        for excerpt in &listing.excerpts {
            if !seen.contains(&excerpt.of) {
                return Err(format!("an excerpt is of `{}`, which no entry makes", excerpt.of));
            }
        }
        Ok(listing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_mean_nothing_are_refused() {
        let cases = [
            ("command = \"a\"", "names no files"),
            ("command = \"\"\nfile = \"a\"", "`command` is empty"),
            ("command = \"a\"\nfile = \"../a\"", "without `..`"),
            ("command = \"a\"\nfile = \"a\"\nfolder = \"b\"", "choose one"),
            ("command = \"a\"\nfolder = \"b\"\nfiles = [\"c\"]", "`{out}`"),
            ("command = \"a\"\nfile = \"a\"\ngpu = true", "needs `machine` and `date`"),
            ("command = \"a\"\nfile = \"a\"\nmachine = \"m\"", "add `gpu = true`"),
            ("command = \"a\"\nfile = \"a\"\nfiel = \"b\"", "unknown field"),
            ("command = \"a\"\nfile = \"a\"\n[[output]]\ncommand = \"b\"\nfile = \"a\"", "made twice"),
        ];
        for (entry, expected) in cases {
            let problem = Listing::parse(&format!("[[output]]\n{entry}")).unwrap_err();
            assert!(problem.contains(expected), "{entry}: {problem}");
        }
    }

    #[test]
    fn one_command_may_write_many_files() {
        let text = "[[output]]\ncommand = \"x --svg {out}\"\nfolder = \"day22/output\"\nfiles = [\"a.svg\", \"b.svg\"]";
        let listing = Listing::parse(text).unwrap();
        assert_eq!(listing.outputs[0].files(), ["day22/output/a.svg", "day22/output/b.svg"]);
    }
}
