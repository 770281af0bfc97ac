//! What inputs have reached, for want of instrumented code: instruction forms that ran, fault codes,
//! diagnostics and orders of magnitude of the counters.

use std::collections::HashSet;

use fusion_machine::report::Code;

/// Something that an input can reach.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// An instruction form in a module that parsed without an error.
    Parsed(String),
    /// An instruction form in a kernel that ran to its end.
    Ran(String),
    /// A fault's code and the instruction form that it names.
    Fault(Code, String),
    /// A diagnostic of the front end or the loader, without its names and numbers.
    Diagnostic(String),
    /// A counter's name and its number of binary digits.
    Counter(&'static str, u32),
}

/// All that has been reached.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    seen: HashSet<Feature>,
}

impl Coverage {
    /// Adds features; whether there was a new one.
    pub fn add(&mut self, features: impl IntoIterator<Item = Feature>) -> bool {
        let before = self.seen.len();
        self.seen.extend(features);
        self.seen.len() > before
    }

    pub fn len(&self) -> usize {
        self.seen.len()
    }

    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Distinct instruction forms of kernels that ran to their end.
    pub fn forms(&self) -> usize {
        self.seen.iter().filter(|feature| matches!(feature, Feature::Ran(_))).count()
    }

    /// Distinct fault codes, sorted.
    pub fn codes(&self) -> Vec<Code> {
        let code = |feature: &'_ Feature| match feature {
            Feature::Fault(code, _) => Some(*code),
            _ => None,
        };
        let codes: HashSet<Code> = self.seen.iter().filter_map(code).collect();
        let mut codes: Vec<Code> = codes.into_iter().collect();
        codes.sort_unstable();
        codes
    }

    /// Distinct diagnostics.
    pub fn diagnostics(&self) -> usize {
        self.seen.iter().filter(|feature| matches!(feature, Feature::Diagnostic(_))).count()
    }
}

/// A message without what differs from case to case: quoted names and numbers.
pub(crate) fn shape(message: &str) -> String {
    let mut shape = String::new();
    let mut quoted = false;
    for c in message.chars().take(200) {
        match c {
            '`' => quoted = !quoted,
            _ if quoted || c.is_ascii_digit() => {}
            _ => shape.push(c),
        }
    }
    shape
}

/// The opcode with its modifiers from an instruction's text.
pub(crate) fn form(text: &str) -> String {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let opcode = if first.starts_with('@') { words.next().unwrap_or_default() } else { first };
    opcode.trim_end_matches(';').chars().take(60).collect()
}
