//! Places in source files, with their text.

use fusion_diagnostic::Diagnostic;
use fusion_machine::report::SourcePosition;
use serde::{Deserialize, Serialize};

/// A position in a source file, with the text of its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    pub file: String,
    /// One-based; a column of 0 means the whole line.
    pub line: u32,
    pub column: u32,
    /// The line itself, without its end; empty when the source is not at hand.
    pub text: String,
}

impl Location {
    /// Finds the line in `source`.
    pub fn new(file: impl Into<String>, line: u32, column: u32, source: &str) -> Self {
        let text = (line as usize).checked_sub(1).and_then(|index| source.lines().nth(index)).unwrap_or_default();
        Self { file: file.into(), line, column, text: text.to_owned() }
    }
}

/// A line of a source file, as it was compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub file: String,
    /// One-based.
    pub line: u32,
    pub text: String,
}

impl Line {
    /// The lines that faults name, by file and number, and those in between where it is only two.
    ///
    /// `text` gives a file's text as it was compiled.
    pub fn of<'a>(faults: impl Iterator<Item = &'a Diagnostic>, text: impl Fn(&str) -> Option<String>) -> Vec<Self> {
        let mut places: Vec<(&str, u32)> = faults.flat_map(positions).map(|at| (at.file.as_str(), at.line)).collect();
        places.retain(|&(_, line)| line > 0);
        places.sort_unstable();
        places.dedup();
        let mut lines = Vec::new();
        for file in places.chunk_by(|a, b| a.0 == b.0) {
            let Some(text) = file.first().and_then(|(path, _)| text(path)) else { continue };
            let text: Vec<&str> = text.lines().collect();
            let mut before = None;
            for &(path, line) in file {
                let first = before.filter(|before| line - before <= 3).map_or(line, |before: u32| before + 1);
                lines.extend((first..=line).filter_map(|line| {
                    let text = text.get((line as usize).checked_sub(1)?)?;
                    Some(Line { file: path.to_owned(), line, text: (*text).to_owned() })
                }));
                before = Some(line);
            }
        }
        lines
    }
}

impl Line {
    /// The files that faults name.
    pub fn files<'a>(faults: impl Iterator<Item = &'a Diagnostic>) -> Vec<&'a str> {
        let mut files: Vec<&str> = faults.flat_map(positions).map(|at| at.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Every position that a fault names.
fn positions(fault: &Diagnostic) -> Vec<&SourcePosition> {
    let related = fault.related.iter().flat_map(|related| &related.source);
    let earlier = fault.earlier.iter().flat_map(positions);
    fault.source.iter().chain(related).chain(earlier).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_diagnostic::Related;

    #[test]
    fn lines_are_those_that_are_named_and_what_is_between_neighbours() {
        let at = |file: &str, line| SourcePosition { file: file.to_owned(), line, column: 1, function: None };
        let related = |line| Related { source: vec![at("a", line)], ..Related::default() };
        let fault = Diagnostic {
            source: vec![at("a", 9), at("b", 1)],
            related: vec![related(2), related(4), related(99), related(0)],
            ..Diagnostic::new("E-RACE-SHARED", "")
        };
        let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let lines = Line::of([&fault].into_iter(), |file| (file == "a").then(|| text.clone()));
        let found: Vec<(u32, &str)> = lines.iter().map(|line| (line.line, line.text.as_str())).collect();
        assert_eq!(found, [(2, "line 2"), (3, "line 3"), (4, "line 4"), (9, "line 9")]);
    }
}
