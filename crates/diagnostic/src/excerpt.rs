//! Lines of a source file as they can be shown, and which part of them a position means.

mod expression;

use std::ops::Range;

use crate::sources::Text;
use crate::wrap::is_control;

pub(crate) use expression::What;

/// Consecutive lines, valid to show, with the spans that were asked for.
#[derive(Debug)]
pub(crate) struct Excerpt {
    /// One-based number of the first line.
    pub(crate) first: u32,
    pub(crate) text: String,
    /// For each position, in bytes of `text`; `None` for a line that the file does not have.
    pub(crate) spans: Vec<Option<Range<usize>>>,
}

impl Excerpt {
    /// The lines that hold the positions (line and column, one-based, the column in bytes and 0 for the whole line, and
    /// what is known of each), and those in between. `None` when the text is not known, or none of the positions is in
    /// it.
    pub(crate) fn new(text: &Text<'_>, positions: &[(u32, u32, What<'_>)], columns: usize) -> Option<Self> {
        let Text::Lines { first, bytes } = text else { return None };
        let all: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
        // What follows the last line's end is no line.
        let count = all.len() - usize::from(all.last().is_some_and(|last| last.is_empty()));
        let index = |line: u32| line.checked_sub(*first).map(|i| i as usize).filter(|&i| i < count);
        let wanted = || positions.iter().filter_map(|&(line, ..)| index(line));
        let (low, high) = (wanted().min()?, wanted().max()?);

        let mut shown = String::new();
        let mut starts = Vec::new();
        for line in &all[low..=high] {
            starts.push(shown.len());
            shown += &Line::new(line).text;
            shown.push('\n');
        }
        let spans = positions.iter().map(|&(line, column, what)| {
            let i = index(line)?;
            let line = Line::new(all[i]);
            let span = expression::at(&line.text, line.offset(column), what, columns);
            let start = starts[i - low];
            Some(start + span.start..start + span.end)
        });
        Some(Self { first: first + low as u32, spans: spans.collect(), text: shown })
    }
}

/// A line that is fit to be shown, with the way back to the bytes of the file.
struct Line {
    text: String,
    /// For each character of `text`: where it begins there, and where it begins in the file's line.
    origins: Vec<(usize, usize)>,
}

impl Line {
    fn new(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let mut line = Line { text: String::with_capacity(bytes.len()), origins: Vec::new() };
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                line.push(if is_control(c) && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }, at);
                at += c.len_utf8();
            }
            if !chunk.invalid().is_empty() {
                line.push(char::REPLACEMENT_CHARACTER, at);
                at += chunk.invalid().len();
            }
        }
        line
    }

    fn push(&mut self, c: char, origin: usize) {
        self.origins.push((self.text.len(), origin));
        self.text.push(c);
    }

    /// Where the character at a column begins: the first that is no space for column 0, the end for one past it.
    fn offset(&self, column: u32) -> usize {
        let Some(byte) = (column as usize).checked_sub(1) else {
            return self.text.len() - self.text.trim_start().len();
        };
        let next = self.origins.partition_point(|&(_, origin)| origin <= byte);
        match self.origins.get(next.wrapping_sub(1)) {
            // The last character, unless the column is past it.
            Some(&(start, origin)) if next < self.origins.len() || byte == origin => start,
            _ => self.text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &[u8], line: u32, column: u32, expected: &str) {
        let excerpt = Excerpt::new(&Text::whole(source), &[(line, column, What::Other)], 80).unwrap();
        let span = excerpt.spans[0].clone().unwrap();
        assert_eq!(&excerpt.text[span], expected, "{excerpt:?}");
    }

    #[test]
    fn columns_count_bytes_of_the_file() {
        check("ä = b[1];".as_bytes(), 1, 6, "b[1]");
        check(b"\xff\xfe = b[1];", 1, 6, "b[1]");
        check("a = 漢[i] + c[i];\n".as_bytes(), 1, 14, "c[i]");
        // In the middle of a character: the character.
        check("a = 漢[i]".as_bytes(), 1, 6, "漢[i]");
    }

    #[test]
    fn positions_outside_of_the_text_are_told() {
        let positions = [(2, 1), (9, 1), (0, 0)].map(|(line, column)| (line, column, What::Other));
        let excerpt = Excerpt::new(&Text::whole(&b"one\ntwo\n"[..]), &positions, 80).unwrap();
        assert_eq!((excerpt.first, excerpt.text.as_str()), (2, "two\n"));
        assert_eq!(excerpt.spans, [Some(0..3), None, None]);
        assert!(Excerpt::new(&Text::whole(&b"one\n"[..]), &[(2, 1, What::Other)], 80).is_none());
        assert!(Excerpt::new(&Text::whole(&b""[..]), &[(1, 1, What::Other)], 80).is_none());
    }

    #[test]
    fn past_the_end_is_the_end() {
        check(b"abc\r\n", 1, 99, "");
        check(b"abc\r\n", 1, 4, "");
        check(b"abc\r\n", 1, 3, "c");
        check(b"  abc\n", 1, 0, "abc");
    }
}
