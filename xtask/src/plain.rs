//! Text of a submission's that a terminal may be shown.

use fusion_diagnostic::noun;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A line in which a control character is shown, and not obeyed.
pub(crate) fn line(line: &str) -> String {
    shown(line, |c| c == '\t')
}

/// Lines of what one submission prints of which so many are shown.
const MOST_LINES: usize = 100;

/// The lines that one submission prints: the first ones are shown, the rest is counted.
#[derive(Debug, Default)]
pub(crate) struct Printout {
    lines: usize,
}

impl Printout {
    /// Whether the next line is shown.
    pub(crate) fn shows(&mut self) -> bool {
        self.lines += 1;
        self.lines <= MOST_LINES
    }

    /// How much has not been shown.
    pub(crate) fn left_out(&self) -> Option<String> {
        let more = self.lines.checked_sub(MOST_LINES).filter(|more| *more > 0)?;
        Some(format!("({more} more {} of output left out)", noun(more as u64, "line")))
    }
}

/// Characters of such a line of which so many are shown.
const WIDEST: usize = 200;

/// What is said of the first line that is cut.
pub(crate) const LINE_ENDS: &str = "A line was too long, and was cut. `\\n` at the end of a printf ends a line.";

/// The start of a line that is too long, and how much is left out; nothing where it is short enough.
pub(crate) fn cut(line: &str) -> Option<String> {
    let (end, _) = line.char_indices().nth(WIDEST)?;
    let (start, rest) = line.split_at(end);
    let left = rest.chars().count() as u64;
    Some(format!("{start} ... ({left} more {} left out)", noun(left, "character")))
}

/// Characters of a text at most.
const LONGEST: usize = 4000;

/// The same for all texts of something, which may have several lines: those after the first are indented, so that none of
/// them looks like one of ours. What is cleaned already stays as it is.
pub(crate) fn text_of<T: Serialize + DeserializeOwned + Clone>(what: T) -> T {
    let cleaned = serde_json::to_value(&what).map(cleaned).and_then(serde_json::from_value);
    cleaned.unwrap_or(what)
}

fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(indented(&shown(&text, |c| matches!(c, '\t' | '\n')))),
        Value::Array(values) => values.into_iter().map(cleaned).collect(),
        Value::Object(fields) => fields.into_iter().map(field).collect(),
        other => other,
    }
}

/// What the compiler has drawn stays as it was drawn.
fn field((name, value): (String, Value)) -> (String, Value) {
    let value = match value {
        Value::String(text) if name == "rendered" => Value::String(drawn(&text)),
        value => cleaned(value),
    };
    (name, value)
}

/// Several lines in which a control character is shown, and not obeyed.
pub(crate) fn drawn(text: &str) -> String {
    shown(text, |c| matches!(c, '\t' | '\n'))
}

fn indented(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut whole = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        whole.push('\n');
        if !line.is_empty() && !line.starts_with(INDENT) {
            whole.push_str(INDENT);
        }
        whole.push_str(line);
    }
    match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => whole[..end].trim_end_matches('…').chars().take(LONGEST - 1).chain(['…']).collect(),
        None => whole,
    }
}

const INDENT: &str = "    ";

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
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(cut(&"é".repeat(WIDEST)), None);
        let (start, long) = ("é".repeat(WIDEST), "é".repeat(WIDEST + 7));
        assert_eq!(cut(&long), Some(format!("{start} ... (7 more characters left out)")));
    }

    #[test]
    fn lines_beyond_the_first_hundred_are_counted() {
        for (lines, said) in [
            (0, None),
            (MOST_LINES, None),
            (MOST_LINES + 1, Some("(1 more line of output left out)")),
            (MOST_LINES + 2, Some("(2 more lines of output left out)")),
        ] {
            let mut printout = Printout::default();
            let shown = (0..lines).filter(|_| printout.shows()).count();
            assert_eq!((shown, printout.left_out().as_deref()), (lines.min(MOST_LINES), said));
        }
    }

    #[test]
    fn a_panic_message_neither() {
        let failure = Failure::new(Code::Panic, "the launch function panicked: \u{1b}[2J").note("one\ntwo");
        let judgement = text_of(Judgement::default().refused(failure));
        let failure = judgement.failure().unwrap();
        assert_eq!(failure.title, "the launch function panicked: \\u{1b}[2J");
        assert_eq!(failure.notes, ["one\n    two"]);
        assert_eq!(text_of(judgement.clone()), judgement, "once is enough");
    }

    #[test]
    fn a_text_cannot_print_a_table_of_its_own() {
        let table = "no\nmul_add  pass\n\n1 of 1";
        assert_eq!(text_of(table.to_owned()), "no\n    mul_add  pass\n\n    1 of 1");
        let long = text_of("x\n".repeat(9000));
        assert_eq!((long.chars().count(), text_of(long.clone())), (LONGEST, long));
    }
}
