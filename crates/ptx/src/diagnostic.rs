//! What is wrong with a PTX text, and where.

use crate::ast::Span;

/// One complaint about the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub span: Span,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The module can be loaded, but perhaps not everything in it executed.
    Warning,
    /// The module must not be loaded.
    Error,
}

/// A place in the text, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// One-based.
    pub line: u32,
    /// One-based, in characters.
    pub column: u32,
    /// The whole line, without its end.
    pub text: &'a str,
}

/// The place at which `span` starts. Offsets beyond the text mean its end.
///
/// The text is scanned from its beginning, so this is for showing a few diagnostics. For many places there is
/// [`Lines`].
pub fn position(text: &str, span: Span) -> Position<'_> {
    let mut offset = (span.start as usize).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let (before, after) = text.split_at(offset);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let end = after.find('\n').map_or(text.len(), |newline| offset + newline);
    Position {
        line: 1 + before.bytes().filter(|&byte| byte == b'\n').count() as u32,
        column: 1 + before[start..].chars().count() as u32,
        text: text[start..end].trim_end_matches('\r'),
    }
}

/// Where the lines of a text begin: for the places of many spans in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    #[must_use]
    pub fn of(text: &str) -> Self {
        let behind = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(newline, _)| newline + 1);
        Self { starts: std::iter::once(0).chain(behind).collect() }
    }

    /// The line in which `span` starts, one-based: [`position`]'s. Offsets beyond the text mean its last line.
    #[must_use]
    pub fn line(&self, span: Span) -> u32 {
        self.starts.partition_point(|&start| start <= span.start as usize) as u32
    }
}

impl Diagnostic {
    pub(crate) fn error(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span, message: message.into() }
    }

    pub(crate) fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, span, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, start: u32) -> (u32, u32, &str) {
        let Position { line, column, text } = position(text, Span { start, end: start });
        (line, column, text)
    }

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        assert_eq!(at("ab\ncd\r\n", 0), (1, 1, "ab"));
        assert_eq!(at("ab\ncd\r\n", 4), (2, 2, "cd"));
        assert_eq!(at("ab\ncd\r\n", 99), (3, 1, ""));
        assert_eq!(at("é+x", 2), (1, 2, "é+x"));
        assert_eq!(at("é+x", 1), (1, 1, "é+x"), "inside a character means its start");
    }

    #[test]
    fn lines_are_numbered_as_positions_are() {
        for text in ["ab\ncd\r\n", "é\n\n+x", ""] {
            let lines = Lines::of(text);
            for start in 0..10 {
                assert_eq!(lines.line(Span { start, end: start }), at(text, start).0, "{start} of {text:?}");
            }
        }
    }
}
