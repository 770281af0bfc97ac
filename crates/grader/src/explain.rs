//! Faults, driver errors and compiler messages as failures that teach.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use fusion_course::{Entry, Shape, Source};
use fusion_device::{Diagnostic, Program, Severity};
use fusion_machine::Fault;
use fusion_machine::report::Blame;

use crate::judgement::{Code, Failure, Location};
use crate::trouble::Trouble;

/// Whether a fault is the emulated device's own shortcoming.
pub(crate) fn is_not_theirs(fault: &Fault) -> bool {
    fault.blame != Blame::Kernel
}

/// A fault of the emulated device.
pub(crate) fn fault(fault: &Fault, source: &Source) -> Trouble {
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
    failure.notes = fault.notes.iter().filter(|note| !note.is_empty()).cloned().collect();
    failure.location =
        fault.source.first().map(|at| Location::new(&at.file, at.line, at.column, &text(&at.file, source)));
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

/// The text of a source file that we know.
fn text(file: &str, source: &Source) -> String {
    if file == source.path {
        return source.text.clone();
    }
    let header = kernels::headers().iter().find(|(name, _)| file.ends_with(name));
    header.map(|(_, text)| (*text).to_owned()).unwrap_or_default()
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
    failure.location = first
        .place
        .as_ref()
        .map(|place| Location::new(&place.file, place.line, place.column.unwrap_or(0), &text(&place.file, source)));
    for error in errors.by_ref().take(3) {
        let at = error.place.as_ref().map(|at| format!("{}:{}: ", at.file, at.line)).unwrap_or_default();
        failure.notes.push(format!("also {at}{}", error.message));
    }
    match errors.count() {
        0 => failure,
        more => failure.note(format!("and {more} more errors")),
    }
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
        C::CUDA_ERROR_NOT_FOUND => match program.kernel(entry.exercise.name) {
            Err(missing) => Failure::new(Code::Launch, missing.to_string()),
            Ok(_) => {
                let there: Vec<String> = program.compiled.kernels().iter().map(|name| format!("`{name}`")).collect();
                Failure::new(Code::Launch, "`load_function` was asked for a kernel that the source does not have")
                    .note(format!("{} has {}", entry.source.path, there.join(", ")))
            }
        },
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
}
