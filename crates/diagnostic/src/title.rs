//! The first line of a report: whose mistake it is, in words that are never mixed.

use annotate_snippets::Level;
use fusion_machine::report::{Blame, Severity};

use crate::diagnostic::Diagnostic;

/// The word before the code, by whose mistake it is and how bad.
pub(crate) fn name(fault: &Diagnostic) -> &'static str {
    match (fault.blame, fault.severity) {
        (Blame::Kernel, Severity::Error) => "error",
        (Blame::Kernel, Severity::Warning) => "warning",
        (Blame::Kernel, Severity::Advice) => "advice",
        (Blame::Unsupported, _) => "unsupported",
        (Blame::Environment, _) => "environment",
    }
}

/// The same with its colour.
pub(crate) fn level(fault: &Diagnostic) -> Level<'static> {
    let level = match (fault.blame, fault.severity) {
        (Blame::Kernel, Severity::Error) => Level::ERROR,
        (Blame::Kernel, Severity::Warning) | (Blame::Environment, _) => Level::WARNING,
        (Blame::Kernel, Severity::Advice) => Level::HELP,
        (Blame::Unsupported, _) => Level::INFO,
    };
    level.with_name(name(fault))
}

/// What the reader must know first when the kernel is not to blame.
pub(crate) fn disclaimer(fault: &Diagnostic) -> Option<&'static str> {
    match fault.blame {
        Blame::Kernel => None,
        Blame::Unsupported => {
            Some("this is a limit of the emulated GPU and not your mistake: a real GPU may well run this")
        }
        Blame::Environment => Some("the kernel is not to blame: it is the machine, or what it was given"),
    }
}
