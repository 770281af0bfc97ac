//! C++ text as tokens: as much of its grammar as it takes to find a function's parameters.

use fusion_cpp::Kind;

/// A piece of C++ that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or keyword.
    Word(&'a str),
    /// A character of punctuation: where templates may end, `>>` is two of them.
    Mark(u8),
    /// A number, a string or a character.
    Literal,
}

/// The tokens of a text, without the preprocessor's lines.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for token in fusion_cpp::tokens(text) {
        let word = token.text(text);
        match token.kind {
            Kind::Word => tokens.push(Token::Word(word)),
            Kind::Number | Kind::Text => tokens.push(Token::Literal),
            Kind::Operator => tokens.extend(word.bytes().map(Token::Mark)),
            Kind::Directive => {}
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_gives_tokens() {
        let words = |text| -> Vec<String> {
            let show = |token: Token<'_>| match token {
                Token::Word(word) => word.to_owned(),
                Token::Mark(mark) => char::from(mark).to_string(),
                Token::Literal => "0".to_owned(),
            };
            tokens(text).into_iter().map(show).collect()
        };
        let cases = [
            ("a /* b */ c // d\ne", "a c e"),
            ("#define x \\\n y\n  # if z\nw", "w"),
            ("a # b", "a # b"),
            ("\"a\\\"b\" '\\'' c", "0 0 c"),
            ("A<B<int>> x...", "A < B < int > > x . . ."),
            ("1'000 + 0x1p-3f a", "0 + 0 a"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }
}
