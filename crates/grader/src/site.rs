//! Where an answer's Rust file launches a kernel: found in its text, since a driver knows no line of it.

use fusion_course::{Entry, Source};
use fusion_cpp::{Kind, Token};
use fusion_machine::report::{Code as Finding, SourcePosition};

use crate::judgement::{Code, Failure, IDLE, Location, Side};

/// What of a launch a failure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    Launch,
    Grid,
    Block,
    Shared,
}

impl About {
    /// The field of a `LaunchConfig` that has it.
    fn field(self) -> Option<&'static str> {
        match self {
            About::Launch => None,
            About::Grid => Some("grid_dim"),
            About::Block => Some("block_dim"),
            About::Shared => Some("shared_mem_bytes"),
        }
    }
}

/// Says of failures that the launch is to blame for where it stands.
pub(crate) fn place<'a>(failures: impl Iterator<Item = &'a mut Failure>, entry: &Entry) {
    let Some(rust) = &entry.rust else { return };
    for failure in failures.filter(|failure| failure.side() == Side::Launch) {
        let told = failure.diagnostic.as_deref_mut();
        if let Some((told, about)) = told.and_then(|told| about(&told.code).map(|about| (told, about))) {
            // Nothing of the kernel ran: it is the launch that has a line.
            let at = of_launch(rust, &told.kernel, about);
            told.source = at.iter().map(position).collect();
            failure.location = at.or(failure.location.take());
        }
        if failure.launched.is_none() && is_of_launches(failure) {
            let kernel = failure.diagnostic.as_ref().map_or("", |told| &told.kernel);
            failure.launched = of_launch(rust, kernel, About::Launch);
        }
    }
}

/// Whether the launch itself is what a failure comes from, and not something else that its file has.
fn is_of_launches(failure: &Failure) -> bool {
    let looked_at = matches!(
        failure.code,
        Code::Values | Code::Unwritten | Code::Tail | Code::Inputs | Code::RedZone | Code::Fault
    );
    let of_launch = looked_at || matches!(failure.code, Code::Arguments | Code::Stream);
    of_launch && !failure.notes.iter().any(|note| note == IDLE)
}

/// What of the launch a refusal with this code is about; none for a code of anything else.
fn about(code: &str) -> Option<About> {
    match code.parse().ok()? {
        Finding::LaunchGrid => Some(About::Grid),
        Finding::LaunchBlock => Some(About::Block),
        Finding::LaunchShared => Some(About::Shared),
        Finding::LaunchCluster | Finding::LaunchLocal | Finding::LaunchParams | Finding::LaunchKernel => {
            Some(About::Launch)
        }
        _ => None,
    }
}

pub(crate) fn position(at: &Location) -> SourcePosition {
    SourcePosition { file: at.file.clone(), line: at.line, column: at.column, function: None }
}

/// The line that launches a kernel: the part of its configuration that it is about, where the file has one; else the
/// call.
pub(crate) fn of_launch(rust: &Source, kernel: &str, about: About) -> Option<Location> {
    let code = Rust::new(rust);
    let launches: Vec<usize> = code.all("launch_builder", "(").collect();
    let launch = match launches[..] {
        [only] => only,
        _ => code.launch_of(kernel, &launches)?,
    };
    // With several launches, no line tells whose configuration it is.
    let field = about.field().filter(|_| launches.len() == 1).and_then(|field| {
        let mut fields = code.all(field, ":");
        fields.next().filter(|_| fields.next().is_none())
    });
    Some(code.location(field.unwrap_or(launch)))
}

/// The line that asks for a kernel by its name.
pub(crate) fn of_name(rust: &Source, kernel: &str) -> Option<Location> {
    let code = Rust::new(rust);
    code.named(kernel).map(|at| code.location(at))
}

/// A Rust file as tokens. A lifetime may take the rest of its line for a character: such lines have no launch.
struct Rust<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
}

impl<'a> Rust<'a> {
    fn new(source: &'a Source) -> Self {
        Self { source, tokens: fusion_cpp::tokens(&source.text) }
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text(&self.source.text))
    }

    /// Where this word stands before that operator.
    fn all(&self, word: &str, next: &str) -> impl Iterator<Item = usize> {
        (0..self.tokens.len()).filter(move |&at| self.word(at) == word && self.word(at + 1) == next)
    }

    /// Where the only string stands that is a kernel's name.
    fn named(&self, kernel: &str) -> Option<usize> {
        let is_name = |&at: &usize| {
            let text = self.tokens.get(at).filter(|token| token.kind == Kind::Text).map(|_| self.word(at));
            text.is_some_and(|text| text.trim_matches('"') == kernel)
        };
        let mut names = (0..self.tokens.len()).filter(is_name);
        names.next().filter(|_| names.next().is_none())
    }

    /// The launch of a kernel that `let NAME = module.load_function("KERNEL")` gives a name.
    fn launch_of(&self, kernel: &str, launches: &[usize]) -> Option<usize> {
        let named = self.named(kernel)?;
        let start = (0..named).rev().find(|&at| matches!(self.word(at), "let" | ";" | "{" | "}"))?;
        let name = (start + 1..named).map(|at| self.word(at)).find(|word| *word != "mut")?;
        let takes = |launch: usize| {
            let end = (launch..self.tokens.len()).find(|&at| self.word(at) == ")");
            end.is_some_and(|end| (launch..end).any(|at| self.word(at) == name))
        };
        let mut found = launches.iter().copied().filter(|&launch| self.word(start) == "let" && takes(launch));
        found.next().filter(|_| found.next().is_none())
    }

    fn location(&self, at: usize) -> Location {
        let Source { path, text } = self.source;
        let (line, column) = fusion_cpp::place(text, self.tokens.get(at).map_or(0, |token| token.span.start));
        Location::new(path.as_str(), line, column, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "\
/// Queues one launch: `stream.launch_builder(&kernel)`.
pub fn scale(stream: &Arc<CudaStream>, x: &CudaView<'_, f32>, out: &mut CudaViewMut<'_, f32>) -> Result<(), DriverError> {
    let kernel = module.load_function(\"scale\")?;
    let config = LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (2048, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: `launch_builder(` has what the kernel takes.
    unsafe { stream.launch_builder(&kernel).arg(x).launch(config) }?;
    Ok(())
}
";

    const TWO: &str = "\
    let first = module.load_function(\"sums\")?;
    let mut second = module.load_function(\"scale\")?;
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    unsafe { stream.launch_builder(&first).launch(config) }?;
    unsafe { stream.launch_builder(&second).launch(config) }?;
";

    #[test]
    fn a_launch_has_a_line() {
        for (text, kernel, about, line) in [
            (ONE, "scale", About::Launch, Some(10)),
            (ONE, "scale", About::Grid, Some(5)),
            (ONE, "scale", About::Block, Some(6)),
            (ONE, "scale", About::Shared, Some(7)),
            // The only launch, whatever the kernel is called.
            (ONE, "", About::Launch, Some(10)),
            (TWO, "sums", About::Launch, Some(4)),
            (TWO, "scale", About::Block, Some(5)),
            (TWO, "other", About::Launch, None),
            (TWO, "", About::Launch, None),
            ("stream.launch_builder(&a); let b = LaunchConfig::for_num_elems(n);", "a", About::Grid, Some(1)),
            ("", "scale", About::Launch, None),
        ] {
            let rust = Source { path: "scale.rs".to_owned(), text: text.to_owned() };
            let found = of_launch(&rust, kernel, about).map(|at| at.line);
            assert_eq!(found, line, "{kernel}, {about:?}: {text}");
        }
    }

    #[test]
    fn a_name_has_a_line() {
        let rust = Source { path: "scale.rs".to_owned(), text: TWO.to_owned() };
        assert_eq!(of_name(&rust, "scale").map(|at| (at.line, at.column)), Some((2, 43)));
        assert_eq!(of_name(&rust, "other"), None);
    }
}
