//! Whole numbers that are written with the variables of a sweep: `ceil(n, 4 * block)`.

/// The value of an expression: numbers, variables, `+ - * / ^` with their usual order and parentheses, and `ceil(a, b)`, which is
/// a / b rounded up, `min(a, b)` and `max(a, b)`. Division rounds down.
///
/// # Errors
/// What is wrong with it, also where a value is negative, larger than 2^63 or divided by 0.
pub(crate) fn evaluate(text: &str, variables: &[(String, u64)]) -> Result<u64, String> {
    let mut parser = Parser { rest: text.trim(), variables };
    let value = parser.sum()?;
    match parser.rest {
        "" => u64::try_from(value).map_err(|_| format!("`{text}` is {value}")),
        rest => Err(format!("`{rest}` is not understood in `{text}`")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    variables: &'a [(String, u64)],
}

impl<'a> Parser<'a> {
    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        loop {
            value = match self.any(&["+", "-"]) {
                Some("+") => checked(value.checked_add(self.product()?))?,
                Some(_) => checked(value.checked_sub(self.product()?))?,
                None => return Ok(value),
            };
        }
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.power()?;
        loop {
            value = match self.any(&["*", "/"]) {
                Some("*") => checked(value.checked_mul(self.power()?))?,
                Some(_) => checked(value.checked_div(self.power()?))?,
                None => return Ok(value),
            };
        }
    }

    fn power(&mut self) -> Result<i64, String> {
        let base = self.atom()?;
        match self.any(&["^"]) {
            Some(_) => checked(u32::try_from(self.power()?).ok().and_then(|exponent| base.checked_pow(exponent))),
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<i64, String> {
        if self.any(&["("]).is_some() {
            let value = self.sum()?;
            return self.expect(")").map(|()| value);
        }
        let end = self.rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let word = self.take(end);
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().map_err(|_| format!("`{word}` is no number"));
        }
        if matches!(word, "ceil" | "min" | "max") {
            self.expect("(")?;
            let left = self.sum()?;
            self.expect(",")?;
            let right = self.sum()?;
            self.expect(")")?;
            return match word {
                "ceil" => checked(left.checked_add(right - 1).filter(|_| right > 0).map(|sum| sum / right)),
                "min" => Ok(left.min(right)),
                _ => Ok(left.max(right)),
            };
        }
        let found = self.variables.iter().find(|(name, _)| name == word);
        let (_, value) = found.ok_or_else(|| format!("there is no variable `{word}`"))?;
        i64::try_from(*value).map_err(|_| format!("`{word}` is too large"))
    }

    /// The first of these that comes next.
    fn any(&mut self, wanted: &[&'static str]) -> Option<&'static str> {
        let found = wanted.iter().copied().find(|sign| self.rest.starts_with(sign))?;
        self.take(found.len());
        Some(found)
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), String> {
        self.any(&[sign]).map(|_| ()).ok_or_else(|| format!("`{sign}` is missing before `{}`", self.rest))
    }

    fn take(&mut self, end: usize) -> &'a str {
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word.trim_end()
    }
}

fn checked(value: Option<i64>) -> Result<i64, String> {
    value.ok_or_else(|| "a number is too large, or divided by 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_usual() {
        let variables = [("n".to_owned(), 1000), ("block".to_owned(), 256)];
        let value = |text| evaluate(text, &variables);
        assert_eq!(value("2^20 + 3"), Ok((1 << 20) + 3));
        assert_eq!(value("ceil(n, block)"), Ok(4));
        assert_eq!(value("( n - 8 * 2 ) / 3"), Ok(328));
        assert_eq!(value("min(n, 132*8)"), Ok(1000));
        assert!(value("m").is_err_and(|why| why.contains("no variable `m`")));
        assert!(value("n - 2 * n").is_err());
        assert!(value("n / 0").is_err() && value("ceil(n, 0)").is_err());
        assert!(value("2^64").is_err() && value("(n").is_err() && value("n n").is_err() && value("").is_err());
    }
}
