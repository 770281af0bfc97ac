//! Atomics that are none, or reach too few threads.

use super::Sites;
use crate::Operator;
use crate::code::Code;
use crate::operator::INDEX;

const PLAIN: Operator = Operator::new("atomic-to-plain", "reads, adds and writes in three steps", INDEX);
const BLOCK: Operator = Operator::new("atomic-to-block", "is atomic within the block only", INDEX);
const DROP: Operator = Operator::new("drop-atomic", "leaves out an atomic", INDEX);
const OTHER: Operator = Operator::new("other-atomic", "does another atomic operation", INDEX);

const OTHERS: &[(&str, &str)] = &[
    ("atomicAdd", "atomicExch"),
    ("atomicSub", "atomicAdd"),
    ("atomicMax", "atomicMin"),
    ("atomicMin", "atomicMax"),
    ("atomicAnd", "atomicOr"),
    ("atomicOr", "atomicAnd"),
    ("atomicXor", "atomicOr"),
    ("atomicInc", "atomicDec"),
    ("atomicExch", "atomicAdd"),
];

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens() {
        let word = code.word(token);
        if !word.starts_with("atomic") || code.pair(token + 1).is_none() {
            continue;
        }
        let name = code.bytes(&(token..token + 1));
        if !word.contains('_') {
            sites.replace(BLOCK, name.clone(), &format!("{word}_block"));
        }
        for (_, other) in OTHERS.iter().filter(|(name, _)| *name == word) {
            sites.replace(OTHER, name.clone(), other);
        }
        let Some(statement) = code.statement(token) else { continue };
        if statement.tokens.start != token {
            continue;
        }
        let bytes = code.bytes(&statement.tokens);
        sites.replace(DROP, bytes.clone(), ";");
        if let (Some(sign), [target, value]) = (plain(word), &code.arguments(token + 1)[..]) {
            let (target, value) = (code.text_of(target), code.text_of(value));
            sites.replace(PLAIN, bytes, &format!("*({target}) {sign} {value};"));
        }
    }
}

fn plain(word: &str) -> Option<&'static str> {
    Some(match word {
        "atomicAdd" => "+=",
        "atomicSub" => "-=",
        "atomicAnd" => "&=",
        "atomicOr" => "|=",
        "atomicXor" => "^=",
        "atomicExch" => "=",
        _ => return None,
    })
}
