//! A question, and whether an answer to it is right.

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// By which it is remembered: `mul_add/bytes`, `day22/3`.
    pub(super) id: String,
    pub(super) ask: String,
    pub(super) answer: Answer,
    /// The right answer, and why.
    pub(super) because: String,
}

/// How it is answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// By a number that is off by at most this share of it.
    Number { right: f64, within: f64 },
    /// By the letter of an option.
    Choice { options: Vec<&'static str>, right: usize },
    /// In words, which the learner judges.
    Words,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Right,
    Wrong,
    /// It is no answer to this question.
    Unclear,
}

impl Question {
    /// The question, and its options.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n", self.ask);
        if let Answer::Choice { options, .. } = &self.answer {
            for (letter, option) in ('a'..).zip(options) {
                text += &format!("  {letter}  {option}\n");
            }
        }
        text
    }

    /// What is typed where an answer is unclear.
    pub(super) fn how(&self) -> &'static str {
        match self.answer {
            Answer::Number { .. } => "a number, such as 12 or 1.5; Enter alone skips it",
            Answer::Choice { .. } => "the letter of one line; Enter alone skips it",
            Answer::Words => "",
        }
    }

    pub(super) fn judge(&self, given: &str) -> Given {
        let known = match &self.answer {
            Answer::Number { right, within } => {
                number(given).map(|given| (given - right).abs() <= within * right.abs())
            }
            Answer::Choice { options, right } => {
                letter(given).filter(|index| *index < options.len()).map(|index| index == *right)
            }
            Answer::Words => None,
        };
        match known {
            Some(true) => Given::Right,
            Some(false) => Given::Wrong,
            None => Given::Unclear,
        }
    }
}

/// `12`, `12 bytes`, `1.5x`, `24/16`, `1,000`.
fn number(text: &str) -> Option<f64> {
    let text = text.trim().replace(',', "");
    let digits: String = text.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '/' | ' ')).collect();
    let mut parts = digits.split('/').map(|part| part.trim().parse::<f64>().ok());
    match (parts.next()??, parts.next(), parts.next()) {
        (whole, None, _) => Some(whole),
        (above, Some(Some(below)), None) if below != 0.0 => Some(above / below),
        _ => None,
    }
}

fn letter(text: &str) -> Option<usize> {
    let mut letters = text.trim().trim_end_matches([')', '.']).chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => {
            Some(letter.to_ascii_lowercase() as usize - 'a' as usize)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(answer: Answer, text: &str) -> Given {
        Question { id: String::new(), ask: String::new(), answer, because: String::new() }.judge(text)
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        use Given::{Right, Unclear, Wrong};
        for (text, expected) in [
            ("1.5", Right),
            (" 1.50x", Right),
            ("24/16", Right),
            ("24 / 16", Right),
            ("1.52", Right),
            ("1.6", Wrong),
            ("2", Wrong),
            ("24/0", Unclear),
            ("many", Unclear),
            ("", Unclear),
        ] {
            assert_eq!(given(Answer::Number { right: 1.5, within: 0.02 }, text), expected, "{text}");
        }
        assert_eq!(given(Answer::Number { right: 24.0, within: 0.0 }, "24 bytes"), Right);
        assert_eq!(given(Answer::Number { right: 1000.0, within: 0.0 }, "1,000"), Right);
    }

    #[test]
    fn letters_choose() {
        let answer = || Answer::Choice { options: vec!["one", "two"], right: 1 };
        for (text, expected) in [
            ("b", Given::Right),
            ("B)", Given::Right),
            ("a", Given::Wrong),
            ("c", Given::Unclear),
            ("two", Given::Unclear),
        ] {
            assert_eq!(given(answer(), text), expected, "{text}");
        }
    }
}
