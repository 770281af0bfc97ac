//! Faults, driver errors and compiler messages as failures that teach.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use fusion_course::{Entry, Shape, Shapes, Source};
use fusion_device::{Diagnostic, Program, Severity};
use fusion_diagnostic::{Sources, Text};
use fusion_machine::Fault;
use fusion_machine::report::Blame;

use crate::judgement::{Code, Failure, Judgement, Line, Location};
use crate::trouble::Trouble;

/// Places that advice is kept for. Nobody reads more.
const MOST_ADVICE: usize = 64;

/// Whether a fault is the emulated device's own shortcoming.
pub(crate) fn is_not_theirs(fault: &Fault) -> bool {
    fault.blame != Blame::Kernel
}

/// Faults of the emulated device: the first, and what it found beside it.
pub(crate) fn faults(faults: &[Fault], entry: &Entry) -> Option<Trouble> {
    let mut faults = faults.to_vec();
    if let Shapes::Rows { .. } = entry.exercise.shapes {
        faults.iter_mut().for_each(mind_longer_rows);
    }
    // What the emulated device lacks decides: after it, nothing that it says can be relied on.
    let first = faults.iter().position(is_not_theirs).unwrap_or(0);
    let mut trouble = fault(faults.get(first)?, &entry.source);
    if let Trouble::Failure(failure) = &mut trouble {
        failure.also = faults.split_off(1);
    }
    Some(trouble)
}

/// A race is first found where rows are short and a block may be a single warp. There a barrier of the warp is enough, and
/// at the next length it is not.
fn mind_longer_rows(fault: &mut Fault) {
    let warp_only = fault.help.iter().any(|help| help.contains("`__syncwarp()`"));
    // Where the block has more warps, the emulated device says so itself.
    if warp_only && !fault.notes.iter().any(|note| note.contains("`__syncthreads()`")) {
        fault.notes.push(
            "longer rows are judged too: if their blocks have more warps, and these come to this memory as well, only \
             `__syncthreads()` orders them"
                .to_owned(),
        );
    }
}

/// Adds advice of some codes, once for each place: every shape and every call brings it up again.
pub(crate) fn gather(advice: &mut Vec<Fault>, found: &[Fault], wanted: impl Fn(&str) -> bool) {
    for fault in found.iter().filter(|fault| wanted(&fault.code)) {
        let known = |known: &Fault| known.code == fault.code && known.source == fault.source && known.ptx == fault.ptx;
        if advice.len() < MOST_ADVICE && !advice.iter().any(known) {
            advice.push(fault.clone());
        }
    }
}

fn fault(fault: &Fault, source: &Source) -> Trouble {
    if is_not_theirs(fault) {
        let at = fault.source.first().map(|at| format!(" at {}:{}", at.file, at.line)).unwrap_or_default();
        let notes: String = fault.notes.iter().map(|note| format!("; {note}")).collect();
        return Trouble::Unable(format!("not a mistake in your program: {}{at} ({}){notes}", fault.title, fault.code));
    }
    let (code, id) = match fault.code.as_str() {
        // The launch was refused before a thread ran: a real driver's refusal, only better told.
        code if code.starts_with("E-LAUNCH") || code.starts_with("E-OUT-OF-MEMORY") => (Code::Launch, None),
        code if code.starts_with("E-MODULE") => (Code::Compile, None),
        code => (Code::Fault, Some(code.to_owned())),
    };
    let mut failure = Failure::new(code, fault.title.clone());
    failure.fault = id;
    failure.diagnostic = Some(Box::new(fault.clone()));
    failure.notes = fault.notes.iter().filter(|note| !note.is_empty()).cloned().collect();
    failure.location = fusion_diagnostic::place(&fault.source, &Known(source))
        .map(|at| Location::new(&at.file, at.line, at.column, &text(&at.file, source)));
    for caller in fault.source.iter().skip(1) {
        failure.notes.push(format!("inlined into {}:{}:{}", caller.file, caller.line, caller.column));
    }
    if let (Some(block), Some(thread)) = (fault.block, fault.thread) {
        let lanes = match fault.lanes {
            0 | 1 => String::new(),
            lanes => format!(", with {} more lanes of its warp", lanes - 1),
        };
        failure.notes.push(format!("block {}, thread {} of `{}`{lanes}", triple(block), triple(thread), fault.kernel));
    }
    if let (true, Some(ptx)) = (fault.source.is_empty(), &fault.ptx) {
        failure.notes.push(format!("PTX line {}: {}", ptx.line, ptx.text.trim()));
    }
    failure.into()
}

/// The source files that we know.
struct Known<'a>(&'a Source);

impl Sources for Known<'_> {
    fn text(&self, path: &str) -> Text<'_> {
        known(path, self.0).map_or(Text::Missing, |text| Text::whole(text.into_bytes()))
    }
}

/// The text of a source file that we know.
fn text(file: &str, source: &Source) -> String {
    known(file, source).unwrap_or_default()
}

fn known(file: &str, source: &Source) -> Option<String> {
    if file == source.path {
        return Some(source.text.clone());
    }
    if let Some((_, text)) = kernels::headers().iter().find(|(name, _)| file.ends_with(name)) {
        return Some((*text).to_owned());
    }
    // CUDA's own headers, and the Rust file that allocated a buffer: its path is relative to the workspace's root, where
    // a worker is started.
    if is_changed(file, source) {
        return None;
    }
    std::fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
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
pub(crate) fn lines(judgement: &Judgement, source: &Source) -> Vec<Line> {
    Line::of(judgement.faults(), |file| known(file, source))
}

/// `7` for one dimension, `(1, 2, 0)` for more.
fn triple([x, y, z]: [u32; 3]) -> String {
    if (y, z) == (0, 0) { x.to_string() } else { format!("({x}, {y}, {z})") }
}

/// The first error of the CUDA compiler, with the others counted.
pub(crate) fn diagnostics(diagnostics: &[Diagnostic], log: &str, source: &Source) -> Failure {
    let mut errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let Some(first) = errors.next() else {
        return log.lines().fold(Failure::new(Code::Compile, "the CUDA source does not compile"), Failure::note);
    };
    let mut failure = Failure::new(Code::Compile, first.message.clone());
    failure.notes = first.notes.clone();
    failure.notes.extend(remedy(&first.message));
    failure.location = first
        .place
        .as_ref()
        .map(|place| Location::new(&place.file, place.line, place.column.unwrap_or(0), &text(&place.file, source)));
    // A template is compiled for each of its arguments, and each time says the same.
    let mut others: Vec<String> = Vec::new();
    for error in errors {
        let at = error.place.as_ref().map(|at| format!("{}:{}: ", at.file, at.line)).unwrap_or_default();
        let other = format!("also {at}{}", error.message);
        if !others.contains(&other) {
            others.push(other);
        }
    }
    let more = others.len().saturating_sub(3);
    failure.notes.extend(others.into_iter().take(3));
    match more {
        0 => failure,
        1 => failure.note("and 1 more error"),
        more => failure.note(format!("and {more} more errors")),
    }
}

/// What to do about messages that say it to nobody who does not know yet.
fn remedy(message: &str) -> Option<String> {
    if message.starts_with("cannot open source file") {
        let names: Vec<String> = kernels::headers().iter().map(|(name, _)| format!("`{name}`")).collect();
        return Some(format!("the course's headers are in kernels/include: {}", names.join(", ")));
    }
    let unknown = message.strip_prefix("identifier \"")?.split('"').next()?;
    match unknown {
        "INFINITY" | "HUGE_VALF" => Some(
            "kernels are compiled without <math.h>: write `CUDART_INF_F` and `#include <math_constants.h>`, or \
             `__int_as_float(0x7f800000)`"
                .to_owned(),
        ),
        "FLT_MAX" => Some("kernels are compiled without <cfloat>: it is 3.402823466e38f".to_owned()),
        _ => {
            let (name, _) =
                kernels::headers().iter().find(|(_, text)| text.lines().any(|line| declared(line) == Some(unknown)))?;
            Some(format!("`#include \"{name}\"` has `{unknown}`"))
        }
    }
}

/// The name that a line of a header declares: the last word before its parameters, its members or its value.
fn declared(line: &str) -> Option<&str> {
    let starts = ["__device__ ", "struct ", "constexpr "];
    let head = line.split(['(', '{', '=', ';']).next()?;
    starts.iter().any(|start| line.starts_with(start)).then(|| head.split_whitespace().last())?
}

/// An error that the driver returned from the launch function or from waiting for its work.
pub(crate) fn driver_error(error: DriverError, entry: &Entry, program: &Program, shape: Shape) -> Failure {
    use CUresult as C;
    let name = format!("{:?}", error.0);
    let launch = |title: String| Failure::new(Code::Launch, title).note(format!("the driver says {name}"));
    let fault = |title: &str| {
        let mut failure = Failure::new(Code::Fault, title);
        failure.fault = Some(name.clone());
        failure.note("a real GPU does not say where; the emulated device does: --device emulated")
    };
    match error.0 {
        C::CUDA_ERROR_NOT_FOUND => {
            let names = program.compiled.kernels();
            let there: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let has = if there.is_empty() { "no kernel at all".to_owned() } else { there.join(", ") };
            let failure =
                Failure::new(Code::Launch, "`load_function` was asked for a kernel that the source does not have")
                    .note(format!("{} has {has}", entry.source.path));
            // A name that C++ has mangled begins so.
            match names.iter().any(|name| name.starts_with("_Z")) {
                true => failure.note("declare a kernel `extern \"C\" __global__`, so that it keeps its name"),
                false => failure,
            }
        }
        C::CUDA_ERROR_INVALID_VALUE if shape.elements() == 0 => {
            launch("a launch with a grid of no blocks is an error".to_owned())
                .note("n = 0: there is nothing to do, so return before the launch")
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

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_machine::report::SourcePosition;

    fn source() -> Source {
        Source { path: "a.cu".to_owned(), text: "one\n  two(x);\n".to_owned() }
    }

    fn oob() -> Fault {
        Fault {
            code: "E-OOB-GLOBAL".to_owned(),
            blame: Blame::Kernel,
            title: "load past the end".to_owned(),
            notes: vec!["by 4 bytes".to_owned()],
            kernel: "k".to_owned(),
            source: vec![SourcePosition { file: "a.cu".to_owned(), line: 2, column: 3, function: None }],
            ptx: None,
            block: Some([4, 0, 0]),
            thread: Some([3, 1, 0]),
            lanes: 29,
            ..Fault::new("", Blame::Kernel, "")
        }
    }

    #[test]
    fn a_kernels_fault_has_its_line_and_thread() {
        let Trouble::Failure(failure) = fault(&oob(), &source()) else { panic!("the kernel is to blame") };
        assert_eq!(failure.reason(), "fault E-OOB-GLOBAL");
        assert_eq!(failure.location.as_ref().map(|at| at.text.as_str()), Some("  two(x);"));
        assert_eq!(failure.notes, ["by 4 bytes", "block 4, thread (3, 1, 0) of `k`, with 28 more lanes of its warp"]);
    }

    #[test]
    fn a_barrier_of_the_warp_is_not_all_that_longer_rows_need() {
        let told = |help: &str, note: &str| {
            let mut race = Fault { help: vec![help.to_owned()], notes: vec![note.to_owned()], ..oob() };
            mind_longer_rows(&mut race);
            race.notes.len() == 2
        };
        assert!(told("put `__syncwarp()` between the write and the read", "each has a program counter of its own"));
        assert!(!told(
            "put `__syncwarp()` between",
            "if threads of other warps come too, only `__syncthreads()` orders them"
        ));
        assert!(!told("put `__syncthreads()` between the write and the read", "by 4 bytes"));
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
    }

    #[test]
    fn a_refused_launch_is_a_launch_failure() {
        let refused = Fault { code: "E-LAUNCH-LIMIT".to_owned(), ..oob() };
        let Trouble::Failure(failure) = fault(&refused, &source()) else { panic!("the launch is to blame") };
        assert_eq!(failure.reason(), "launch");
    }

    #[test]
    fn what_the_emulator_lacks_is_nobodys_failure() {
        let unsupported = Fault { blame: Blame::Unsupported, ..oob() };
        let Trouble::Unable(text) = fault(&unsupported, &source()) else { panic!("the emulator is to blame") };
        assert!(
            text.starts_with("not a mistake in your program: load past the end at a.cu:2 (E-OOB-GLOBAL)"),
            "{text}"
        );
    }

    #[test]
    fn the_first_compiler_error_leads() {
        let diagnostic = |severity, message: &str| Diagnostic {
            severity,
            place: Some(fusion_device::compiler::Place { file: "a.cu".to_owned(), line: 2, column: Some(3) }),
            message: message.to_owned(),
            notes: Vec::new(),
        };
        let all = [
            diagnostic(Severity::Warning, "unused"),
            diagnostic(Severity::Error, "identifier \"two\" is undefined"),
            diagnostic(Severity::Error, "another"),
        ];
        let failure = diagnostics(&all, "", &source());
        assert_eq!(failure.title, "identifier \"two\" is undefined");
        assert_eq!(failure.notes, ["also a.cu:2: another"]);
        assert_eq!(failure.location.map(|at| (at.line, at.column)), Some((2, 3)));
        assert_eq!(diagnostics(&[], "line\nline", &source()).notes.len(), 2);
    }

    #[test]
    fn what_a_message_does_not_tell_is_added() {
        for (message, said) in [
            ("cannot open source file \"reduction.cuh\"", Some("`reduce.cuh`")),
            ("identifier \"INFINITY\" is undefined", Some("math_constants.h")),
            ("identifier \"reduce_row\" is undefined", Some("`#include \"reduce.cuh\"`")),
            ("identifier \"WARPS\" is undefined", Some("`#include \"reduce.cuh\"`")),
            ("identifier \"gelu_tanh\" is undefined", Some("`#include \"activation.cuh\"`")),
            ("identifier \"Row\" is undefined", Some("`#include \"row.cuh\"`")),
            ("identifier \"value\" is undefined", None),
            ("expected a \";\"", None),
        ] {
            let remedy = remedy(message);
            assert_eq!(
                remedy.as_ref().map(|text| text.contains(said.unwrap_or("nothing"))),
                said.map(|_| true),
                "{message}"
            );
        }
    }
}
