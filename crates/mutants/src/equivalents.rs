//! The list of mutants that are no mistakes, each with its reason.

use std::fmt;

use crate::Mutant;

/// Entries of a list, in the order of its lines.
///
/// A line is `pattern: reason` or `pattern in "fragment": reason`. The pattern is a mutant's id in which `*` stands for
/// anything; the fragment must occur in the source line that the mutant changes, so that an entry can outlive a change
/// elsewhere in the file. Empty lines and lines that begin with `#` say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equivalents {
    pub entries: Vec<Entry>,
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One-based.
    pub line: usize,
    pub pattern: String,
    pub fragment: String,
    pub reason: String,
}

/// A line that is no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    pub line: usize,
    pub text: String,
}

impl Equivalents {
    /// Reads a list.
    ///
    /// # Errors
    /// The first line that has no pattern or no reason.
    pub fn parse(text: &str) -> Result<Self, ListError> {
        let mut entries = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let content = line.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let error = || ListError { line: index + 1, text: content.to_owned() };
            entries.push(Entry::parse(index + 1, content).ok_or_else(error)?);
        }
        Ok(Self { entries })
    }

    /// The first entry that names a mutant.
    pub fn find(&self, mutant: &Mutant) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.names(mutant))
    }
}

impl Entry {
    fn parse(line: usize, content: &str) -> Option<Self> {
        let (pattern, rest) = match content.split_once(" in \"") {
            // A colon before is that of the reason, or of the place in an id.
            Some((pattern, rest)) if !pattern.contains(' ') => {
                let (fragment, rest) = rest.split_once("\": ")?;
                (pattern, (fragment, rest))
            }
            _ => {
                let (pattern, reason) = content.split_once(": ")?;
                (pattern, ("", reason))
            }
        };
        let (fragment, reason) = (rest.0.to_owned(), rest.1.trim().to_owned());
        let valid = !pattern.is_empty() && !pattern.contains(' ') && !reason.is_empty();
        valid.then(|| Self { line, pattern: pattern.to_owned(), fragment, reason })
    }

    /// Whether this entry names a mutant.
    pub fn names(&self, mutant: &Mutant) -> bool {
        matches(self.pattern.as_bytes(), mutant.id.as_bytes()) && mutant.original().contains(&self.fragment)
    }
}

/// Whether `text` is as `pattern` says, in which `*` stands for anything.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    // On a mismatch the last star takes one byte more; earlier stars never have to.
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == text.get(t) {
            p += 1;
            t += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is no `pattern: reason` and no `pattern in \"fragment\": reason`: {}", self.line, self.text)
    }
}

impl std::error::Error for ListError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operator;

    fn mutant() -> Mutant {
        Mutant::new("if (i < n)\n", Operator::new("lt-to-le", "", &[]), &(6..7), "<=")
    }

    #[test]
    fn entries_name_mutants_by_id_and_line() {
        for (line, named) in [
            ("lt-to-le@1:7: why", true),
            ("lt-to-le@*: why", true),
            ("*@1:*: why", true),
            ("lt-to-*@*7 in \"i < n\": why: because", true),
            ("lt-to-le@1:8: why", false),
            ("lt-to-le@* in \"j < n\": why", false),
            ("*x*: why", false),
        ] {
            let list = Equivalents::parse(&format!("# a comment\n\n{line}\n")).unwrap();
            assert_eq!(list.find(&mutant()).is_some(), named, "{line}");
        }
    }

    #[test]
    fn a_reason_is_needed() {
        for bad in ["lt-to-le@1:7", "lt-to-le@1:7: ", "lt to le: why", "x in \"y: why"] {
            let error = Equivalents::parse(&format!("\n{bad}")).unwrap_err();
            assert_eq!(error.line, 2, "{bad}");
        }
    }
}
