//! Systematic wrong versions of CUDA C++ kernels.
//!
//! A grader is as good as the mistakes it refuses. [`mutants`] takes the source of a right kernel and makes every
//! version of it that differs by one small mistake: a barrier dropped, `<` where `<=` belongs, a tail forgotten, an
//! index off by one. Each [`Mutant`] has a stable id, `lt-to-le@14:9`, and says for which reasons a grader may refuse
//! it. Mutants that are no mistakes, because no result depends on the change, are listed by hand; see [`Equivalents`].
//!
//! The work is on tokens, not on a syntax tree: a mutant that does not compile costs a compilation and proves nothing.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod code;
mod equivalents;
mod instances;
mod mutant;
mod operator;
mod operators;

pub use equivalents::{Entry, Equivalents, ListError};
pub use instances::instances;
pub use mutant::Mutant;
pub use operator::Operator;

/// Every mutant of a source, in the order of their places. No two have the same text or the same id.
pub fn mutants(source: &str) -> Vec<Mutant> {
    let code = code::Code::new(source);
    let mut sites = operators::Sites::new(&code);
    for find in operators::ALL {
        find(&code, &mut sites);
    }
    sites.into_mutants()
}
