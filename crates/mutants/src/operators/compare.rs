//! Comparisons and conditions.

use super::Sites;
use crate::Operator;
use crate::code::{Code, StatementKind};
use crate::operator::INDEX;

const fn control(name: &'static str, does: &'static str) -> Operator {
    Operator::new(name, does, INDEX)
}

const COMPARISONS: &[(&str, &str, Operator)] = &[
    ("<", "<=", control("lt-to-le", "goes one too far")),
    ("<", ">", control("lt-to-gt", "compares the other way")),
    ("<=", "<", control("le-to-lt", "stops one too early")),
    (">", ">=", control("gt-to-ge", "goes one too far")),
    (">", "<", control("gt-to-lt", "compares the other way")),
    (">=", ">", control("ge-to-gt", "stops one too early")),
    ("==", "!=", control("eq-to-ne", "does it where it should not")),
    ("!=", "==", control("ne-to-eq", "does it where it should not")),
    ("&&", "||", control("both-to-either", "one of two conditions is enough")),
    ("||", "&&", control("either-to-both", "wants both conditions")),
];

const NEGATE: Operator = control("negate-condition", "does it where it should not");
const FIRST: Operator = control("take-first", "takes what stands before the `:` always");
const SECOND: Operator = control("take-second", "takes what stands after the `:` always");

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens() {
        if code.is_binary(token) && !code.is_template_bracket(token) {
            for (_, to, operator) in COMPARISONS.iter().filter(|(from, ..)| *from == code.word(token)) {
                sites.replace(*operator, code.bytes(&(token..token + 1)), to);
            }
        }
        if code.word(token) == "?" {
            choices(code, token, sites);
        }
    }
    for statement in code.statements.iter().filter(|statement| statement.kind == StatementKind::If) {
        let condition = code.text_of(&statement.header);
        sites.replace(NEGATE, code.bytes(&statement.header), &format!("!({condition})"));
    }
}

/// `c ? a : b` to `a` and to `b`.
fn choices(code: &Code<'_>, question: usize, sites: &mut Sites<'_>) {
    let ends = |word: &str| matches!(word, ";" | "," | ")" | "]" | "}");
    let mut colon = None;
    let mut end = question + 1;
    while end < code.tokens.len() && !ends(code.word(end)) {
        match code.pair(end) {
            Some(close) if close > end => end = close,
            _ if code.word(end) == ":" => colon = colon.or(Some(end)),
            _ => {}
        }
        end += 1;
    }
    let mut start = question;
    while start > 0 && !matches!(code.word(start - 1), ";" | "," | "(" | "[" | "{" | "=" | "return" | "?" | ":") {
        start = match code.pair(start - 1) {
            Some(open) if open < start => open,
            _ => start - 1,
        };
    }
    let Some(colon) = colon else { return };
    let bytes = code.bytes(&(start..end));
    sites.replace(FIRST, bytes.clone(), code.text_of(&(question + 1..colon)));
    sites.replace(SECOND, bytes, code.text_of(&(colon + 1..end)));
}
