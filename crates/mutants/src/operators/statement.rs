//! Statements and first values left out.

use super::Sites;
use crate::Operator;
use crate::code::{Code, StatementKind, is_assignment, is_type};
use crate::operator::{INDEX, UNSET};

const DROP_INITIAL: Operator = Operator::new("drop-initial", "declares a variable without a first value", UNSET);
const DROP_STORE: Operator = Operator::new("drop-store", "leaves out an assignment", INDEX);
const DROP_RETURN: Operator = Operator::new("drop-return", "goes on where it should return", INDEX);

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for statement in code.statements.iter().filter(|statement| statement.kind == StatementKind::Simple) {
        let tokens = statement.tokens.clone();
        let bytes = code.bytes(&tokens);
        let words: Vec<&str> = tokens.clone().map(|token| code.word(token)).collect();
        if words == ["return", ";"] || words == ["break", ";"] || words == ["continue", ";"] {
            sites.replace(DROP_RETURN, bytes, ";");
            continue;
        }
        // The first operator outside of brackets that assigns.
        let mut at = tokens.start;
        while at < tokens.end && !is_assignment(code.word(at)) {
            at = code.pair(at).filter(|&close| close > at).unwrap_or(at) + 1;
        }
        if at >= tokens.end {
            continue;
        }
        if is_type(words.first().copied().unwrap_or_default()) {
            if words[0] != "const" {
                sites.replace(DROP_INITIAL, code.bytes(&(at..tokens.end - 1)), "");
            }
        } else {
            sites.replace(DROP_STORE, bytes, ";");
        }
    }
}
