//! Wrong kernels: submissions that a grader must refuse, each for a stated reason.

use crate::{Entry, Source};

/// A deliberately wrong answer: `solutions/<day>/wrong/<exercise>/<name>.cu`.
///
/// The first line of the `.cu` states the reason: `// wrong: <reason>: <sentence>`. A `.rs` beside it replaces the
/// reference solution's launch function.
#[derive(Debug)]
pub struct Wrong {
    /// The file's stem: `missing_guard`.
    pub name: &'static str,
    /// The grader's code of the failure that it must be refused for: `values`, `unwritten`, `tail`,
    /// `inputs`, `stream`, `launch`, `launches`, `bytes`, or `fault E-OOB-GLOBAL` with the emulated
    /// device's code.
    pub reason: &'static str,
    /// What is wrong, in a sentence.
    pub sentence: &'static str,
    pub entry: Entry,
}

impl Wrong {
    /// A wrong answer whose source begins with such a line; without one its reason is empty, which
    /// no failure has. `bind` makes the entry out of the source.
    pub fn new(name: &'static str, path: &str, text: &'static str, bind: impl FnOnce(Source) -> Entry) -> Self {
        let (reason, sentence) = header(text).unwrap_or_default();
        Self { name, reason, sentence, entry: bind(Source { path: path.to_owned(), text: text.to_owned() }) }
    }
}

/// Splits the first line of a wrong kernel, `// wrong: <reason>: <sentence>`.
fn header(text: &str) -> Option<(&str, &str)> {
    let (reason, sentence) = text.lines().next()?.strip_prefix("// wrong: ")?.split_once(": ")?;
    Some((reason.trim(), sentence.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_state_reason_and_sentence() {
        let parsed = header("// wrong: fault E-OOB-GLOBAL: no guard: every thread writes.\nrest");
        assert_eq!(parsed, Some(("fault E-OOB-GLOBAL", "no guard: every thread writes.")));
        for bad in ["", "// a comment: with colons: in it", "// wrong: values"] {
            assert_eq!(header(bad), None, "{bad}");
        }
    }
}
