//! Guards, tails and loops.

use std::ops::Range;

use super::Sites;
use crate::Operator;
use crate::code::{Code, StatementKind};
use crate::operator::INDEX;

const fn control(name: &'static str, does: &'static str) -> Operator {
    Operator::new(name, does, INDEX)
}

const DROP_GUARD: Operator = control("drop-guard", "does it without the condition");
const DROP_GUARDED: Operator = control("drop-guarded", "never does what a condition guards");
const DROP_ELSE: Operator = control("drop-else", "leaves out the other branch");
const DROP_LOOP: Operator = control("drop-loop", "leaves out a loop, such as the one over the tail");
const LOOP_ONCE: Operator = control("loop-once", "goes through a loop at most once");
const DROP_STEP: Operator = control("drop-step", "never gets on in a loop");
const STEP_UP: Operator = control("step-plus-one", "takes steps that are too long by one");
const START_UP: Operator = control("start-plus-one", "begins a loop one too late");
const BOUND_DOWN: Operator = control("bound-minus-one", "stops one too early");
const UP_TO_DOWN: Operator = control("up-to-down", "counts down instead of up");
const DOWN_TO_UP: Operator = control("down-to-up", "counts up instead of down");

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for statement in &code.statements {
        let all = code.bytes(&statement.tokens);
        match statement.kind {
            StatementKind::If => {
                let body = code.text_of(&statement.body);
                let otherwise = code.text_of(&statement.otherwise);
                let otherwise = otherwise.strip_prefix("else").unwrap_or_default().trim_start();
                sites.replace(DROP_GUARD, all.clone(), body);
                sites.replace(DROP_GUARDED, all, if otherwise.is_empty() { ";" } else { otherwise });
                sites.replace(DROP_ELSE, code.bytes(&statement.otherwise), "");
                bounds(code, statement.header.clone(), sites);
            }
            StatementKind::For => {
                sites.replace(DROP_LOOP, all, ";");
                each_loop(code, statement.header.clone(), statement.body.clone(), sites);
            }
            StatementKind::While => {
                sites.replace(DROP_LOOP, all, ";");
                bounds(code, statement.header.clone(), sites);
            }
            StatementKind::Block | StatementKind::Simple => {}
        }
    }
    for token in code.body_tokens() {
        let bytes = code.bytes(&(token..token + 1));
        match code.word(token) {
            "++" => sites.replace(UP_TO_DOWN, bytes, "--"),
            "--" => sites.replace(DOWN_TO_UP, bytes, "++"),
            _ => {}
        }
    }
}

/// `for (start; condition; step)`.
fn each_loop(code: &Code<'_>, header: Range<usize>, body: Range<usize>, sites: &mut Sites<'_>) {
    let [start, condition, step] = &code.split(header, ";")[..] else { return };
    let whole = code.bytes(&(start.start..step.end));
    let text = |range: &Range<usize>| code.text_of(range);
    sites.replace(DROP_STEP, whole.clone(), &format!("{}; {};", text(start), text(condition)));
    let once = format!("{{ {} break; }}", text(&body));
    sites.replace(LOOP_ONCE, code.bytes(&body), &once);
    if let Some(equals) = start.clone().find(|&token| code.word(token) == "=") {
        let value = equals + 1..start.end;
        sites.replace(START_UP, code.bytes(&value), &format!("({}) + 1", text(&value)));
    }
    if let Some(equals) = step.clone().find(|&token| matches!(code.word(token), "+=" | "-=")) {
        let value = equals + 1..step.end;
        sites.replace(STEP_UP, code.bytes(&value), &format!("({}) + 1", text(&value)));
    }
    bounds(code, condition.clone(), sites);
}

/// What the right side of each comparison in a condition is.
fn bounds(code: &Code<'_>, condition: Range<usize>, sites: &mut Sites<'_>) {
    for token in condition {
        if !matches!(code.word(token), "<" | "<=" | ">" | ">=") || code.is_template_bracket(token) {
            continue;
        }
        if let Some((_, bound)) = code.operands(token) {
            // One too far is what `<=` is, which is another operator's.
            sites.replace(BOUND_DOWN, code.bytes(&bound), &format!("({}) - 1", code.text_of(&bound)));
        }
    }
}
