//! Generated files beside what is committed.

use std::cell::Cell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Failure;

/// Compares what commands make with what is in `book/src`, and writes it unless asked only to check.
#[derive(Debug)]
pub(crate) struct Changes {
    source: PathBuf,
    check: bool,
    only: Option<String>,
    /// Whether anything was asked for by what it was asked by.
    met: Cell<bool>,
    same: usize,
    written: Vec<String>,
    problems: Vec<String>,
}

impl Changes {
    /// `only` chooses files by a part of their path.
    pub(crate) fn new(source: &Path, check: bool, only: Option<&str>) -> Changes {
        Changes {
            source: source.to_owned(),
            check,
            only: only.map(str::to_owned),
            met: Cell::new(only.is_none()),
            same: 0,
            written: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Where `book/src` is.
    pub(crate) fn source(&self) -> &Path {
        &self.source
    }

    /// Whether the file is among those asked for.
    pub(crate) fn wants(&self, file: &str) -> bool {
        let wanted = self.only.as_ref().is_none_or(|only| file.contains(only));
        self.met.set(self.met.get() || wanted);
        wanted
    }

    /// A part of a path that is in none is mistyped, and nothing was looked at: as an error.
    pub(crate) fn met(&self) -> Result<(), Failure> {
        match &self.only {
            Some(only) if !self.met.get() => Err(format!(
                "no generated file of the book has `{only}` in its path: try `day23`, `softmax` or `formulas/`"
            )),
            _ => Ok(()),
        }
    }

    /// What a file under `book/src` should be. `fix` is the command that makes it so.
    pub(crate) fn file(&mut self, file: &str, text: &str, fix: &str) -> Result<(), Failure> {
        if self.wants(file) { self.compare(file, text, fix) } else { Ok(()) }
    }

    /// The same for a file that follows from one that was asked for.
    pub(crate) fn compare(&mut self, file: &str, text: &str, fix: &str) -> Result<(), Failure> {
        let path = self.source.join(file);
        let present = std::fs::read_to_string(&path).ok();
        if present.as_deref() == Some(text) {
            self.same += 1;
        } else if self.check {
            let what = match present {
                Some(present) => first_difference(&present, text),
                None => "is missing".to_owned(),
            };
            self.problem(format!("book/src/{file} {what}\n  fix it with: {fix}"));
        } else {
            write(&path, text)?;
            self.written.push(file.to_owned());
        }
        Ok(())
    }

    /// A file under `book/src` that nothing makes any more.
    pub(crate) fn stray(&mut self, file: &str, why: &str) -> Result<(), Failure> {
        if !self.wants(file) {
            return Ok(());
        }
        if self.check {
            self.problem(format!("book/src/{file} {why}"));
        } else {
            let path = self.source.join(file);
            std::fs::remove_file(&path).map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
            self.written.push(format!("{file} (removed)"));
        }
        Ok(())
    }

    /// Something that no command fixes.
    pub(crate) fn problem(&mut self, text: String) {
        self.problems.push(text);
    }

    pub(crate) fn fine(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn summary(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        for file in &self.written {
            let _ = writeln!(text, "wrote book/src/{file}");
        }
        for problem in &self.problems {
            let _ = writeln!(text, "{problem}");
        }
        let _ = writeln!(
            text,
            "{} generated files are as their commands make them, {} written, {} problems",
            self.same,
            self.written.len(),
            self.problems.len()
        );
        text
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, text));
    made.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Where two texts begin to differ.
fn first_difference(present: &str, made: &str) -> String {
    let (mut old, mut new) = (present.lines(), made.lines());
    for line in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let show = |line: Option<&str>| line.map_or_else(|| "(no more lines)".to_owned(), shorten);
                return format!("differs from line {line}\n  is:        {}\n  should be: {}", show(a), show(b));
            }
        }
    }
    "differs in its line ends".to_owned()
}

fn shorten(line: &str) -> String {
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_writes_nothing_and_names_file_line_and_command() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("old.txt"), "one\ntwo\n").unwrap();
        let mut check = Changes::new(folder.path(), true, None);
        check.file("old.txt", "one\nthree\n", "cargo xtask book").unwrap();
        check.file("new.txt", "text\n", "cargo xtask book").unwrap();
        assert!(!check.fine() && !folder.path().join("new.txt").exists());
        let text = check.summary();
        for part in
            ["old.txt differs from line 2", "should be: three", "new.txt is missing", "fix it with: cargo xtask book"]
        {
            assert!(text.contains(part), "no {part:?} in {text}");
        }

        let mut write = Changes::new(folder.path(), false, None);
        write.file("old.txt", "one\nthree\n", "").unwrap();
        write.file("sub/new.txt", "text\n", "").unwrap();
        assert!(write.fine());
        let mut again = Changes::new(folder.path(), true, None);
        again.file("old.txt", "one\nthree\n", "").unwrap();
        again.file("sub/new.txt", "text\n", "").unwrap();
        assert!(again.fine() && again.summary().starts_with("2 generated files"));
    }

    #[test]
    fn only_what_was_asked_for_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let mut changes = Changes::new(folder.path(), true, Some("day23"));
        changes.file("day22/a.txt", "", "").unwrap();
        changes.stray("day22/b.txt", "is made by nothing").unwrap();
        assert!(changes.fine() && changes.met().unwrap_err().contains("`day23`"));
        changes.file("day23/c.txt", "", "").unwrap();
        assert!(changes.met().is_ok());
    }
}
