//! CUDA C++ text to tokens, for all that looks into a source without being a compiler: what makes mutants, finds the names
//! of a kernel's parameters, or marks the part of a line that a position means.
//!
//! Comments and white space are between tokens. A preprocessor directive is one token, a string or character literal
//! too. Every byte that begins no token of its own is an operator of one character, so any text can be read.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or a keyword.
    Word,
    Number,
    /// A string or a character.
    Text,
    Operator,
    /// From `#` to the end of its last line.
    Directive,
}

/// A piece of text that means something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    /// In bytes.
    pub span: Range<usize>,
}

impl Token {
    /// Its part of the text that it was read from.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.span.clone()).unwrap_or_default()
    }
}

/// The line and the column of a byte in a text, both counted from one; columns are characters.
pub fn place(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or_default();
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count());
    (before.split('\n').count() as u32, column as u32 + 1)
}

/// Operators of more than one character, longest first.
const OPERATORS: [&str; 24] = [
    "<<=", ">>=", "...", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "##",
];

/// Reads a whole text.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    // A byte order mark is none.
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut line_is_empty = true;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let (kind, length) = match byte {
            b'\n' => {
                line_is_empty = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                at += until_line_end(rest);
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                at += find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4);
                continue;
            }
            b'#' if line_is_empty => (Kind::Directive, until_line_end(rest)),
            b'"' | b'\'' => (Kind::Text, quoted(rest, byte)),
            b'0'..=b'9' => (Kind::Number, number(rest)),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => (Kind::Number, number(rest)),
            _ if is_word(byte) => {
                let length = rest.iter().take_while(|&&byte| is_word(byte)).count();
                match (&rest[..length], rest.get(length)) {
                    (b"R" | b"LR" | b"u8R" | b"uR" | b"UR", Some(b'"')) => (Kind::Text, length + raw(&rest[length..])),
                    _ => (Kind::Word, length),
                }
            }
            _ => {
                let operator = OPERATORS.iter().find(|operator| rest.starts_with(operator.as_bytes()));
                (Kind::Operator, operator.map_or(1, |operator| operator.len()))
            }
        };
        line_is_empty = false;
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    tokens
}

/// Letters, digits, `_` and `$`, and every byte of a character outside of ASCII.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// Bytes to the end of the line, over continued lines.
fn until_line_end(rest: &[u8]) -> usize {
    let mut previous = [0; 2];
    for (index, &byte) in rest.iter().enumerate() {
        if byte == b'\n' && previous[1] != b'\\' && previous != *b"\\\r" {
            return index;
        }
        previous = [previous[1], byte];
    }
    rest.len()
}

/// Length of a literal in quotes. A quote that nothing closes in its line stands for itself, as the one of `it's` where
/// code is left out by `#if 0`.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut escaped = false;
    for (index, &byte) in rest.iter().enumerate().skip(1) {
        match byte {
            b'\n' => return 1,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => return index + 1,
            _ => {}
        }
    }
    1
}

/// Length of `"delimiter(text)delimiter"`.
fn raw(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().position(|&byte| byte == b'(') else { return rest.len() };
    let end = [b")", &rest[1..open], b"\""].concat();
    find(&rest[open..], &end).map_or(rest.len(), |at| open + at + end.len())
}

/// Length of a preprocessing number: digits, letters, points, `'` between digits, and signs after an exponent.
fn number(rest: &[u8]) -> usize {
    let is_hexadecimal = rest.starts_with(b"0x") || rest.starts_with(b"0X");
    let mut length = 1;
    while let Some(&byte) = rest.get(length) {
        let previous = rest[length - 1];
        let goes_on = match byte {
            b'+' | b'-' => matches!(previous, b'p' | b'P') || (!is_hexadecimal && matches!(previous, b'e' | b'E')),
            b'\'' => rest.get(length + 1).is_some_and(u8::is_ascii_alphanumeric),
            _ => byte == b'.' || byte.is_ascii_alphanumeric() || byte == b'_',
        };
        if !goes_on {
            break;
        }
        length += 1;
    }
    length
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len().max(1)).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = tokens(text).iter().map(|token| token.text(text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn comments_and_spaces_are_between_tokens() {
        check("a<b // c < d\n/* e */f", &["a", "<", "b", "f"]);
        check("a / b /* never ends", &["a", "/", "b"]);
    }

    #[test]
    fn operators_are_as_long_as_they_can_be() {
        check("a<<=b>=c->d++ + e", &["a", "<<=", "b", ">=", "c", "->", "d", "++", "+", "e"]);
    }

    #[test]
    fn numbers_keep_their_signs_and_suffixes() {
        check("1e-5f+0x1p+3-0xe+2", &["1e-5f", "+", "0x1p+3", "-", "0xe", "+", "2"]);
        check("1'000'000u .5f 2.", &["1'000'000u", ".5f", "2."]);
    }

    #[test]
    fn literals_and_directives_are_whole() {
        check("\"a < \\\" b\" 'x' '\\''", &["\"a < \\\" b\"", "'x'", "'\\''"]);
        check("R\"x(a\" )\" )x\" b", &["R\"x(a\" )\" )x\"", "b"]);
        check("#define A \\\n  b\nc # d", &["#define A \\\n  b", "c", "#", "d"]);
        check("\"open\nb it's", &["\"", "open", "b", "it", "'", "s"]);
    }

    #[test]
    fn lines_may_be_continued_and_comments_may_end_where_they_seem_to_begin() {
        check("a // b \\\n c\nd", &["a", "d"]);
        check("/*/ a */ b", &["b"]);
        check("größe(µ);", &["größe", "(", "µ", ")", ";"]);
        check("R\"x(\" )\")x\" a u8R\"(b)\"", &["R\"x(\" )\")x\"", "a", "u8R\"(b)\""]);
    }

    #[test]
    fn any_text_can_be_read() {
        for text in ["R\"", "/*", "#", "\\", "'", "0x", "1e", "é ü", "\u{0}", "R\"((("] {
            let end = tokens(text).last().map_or(0, |token| token.span.end);
            assert!(end <= text.len(), "{text}");
        }
    }
}
