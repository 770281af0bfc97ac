//! The sizes at which kernels are timed.

use crate::expression::evaluate;

/// One choice of every variable, in the order in which they are written.
pub(crate) type Choice = Vec<(String, u64)>;

/// Every choice of `n = 2^14 2^18; block = 64 256`: the last variable changes fastest. A value may use the variables before its own.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn choices(text: &str) -> Result<Vec<Choice>, String> {
    let mut all = vec![Choice::new()];
    for variable in text.split(';') {
        let (name, values) = variable.split_once('=').ok_or_else(|| format!("`{variable}`: write `n = 2^14 2^18`"))?;
        let mut next = Vec::new();
        for choice in &all {
            for value in values.split_whitespace() {
                let mut choice = choice.clone();
                choice.push((name.trim().to_owned(), evaluate(value, &choice)?));
                next.push(choice);
            }
        }
        all = next;
    }
    Ok(all)
}

/// The text with the value of each expression in braces in its place.
///
/// # Errors
/// What is wrong with an expression.
pub(crate) fn fill(text: &str, choice: &Choice) -> Result<String, String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once('{') {
        let (expression, after) = behind.split_once('}').ok_or_else(|| format!("`{{{behind}` has no `}}`"))?;
        filled += before;
        filled += &evaluate(expression, choice)?.to_string();
        rest = after;
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_once() {
        let all = choices("n = 2^4 2^5; block = n/16 8").unwrap();
        let values: Vec<Vec<u64>> = all.iter().map(|choice| choice.iter().map(|(_, value)| *value).collect()).collect();
        assert_eq!(values, [[16, 1], [16, 8], [32, 2], [32, 8]]);
        assert!(choices("n 4").is_err() && choices("n = m").is_err());
    }

    #[test]
    fn expressions_are_filled_in() {
        let choice = vec![("n".to_owned(), 10)];
        assert_eq!(fill("k<<<{ceil(n, 4)}, 4>>>(x: f32[{n}])", &choice).unwrap(), "k<<<3, 4>>>(x: f32[10])");
        assert!(fill("{n", &choice).is_err());
    }
}
