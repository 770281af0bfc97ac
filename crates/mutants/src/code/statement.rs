//! Statements of function bodies.

use std::ops::Range;

use super::Code;
use fusion_cpp::Kind;

/// One statement. Ranges are of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    /// All of it, with its semicolon.
    pub(crate) tokens: Range<usize>,
    /// What stands in the brackets of an `if`, `for` or `while`.
    pub(crate) header: Range<usize>,
    /// The statement that an `if`, `for` or `while` governs.
    pub(crate) body: Range<usize>,
    /// From `else` to its end, where there is one.
    pub(crate) otherwise: Range<usize>,
    /// The opening bracket of the block that it stands in, or the statement that governs it.
    pub(crate) parent: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatementKind {
    Block,
    If,
    For,
    While,
    /// A declaration, an expression, a `return`: whatever ends with a semicolon.
    Simple,
}

/// Blocks inside of blocks deeper than this are taken as one statement.
const DEEPEST: usize = 100;

/// The statements of every function in the code.
pub(super) fn all(code: &Code<'_>) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.tokens.len() {
        // A body follows its parameters; structs and namespaces follow a name, initialisers an `=`.
        let begins = code.word(at) == "{" && matches!(code.before(at), ")" | "const" | "noexcept");
        match code.pair(at) {
            Some(close) if begins => {
                block(code, at, close, 0, &mut found);
                at = close;
            }
            _ => at += 1,
        }
    }
    found
}

fn block(code: &Code<'_>, open: usize, close: usize, depth: usize, found: &mut Vec<Statement>) {
    let mut at = open + 1;
    while at < close {
        at = statement(code, at, open, close, depth, found).max(at + 1);
    }
}

/// Reads the statement at `at`, which ends before `limit`, and returns where the next one begins.
fn statement(
    code: &Code<'_>,
    at: usize,
    parent: usize,
    limit: usize,
    depth: usize,
    found: &mut Vec<Statement>,
) -> usize {
    if code.kind(at) == Some(Kind::Directive) {
        return at + 1;
    }
    let own = found.len();
    let blank = Statement {
        kind: StatementKind::Simple,
        tokens: at..at,
        header: at..at,
        body: at..at,
        otherwise: at..at,
        parent,
    };
    let kind = match code.word(at) {
        "{" => StatementKind::Block,
        "if" => StatementKind::If,
        "for" => StatementKind::For,
        "while" => StatementKind::While,
        _ => StatementKind::Simple,
    };
    if depth > DEEPEST || kind == StatementKind::Simple {
        let end = simple(code, at, limit);
        found.push(Statement { tokens: at..end, ..blank });
        return end;
    }
    found.push(blank.clone());
    if kind == StatementKind::Block {
        let Some(close) = code.pair(at) else { return limit };
        block(code, at, close, depth + 1, found);
        found[own] = Statement { kind, tokens: at..close + 1, ..blank };
        return close + 1;
    }
    let open = if code.word(at + 1) == "constexpr" { at + 2 } else { at + 1 };
    let Some(close) = code.pair(open) else {
        let end = simple(code, at, limit);
        found[own] = Statement { tokens: at..end, ..blank };
        return end;
    };
    let body_end = statement(code, close + 1, at, limit, depth + 1, found).min(limit);
    let mut end = body_end;
    let mut otherwise = end..end;
    if kind == StatementKind::If && code.word(end) == "else" {
        end = statement(code, end + 1, at, limit, depth + 1, found).min(limit);
        otherwise = body_end..end;
    }
    let body = close + 1..body_end;
    found[own] = Statement { kind, tokens: at..end, header: open + 1..close, body, otherwise, parent };
    end
}

/// The end of what a semicolon ends.
fn simple(code: &Code<'_>, from: usize, limit: usize) -> usize {
    let mut at = from;
    while at < limit {
        match code.pair(at) {
            Some(close) if close > at => at = close,
            _ if code.word(at) == ";" => return at + 1,
            _ => {}
        }
        at += 1;
    }
    limit
}
