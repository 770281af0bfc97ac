//! Text of a submission's that a terminal may be shown.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A line in which a control character is shown, and not obeyed.
pub(crate) fn line(line: &str) -> String {
    shown(line, |c| c == '\t')
}

/// The same for all texts of something, which may have several lines.
pub(crate) fn text_of<T: Serialize + DeserializeOwned + Clone>(what: T) -> T {
    let cleaned = serde_json::to_value(&what).map(cleaned).and_then(serde_json::from_value);
    cleaned.unwrap_or(what)
}

fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown(&text, |c| matches!(c, '\t' | '\n'))),
        Value::Array(values) => values.into_iter().map(cleaned).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, cleaned(value))).collect(),
        other => other,
    }
}

fn shown(text: &str, harmless: impl Fn(char) -> bool) -> String {
    let shown = |c: char| match c {
        c if c.is_control() && !harmless(c) => c.escape_default().collect(),
        c => vec![c],
    };
    text.chars().flat_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_grader::judgement::{Code, Failure, Judgement};

    #[test]
    fn a_terminal_is_not_told_what_to_do() {
        assert_eq!(line("a\tb"), "a\tb");
        assert_eq!(line("\u{1b}[2Jgone\r"), "\\u{1b}[2Jgone\\r");
    }

    #[test]
    fn a_panic_message_neither() {
        let failure = Failure::new(Code::Panic, "the launch function panicked: \u{1b}[2J").note("one\ntwo");
        let judgement = text_of(Judgement::default().refused(failure));
        let failure = judgement.failure().unwrap();
        assert_eq!(failure.title, "the launch function panicked: \\u{1b}[2J");
        assert_eq!(failure.notes, ["one\ntwo"]);
    }
}
