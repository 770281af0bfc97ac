//! Another arithmetic operator, operands the wrong way round.

use super::{Sites, at};
use crate::Operator;
use crate::code::Code;
use crate::operator::VALUES;
use fusion_cpp::Kind;

const fn value(name: &'static str, does: &'static str) -> Operator {
    Operator::new(name, does, VALUES)
}

const BINARY: &[(&str, &str, Operator)] = &[
    ("+", "-", value("add-to-sub", "subtracts instead of adding")),
    ("-", "+", value("sub-to-add", "adds instead of subtracting")),
    ("*", "+", value("mul-to-add", "adds instead of multiplying")),
    ("/", "*", value("div-to-mul", "multiplies instead of dividing")),
    ("%", "/", value("rem-to-div", "takes the quotient for the remainder")),
    ("&", "|", value("and-to-or", "takes the bits of either")),
    ("|", "&", value("or-to-and", "takes the bits of both")),
    ("^", "|", value("xor-to-or", "takes the bits of either")),
    ("<<", ">>", value("shl-to-shr", "shifts the other way")),
    (">>", "<<", value("shr-to-shl", "shifts the other way")),
    ("+=", "-=", value("add-to-sub", "subtracts instead of adding")),
    ("+=", "=", value("accumulate-to-assign", "forgets what was summed before")),
    ("-=", "+=", value("sub-to-add", "adds instead of subtracting")),
    ("*=", "+=", value("mul-to-add", "adds instead of multiplying")),
    ("/=", "*=", value("div-to-mul", "multiplies instead of dividing")),
    (">>=", "-=", value("shr-to-sub", "counts down instead of halving")),
    ("<<=", "+=", value("shl-to-add", "counts up instead of doubling")),
];

const SWAP: Operator = value("swap-operands", "takes the operands the wrong way round");
const DROP_MINUS: Operator = value("drop-minus", "loses a sign");
const DROP_NOT: Operator = value("drop-not", "loses a negation");

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens().filter(|&token| code.kind(token) == Some(Kind::Operator)) {
        let word = code.word(token);
        let bytes = code.bytes(&(token..token + 1));
        let assigns = word.ends_with('=');
        if !assigns && !code.is_binary(token) {
            match word {
                "-" => sites.replace(at(code, token, DROP_MINUS), bytes, ""),
                "!" => sites.replace(at(code, token, DROP_NOT), bytes, ""),
                _ => {}
            }
            continue;
        }
        for (_, to, operator) in BINARY.iter().filter(|(from, ..)| *from == word) {
            sites.replace(at(code, token, *operator), bytes.clone(), to);
        }
        if matches!(word, "-" | "/" | "%" | "<<" | ">>")
            && let Some((left, right)) = code.operands(token)
        {
            let with = format!("({}) {word} ({})", code.text_of(&right), code.text_of(&left));
            sites.replace(at(code, token, SWAP), code.bytes(&(left.start..right.end)), &with);
        }
    }
}
