//! Whole numbers as they are written in CUDA C++: `1024 * 4`, `(n + 255) / 256`, `1 << 20`.

use std::collections::HashMap;

use fusion_cpp::{Kind, Token};

/// Numbers by their names.
pub(super) type Names = HashMap<String, i64>;

/// What a text comes to.
///
/// # Errors
/// What is wrong with it.
pub(super) fn whole(text: &str, names: &Names) -> Result<i64, String> {
    let tokens = fusion_cpp::tokens(text);
    let mut reader = Reader { text, tokens: &tokens, names, depth: 0 };
    let value = reader.shift()?;
    match reader.tokens.first() {
        None => Ok(value),
        Some(token) => Err(format!("`{}` is not expected here", token.text(text))),
    }
}

/// Parentheses within parentheses.
const DEEPEST: usize = 32;

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    names: &'a Names,
    depth: usize,
}

impl Reader<'_> {
    /// The next token, where it is one of these operators.
    fn take(&mut self, operators: &[&str]) -> Option<String> {
        let first = self.tokens.first().map(|token| token.text(self.text))?;
        operators.contains(&first).then(|| {
            self.tokens = &self.tokens[1..];
            first.to_owned()
        })
    }

    fn shift(&mut self) -> Result<i64, String> {
        let mut value = self.sum()?;
        while let Some(operator) = self.take(&["<<", ">>"]) {
            let by = u32::try_from(self.sum()?).ok().filter(|by| *by < 63);
            let by = by.ok_or_else(|| format!("`{operator}` by a number that is negative or too large"))?;
            value = if operator == "<<" { value.checked_mul(1 << by).ok_or_else(too_large)? } else { value >> by };
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&["+", "-"]) {
            let other = self.product()?;
            let sum = if operator == "+" { value.checked_add(other) } else { value.checked_sub(other) };
            value = sum.ok_or_else(too_large)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.one()?;
        while let Some(operator) = self.take(&["*", "/", "%"]) {
            let other = self.one()?;
            let product = match operator.as_str() {
                "*" => value.checked_mul(other),
                _ if other == 0 => return Err("a division by 0".to_owned()),
                "/" => value.checked_div(other),
                _ => value.checked_rem(other),
            };
            value = product.ok_or_else(too_large)?;
        }
        Ok(value)
    }

    fn one(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too many parentheses".to_owned());
        }
        let value = self.operand();
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Result<i64, String> {
        if self.take(&["-"]).is_some() {
            return self.one()?.checked_neg().ok_or_else(too_large);
        }
        if self.take(&["("]).is_some() {
            let value = self.shift()?;
            return self.take(&[")"]).map(|_| value).ok_or_else(|| "a `)` is missing".to_owned());
        }
        let Some((token, rest)) = self.tokens.split_first() else {
            return Err("a number is missing".to_owned());
        };
        self.tokens = rest;
        let word = token.text(self.text);
        match token.kind {
            Kind::Number => literal(word).ok_or_else(|| format!("`{word}` is not a whole number")),
            Kind::Word => self.names.get(word).copied().ok_or_else(|| format!("no whole number is called `{word}`")),
            _ => Err(format!("`{word}` is not a number")),
        }
    }
}

fn too_large() -> String {
    "the number is too large".to_owned()
}

/// `1000`, `1'000`, `1_000`, `0x400`, with any of C's suffixes.
fn literal(word: &str) -> Option<i64> {
    let plain = word.replace(['\'', '_'], "");
    match plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal.trim_end_matches(['u', 'U', 'l', 'L']), 16).ok(),
        None => plain.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_cpp() {
        let names = Names::from([("n".to_owned(), 1000)]);
        for (text, value) in [
            ("1000", 1000),
            ("1'000u", 1000),
            ("0x10", 16),
            ("(n + 255) / 256", 4),
            ("1 << 20", 1 << 20),
            ("4 * 256 - 2 * 3", 1018),
            ("-(2 - 5) % 2", 1),
        ] {
            assert_eq!(whole(text, &names), Ok(value), "{text}");
        }
        for (text, says) in [
            ("", "a number is missing"),
            ("n +", "a number is missing"),
            ("(n", "a `)` is missing"),
            ("m", "no whole number is called `m`"),
            ("1.5", "`1.5` is not a whole number"),
            ("4 4", "`4` is not expected here"),
            ("n / 0", "a division by 0"),
            ("1 << 70", "`<<` by a number that is negative or too large"),
            ("9223372036854775807 + 1", "the number is too large"),
        ] {
            assert_eq!(whole(text, &names), Err(says.to_owned()), "{text}");
        }
        assert!(whole(&"(".repeat(100_000), &names).is_err());
        assert!(whole(&"-".repeat(100_000), &names).is_err());
    }
}
