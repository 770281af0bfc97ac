//! The operators, by what they change. Each module finds the sites of a family.

mod arithmetic;
mod atomic;
mod barrier;
mod compare;
mod constant;
mod control;
mod index;
mod memory;
mod precision;
mod rounding;
mod statement;
mod term;
mod warp;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::code::Code;
use crate::{Mutant, Operator};
use fusion_cpp::Kind;

/// Finds the sites of one family of operators.
type Find = fn(&Code<'_>, &mut Sites<'_>);

pub(crate) const ALL: &[Find] = &[
    arithmetic::find,
    atomic::find,
    barrier::find,
    compare::find,
    constant::find,
    control::find,
    index::find,
    memory::find,
    precision::find,
    rounding::find,
    statement::find,
    term::find,
    warp::find,
];

/// Collects mutants.
#[derive(Debug)]
pub(crate) struct Sites<'a> {
    source: &'a str,
    mutants: Vec<Mutant>,
}

impl<'a> Sites<'a> {
    pub(crate) fn new(code: &Code<'a>) -> Self {
        Self { source: code.text, mutants: Vec::new() }
    }

    /// A mutant that has other text in the place of these bytes.
    pub(crate) fn replace(&mut self, operator: Operator, bytes: Range<usize>, with: &str) {
        let in_order = bytes.start <= bytes.end;
        if in_order && self.source.get(bytes.clone()).is_some_and(|before| before != with) {
            self.mutants.push(Mutant::new(self.source, operator, &bytes, with));
        }
    }

    /// The mutants by place. Of several with the same text the first stays.
    pub(crate) fn into_mutants(mut self) -> Vec<Mutant> {
        self.mutants.sort_by_key(|mutant| (mutant.line, mutant.column));
        let mut texts = BTreeSet::new();
        self.mutants.retain(|mutant| texts.insert(mutant.text.clone()));
        let mut ids = BTreeSet::new();
        for mutant in &mut self.mutants {
            let (id, mut count) = (mutant.id.clone(), 1);
            while !ids.insert(mutant.id.clone()) {
                count += 1;
                mutant.id = format!("{id}#{count}");
            }
        }
        self.mutants
    }
}

/// The operator as it is for a token: more can go wrong where that makes an address, and another thing where it bounds
/// the launch.
fn at(code: &Code<'_>, token: usize, operator: Operator) -> Operator {
    match code.enclosing(token) {
        Some(open) if matches!(code.before(open), "__launch_bounds__" | "__cluster_dims__") => {
            operator.in_launch_bounds()
        }
        _ if code.is_index(token) => {
            let (launches, loops) = bounds(code, token);
            operator.in_index().bounding(launches, loops)
        }
        _ => operator,
    }
}

/// Whether a token helps to bound launches, and loops: it stands there, or gives a name that stands there its value: `const int THREADS = 128;`.
fn bounds(code: &Code<'_>, token: usize) -> (bool, bool) {
    let declared = declared_by(code, token);
    let stands_in = |is_one: &dyn Fn(&str) -> bool| {
        let words = |open: usize| open + 1..code.pair(open).unwrap_or(open);
        let is_bound = |at: usize| at == token || declared.is_some_and(|name| code.word(at) == name);
        let opens = code.body_tokens().filter(|&open| code.word(open) == "(" && is_one(code.before(open)));
        opens.flat_map(words).any(is_bound)
    };
    (
        stands_in(&|word| matches!(word, "__launch_bounds__" | "__cluster_dims__")),
        stands_in(&|word| matches!(word, "for" | "while")),
    )
}

/// The name that a declaration gives a value which a token helps to make.
fn declared_by<'a>(code: &Code<'a>, token: usize) -> Option<&'a str> {
    let mut at = token;
    while let Some(before) = at.checked_sub(1) {
        at = before;
        match (code.pair(at), code.word(at)) {
            (Some(open), ")" | "]" | "}") => at = open,
            (_, ";" | "{" | "}" | ",") => return None,
            (_, "=") => {
                return at
                    .checked_sub(1)
                    .filter(|&name| code.kind(name) == Some(Kind::Word))
                    .map(|name| code.word(name));
            }
            _ if code.kind(at) == Some(Kind::Directive) => return None,
            _ => {}
        }
    }
    None
}
