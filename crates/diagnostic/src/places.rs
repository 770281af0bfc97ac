//! The places of a fault, with what is to be written beneath each.

use fusion_machine::report::{Class, Code, PtxPosition, SourcePosition, demangle};

use crate::count::noun;
use crate::diagnostic::{Diagnostic, Related};
use crate::excerpt::What;
use crate::header::{self, short};
use crate::sources::{Sources, Text};
use crate::wrap::thousands;

/// A place to be marked in a source file.
#[derive(Clone, Debug)]
pub(crate) struct Mark<'a> {
    pub(crate) position: &'a SourcePosition,
    pub(crate) primary: bool,
    pub(crate) label: String,
    pub(crate) what: What<'a>,
}

/// The primary place first, then the calls that it was inlined into, then the other parties. The second part says which
/// functions of headers the places lie in, where the marks do not.
pub(crate) fn marks<'a>(fault: &'a Diagnostic, sources: &(impl Sources + ?Sized)) -> (Vec<Mark<'a>>, Vec<String>) {
    let mut marks = Vec::new();
    let mut insides = Vec::new();
    let memory = fault.buffer.as_ref().map_or("", |buffer| buffer.name.as_str());
    let of_accesses = fault.code.parse::<Code>().is_ok_and(|code| matches!(code.class(), Class::Memory | Class::Race));
    let what = |is_access: bool| if of_accesses && is_access { What::Access(memory) } else { What::Other };
    let primary = std::iter::once((&fault.source, true, fault.label.clone(), what(true)));
    // Of the other parties only an access names its thread.
    let others =
        fault.related.iter().map(|related| (&related.source, false, label(related, fault), what(related.names_thread)));
    for (chain, primary, label, what) in primary.chain(others) {
        let text = inside(chain, sources);
        insides.extend(text.filter(|text| !insides.contains(text)));
        add(&mut marks, &own(chain, sources), primary, label, what);
    }
    (marks, insides)
}

/// The positions of a chain that mean something to its reader: those in files whose text is at hand, but for CUDA's own
/// headers. All of them where there is no such position.
pub(crate) fn own<'a>(chain: &'a [SourcePosition], sources: &(impl Sources + ?Sized)) -> Vec<&'a SourcePosition> {
    let own: Vec<_> = chain.iter().filter(|at| is_own(at, sources)).collect();
    if own.is_empty() { chain.iter().collect() } else { own }
}

/// The first position of a chain that means something to its reader: not in CUDA's headers, and in a file whose text is at
/// hand, where there is such a position.
pub fn place<'a>(chain: &'a [SourcePosition], sources: &(impl Sources + ?Sized)) -> Option<&'a SourcePosition> {
    own(chain, sources).first().copied()
}

fn is_own(at: &SourcePosition, sources: &(impl Sources + ?Sized)) -> bool {
    !header::is_cuda(&at.file) && sources.text(&at.file) != Text::Missing
}

/// Which function of a header the first of the reader's own positions calls.
fn inside(chain: &[SourcePosition], sources: &(impl Sources + ?Sized)) -> Option<String> {
    let first = chain.iter().position(|at| is_own(at, sources))?;
    let called = chain.get(first.checked_sub(1)?)?;
    let name = called.function.as_deref().map(short);
    if header::is_cuda(&called.file) {
        return name.map(|name| format!("inside `{name}`, a function of CUDA's headers"));
    }
    let place = format!("{}:{}, whose text is not at hand", called.file, called.line);
    Some(name.map_or(format!("at {place}"), |name| format!("inside `{name}`, at {place}")))
}

fn add<'a>(marks: &mut Vec<Mark<'a>>, chain: &[&'a SourcePosition], primary: bool, label: String, what: What<'a>) {
    let Some((&innermost, callers)) = chain.split_first() else { return };
    // The loads of one statement are all told alike.
    if !marks.iter().any(|mark| mark.position == innermost && mark.label == label) {
        marks.push(Mark { position: innermost, primary, label, what });
    }
    let mut inlined = innermost;
    for &caller in callers {
        let label = match &inlined.function {
            Some(name) => format!("`{}` is inlined here", short(name)),
            None => "inlined here".to_owned(),
        };
        // Two accesses of one inlined function share their callers.
        if !marks.iter().any(|mark| mark.position == caller && mark.label == label) {
            marks.push(Mark { position: caller, primary: false, label, what: What::Other });
        }
        inlined = caller;
    }
}

/// Other parties that have no source line: `the other write here: PTX line 30: st.shared.f32 [%r1], %f1;`.
pub(crate) fn unplaced(fault: &Diagnostic) -> impl Iterator<Item = String> + '_ {
    fault.related.iter().filter(|related| related.source.is_empty()).map(|related| match &related.ptx {
        Some(ptx) => format!("{}: {}", label(related, fault), instruction(ptx)),
        None => label(related, fault),
    })
}

pub(crate) fn instruction(ptx: &PtxPosition) -> String {
    format!("PTX line {}: `{}`", ptx.line, one_line(&ptx.text))
}

/// Why an instruction is shown instead of its source line.
pub(crate) fn no_line(ptx: &PtxPosition) -> &'static str {
    match ptx.line_table {
        true => "the PTX's line table has no line of the source for this instruction",
        false => "the PTX has no line table: `-lineinfo` makes the compiler write one",
    }
}

/// PTX lines its operands up with tabs.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn label(related: &Related, fault: &Diagnostic) -> String {
    // A note names the fault's own thread.
    let same = (related.block, related.thread) == (fault.block, fault.thread);
    match who(related.block, related.thread).filter(|_| !same) {
        Some(who) if !related.names_thread => format!("{} ({who})", related.label),
        _ => related.label.clone(),
    }
}

fn who(block: Option<[u32; 3]>, thread: Option<[u32; 3]>) -> Option<String> {
    match (block, thread) {
        (Some(block), Some(thread)) => Some(format!("block {}, thread {}", triple(block), triple(thread))),
        (Some(block), None) => Some(format!("block {}", triple(block))),
        (None, Some(thread)) => Some(format!("thread {}", triple(thread))),
        (None, None) => None,
    }
}

/// Who did it, and how often it was done: `block 1, thread 44 of `past_end`, and 1,023 times more in this launch`.
pub(crate) fn culprit(fault: &Diagnostic) -> Option<String> {
    let Some(mut text) = who(fault.block, fault.thread) else {
        return (!fault.kernel.is_empty()).then(|| format!("in the launch of `{}`", kernel(&fault.kernel)));
    };
    if !fault.kernel.is_empty() {
        text += &format!(" of `{}`", kernel(&fault.kernel));
    }
    let lanes = u64::from(fault.lanes);
    if fault.count > lanes.max(1) {
        let more = fault.count - 1;
        text += &format!(", and {} {} more in this launch", thousands(more), noun(more, "time"));
    } else if lanes > 1 {
        text += &format!(", with {} more {} of its warp", lanes - 1, noun(lanes - 1, "lane"));
    }
    Some(text)
}

/// The kernel's name as the source has it.
pub(crate) fn kernel(name: &str) -> String {
    match name.starts_with("_Z") {
        true => short(&demangle(name)).to_owned(),
        false => name.to_owned(),
    }
}

/// `7` for one dimension, `(1, 2, 0)` for more.
fn triple([x, y, z]: [u32; 3]) -> String {
    if (y, z) == (0, 0) { x.to_string() } else { format!("({x}, {y}, {z})") }
}
