//! One wrong version of a source.

use std::ops::Range;

use crate::Operator;

/// A source with one small mistake in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// `lt-to-le@14:9`: the operator, the line and the column of what is replaced, both one-based. Where an operator
    /// has several ways at one place, the later ones end in `#2`, `#3`.
    pub id: String,
    pub operator: Operator,
    pub line: usize,
    /// In characters.
    pub column: usize,
    /// The whole mutated source.
    pub text: String,
    /// The first line that differs, before and after, and the same without surrounding space.
    original: String,
    mutated: String,
}

impl Mutant {
    /// Replaces a range of bytes of a source. The range and `with` begin and end at characters.
    pub(crate) fn new(source: &str, operator: Operator, span: &Range<usize>, with: &str) -> Self {
        let before = &source[..span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = [before, with, &source[span.end..]].concat();
        let (original, mutated) = first_difference(source, &text);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Self { id: format!("{}@{line}:{column}", operator.name), operator, line, column, text, original, mutated }
    }

    /// The source line that differs, before the mutation.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The change as two lines: `- for (...; i < n; ...)` and `+ for (...; i <= n; ...)`.
    pub fn diff(&self) -> String {
        format!("- {}\n+ {}", self.original, self.mutated)
    }
}

/// The first line that differs between two texts, in both, without the space around it.
fn first_difference(before: &str, after: &str) -> (String, String) {
    let (mut old, mut new) = (before.lines(), after.lines());
    loop {
        match (old.next(), new.next()) {
            (Some(one), Some(other)) if one == other => {}
            (one, other) => {
                let line = |line: Option<&str>| line.unwrap_or_default().trim().to_owned();
                return (line(one), line(other));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::VALUES;

    #[test]
    fn a_mutant_knows_its_place_and_its_line() {
        let source = "one\n  tw\u{f6} < three;\nfour";
        let at = source.find('<').unwrap();
        let mutant = Mutant::new(source, Operator::new("x", "", VALUES), &(at..at + 1), "<=");
        assert_eq!((mutant.id.as_str(), mutant.line, mutant.column), ("x@2:7", 2, 7));
        assert_eq!(mutant.diff(), "- tw\u{f6} < three;\n+ tw\u{f6} <= three;");
        assert_eq!(mutant.text, "one\n  tw\u{f6} <= three;\nfour");
    }
}
