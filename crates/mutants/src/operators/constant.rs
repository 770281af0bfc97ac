//! Other numbers.

use super::{Sites, at};
use crate::Operator;
use crate::code::Code;
use crate::operator::VALUES;
use fusion_cpp::Kind;

const HALF: Operator = Operator::new("half-constant", "halves a constant", VALUES);
const ONE: Operator = Operator::new("zero-to-one", "starts from 1 instead of 0", VALUES);
const DIGITS: Operator = Operator::new("drop-digits", "keeps three digits of a coefficient", VALUES);
const UP: Operator = Operator::new("constant-plus-one", "takes a number that is too large by one", VALUES);
const DOWN: Operator = Operator::new("constant-minus-one", "takes a number that is too small by one", VALUES);

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens().filter(|&token| code.kind(token) == Some(Kind::Number)) {
        let word = code.word(token);
        let bytes = code.bytes(&(token..token + 1));
        if let Some(value) = float(word) {
            let suffix = if word.ends_with(['f', 'F']) { "f" } else { "" };
            if value == 0.0 {
                sites.replace(at(code, token, ONE), bytes.clone(), &format!("1.0{suffix}"));
            } else {
                sites.replace(at(code, token, HALF), bytes.clone(), &format!("(0.5{suffix} * {word})"));
            }
            if let Some(short) = three_digits(word) {
                sites.replace(at(code, token, DIGITS), bytes, &short);
            }
        } else if !word.starts_with("0x") && word.bytes().all(|byte| byte.is_ascii_digit() || b"uUlL".contains(&byte)) {
            sites.replace(at(code, token, UP), bytes.clone(), &format!("({word} + 1)"));
            if !word.bytes().all(|byte| byte == b'0') {
                sites.replace(at(code, token, DOWN), bytes, &format!("({word} - 1)"));
            }
        }
    }
}

/// The value of a floating-point literal in decimal.
fn float(word: &str) -> Option<f64> {
    let is_float = word.contains('.') || word.contains(['e', 'E']);
    let digits = word.trim_end_matches(['f', 'F', 'l', 'L']);
    if is_float && !word.starts_with("0x") { digits.parse().ok() } else { None }
}

/// The literal with zeros after its third significant digit; nothing where that changes nothing.
fn three_digits(word: &str) -> Option<String> {
    let end = word.find(['e', 'E', 'f', 'F']).unwrap_or(word.len());
    let mut kept = 0;
    let short: String = word[..end]
        .chars()
        .map(|digit| match digit {
            '.' => '.',
            '0' if kept == 0 => '0',
            digit => {
                kept += 1;
                if kept > 3 { '0' } else { digit }
            }
        })
        .collect();
    (short != word[..end]).then(|| short + &word[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_stay() {
        for (word, short) in [
            ("0.7978845608f", Some("0.7970000000f")),
            ("0.044715f", Some("0.044700f")),
            ("1.25e-4f", None),
            ("0.5", None),
        ] {
            assert_eq!(three_digits(word).as_deref(), short);
        }
    }
}
