//! Faults, driver errors and compiler messages as failures that teach.

mod compiler;
mod shapes;

use std::io::Read as _;
use std::path::Path;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use fusion_course::{Entry, Shape, Source};
use fusion_device::Program;
use fusion_diagnostic::{Diagnostic, Sources, Text, noun, say, with_text};
use fusion_machine::Fault;
use fusion_machine::report::demangle;
use fusion_machine::report::kind::{Call, Race, Rule};
use fusion_machine::report::{Blame, Class, Kind as FaultKind};

use crate::judgement::{Code, Failure, Judgement, Line, Location, Side};
use crate::lean::FUSED;
use crate::site;
use crate::trouble::Trouble;
pub(crate) use compiler::{diagnostics, warning};

/// Places that advice is kept for. Nobody reads more.
const MOST_ADVICE: usize = 64;

/// Whether a fault is the emulated device's own shortcoming.
pub(crate) fn is_not_theirs(fault: &Fault) -> bool {
    fault.blame() != Blame::Kernel
}

/// The emulated device lacks something that a real one has.
pub(crate) fn is_unsupported(fault: &Fault) -> bool {
    fault.blame() == Blame::Unsupported
}

/// Faults of the emulated device: the first, and what it found beside it.
pub(crate) fn faults(faults: &[Fault], entry: &Entry) -> Option<Trouble> {
    let faults = &together(faults);
    // What the emulated device lacks decides: after it, nothing that it says can be relied on.
    let first = faults.iter().position(is_not_theirs).unwrap_or(0);
    let tell = |fault: &Fault| with_text(shapes::tell(fault, entry.exercise), &Known(&entry.source));
    let lead = faults.get(first)?;
    let mut trouble = fault(lead, tell(lead), &entry.source);
    if let Trouble::Failure(failure) = &mut trouble {
        failure.also = faults.iter().skip(1).map(tell).collect();
    }
    Some(trouble)
}

/// The failure of a launch function that asked for more memory than there is. None of them is to ask for any.
pub(crate) fn no_memory(faults: &[Fault]) -> Option<Failure> {
    let asked = faults.iter().find_map(|fault| match fault.kind {
        FaultKind::Call(Call::OutOfMemory { requested, .. }) => Some(requested),
        _ => None,
    })?;
    let title = format!("the launch function asked for {asked} bytes of device memory, which are not to be had");
    Some(Failure::new(Code::Allocations, title).note(FUSED))
}

/// The failure of a launch function that loads a module of its own, which the driver refuses. None of them is to load any.
pub(crate) fn no_module(faults: &[Fault]) -> Option<Failure> {
    let refused = faults.iter().find(|fault| matches!(fault.kind, FaultKind::Call(Call::Module { .. })))?;
    let title = "the launch function loads a module of its own, and the driver refuses it";
    let failure = say(refused).notes.into_iter().fold(Failure::new(Code::Launch, title), Failure::note);
    Some(failure.note("the compiled kernel is in the module that the launch function is given"))
}

/// The faults, with races that one barrier orders as one: those on the same shared memory that have an access in common.
fn together(faults: &[Fault]) -> Vec<Fault> {
    let mut kept: Vec<Fault> = Vec::new();
    for fault in faults {
        let known = kept.iter_mut().find(|known| known.kernel == fault.kernel && meet(known, fault));
        match (known, &fault.kind) {
            (Some(known), FaultKind::Race(race)) => {
                if let FaultKind::Race(of_both) = &mut known.kind {
                    of_both.same_warp &= race.same_warp;
                }
            }
            _ => kept.push(fault.clone()),
        }
    }
    // Memory that several warps race for takes a barrier of the block, also where two threads of one warp do.
    let raced = |fault: &Fault| match &fault.kind {
        FaultKind::Race(race) if race.rule == Rule::Shared => {
            race.one.buffer.as_ref().map(|it| (it.name.clone(), race.same_warp))
        }
        _ => None,
    };
    let wide: Vec<_> = kept.iter().filter_map(raced).filter(|(_, same_warp)| !same_warp).collect();
    for fault in &mut kept {
        let is_wide = raced(fault).is_some_and(|(name, _)| wide.iter().any(|(other, _)| *other == name));
        if let (true, FaultKind::Race(race)) = (is_wide, &mut fault.kind) {
            race.same_warp = false;
        }
    }
    kept
}

/// Whether two races are about the same shared memory, of the same hazard, and have an access in common.
fn meet(one: &Fault, other: &Fault) -> bool {
    let (FaultKind::Race(a), FaultKind::Race(b)) = (&one.kind, &other.kind) else { return false };
    let name = |race: &Race| race.one.buffer.as_ref().map(|buffer| buffer.name.clone());
    let places = |fault: &Fault| {
        let other = fault.related.first().and_then(|related| related.source.first());
        [fault.source.first(), other].map(|at| at.map(|at| (at.file.clone(), at.line, at.column)))
    };
    let (ours, theirs) = (places(one), places(other));
    (a.rule, a.hazard, name(a)) == (Rule::Shared, b.hazard, name(b))
        && b.rule == Rule::Shared
        && name(a).is_some()
        && ours.iter().any(|place| place.is_some() && theirs.contains(place))
}

/// Faults of some classes in words.
pub(crate) fn told(faults: &[Fault], wanted: impl Fn(Class) -> bool) -> impl Iterator<Item = Diagnostic> {
    faults.iter().filter(move |fault| wanted(fault.code().class())).map(say)
}

/// Adds advice, once for each place: every shape and every call brings it up again.
pub(crate) fn gather(advice: &mut Vec<Diagnostic>, found: impl IntoIterator<Item = Diagnostic>) {
    for told in found {
        let known =
            |known: &Diagnostic| known.code == told.code && known.source == told.source && known.ptx == told.ptx;
        if advice.len() < MOST_ADVICE && !advice.iter().any(known) {
            advice.push(told);
        }
    }
}

fn fault(fault: &Fault, told: Diagnostic, source: &Source) -> Trouble {
    if is_not_theirs(fault) {
        let at = fault.source.first().map(|at| format!(" at {}:{}", at.file, at.line)).unwrap_or_default();
        let notes: String = told.notes.iter().map(|note| format!("; {note}")).collect();
        return Trouble::Unable(format!("not a mistake in your program: {}{at} ({}){notes}", told.title, told.code));
    }
    let (code, id) = match &fault.kind {
        // The launch was refused before a thread ran: a real driver's refusal, only better told.
        FaultKind::Refusal(_) => (Code::Launch, None),
        _ => (Code::Fault, Some(told.code.clone())),
    };
    let mut failure = Failure::new(code, told.title.clone());
    failure.fault = id;
    failure.notes = told.notes.iter().filter(|note| !note.is_empty()).cloned().collect();
    failure.location = fusion_diagnostic::place(&fault.source, &Known(source))
        .map(|at| Location::new(&at.file, at.line, at.column, &text(&at.file, source)));
    for caller in fault.source.iter().skip(1) {
        failure.notes.push(format!("inlined into {}:{}:{}", caller.file, caller.line, caller.column));
    }
    if let (Some(block), Some(thread)) = (fault.block, fault.thread) {
        let lanes = match fault.lanes {
            0 | 1 => String::new(),
            lanes => format!(", with {} more {} of its warp", lanes - 1, noun(u64::from(lanes) - 1, "lane")),
        };
        failure.notes.push(format!("block {}, thread {} of `{}`{lanes}", triple(block), triple(thread), fault.kernel));
    }
    if let (true, Some(ptx)) = (fault.source.is_empty(), &fault.ptx) {
        failure.notes.push(format!("PTX line {}: {}", ptx.line, ptx.text.trim()));
    }
    failure.diagnostic = Some(Box::new(told));
    failure.into()
}

/// The source files that we know.
pub(crate) struct Known<'a>(pub(crate) &'a Source);

impl Sources for Known<'_> {
    fn text(&self, path: &str) -> Text<'_> {
        known(path, self.0).map_or(Text::Missing, |text| Text::whole(text.into_bytes()))
    }
}

/// The text of a source file that we know.
fn text(file: &str, source: &Source) -> String {
    known(file, source).unwrap_or_default()
}

/// What a plain file has, up to a limit: its name may come from a `#line` of the submission's.
fn read(file: &str) -> Option<Vec<u8>> {
    std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Bytes of a file that are read at most.
const LARGEST: u64 = 1 << 20;

pub(crate) fn known(file: &str, source: &Source) -> Option<String> {
    if file == source.path {
        return Some(source.text.clone());
    }
    if let Some((_, text)) = fusion_baseline::headers().iter().find(|(name, _)| file.ends_with(name)) {
        return Some((*text).to_owned());
    }
    // CUDA's own headers, and the Rust file that allocated a buffer: its path is relative to the workspace's root, where
    // a worker is started.
    if is_changed(file, source) {
        return None;
    }
    read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a file is not what it was when this program was built.
fn is_changed(file: &str, source: &Source) -> bool {
    if file == source.path {
        return std::fs::read(file).is_ok_and(|bytes| bytes != source.text.as_bytes());
    }
    let modified = |path: &std::path::Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    let built = std::env::current_exe().ok().and_then(|program| modified(&program));
    let path = std::path::Path::new(file);
    path.extension().is_some_and(|extension| extension == "rs") && built.zip(modified(path)).is_some_and(|(b, m)| m > b)
}

/// The files that are no longer what was judged: the exercise's, and those that the faults name.
pub(crate) fn changed(judgement: &Judgement, source: &Source) -> Vec<String> {
    let mut files: Vec<String> = Line::files(judgement.faults()).into_iter().map(str::to_owned).collect();
    files.push(source.path.clone());
    files.retain(|file| is_changed(file, source));
    files.sort();
    files.dedup();
    files
}

/// The lines that a judgement's faults name.
pub(crate) fn lines(judgement: &Judgement, entry: &Entry) -> Vec<Line> {
    let rust = |file: &str| entry.rust.as_ref().filter(|rust| rust.path == file).map(|rust| rust.text.clone());
    Line::of(judgement.faults(), |file| rust(file).or_else(|| known(file, &entry.source)))
}

/// `7` for one dimension, `(1, 2, 0)` for more.
fn triple([x, y, z]: [u32; 3]) -> String {
    if (y, z) == (0, 0) { x.to_string() } else { format!("({x}, {y}, {z})") }
}

/// An error that the driver returned from the launch function or from waiting for its work.
///
/// `asked` is the name of the last kernel that was asked for and is not there, where the device tells. The emulated one has told of
/// no launch that it refused.
pub(crate) fn driver_error(
    error: DriverError,
    entry: &Entry,
    program: &Program,
    shape: Shape,
    asked: Option<&str>,
    emulated: bool,
) -> Failure {
    use CUresult as C;
    let name = format!("{:?}", error.0);
    let launch = |title: String| Failure::new(Code::Launch, title).note(format!("the driver says {name}"));
    let fault = |title: &str| {
        let mut failure = Failure::new(Code::Fault, title);
        failure.fault = Some(name.clone());
        failure.note("a real GPU does not say where; the emulated device does: --device emulated")
    };
    match error.0 {
        C::CUDA_ERROR_NOT_FOUND => no_kernel(asked, program, entry),
        C::CUDA_ERROR_INVALID_VALUE if emulated => {
            Failure::new(Code::Launch, format!("the launch function returned {name}"))
                .note("it is not a launch that was refused, which the emulated device would tell: another call, or the launch function itself")
        }
        C::CUDA_ERROR_INVALID_VALUE if shape.elements() == 0 => {
            launch("a launch with a grid of no blocks is an error".to_owned())
        }
        C::CUDA_ERROR_INVALID_VALUE => launch("the driver refused the launch: a value is not allowed".to_owned())
            .note("at most 1024 threads in a block, at least one block in the grid")
            .note("more than 48 KB of dynamic shared memory must be asked for, and no device has 300 KB of it"),
        C::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            launch("a block of this kernel needs more registers or shared memory than there are".to_owned())
                .note("use fewer threads a block, or `__launch_bounds__` to make the compiler use fewer registers")
        }
        C::CUDA_ERROR_OUT_OF_MEMORY => launch("the device has not so much memory".to_owned()),
        C::CUDA_ERROR_ILLEGAL_ADDRESS => fault("a thread touched memory that is not its own"),
        C::CUDA_ERROR_MISALIGNED_ADDRESS => {
            fault("a thread accessed an address that is not a multiple of the access's size")
                .note("a float4 needs an address that is a multiple of 16")
        }
        C::CUDA_ERROR_LAUNCH_TIMEOUT => fault("the kernel ran for too long"),
        C::CUDA_ERROR_ASSERT => fault("an assert in the kernel failed"),
        C::CUDA_ERROR_ILLEGAL_INSTRUCTION | C::CUDA_ERROR_INVALID_PC | C::CUDA_ERROR_HARDWARE_STACK_ERROR => {
            fault("the kernel ran into an illegal instruction or overran its stack")
        }
        C::CUDA_ERROR_INVALID_ADDRESS_SPACE => fault("the kernel used a pointer to one kind of memory for another"),
        C::CUDA_ERROR_LAUNCH_FAILED => fault("the kernel failed"),
        _ => launch("the launch function returned an error of the driver".to_owned()),
    }
}

/// The failure of asking for a kernel that the source does not have.
pub(crate) fn no_kernel(asked: Option<&str>, program: &Program, entry: &Entry) -> Failure {
    let (there, source) = (&program.compiled.kernels(), &entry.source);
    let path = source.path.as_str();
    let title = match asked {
        Some(asked) => format!("there is no kernel `{asked}`"),
        None => "`load_function` was asked for a kernel that the source does not have".to_owned(),
    };
    let named: Vec<String> = there.iter().map(|name| format!("`{}`", demangle(name))).collect();
    let has = if named.is_empty() { "no kernel at all".to_owned() } else { named.join(", ") };
    let mut failure = Failure::new(Code::Launch, title).note(format!("{path} has {has}"));
    failure.location = asked.zip(entry.rust.as_ref()).and_then(|(asked, rust)| site::of_name(rust, asked));
    // A name that C++ has mangled begins so.
    let mangled = |name: &&&str| name.starts_with("_Z");
    let plain = |name: &str| demangle(name).split('(').next().unwrap_or_default().to_owned();
    if let Some(name) = there.iter().filter(mangled).find(|name| asked.is_none_or(|asked| plain(name) == asked)) {
        failure.side = Some(Side::Kernel);
        failure.location = declaration(&plain(name), source);
        return failure
            .note(format!("the driver knows it as `{name}`, the name that C++ makes of its parameters' types"))
            .note("declare a kernel `extern \"C\" __global__`, so that it keeps its name");
    }
    let Some(asked) = asked else { return failure };
    if is_template(asked, source) {
        failure.side = Some(Side::Kernel);
        failure.location = declaration(asked, source);
        return failure
            .note(format!("`{asked}` is a template, of which nothing is compiled until it is used with types"))
            .note(format!("write it without `template`, with the types of its parameters: `extern \"C\" __global__ void {asked}(...)`"));
    }
    // The launch asks for what the exercise calls its kernel, or for a choice that no kernel is called after.
    let lacks = |choice: &&&str| asked.ends_with(**choice) && !there.iter().any(|name| name.ends_with(**choice));
    let is_choice = entry.exercise.choices.1.iter().any(|choice| lacks(&choice));
    if is_choice || Path::new(path).file_stem().is_some_and(|exercise| exercise == asked) {
        failure.side = Some(Side::Kernel);
        failure.location = match there[..] {
            [only] => declaration(only, source),
            _ => None,
        };
        return failure.note(format!("call the kernel `{asked}` in {path}"));
    }
    // The name of a function that kernels call.
    if declaration(asked, source).is_some() {
        let failure = failure.note(format!(
            "{path} has a function `{asked}`, which is no kernel: only a `__global__` function can be launched"
        ));
        return match there[..] {
            [only] => failure.note(format!("ask for `{only}`: `module.load_function(\"{only}\")`")),
            _ => failure.note("ask for one of the kernels"),
        };
    }
    // Nearest is what differs in capitals only.
    let distance = |name: &&&str| {
        let lower = strsim::damerau_levenshtein(&asked.to_lowercase(), &name.to_lowercase());
        (lower, strsim::damerau_levenshtein(asked, name))
    };
    let nearest = there.iter().min_by_key(distance);
    let similar = nearest.copied().filter(|name| strsim::normalized_damerau_levenshtein(asked, name) > 0.5);
    // One launch takes one kernel: the only one, or the exercise's own.
    let own = match there[..] {
        [only] => Some(only),
        _ => there.iter().copied().find(|name| *name == entry.exercise.name),
    };
    let own = own.filter(|name| entry.exercise.launches == 1 && !name.starts_with("_Z"));
    let launch = Path::new(path).with_extension("rs");
    match similar.or(own) {
        Some(name) => {
            failure.note(format!("in {}: ask for `{name}`, as in `load_function(\"{name}\")`", launch.display()))
        }
        None => failure.note(format!("write `{asked}` in {path}, or ask only for what is there")),
    }
}

/// Whether a function is declared as a template.
fn is_template(name: &str, source: &Source) -> bool {
    let text = &source.text;
    let tokens = fusion_cpp::tokens(text);
    let at = tokens.windows(2).position(|pair| pair[0].text(text) == name && pair[1].text(text) == "(");
    at.and_then(|at| compiler::declaration(&tokens[..at], text).first())
        .is_some_and(|first| first.text(text) == "template")
}

/// Where a function is declared: its name before its parameters.
pub(crate) fn declaration(name: &str, source: &Source) -> Option<Location> {
    let (path, text) = (source.path.as_str(), &source.text);
    let tokens = fusion_cpp::tokens(text);
    let pair = tokens.windows(2).find(|pair| pair[0].text(text) == name && pair[1].text(text) == "(")?;
    let (line, column) = fusion_cpp::place(text, pair[0].span.start);
    Some(Location::new(path, line, column, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_machine::report::kind::{Access, Memory, Refusal, Unsupported};
    use fusion_machine::report::{Buffer, Name, SourcePosition};

    fn source() -> Source {
        Source { path: "a.cu".to_owned(), text: "one\n  two(x);\n".to_owned() }
    }

    fn oob() -> Fault {
        let access = Access { write: false, bytes: 4, address: 1200 };
        let name = Name::Parameter("x".to_owned());
        Fault {
            kernel: "k".to_owned(),
            source: vec![SourcePosition { file: "a.cu".to_owned(), line: 2, column: 3, function: None }],
            block: Some([4, 0, 0]),
            thread: Some([3, 1, 0]),
            lanes: 29,
            buffer: Some(Buffer { name, argument: Some(0), size: 1200, offset: 1200, bytes: 4 }),
            ..Fault::new(Memory::OutOfBounds { access, constant: false })
        }
    }

    fn told(kind: impl Into<FaultKind>) -> Trouble {
        let of = Fault { kind: kind.into(), ..oob() };
        fault(&of, say(&of), &source())
    }

    #[test]
    fn a_kernels_fault_has_its_line_and_thread() {
        let Trouble::Failure(failure) = told(oob().kind) else { panic!("the kernel is to blame") };
        assert_eq!(failure.reason(), "fault E-OOB-GLOBAL");
        assert_eq!(failure.title, "read past the end of `x`");
        assert_eq!(failure.location.as_ref().map(|at| at.text.as_str()), Some("  two(x);"));
        assert_eq!(failure.notes[1], "block 4, thread (3, 1, 0) of `k`, with 28 more lanes of its warp");
    }

    #[test]
    fn an_edited_source_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cu").to_string_lossy().into_owned();
        let source = Source { path: path.clone(), text: "one\n".to_owned() };
        assert_eq!(changed(&Judgement::default(), &source), [""; 0], "there is no such file");
        std::fs::write(&path, "one\n").unwrap();
        assert_eq!(changed(&Judgement::default(), &source), [""; 0]);
        std::fs::write(&path, "two\n").unwrap();
        assert_eq!(changed(&Judgement::default(), &source), [path.as_str()]);
        // What was compiled is still known; a Rust file that was edited since is not.
        assert_eq!(known(&path, &source).as_deref(), Some("one\n"));
        let rust = folder.path().join("a.rs").to_string_lossy().into_owned();
        std::fs::write(&rust, "fn main() {}\n").unwrap();
        assert_eq!(known(&rust, &source), None);
        // A `#line` may name one that has no end.
        assert_eq!(known("/dev/zero", &source), None);
    }

    #[test]
    fn a_refused_launch_is_a_launch_failure() {
        let Trouble::Failure(failure) = told(Refusal::EmptyGrid { grid: [0, 1, 1] }) else {
            panic!("the launch is to blame")
        };
        assert_eq!(failure.reason(), "launch");
    }

    #[test]
    fn what_the_emulator_lacks_is_nobodys_failure() {
        let Trouble::Unable(text) = told(Unsupported::NoBody) else { panic!("the emulator is to blame") };
        let expected =
            "not a mistake in your program: call of a function that has no body at a.cu:2 (E-UNSUPPORTED-INSTRUCTION)";
        assert_eq!(text, expected);
    }
}
