//! Arguments that have fewer bytes than the kernel's parameters.

use fusion_course::Source;
use fusion_diagnostic::Diagnostic;
use fusion_machine::Argument;

use crate::judgement::{Code, Failure, Side};

/// A parameter of eight bytes for which fewer were passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    kernel: String,
    /// Counted from 0.
    index: usize,
    name: Option<String>,
    received: u64,
}

impl Short {
    pub(crate) fn new(kernel: &str, index: usize, argument: &Argument) -> Self {
        let (name, received) = (argument.name.clone(), argument.unsigned().unwrap_or(0));
        Self { kernel: kernel.to_owned(), index, name, received }
    }

    /// Whether both are of the same parameter.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        (&self.kernel, self.index) == (&other.kernel, other.index)
    }

    /// The failure of a submission whose results are right. `size` is what the parameter should have received, where that tells.
    pub(crate) fn failure(&self, source: &Source, size: Option<u64>) -> Failure {
        let told = self.say(source, size);
        let mut failure = Failure::new(Code::Arguments, told.title.clone());
        failure.notes = told.notes.iter().chain(&told.help).cloned().collect();
        failure.diagnostic = Some(Box::new(told));
        failure.side = Some(Side::Launch);
        failure
    }

    fn say(&self, source: &Source, size: Option<u64>) -> Diagnostic {
        let Self { kernel, index, name, received } = self;
        let name = name.as_ref().map_or(String::new(), |name| format!(", `{name}`,"));
        let parameter = format!("parameter {}{name}", index + 1);
        let launch = std::path::Path::new(&source.path).with_extension("rs").display().to_string();
        let (title, note) = match size {
            Some(size) => (
                format!("{parameter} of `{kernel}` received {received} for {size}"),
                "it has 8 bytes: the launch passes 4, or a number that was cut to 4. At this size nothing is executed: only what the \
                 launch passes is looked at",
            ),
            None => (
                format!("{parameter} of `{kernel}` has 8 bytes, and the launch passes fewer"),
                "no number of 8 bytes lies where the launch has this one",
            ),
        };
        let mut told = Diagnostic::new(Code::Arguments.to_string(), title);
        told.notes.push(note.to_owned());
        told.notes.push(
            "of a `u32`, the kernel reads the 4 bytes behind it, too. Where these are 0 by chance, the result is right"
                .to_owned(),
        );
        told.help.push(format!("in {launch}: pass a `usize` for a `size_t`, with no `as u32` on the way"));
        told
    }
}
