//! C++ text as tokens: as much of its grammar as it takes to find a function's parameters.

/// A piece of C++ that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or keyword.
    Word(&'a str),
    /// A character of punctuation.
    Mark(u8),
    /// A number, a string or a character.
    Literal,
}

/// The tokens of a text. Comments and the preprocessor's lines are none.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut scanner = Scanner { text, at: 0, line_begins: true };
    let mut tokens = Vec::new();
    while scanner.at < text.len() {
        tokens.extend(scanner.next());
    }
    tokens
}

struct Scanner<'a> {
    text: &'a str,
    /// Always at the start of a character.
    at: usize,
    /// Whether nothing but space has come since the last end of a line.
    line_begins: bool,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Passes one token, or something between tokens.
    fn next(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        if first.is_whitespace() {
            self.line_begins |= first == '\n';
            self.at += first.len_utf8();
            return None;
        }
        if rest.starts_with("//") {
            self.at += end_of_line(rest);
            return None;
        }
        if rest.starts_with("/*") {
            self.at += rest.get(2..).and_then(|inner| inner.find("*/")).map_or(rest.len(), |end| end + 4);
            return None;
        }
        if first == '#' && self.line_begins {
            self.at += end_of_line(rest);
            return None;
        }
        self.line_begins = false;
        if first == '"' || first == '\'' {
            self.at += quoted(rest);
            return Some(Token::Literal);
        }
        let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if first.is_ascii_digit() {
            self.at += number(rest);
            return Some(Token::Literal);
        }
        if len > 0 {
            let word = &rest[..len];
            self.at += len;
            return match (word, rest[len..].starts_with('"')) {
                ("R" | "LR" | "uR" | "UR" | "u8R", true) => {
                    self.at += raw_string(&rest[len..]);
                    Some(Token::Literal)
                }
                _ => Some(Token::Word(word)),
            };
        }
        self.at += first.len_utf8();
        u8::try_from(first).ok().map(Token::Mark)
    }
}

/// Bytes up to the end of a line, where a backslash before it takes in the next one.
fn end_of_line(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            // The end itself stays, for the next line begins with it.
            return end - usize::from(line.ends_with('\n'));
        }
    }
    end
}

/// Bytes of a string or character with its quotes; one that does not end in its line is only a quote.
fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => break,
            _ if byte == bytes[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    1
}

/// Bytes of `"delimiter(anything)delimiter"`.
fn raw_string(text: &str) -> usize {
    let Some(open) = text.find('(') else { return 1 };
    let end = format!("){}\"", &text[1..open]);
    text[open..].find(&end).map_or(text.len(), |at| open + at + end.len())
}

/// Bytes of a number such as `0x1p-3f` or `1'000'000`.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        let signed = matches!(byte, b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P');
        let separator = byte == b'\'' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || signed || separator) {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_gives_tokens() {
        let words = |text| -> Vec<String> {
            let show = |token: Token<'_>| match token {
                Token::Word(word) => word.to_owned(),
                Token::Mark(mark) => char::from(mark).to_string(),
                Token::Literal => "0".to_owned(),
            };
            tokens(text).into_iter().map(show).collect()
        };
        let cases = [
            ("a /* b */ c // d\ne", "a c e"),
            ("a // b \\\n c\nd", "a d"),
            ("#define x \\\n y\n  # if z\nw", "w"),
            ("a # b", "a # b"),
            ("\"a\\\"b\" '\\'' c", "0 0 c"),
            ("R\"x(\" )\")x\" a u8R\"(b)\"", "0 a 0"),
            ("1'000 + 0x1p-3f a", "0 + 0 a"),
            ("it's\n ok", "it 0 s ok"),
            ("größe(µ);", "größe ( µ ) ;"),
            ("/* open", ""),
            ("\"open", "0 open"),
            ("/*/ a */ b", "b"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }
}
