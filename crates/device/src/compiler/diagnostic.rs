//! NVRTC's log taken apart. Its messages look like this, each followed by the source line and a caret:
//!
//! ```text
//! exercises/day22/src/add_gelu.cu(12): error: identifier "z" is undefined
//!       int y = z;
//!               ^
//! ```

use std::fmt;

/// One message of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Absent when the message is about the whole compilation.
    pub place: Option<Place>,
    /// The number of a warning, such as 177 in `#177-D`; NVRTC's errors have none.
    pub number: Option<u32>,
    pub message: String,
    /// What follows: where a template was instantiated, where a name was declared.
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
    Remark,
}

/// A position in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// As the source or header was named.
    pub file: String,
    /// One-based.
    pub line: u32,
    /// One-based, from the caret; absent when there is none.
    pub column: Option<u32>,
}

/// How NVRTC writes a severity. The longer ones come first, since one ends with another.
const SEVERITIES: [(&str, Severity); 5] = [
    ("catastrophic error", Severity::Error),
    ("internal error", Severity::Error),
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("remark", Severity::Remark),
];

pub(super) fn parse(log: &str) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut previous = "";
    for line in log.lines() {
        if let Some(diagnostic) = heading(line) {
            diagnostics.push(diagnostic);
        } else if let Some(last) = diagnostics.last_mut() {
            if let (None, Some((place, message))) = (&last.place, elsewhere(line)) {
                last.place = Some(place);
                last.notes.push(message.to_owned());
            } else if line.trim() == "^" {
                if let Some(place) = &mut last.place
                    && place.column.is_none()
                {
                    place.column = column(previous, line);
                }
            } else if let Some(note) = note(line) {
                last.notes.push(note.to_owned());
            }
        }
        previous = line;
    }
    diagnostics
}

/// `file(line): note #3196-D: to match this "{"`: the place of an error that has none, since the file ended too early.
fn elsewhere(line: &str) -> Option<(Place, &str)> {
    let (at, rest) = line.trim_start().split_once("): note")?;
    let (file, number) = at.rsplit_once('(')?;
    let (_, message) = rest.split_once(": ")?;
    Some((Place { file: file.to_owned(), line: number.parse().ok()?, column: None }, message.trim()))
}

/// `file(line): severity: message`, or one of `At end of source: error: message`, `nvrtc: error: message` and
/// `ptxas error   : message`.
fn heading(line: &str) -> Option<Diagnostic> {
    if let Some((at, rest)) = line.split_once("): ")
        && let Some((file, number)) = at.rsplit_once('(')
        && let Ok(number) = number.parse()
    {
        let place = Place { file: file.to_owned(), line: number, column: None };
        return Some(Diagnostic { place: Some(place), ..after(rest)? });
    }
    let rest = ["At end of source: ", "nvrtc: ", "ptxas ", "ptxas: ", "nvlink "]
        .iter()
        .find_map(|tool| line.strip_prefix(tool))?;
    after(rest)
}

/// What comes after the place: `warning #177-D: variable "x" was declared but never referenced`.
fn after(text: &str) -> Option<Diagnostic> {
    let (severity, rest) =
        SEVERITIES.iter().find_map(|(word, severity)| Some((*severity, text.strip_prefix(word)?)))?;
    let (between, message) = rest.split_once(':')?;
    let between = between.trim();
    (between.is_empty() || between.starts_with('#')).then_some(())?;
    let digits = between.trim_start_matches('#').split('-').next();
    let number = digits.and_then(|digits| digits.parse().ok());
    Some(Diagnostic { severity, place: None, number, message: message.trim().to_owned(), notes: Vec::new() })
}

/// The log indents the source line and the caret by two; the source line keeps its own indentation after that.
fn column(source: &str, caret: &str) -> Option<u32> {
    let position = caret.chars().position(|character| character == '^')?;
    let column = position.checked_sub(2)? + 1;
    // A caret at the end of its line points just past it, and never further.
    u32::try_from(column.min(source.chars().count().saturating_sub(1).max(1))).ok()
}

fn note(line: &str) -> Option<&str> {
    let note = line.trim();
    let known = [
        "detected during",
        "instantiation of",
        "declared at line",
        "declaration of",
        "function \"",
        "argument types",
        "candidate",
    ];
    (line.starts_with("   ") && known.iter().any(|start| note.contains(start))).then_some(note)
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

/// `file:line:column: error: message`, which terminals and editors make clickable.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}: {}", self.severity, self.message)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n    {note}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(log: &str, expected: &[&str]) {
        let found: Vec<String> = parse(log).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_warning_keeps_its_number() {
        let numbers = |log: &str| parse(log).iter().map(|found| found.number).collect::<Vec<_>>();
        assert_eq!(numbers("k.cu(7): warning #549-D: variable \"u\" is used before its value is set\n"), [Some(549)]);
        assert_eq!(numbers("k.cu(7): error: identifier \"u\" is undefined\n"), [None]);
    }

    #[test]
    fn errors_and_warnings_have_their_place() {
        check(
            "a/k.cu(2): error: identifier \"z\" is undefined\n  int y = z;\n          ^\n\n\
             gelu.cuh(7): warning #177-D: variable \"u\" was declared but never referenced\n    float u;\n          ^\n\n\
             Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
             1 error detected in the compilation of \"a/k.cu\".\n",
            &[
                "a/k.cu:2:9: error: identifier \"z\" is undefined",
                "gelu.cuh:7:9: warning: variable \"u\" was declared but never referenced",
            ],
        );
    }

    #[test]
    fn instantiations_are_notes() {
        check(
            "h.cuh(2): error: expression must have class type but it has type \"int\"\n  \
             template<class T> __device__ T g(T x){ return x.foo;}\n                                                ^\n          \
             detected during instantiation of \"T g(T) [with T=int]\" at line 2\n",
            &["h.cuh:2:47: error: expression must have class type but it has type \"int\"\n    \
               detected during instantiation of \"T g(T) [with T=int]\" at line 2"],
        );
    }

    #[test]
    fn a_missing_brace_is_told_where_its_partner_stands() {
        check(
            "At end of source: error: expected a \"}\"\nk.cu(2): note #3196-D: to match this \"{\"\n  void k() {\n           ^\n\n\
             1 error detected in the compilation of \"k.cu\".\n",
            &["k.cu:2:10: error: expected a \"}\"\n    to match this \"{\""],
        );
    }

    #[test]
    fn a_missing_header_is_an_error() {
        check(
            "k.cu(1): catastrophic error: cannot open source file \"x.cuh\"\n  #include \"x.cuh\"\n                  ^\n",
            &["k.cu:1:17: error: cannot open source file \"x.cuh\""],
        );
    }

    #[test]
    fn the_assembler_and_the_driver_speak_without_a_place() {
        check(
            "ptxas error   : Entry function 'k' uses too much shared data (0x61a80 bytes, 0xc000 max)\n",
            &["error: Entry function 'k' uses too much shared data (0x61a80 bytes, 0xc000 max)"],
        );
        check(
            "nvrtc: error: invalid value for --gpu-architecture (-arch)\n",
            &["error: invalid value for --gpu-architecture (-arch)"],
        );
    }

    #[test]
    fn any_text_is_read_without_harm() {
        for log in [
            "",
            "^",
            "\n^\n",
            "(3): error:",
            "): error: x",
            "a(99999999999): error: x",
            "é(1): error: ü\n  é\n  ^",
            "ptxas ",
        ] {
            parse(log);
        }
    }

    #[test]
    fn logs_at_random_are_read_without_harm() {
        let words = [
            "a.cu",
            "(",
            ")",
            "12",
            "99999999999",
            ": ",
            "error",
            "warning",
            "catastrophic error",
            "#177-D",
            ":",
            "^",
            " ",
            "\n",
            "\n",
            "  ",
            "nvrtc: ",
            "ptxas ",
            "declared at line",
            "é",
            "\u{2028}",
            "\t",
            "\r",
            "::",
            "\"x\"",
        ];
        // xorshift64: the same texts on every run.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % n
        };
        let mut found = 0;
        for _ in 0..5000 {
            let log: String = (0..below(40)).map(|_| words[below(words.len())]).collect();
            for diagnostic in parse(&log) {
                found += 1;
                let column = diagnostic.place.and_then(|place| place.column).unwrap_or(1);
                assert!(column >= 1 && column as usize <= log.len(), "{log:?}");
            }
        }
        assert!(found > 0);
    }
}
