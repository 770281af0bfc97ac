//! Text from outside, made fit to be shown: no control characters, and no wider than the terminal.

use std::borrow::Cow;

/// Without what would move the cursor, change colours or turn the direction of writing. Line ends become spaces.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let shown = |c| match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_control(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

pub(crate) fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Breaks text into lines of so many columns. A word that is longer is broken too, because a terminal would.
pub(crate) fn wrap(text: &str, columns: usize) -> String {
    let options = textwrap::Options::new(columns.max(12)).word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&clean(text), options).join("\n")
}

/// Columns that text takes in a terminal.
pub(crate) fn width(text: &str) -> usize {
    textwrap::core::display_width(text)
}

/// A number as people read it: `1,023`.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_move_the_cursor() {
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\nd"), "a\u{fffd}[31mb\u{fffd}c d");
        assert_eq!(clean("ä 漢 😀"), "ä 漢 😀");
    }

    #[test]
    fn lines_are_as_wide_as_the_terminal() {
        assert_eq!(wrap("one two three four", 12), "one two\nthree four");
        assert_eq!(wrap("漢漢漢漢漢漢漢", 12), "漢漢漢漢漢漢\n漢");
    }

    #[test]
    fn numbers_have_their_commas() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(n), text);
        }
    }
}
