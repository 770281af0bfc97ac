//! Numbers with fewer bits.

use super::{Sites, at};
use crate::Operator;
use crate::code::{Code, Name, StatementKind};
use crate::operator::{INDEX, VALUES};

const HALF: Operator = Operator::new("narrow-to-half", "keeps as many bits as half precision has", VALUES);
const WHOLE: Operator = Operator::new("narrow-to-int", "keeps the whole part only", VALUES);
const TYPES: &[(&str, &str, Operator)] = &[
    ("double", "float", Operator::new("double-to-float", "computes in single precision", VALUES)),
    ("size_t", "unsigned", Operator::new("index-32-bits", "computes an index in 32 bits", INDEX)),
    ("size_t", "int", Operator::new("index-signed", "computes an index in 32 bits with a sign", INDEX)),
    ("int", "short", Operator::new("int-to-short", "computes in 16 bits", INDEX)),
    ("signed", "unsigned", Operator::new("signed-to-unsigned", "loses the sign", INDEX)),
    ("unsigned", "signed", Operator::new("unsigned-to-signed", "takes the last bit for a sign", INDEX)),
];
const DROP_CAST: Operator = Operator::new("drop-cast", "computes in the type at hand", INDEX);

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens() {
        let word = code.word(token);
        // A kernel's parameters are what the launch passes: another type there is another launch.
        let in_parameters = code.statement(token).is_none();
        for (_, to, operator) in TYPES.iter().filter(|(from, ..)| *from == word && !in_parameters) {
            sites.replace(at(code, token, *operator), code.bytes(&(token..token + 1)), to);
        }
        if word == "(" && code.pair(token).is_some_and(|close| code.is_cast(close)) && !in_parameters {
            let close = code.pair(token).unwrap_or(token);
            sites.replace(DROP_CAST, code.bytes(&(token..close + 1)), "");
        }
    }
    for statement in code.statements.iter().filter(|statement| statement.kind == StatementKind::Simple) {
        let tokens = statement.tokens.clone();
        let end = tokens.end.saturating_sub(1);
        let Some(equals) = tokens.clone().find(|&token| matches!(code.word(token), "=" | "+=" | "return")) else {
            continue;
        };
        if !is_float(code, tokens.start, equals) || equals + 1 >= end {
            continue;
        }
        let value = equals + 1..end;
        let (bytes, text) = (code.bytes(&value), code.text_of(&value));
        // Half precision has 10 bits after the leading one, 13 fewer than single precision.
        let half = |text: &str| format!("__uint_as_float(__float_as_uint({text}) & 0xffffe000u)");
        if code.word(equals) == "+=" {
            let target = code.text_of(&(tokens.start..equals));
            let all = code.bytes(&(tokens.start..end));
            sites.replace(HALF, all.clone(), &format!("{target} = {}", half(&format!("{target} + ({text})"))));
            sites.replace(WHOLE, all, &format!("{target} = (float)(int)({target} + ({text}))"));
        } else {
            sites.replace(HALF, bytes.clone(), &half(text));
            sites.replace(WHOLE, bytes, &format!("(float)(int)({text})"));
        }
    }
}

/// Whether what is assigned or returned at `equals` is one float.
fn is_float(code: &Code<'_>, start: usize, equals: usize) -> bool {
    if code.word(equals) == "return" {
        return returns_float(code, equals);
    }
    let before = equals.saturating_sub(1);
    match (code.word(before), code.pair(before)) {
        // An element of a buffer or an array of floats.
        ("]", Some(open)) => {
            open == start + 1 && code.name(start).is_some_and(|name| name.has_elements && name.is_float())
        }
        _ => declared_or_named(code, before).is_some_and(|name| !name.has_elements && name.is_float()),
    }
}

/// The variable that a token declares or names.
fn declared_or_named<'c, 'a>(code: &'c Code<'a>, token: usize) -> Option<&'c Name<'a>> {
    code.names.iter().find(|name| name.declared == token).or_else(|| code.name(token))
}

/// Whether the function around a token returns a float.
fn returns_float(code: &Code<'_>, token: usize) -> bool {
    let mut at = token;
    while let Some(open) = code.enclosing(at) {
        at = open;
    }
    let Some(parameters) = at.checked_sub(1).and_then(|close| code.pair(close)) else { return false };
    // `float name(`
    parameters >= 2 && code.word(parameters - 2) == "float"
}
