//! A source with what operators ask of it: brackets, statements, operands, names.

mod expression;
mod names;
mod statement;

use std::ops::Range;

pub(crate) use expression::is_assignment;
use fusion_cpp::{Kind, Token};
pub(crate) use names::{Name, is_type};
pub(crate) use statement::{Statement, StatementKind};

/// A source, read. Positions are indices of tokens unless called bytes.
#[derive(Debug)]
pub(crate) struct Code<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token>,
    /// For a bracket its partner.
    pair: Vec<Option<usize>>,
    /// Of all function bodies, outer ones before those inside of them.
    pub(crate) statements: Vec<Statement>,
    /// Variables and parameters, in the order of their declarations.
    pub(crate) names: Vec<Name<'a>>,
}

impl<'a> Code<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let tokens = fusion_cpp::tokens(text);
        let pair = pairs(text, &tokens);
        let mut code = Self { text, tokens, pair, statements: Vec::new(), names: Vec::new() };
        code.statements = statement::all(&code);
        code.names = names::all(&code);
        code
    }

    /// The text of a token; empty past either end.
    pub(crate) fn word(&self, token: usize) -> &'a str {
        self.tokens.get(token).map_or("", |token| &self.text[token.span.clone()])
    }

    pub(crate) fn kind(&self, token: usize) -> Option<Kind> {
        self.tokens.get(token).map(|token| token.kind)
    }

    /// The word before a token.
    pub(crate) fn before(&self, token: usize) -> &'a str {
        token.checked_sub(1).map_or("", |before| self.word(before))
    }

    /// The other bracket of a pair.
    pub(crate) fn pair(&self, token: usize) -> Option<usize> {
        self.pair.get(token).copied().flatten()
    }

    /// Bytes of a range of tokens, without what surrounds them.
    pub(crate) fn bytes(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.tokens.get(range.start).map_or(self.text.len(), |token| token.span.start);
        let end = range.end.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(start, |token| token.span.end);
        start..end.max(start)
    }

    pub(crate) fn text_of(&self, range: &Range<usize>) -> &'a str {
        &self.text[self.bytes(range)]
    }

    /// Whether white space stands before a token.
    pub(crate) fn is_spaced(&self, token: usize) -> bool {
        let end = token.checked_sub(1).and_then(|before| self.tokens.get(before)).map(|before| before.span.end);
        self.tokens.get(token).is_some_and(|token| end != Some(token.span.start))
    }

    /// Whether no other token stands before a token on its line; true past the last.
    pub(crate) fn starts_line(&self, token: usize) -> bool {
        let end = token.checked_sub(1).and_then(|before| self.tokens.get(before)).map(|before| before.span.end);
        let start = self.tokens.get(token).map(|token| token.span.start);
        match (end, start) {
            (Some(end), Some(start)) => self.text[end..start].contains('\n'),
            _ => true,
        }
    }

    /// The bracket that opens the innermost group around a token.
    pub(crate) fn enclosing(&self, token: usize) -> Option<usize> {
        let mut at = token;
        while at > 0 {
            at -= 1;
            match (self.word(at), self.pair(at)) {
                (")" | "]" | "}", Some(open)) => at = open,
                ("(" | "[" | "{", _) => return Some(at),
                _ => {}
            }
        }
        None
    }

    /// The arguments of a call, from its opening bracket.
    pub(crate) fn arguments(&self, open: usize) -> Vec<Range<usize>> {
        let Some(close) = self.pair(open) else { return Vec::new() };
        self.split(open + 1..close, ",")
    }

    /// The parts of a range between separators that stand outside of brackets; none of an empty range.
    pub(crate) fn split(&self, range: Range<usize>, separator: &str) -> Vec<Range<usize>> {
        if range.is_empty() {
            return Vec::new();
        }
        let (mut parts, mut start, mut at) = (Vec::new(), range.start, range.start);
        while at < range.end {
            match self.pair(at) {
                Some(close) if close > at => at = close,
                _ if self.word(at) == separator => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        parts.push(start..range.end);
        parts
    }

    /// What a token names where it stands: the last declaration before it that is still in scope.
    pub(crate) fn name(&self, token: usize) -> Option<&Name<'a>> {
        let word = self.word(token);
        self.names.iter().rev().find(|name| name.text == word && name.scope.contains(&token))
    }

    /// Every token that may be mutated: all but literals in quotes and directives.
    pub(crate) fn body_tokens(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.tokens.len()).filter(|&token| !matches!(self.kind(token), Some(Kind::Text | Kind::Directive)))
    }

    /// The innermost statement around a token.
    pub(crate) fn statement(&self, token: usize) -> Option<&Statement> {
        self.statements.iter().rev().find(|statement| statement.tokens.contains(&token))
    }
}

/// Brackets with their partners. A bracket without one has none.
fn pairs(text: &str, tokens: &[Token]) -> Vec<Option<usize>> {
    let mut pair = vec![None; tokens.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Operator) {
        let word = &text[token.span.clone()];
        let opening = match word {
            "(" | "[" | "{" => {
                open.push((index, word));
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        if let Some(&(partner, word)) = open.last()
            && word == opening
        {
            open.pop();
            pair[index] = Some(partner);
            pair[partner] = Some(index);
        }
    }
    pair
}
