//! Tokens to a module: directives, declarations and statements.
//!
//! This file holds what all of the parser shares: the cursor over the tokens, the reports, and the
//! places where parsing takes up again after an error.

mod body;
mod expression;
mod function;
mod initializer;
mod instruction;
mod module;
mod source;
mod variable;

use crate::Diagnostic;
use crate::ast::{Module, Span};
use crate::decode::is_opcode;
use crate::lexer::{Token, TokenKind, lex};
use crate::names::Names;
use initializer::Fixup;
use source::Locations;

/// What became of a text.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    pub module: Module,
    /// In the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether the module must not be loaded.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == crate::Severity::Error)
    }
}

/// Parses a translation unit.
pub fn parse(text: &str) -> Parsed {
    let mut diagnostics = Vec::new();
    let text = if u32::try_from(text.len()).is_ok() {
        text
    } else {
        diagnostics.push(Diagnostic::error(Span::default(), "the text is longer than 4 GiB"));
        ""
    };
    let tokens = lex(text, &mut diagnostics);
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        depth: 0,
        module: Module::default(),
        names: Names::default(),
        locations: Locations::default(),
        fixups: Vec::new(),
        copies_left: variable::MAX_COPIES,
        aliases: Vec::new(),
        diagnostics,
    };
    parser.translation_unit();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    Parsed { module: parser.module, diagnostics }
}

/// Parses the bytes that a program hands to a driver: text up to the first NUL or the end.
///
/// Bytes that are not UTF-8 become U+FFFD, so spans refer to `String::from_utf8_lossy` of the text.
/// They are harmless in comments and in the paths of `.file`; a warning names the first of them.
pub fn parse_bytes(bytes: &[u8]) -> Parsed {
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => {
            let mut parsed = parse(&String::from_utf8_lossy(bytes));
            let start = u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX);
            let span = Span { start, end: start.saturating_add(3) };
            let message = "the text is not UTF-8 from here on; such bytes are read as U+FFFD";
            parsed.diagnostics.push(Diagnostic::warning(span, message));
            parsed.diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
            parsed
        }
    }
}

pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// Of nested constant expressions and initialisers, which are read recursively.
    depth: u32,
    module: Module,
    names: Names<'a>,
    locations: Locations<'a>,
    fixups: Vec<Fixup<'a>>,
    /// How many more variables the module may declare as `name<n>`.
    copies_left: u32,
    aliases: Vec<(&'a str, &'a str, Span)>,
    diagnostics: Vec<Diagnostic>,
}

pub(crate) use instruction::{Arg, ArgKind};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Recursive constructs nest no deeper than this.
const MAX_NESTING: u32 = 64;

impl<'a> Parser<'a> {
    fn peek(&self) -> Token {
        self.peek_ahead(0)
    }

    fn peek_ahead(&self, ahead: usize) -> Token {
        // The last token is `End`, and there always is one.
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn peek_text(&self) -> &'a str {
        self.slice(self.peek().span)
    }

    fn is_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    fn is(&self, punct: u8) -> bool {
        self.peek().kind == TokenKind::Punct(punct)
    }

    fn eat(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, punct: u8) -> Result<Token> {
        if self.is(punct) { Ok(self.bump()) } else { Err(self.unexpected(&format!("`{}`", punct as char))) }
    }

    fn eat_dot(&mut self, word: &str) -> bool {
        let found = self.peek().kind == TokenKind::Dot && self.peek_text() == word;
        if found {
            self.bump();
        }
        found
    }

    /// A directive, type or modifier without its dot.
    fn take_dot(&mut self) -> Option<&'a str> {
        let text = self.peek_text();
        (self.peek().kind == TokenKind::Dot).then(|| {
            self.bump();
            &text[1..]
        })
    }

    fn name(&mut self, what: &str) -> Result<(&'a str, Span)> {
        let token = self.peek();
        if token.kind != TokenKind::Ident {
            return Err(self.unexpected(what));
        }
        self.bump();
        Ok((self.slice(token.span), token.span))
    }

    /// What stands here instead of what was expected.
    ///
    /// Where the line before should have ended, the report points to its end: that is where the
    /// missing `;` belongs.
    fn unexpected(&self, expected: &str) -> Diagnostic {
        let token = self.peek();
        if self.starts_line() && self.at > 0 && expected.contains("`;`") {
            let end = self.tokens[self.at - 1].span.end;
            return Diagnostic::error(Span { start: end.saturating_sub(1), end }, "missing `;` after this");
        }
        let found = match token.kind {
            TokenKind::End => "the end of the text".to_string(),
            TokenKind::Bad => "a character that PTX does not know".to_string(),
            _ => quote(self.slice(token.span)),
        };
        Diagnostic::error(token.span, format!("expected {expected}, found {found}"))
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Runs `parse` one level deeper, or refuses to.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_NESTING {
            return Err(Diagnostic::error(self.peek().span, format!("nested more than {MAX_NESTING} deep")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// From the start of `from` to the end of the last token taken.
    fn span_from(&self, from: Span) -> Span {
        let end = self.tokens[self.at.saturating_sub(1)].span.end;
        Span { start: from.start, end: end.max(from.end) }
    }

    /// Whether the token before this one is on another line.
    fn starts_line(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(0, |previous| self.tokens[previous].span.end as usize);
        self.text[before..self.peek().span.start as usize].contains('\n')
    }

    /// Skips what is left of a statement: past its `;`, or to the next line that starts like one.
    fn skip_statement(&mut self) {
        while !self.is_end() && !self.eat(b';') {
            if self.starts_line() && self.starts_statement() {
                return;
            }
            self.bump();
        }
    }

    fn starts_statement(&self) -> bool {
        match self.peek().kind {
            TokenKind::Dot => true,
            TokenKind::Punct(punct) => matches!(punct, b'{' | b'}' | b'@'),
            TokenKind::Ident => {
                let next = self.peek_ahead(1).kind;
                matches!(next, TokenKind::Dot | TokenKind::Punct(b':' | b';')) || is_opcode(self.peek_text())
            }
            _ => false,
        }
    }

    /// Skips operands that nobody will look at, up to the `;` or to what cannot be an operand.
    fn skip_operands(&mut self) {
        let mut depth = 0u32;
        while !self.is_end() && !self.is(b';') {
            match self.peek().kind {
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') if depth == 0 => return,
                TokenKind::Punct(b'}') => depth -= 1,
                TokenKind::Dot if matches!(self.peek_text(), ".entry" | ".func" | ".loc" | ".reg") => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips from an opening brace past the one that closes it.
    fn skip_braces(&mut self) {
        let mut depth = 0u32;
        while !self.is_end() {
            match self.bump().kind {
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') if depth <= 1 => return,
                TokenKind::Punct(b'}') => depth -= 1,
                _ => {}
            }
        }
    }
}

/// A piece of the text for a message of one line: cut short if it is long, a line break as a space.
pub(crate) fn quote(text: &str) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let start: String = characters.by_ref().take(60).collect();
    match characters.next() {
        Some(_) => format!("`{start}...`"),
        None => format!("`{start}`"),
    }
}
