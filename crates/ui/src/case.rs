//! One kernel file: what its directives say.

use std::error::Error;
use std::fmt;

use fusion_machine::report::Code;

use crate::suite::SUITE;
use fusion_suite::{Launch, stream};

/// A CUDA C++ file with directives in its leading comment.
///
/// ```text
/// // What the mistake is, in a sentence.
/// // fail: E-OOB-GLOBAL                 the codes that must be found, separated by commas; or:
/// // pass                               nothing may be found,
/// // near: memory/tail_read             and this is the failing case that it nearly is
/// // pending                            the detector is not there yet: run, not judged
/// // checks: arithmetic, performance    lints that are quiet unless asked for
/// // options: no-lineinfo               without line tables; other words are NVRTC's own options
/// // header: scale.cuh                  a file beside this one that it includes
/// // launch: scale<<<4, 32, 0>>>(x: f32[128], y: f32[100] uninit, n: i32 = 128)
/// // launch: sum<<<1, 32>>>(x, out: y) cooperative on 2
/// // wait: 2 for 1                      what follows on stream 2 comes after all that is on stream 1
/// // copy: y to host on 2               an asynchronous copy; on 0, a synchronous one on the default stream
/// // copy: host to x
/// // sync                               waits for the device
/// // free: x
/// ```
///
/// A line of the comment is a directive when its first word ends in a colon or it is one word; anything else is text.
/// Arguments are described at [`fusion_suite::Argument`]. Steps are done in their order; at the end the device is waited for.
#[derive(Clone, Debug)]
pub struct Case {
    /// `class/name`, without the extension.
    pub name: String,
    pub source: String,
    pub expected: Expected,
    /// The failing case that this passing one nearly is.
    pub near: Option<String>,
    pub pending: bool,
    pub checks: Checks,
    /// Whether the PTX keeps its line tables.
    pub line_info: bool,
    /// Of NVRTC.
    pub options: Vec<String>,
    /// Names of headers.
    pub headers: Vec<String>,
    pub steps: Vec<Step>,
}

/// What must be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Pass,
    /// These codes, sorted, and no others.
    Fail(Vec<Code>),
}

/// Checks that are quiet unless asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    pub arithmetic: bool,
    pub performance: bool,
}

/// What the host does.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Launch(Launch),
    Copy(Copy),
    /// What follows on `stream` comes after all that is on `after` by now.
    Wait {
        stream: u32,
        after: u32,
    },
    Sync,
    Free(String),
}

/// A copy of a whole buffer from or to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    pub buffer: String,
    pub to_host: bool,
    /// 0 for a synchronous copy on the default stream.
    pub stream: u32,
}

/// A directive that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// One-based; 0 when it is about the whole file.
    pub line: usize,
    pub message: String,
}

impl Case {
    /// # Errors
    /// The first directive that cannot be understood, or what is missing.
    pub fn parse(name: &str, source: &str) -> Result<Self, ParseError> {
        let mut case = Self {
            name: name.to_owned(),
            source: source.to_owned(),
            expected: Expected::Pass,
            near: None,
            pending: false,
            checks: Checks::default(),
            line_info: true,
            options: Vec::new(),
            headers: Vec::new(),
            steps: Vec::new(),
        };
        let mut judged = false;
        for (index, line) in source.lines().enumerate() {
            let Some(comment) = line.strip_prefix("//") else { break };
            let (word, rest) = match comment.trim().split_once(' ') {
                Some((word, rest)) => (word, rest.trim()),
                None => (comment.trim(), ""),
            };
            if !rest.is_empty() && !word.ends_with(':') || word.is_empty() {
                continue;
            }
            judged |= matches!(word, "pass" | "fail:");
            case.directive(word, rest).map_err(|message| ParseError { line: index + 1, message })?;
        }
        let whole = |message: &str| Err(ParseError { line: 0, message: message.to_owned() });
        match case.steps.iter().any(|step| matches!(step, Step::Launch(_))) {
            _ if !judged => whole("there is neither `// fail: CODE` nor `// pass`"),
            false => whole("there is no `// launch: ...`"),
            true => Ok(case),
        }
    }

    /// The name that it is compiled under, which reports show.
    pub fn file(&self) -> String {
        match self.name.ends_with(".cu") {
            true => self.name.clone(),
            false => format!("{}.cu", self.name),
        }
    }

    /// The text of a header that lies beside it.
    pub fn header(&self, name: &str) -> Option<&'static str> {
        let class = self.name.rsplit_once('/').map_or("", |(class, _)| class);
        SUITE.text(&format!("{class}/{name}"))
    }

    fn directive(&mut self, word: &str, rest: &str) -> Result<(), String> {
        let list = || rest.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty());
        match word {
            "pass" => self.expected = Expected::Pass,
            "fail:" => {
                let code = |text: String| text.parse().map_err(|_| format!("`{text}` is no code"));
                let mut codes: Vec<Code> = list().map(code).collect::<Result<_, _>>()?;
                codes.sort();
                self.expected = Expected::Fail(codes);
            }
            "near:" => self.near = Some(rest.to_owned()),
            "pending" => self.pending = true,
            "checks:" => {
                for which in list() {
                    match which.as_str() {
                        "arithmetic" => self.checks.arithmetic = true,
                        "performance" => self.checks.performance = true,
                        _ => return Err(format!("`{which}` is neither arithmetic nor performance")),
                    }
                }
            }
            "options:" => {
                for option in rest.split_whitespace() {
                    match option {
                        "no-lineinfo" => self.line_info = false,
                        option => self.options.push(option.to_owned()),
                    }
                }
            }
            "header:" => self.headers.push(rest.to_owned()),
            "launch:" => self.steps.push(Step::Launch(Launch::parse(rest)?)),
            "copy:" => self.steps.push(Step::Copy(Copy::parse(rest)?)),
            "wait:" => {
                let streams = rest.split_once(" for ").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                let (stream, after) = streams.ok_or_else(|| format!("`{rest}`: write `wait: 2 for 1`"))?;
                self.steps.push(Step::Wait { stream, after });
            }
            "sync" => self.steps.push(Step::Sync),
            "free:" => self.steps.push(Step::Free(rest.to_owned())),
            _ => return Err(format!("`{word}` is no directive")),
        }
        Ok(())
    }
}

impl Copy {
    fn parse(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}`: write `copy: x to host` or `copy: host to x`");
        let (from, rest) = text.split_once(" to ").ok_or_else(form)?;
        let (to, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let (buffer, to_host) = match (from, to) {
            (buffer, "host") => (buffer, true),
            ("host", buffer) => (buffer, false),
            _ => return Err(form()),
        };
        Ok(Self { buffer: buffer.to_owned(), to_host, stream: stream(rest)? })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_and_text() {
        let text = "// Some text: with a colon.\n// fail: L-SHIFT, E-NULL\n//\n// checks: arithmetic\n\
                    // options: no-lineinfo -DN=4\n// launch: k<<<1, 32>>>(x: f32[4])\n// wait: 2 for 1\n\
                    // copy: host to x on 2\n// sync\n// free: x\n\n// fail: after the leading comment\n";
        let case = Case::parse("a/b", text).unwrap();
        assert_eq!(case.expected, Expected::Fail(vec![Code::Null, Code::Shift]));
        assert!(case.checks.arithmetic && !case.checks.performance && !case.line_info);
        assert_eq!(case.options, ["-DN=4"]);
        assert_eq!(case.steps[1], Step::Wait { stream: 2, after: 1 });
        assert_eq!(case.steps[2], Step::Copy(Copy { buffer: "x".into(), to_host: false, stream: 2 }));
        assert_eq!(case.steps[3..], [Step::Sync, Step::Free("x".into())]);
    }

    #[test]
    fn mistakes_in_directives_are_told() {
        let error = |text| Case::parse("a/b", text).unwrap_err().to_string();
        assert!(error("// fail: E-NOPE\n").starts_with("line 1: `E-NOPE` is no code"));
        assert!(error("// pass\n// lauch: k<<<1, 1>>>()\n").contains("is no directive"));
        assert!(error("// pass\n").contains("no `// launch"));
        assert!(error("// launch: k<<<1, 1>>>()\n").contains("neither"));
    }
}
