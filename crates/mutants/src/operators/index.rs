//! Wrong places: off by one, another axis, another thread's, another buffer's.

use super::{Sites, at};
use crate::Operator;
use crate::code::{Code, Name, StatementKind, is_type};
use crate::operator::{CALLS, INDEX, VALUES};
use fusion_cpp::Kind;

const fn index(name: &'static str, does: &'static str) -> Operator {
    Operator::new(name, does, INDEX)
}

const PLUS_ONE: Operator = index("index-plus-one", "takes the element after");
const MINUS_ONE: Operator = index("index-minus-one", "takes the element before");
const NEIGHBOUR: Operator = index("neighbour-slot", "takes the neighbouring thread's slot of shared memory");
const ARRAY_SHORT: Operator = index("array-short", "makes an array too short by one");
const AXIS: Operator = index("next-axis", "takes the coordinate of another axis");
const COMPONENT: Operator = Operator::new("next-component", "takes another component of a vector", VALUES);
const OTHER: Operator = index("other-name", "takes another variable of the same type");
const ARGUMENTS: Operator = Operator::new("swap-arguments", "passes two arguments the wrong way round", CALLS);

const BUILTINS: &[(&str, &str, Operator)] = &[
    ("threadIdx", "blockIdx", index("thread-to-block", "takes the block's index for the thread's")),
    ("blockIdx", "threadIdx", index("block-to-thread", "takes the thread's index for the block's")),
    ("blockDim", "gridDim", index("block-to-grid", "takes the number of blocks for that of threads")),
    ("gridDim", "blockDim", index("grid-to-block", "takes the number of threads for that of blocks")),
];

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens() {
        match (code.kind(token), code.word(token)) {
            (Some(Kind::Operator), "[") => subscript(code, token, sites),
            (Some(Kind::Operator), ".") => component(code, token, sites),
            (Some(Kind::Operator), "(") => arguments(code, token, sites),
            (Some(Kind::Word), word) => {
                for (_, to, operator) in BUILTINS.iter().filter(|(from, ..)| *from == word) {
                    sites.replace(*operator, code.bytes(&(token..token + 1)), to);
                }
                other_name(code, token, sites);
            }
            _ => {}
        }
    }
}

fn subscript(code: &Code<'_>, open: usize, sites: &mut Sites<'_>) {
    let Some(close) = code.pair(open).filter(|&close| close > open + 1) else { return };
    let inside = open + 1..close;
    let (bytes, text) = (code.bytes(&inside), code.text_of(&inside));
    let name = open.saturating_sub(1);
    if code.names.iter().any(|array| array.declared == name) {
        sites.replace(ARRAY_SHORT, bytes, &format!("({text}) - 1"));
        return;
    }
    sites.replace(PLUS_ONE, bytes.clone(), &format!("({text}) + 1"));
    sites.replace(MINUS_ONE, bytes.clone(), &format!("({text}) - 1"));
    if code.name(name).is_some_and(|array| array.is_shared) {
        sites.replace(NEIGHBOUR, bytes, &format!("({text}) ^ 1"));
    }
}

/// `.x` to `.y`, `.y` to `.z`, and so on around.
fn component(code: &Code<'_>, point: usize, sites: &mut Sites<'_>) {
    let is_builtin = matches!(code.before(point), "threadIdx" | "blockIdx" | "blockDim" | "gridDim");
    let next = match (code.word(point + 1), is_builtin) {
        ("x", _) => "y",
        ("y", _) => "z",
        ("z", true) | ("w", false) => "x",
        ("z", false) => "w",
        _ => return,
    };
    let operator = if is_builtin { AXIS } else { at(code, point, COMPONENT) };
    sites.replace(operator, code.bytes(&(point + 1..point + 2)), next);
}

/// A name to the next one, in order of declaration, that is of the same type and kind: both parameters, or both not.
fn other_name(code: &Code<'_>, token: usize, sites: &mut Sites<'_>) {
    let Some(name) = code.name(token).filter(|_| !matches!(code.before(token), "." | "->")) else { return };
    let like = |other: &&Name<'_>| {
        other.text != name.text
            && other.scope.contains(&token)
            && (&other.kind, other.has_elements, other.is_shared, other.is_parameter)
                == (&name.kind, name.has_elements, name.is_shared, name.is_parameter)
            // Not the variable that is being declared.
            && code.statement(token).is_none_or(|it| it.kind != StatementKind::Simple || !it.tokens.contains(&other.declared))
    };
    let others: Vec<&Name<'_>> = code.names.iter().filter(like).collect();
    let after = others.iter().find(|other| other.declared > name.declared);
    if let Some(other) = after.or(others.first()) {
        sites.replace(at(code, token, OTHER), code.bytes(&(token..token + 1)), other.text);
    }
}

/// `f(a, b)` to `f(b, a)`, for functions that care.
fn arguments(code: &Code<'_>, open: usize, sites: &mut Sites<'_>) {
    let callee = code.before(open);
    let commutes = ["max", "min", "fmaxf", "fminf", "fmax", "fmin", "__fmul_rn", "__fadd_rn"].contains(&callee);
    let is_call = open > 0 && code.kind(open - 1) == Some(Kind::Word) && !is_type(callee);
    if commutes || !is_call || matches!(callee, "if" | "for" | "while" | "switch" | "return") {
        return;
    }
    // What stands by itself outside of functions is no call but a macro that declares something.
    let begins =
        open < 2 || code.kind(open - 2) == Some(Kind::Directive) || matches!(code.before(open - 1), ";" | ")" | "}");
    if begins && code.statement(open).is_none() {
        return;
    }
    let operator = match callee {
        "__launch_bounds__" => ARGUMENTS.in_launch_bounds(),
        _ => at(code, open, ARGUMENTS),
    };
    let arguments = code.arguments(open);
    // A declaration's parameters begin with types.
    if arguments.iter().any(|argument| is_type(code.word(argument.start))) {
        return;
    }
    for pair in arguments.windows(2) {
        let [first, second] = pair else { continue };
        let with = format!("{}, {}", code.text_of(second), code.text_of(first));
        sites.replace(operator, code.bytes(&(first.start..second.end)), &with);
    }
}
