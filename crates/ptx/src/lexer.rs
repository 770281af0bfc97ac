//! Text to tokens (PTX ISA 4.2 to 4.5).

use crate::Diagnostic;
use crate::ast::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name, its leading `%`, `$` or `_` included.
    Ident,
    /// A directive, type or modifier: `.f32`, `.shared::cta`, the dot included.
    Dot,
    /// Starts with a digit; its value is looked at when it is needed.
    Number,
    /// A string, its quotes included.
    Text,
    /// One character of punctuation.
    Punct(u8),
    /// A character that PTX does not know.
    Bad,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// The tokens of `text`, the last of which is [`TokenKind::End`]. The text is shorter than 4 GiB.
pub(crate) fn lex(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, diagnostics };
    let mut tokens = Vec::with_capacity(text.len() / 5 + 1);
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let kind = lexer.token();
        tokens.push(Token { kind, span: Span { start: start as u32, end: lexer.at as u32 } });
        if kind == TokenKind::End {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|&byte| wanted(byte)) {
            self.at += 1;
        }
    }

    /// White space, comments and `@@dwarf` lines.
    fn skip_blank(&mut self) {
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == 0x0b);
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') | (b'@', b'@') => self.skip_while(|byte| byte != b'\n'),
                (b'/', b'*') => self.skip_block_comment(),
                _ => return,
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let start = self.at;
        match self.bytes[start + 2..].windows(2).position(|pair| pair == b"*/") {
            Some(length) => self.at = start + length + 4,
            None => {
                self.at = self.bytes.len();
                let span = Span { start: start as u32, end: start as u32 + 2 };
                self.diagnostics.push(Diagnostic::error(span, "this comment is never closed; end it with `*/`"));
            }
        }
    }

    fn token(&mut self) -> TokenKind {
        let Some(&first) = self.bytes.get(self.at) else { return TokenKind::End };
        match first {
            b'.' if is_word(self.peek(1)) => {
                self.at += 1;
                self.skip_while(is_word);
                while self.peek(0) == b':' && self.peek(1) == b':' && is_word(self.peek(2)) {
                    self.at += 2;
                    self.skip_while(is_word);
                }
                TokenKind::Dot
            }
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'%' if !is_name_start(self.peek(1)) => self.punct(first),
            b'%' | b'$' | b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.at += 1;
                self.skip_while(|byte| is_word(byte) || byte == b'$');
                TokenKind::Ident
            }
            b'!'..=b'~' => self.punct(first),
            _ => {
                self.at += 1;
                self.skip_while(|byte| byte & 0xc0 == 0x80);
                TokenKind::Bad
            }
        }
    }

    fn punct(&mut self, byte: u8) -> TokenKind {
        self.at += 1;
        TokenKind::Punct(byte)
    }

    fn number(&mut self) -> TokenKind {
        let marker = self.peek(1).to_ascii_lowercase();
        let prefixed = self.peek(0) == b'0' && matches!(marker, b'x' | b'b' | b'f' | b'd');
        self.skip_while(|byte| byte.is_ascii_digit());
        if !prefixed {
            if self.peek(0) == b'.' && !is_name_start(self.peek(1)) {
                self.at += 1;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
            if matches!(self.peek(0), b'e' | b'E') && matches!(self.peek(1), b'+' | b'-') {
                self.at += 2;
            }
        }
        self.skip_while(is_word);
        TokenKind::Number
    }

    fn string(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        self.skip_while(|byte| byte != b'"' && byte != b'\n');
        if self.peek(0) == b'"' {
            self.at += 1;
        } else {
            let span = Span { start: start as u32, end: self.at as u32 };
            self.diagnostics.push(Diagnostic::error(span, "this string is never closed; end it with `\"`"));
        }
        TokenKind::Text
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut diagnostics = Vec::new();
        let tokens = lex(text, &mut diagnostics);
        let words: Vec<&str> = tokens.iter().map(|t| &text[t.span.start as usize..t.span.end as usize]).collect();
        assert_eq!(words[..words.len() - 1], *expected);
        assert_eq!(diagnostics, []);
    }

    #[test]
    fn cuts_text_into_tokens() {
        check("add.s32 %r1,%r2;", &["add", ".s32", "%r1", ",", "%r2", ";"]);
        check("ld.global.L1::no_allocate", &["ld", ".global", ".L1::no_allocate"]);
        check("st.shared::cluster.f32 [%r1+-4]", &["st", ".shared::cluster", ".f32", "[", "%r1", "+", "-", "4", "]"]);
        check("%r<10> %tid.x 7%3", &["%r", "<", "10", ">", "%tid", ".x", "7", "%", "3"]);
        check("0f3F800000 1.5e-3 1e5 9.0 0x1fU 3.", &["0f3F800000", "1.5e-3", "1e5", "9.0", "0x1fU", "3."]);
        check("a/* x\n */b // c\n@@dwarf d\n$L_1:", &["a", "b", "$L_1", ":"]);
        check("é", &["é"]);
    }

    #[test]
    fn open_comments_and_strings_are_errors() {
        for text in ["/* ", "/*/", "\"abc", "\"abc\n"] {
            let mut diagnostics = Vec::new();
            lex(text, &mut diagnostics);
            assert_eq!(diagnostics.len(), 1, "{text}");
        }
    }
}
