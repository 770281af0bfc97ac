//! A few lines a fault, where no reports are taken.

use fusion_machine::report::SourcePosition;

use crate::diagnostic::{Diagnostic, Related};
use crate::places::one_line;
use crate::say;
use crate::sources::Sources;

/// How many of what was found before a fault are shown with it.
const EARLIER: usize = 3;

/// A fault in a few lines: what, where, who else, and what else there is to say. The source's lines are not shown.
/// Where it has a check that does not guard the access, the help looks at it, as in the long form.
pub fn short(fault: &Diagnostic, sources: &(impl Sources + ?Sized)) -> String {
    let mut text = fault.to_string();
    if !fault.kernel.is_empty() {
        text += &format!(" (kernel {})", fault.kernel);
    }
    match (fault.source.first(), fault.label.as_str()) {
        (Some(position), "") => text += &format!("\n  at {}", place(position)),
        (Some(position), label) => text += &format!("\n  at {}: {label}", place(position)),
        (None, "") => {}
        (None, label) => text += &format!("\n  {label}"),
    }
    if let Some(ptx) = &fault.ptx {
        text += &format!("\n  PTX line {}: {}", ptx.line, one_line(&ptx.text));
    }
    if let (Some(block), Some(thread)) = (fault.block, fault.thread) {
        text += &format!("\n  block {block:?}, thread {thread:?}");
        text += &match fault.count {
            0 | 1 => String::new(),
            count if count == u64::from(fault.lanes) => format!(" and {} more of its warp", count - 1),
            count => format!(", {count} times in all"),
        };
    }
    for other in &fault.related {
        text += &format!("\n  {}", related(other));
    }
    for note in &fault.notes {
        text += &format!("\n  {note}");
    }
    for help in say::help(fault, sources) {
        text += &format!("\n  help: {help}");
    }
    for earlier in fault.earlier.iter().take(EARLIER) {
        text += &format!("\n  before that: {earlier}");
        text += &earlier.source.first().map_or(String::new(), |position| format!(" at {}", place(position)));
    }
    text
}

fn place(position: &SourcePosition) -> String {
    format!("{}:{}:{}", position.file, position.line, position.column)
}

fn related(other: &Related) -> String {
    let mut text = other.label.clone();
    match (other.source.first(), &other.ptx) {
        (Some(position), _) => text += &format!(": {}", place(position)),
        (None, Some(ptx)) => text += &format!(": PTX line {}: {}", ptx.line, one_line(&ptx.text)),
        (None, None) => {}
    }
    match (other.block, other.thread) {
        (Some(block), Some(thread)) => text += &format!(" (block {block:?}, thread {thread:?})"),
        (Some(block), None) => text += &format!(" (block {block:?})"),
        (None, Some(thread)) => text += &format!(" (thread {thread:?})"),
        (None, None) => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use fusion_machine::report::kind::{Access, Memory};
    use fusion_machine::report::{Buffer, Fault, Name, PtxPosition};

    use super::*;
    use crate::{Look, render, with_text};

    #[test]
    fn every_form_has_the_same_help() {
        let access = Access { write: true, bytes: 4, address: 1200 };
        let name = Name::Parameter("out".to_owned());
        let fault = Fault {
            source: vec![SourcePosition { file: "a.cu".into(), line: 2, column: 5, function: None }],
            buffer: Some(Buffer { name, argument: Some(0), size: 1200, offset: 1200, bytes: 4 }),
            ..Fault::new(Memory::OutOfBounds { access, constant: false })
        };
        let told = say::say(&fault);
        let word = |text: &str| text.contains("ends the `if`");
        for (source, sees) in [("    if (i < n);\n    out[i] = 1;\n", true), ("\n    out[i] = 1;\n", false)] {
            let sources = [("a.cu", source)];
            let json = with_text(told.clone(), &sources).help.join("\n");
            let long = render(&told, &sources, Look { color: false, width: Some(1000) });
            let short = short(&told, &sources);
            assert_eq!([word(&json), word(&long), word(&short)], [sees; 3], "{json}\n{long}\n{short}");
            assert!(long.contains(&json) && short.contains(&json), "{json}\n{long}\n{short}");
        }
    }

    #[test]
    fn everything_there_is_to_say_is_said() {
        let position = |line| SourcePosition { file: "a.cu".into(), line, column: 5, function: None };
        let mut fault = Diagnostic::new("E-RACE-SHARED", "two threads write `tile`");
        assert_eq!(short(&fault, &()), "E-RACE-SHARED: two threads write `tile`");
        fault.kernel = "k".into();
        fault.label = "write of 4 bytes".into();
        fault.source = vec![position(3), position(9)];
        fault.ptx = Some(PtxPosition { line: 20, text: " st.shared.f32 \t[%r1], %f1; ".into(), line_table: false });
        (fault.block, fault.thread, fault.count) = (Some([0, 0, 0]), Some([1, 0, 0]), 32);
        fault.related = vec![Related {
            label: "the other write".into(),
            source: vec![position(7)],
            thread: Some([2, 0, 0]),
            ..Related::default()
        }];
        fault.notes = vec!["no barrier between them".into()];
        fault.help = vec!["put __syncthreads() between them".into()];
        fault.earlier = vec![Diagnostic { source: vec![position(2)], ..Diagnostic::new("E-X", "first") }];
        let expected = "\
E-RACE-SHARED: two threads write `tile` (kernel k)
  at a.cu:3:5: write of 4 bytes
  PTX line 20: st.shared.f32 [%r1], %f1;
  block [0, 0, 0], thread [1, 0, 0], 32 times in all
  the other write: a.cu:7:5 (thread [2, 0, 0])
  no barrier between them
  help: put __syncthreads() between them
  before that: E-X: first at a.cu:2:5";
        assert_eq!(short(&fault, &()), expected);
    }
}
