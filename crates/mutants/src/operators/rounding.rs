//! Rounding, clamping, and functions that are nearly the right ones.

use super::Sites;
use crate::Operator;
use crate::code::Code;
use crate::operator::{INDEX, VALUES};

const ROUNDING: Operator = Operator::new("change-rounding", "rounds in another way", VALUES);
// What a minimum is of may be an index or a bound.
const FUNCTION: Operator = Operator::new("other-function", "calls a function like it", INDEX);
const DROP_CLAMP: Operator = Operator::new("drop-clamp", "leaves out a clamp", INDEX);
const DROP_CALL: Operator = Operator::new("drop-call", "leaves out a function of one argument", VALUES);
const RECIPROCAL: Operator = Operator::new("div-to-reciprocal", "multiplies by the reciprocal", VALUES);

/// Ways to round, within which any is taken for another.
const ROUNDINGS: &[&[&str]] = &[
    &["rintf", "roundf", "floorf", "ceilf", "truncf"],
    &["__float2int_rn", "__float2int_rz", "__float2int_rd", "__float2int_ru"],
    &["__float2half_rn", "__float2half_rz"],
    &["__float2bfloat16_rn", "__float2bfloat16_rz"],
    &["__fdiv_rn", "__fdiv_rz"],
];

const FUNCTIONS: &[(&str, &[&str])] = &[
    ("expf", &["exp2f", "expm1f"]),
    ("exp2f", &["expf"]),
    ("logf", &["log2f", "log1pf"]),
    ("log2f", &["logf"]),
    ("tanhf", &["erff", "atanf"]),
    ("erff", &["tanhf"]),
    ("sqrtf", &["rsqrtf"]),
    ("rsqrtf", &["sqrtf"]),
    ("sinf", &["cosf"]),
    ("cosf", &["sinf"]),
    ("fmaxf", &["fminf"]),
    ("fminf", &["fmaxf"]),
    ("max", &["min"]),
    ("min", &["max"]),
];

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens() {
        let word = code.word(token);
        let bytes = code.bytes(&(token..token + 1));
        for family in ROUNDINGS.iter().filter(|family| family.contains(&word)) {
            for other in family.iter().filter(|other| **other != word) {
                sites.replace(ROUNDING, bytes.clone(), other);
            }
        }
        for other in FUNCTIONS.iter().filter(|(name, _)| *name == word).flat_map(|(_, others)| *others) {
            sites.replace(FUNCTION, bytes.clone(), other);
        }
        if code.word(token + 1) == "(" && code.pair(token + 1).is_some() {
            calls(code, token, sites);
        }
        if word == "/"
            && code.is_binary(token)
            && !code.is_index(token)
            && let Some((left, right)) = code.operands(token)
        {
            let with = format!("{} * (1.0f / ({}))", code.text_of(&left), code.text_of(&right));
            sites.replace(RECIPROCAL, code.bytes(&(left.start..right.end)), &with);
        }
    }
}

fn calls(code: &Code<'_>, name: usize, sites: &mut Sites<'_>) {
    let Some(close) = code.pair(name + 1) else { return };
    let bytes = code.bytes(&(name..close + 1));
    let arguments = code.arguments(name + 1);
    match (code.word(name), &arguments[..]) {
        ("max" | "min" | "fmaxf" | "fminf" | "fmax" | "fmin", [first, second]) => {
            sites.replace(DROP_CLAMP, bytes.clone(), &format!("({})", code.text_of(first)));
            sites.replace(DROP_CLAMP, bytes, &format!("({})", code.text_of(second)));
        }
        ("__saturatef" | "saturate", [only]) => sites.replace(DROP_CLAMP, bytes, &format!("({})", code.text_of(only))),
        (word, [only]) if word.ends_with('f') && word.len() > 3 && !word.starts_with("sizeof") => {
            sites.replace(DROP_CALL, bytes, &format!("({})", code.text_of(only)));
        }
        _ => {}
    }
}
