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
        _ if code.is_index(token) => operator.in_index().bounding_launches(bounds_launches(code, token)),
        _ => operator,
    }
}

/// Whether a token helps to give a name its value that a bound on launches has: `const int THREADS = 128;`.
fn bounds_launches(code: &Code<'_>, token: usize) -> bool {
    let of_launches = |open: &usize| matches!(code.before(*open), "__launch_bounds__" | "__cluster_dims__");
    let words = |open: usize| (open + 1..code.pair(open).unwrap_or(open)).map(|at| code.word(at));
    let ends = |at: &usize| matches!(code.word(*at), ";" | "{" | "}") || code.kind(*at) == Some(Kind::Directive);
    let declaration = (0..token).rev().take_while(|at| !ends(at));
    let declared: Vec<&str> = declaration.filter(|&at| code.word(at + 1) == "=").map(|at| code.word(at)).collect();
    code.body_tokens().filter(of_launches).flat_map(words).any(|word| declared.contains(&word))
}
