//! Promises to the compiler.

use super::Sites;
use crate::Operator;
use crate::code::Code;
use crate::operator::{INDEX, ORDER};
use fusion_cpp::Kind;

const VOLATILE: Operator = Operator::new("drop-volatile", "lets the compiler keep a value in a register", ORDER);
const RESTRICT: Operator = Operator::new("drop-restrict", "does not promise that buffers are apart", INDEX);
const PRAGMA: Operator = Operator::new("drop-pragma", "leaves a loop as it is", INDEX);

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for (token, it) in code.tokens.iter().enumerate() {
        let bytes = it.span.clone();
        match (it.kind, code.word(token)) {
            (Kind::Word, "volatile") => sites.replace(VOLATILE, bytes, ""),
            (Kind::Word, "__restrict__" | "__restrict") => sites.replace(RESTRICT, bytes, ""),
            (Kind::Directive, directive) if directive.starts_with("#pragma unroll") => sites.replace(PRAGMA, bytes, ""),
            _ => {}
        }
    }
}
