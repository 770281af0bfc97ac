//! An operand of a sum, a product or a condition left out.

use super::{Sites, at};
use crate::Operator;
use crate::code::Code;
use crate::operator::VALUES;

const DROP_LEFT: Operator = Operator::new("drop-left", "leaves out the first operand", VALUES);
const DROP_RIGHT: Operator = Operator::new("drop-right", "leaves out the second operand", VALUES);

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens() {
        let combines =
            matches!(code.word(token), "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "&&" | "||" | "<<" | ">>");
        if !combines || !code.is_binary(token) {
            continue;
        }
        let Some((left, right)) = code.operands(token) else { continue };
        // Of `a + b + c` the first operator's mutants leave out `a` or `b`, the second's `a + b` or `c`.
        let bytes = code.bytes(&(left.start..right.end));
        sites.replace(at(code, token, DROP_LEFT), bytes.clone(), code.text_of(&right));
        sites.replace(at(code, token, DROP_RIGHT), bytes, code.text_of(&left));
    }
}
