//! What happened on the device, kept for our own tools and handed out as JSON; and what is said on stderr.
//!
//! Beside the faults of kernels, a report has those of calls that the driver refused: `E-LAUNCH-GRID`,
//! `E-LAUNCH-BLOCK`, `E-LAUNCH-LOCAL`, `E-LAUNCH-SHARED` and `E-LAUNCH-PARAMS` as the machine itself has them, `E-COPY`, `E-FREE`, `E-MODULE` and `E-OUT-OF-MEMORY`.

mod journal;
mod settings;

use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char, c_int};
use std::io::Write;
use std::sync::Mutex;

use fusion_diagnostic::{Files, say as words, short};
use fusion_machine::report::{Dry, Event, Kind, Move, Moved, Severity, Status, Work};
use fusion_machine::{Fault, LaunchReport, Options, Report};
use journal::Journal;
pub(crate) use journal::traces;
use settings::Settings;

use crate::driver::{Driver, driver, lock};
use crate::error::Error;

/// Set to 1, nothing is said on stderr.
const QUIET: &str = "FUSION_EMULATOR_QUIET";
/// How many launches are kept when nobody takes reports. Of more, the older half is forgotten.
const LAUNCHES: usize = 1 << 16;
/// How many faults are kept, and how much advice.
const FAULTS: usize = 256;

static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Recorder {
    report: Report,
    settings: Settings,
    /// Whether somebody takes reports, so that faults need not be printed.
    taken: bool,
    /// Titles that were printed.
    said: HashSet<String>,
    journal: Journal,
}

fn record<T>(change: impl FnOnce(&mut Recorder) -> T) -> T {
    change(lock(&RECORDER).get_or_insert_default())
}

/// Sources that findings are looked up in.
const FILES: Files = Files { largest: 1 << 20 };

/// Says something on stderr, once for every different text.
pub(crate) fn say(text: &str) {
    tell(text, None);
}

/// Says that a function of the API is not supported, once.
pub(crate) fn unsupported(function: &str) {
    tell(&format!("{function} is not supported"), Some(function));
}

fn tell(text: &str, unsupported: Option<&str>) {
    let new = record(|recorder| {
        let new = recorder.said.len() < FAULTS && recorder.said.insert(text.to_owned());
        let event = || Event::Said { text: text.to_owned(), unsupported: unsupported.map(str::to_owned) };
        new && !recorder.journal.write(event)
    });
    if new && std::env::var_os(QUIET).is_none_or(|quiet| quiet != "1") {
        // Nobody is there to be told when stderr is closed.
        // One write, so that what other threads say does not come between.
        let _ = std::io::stderr().write_all(format!("emulated CUDA driver: {text}\n").as_bytes());
    }
}

/// The options that the machine begins with. An environment that asks for what there is not is told so.
pub(crate) fn machine_options() -> Options {
    let settings = record(|recorder| recorder.settings.clone());
    settings.machine_options().unwrap_or_else(|(options, problem)| {
        say(&problem);
        options
    })
}

/// Records that the driver was opened.
pub(crate) fn opened(device: &str) {
    record(|recorder| {
        let command = || std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        recorder.journal.write(|| Event::Opened { command: command(), device: device.to_owned() })
    });
}

pub(crate) fn launched(mut launch: LaunchReport) {
    record(|recorder| recorder.journal.launched(&launch.kernel));
    if !launch.output.is_empty() {
        let mut stdout = std::io::stdout().lock();
        // A closed pipe is no error of the kernel that prints.
        let _ = stdout.write_all(launch.output.as_bytes()).and_then(|()| stdout.flush());
    }
    for finding in std::mem::take(&mut launch.findings) {
        found(finding);
    }
    record(|recorder| {
        if recorder.settings.record.unwrap_or(true) {
            let limit = recorder.settings.record_limit.unwrap_or(LAUNCHES);
            keep(&mut recorder.report.launches, launch, limit);
        }
    });
}

/// Whether it was left open which launches are timed.
pub(crate) fn times_are_open() -> bool {
    record(|recorder| recorder.settings.times.is_none())
}

/// How launches run dry.
pub(crate) fn dry() -> Dry {
    record(|recorder| recorder.settings.dry.clone().unwrap_or_default())
}

/// How many multiprocessors programs find, if not all.
pub(crate) fn multiprocessors() -> Option<u32> {
    record(|recorder| recorder.settings.multiprocessors).filter(|&count| count > 0)
}

/// Whether faults tell where their buffer was allocated.
pub(crate) fn allocation_sites() -> bool {
    record(|recorder| recorder.settings.allocation_sites.unwrap_or(true))
}

/// Records what a check has found beside work that went on: an error among the faults, and anything less as advice.
/// What launches do again and again is one entry, with its counts added.
pub(crate) fn found(finding: Fault) {
    let text = (finding.severity() == Severity::Error).then(|| short(&words(&finding), &FILES));
    let new = record(|recorder| {
        let report = &mut recorder.report;
        let list = if text.is_some() { &mut report.faults } else { &mut report.advice };
        if let Some(known) = list.iter_mut().find(|known| same_site(known, &finding)) {
            known.count = known.count.saturating_add(finding.count);
            return false;
        }
        if list.len() >= FAULTS {
            return false;
        }
        let journaled = recorder.journal.write(|| Event::Found(finding.clone()));
        list.push(finding);
        !recorder.taken && !journaled
    });
    if let Some(text) = text.filter(|_| new) {
        say(&text);
    }
}

/// Whether two findings are about the same mistake in the same place. What is about no place is known by its kind.
fn same_site(a: &Fault, b: &Fault) -> bool {
    let place = |fault: &Fault| fault.ptx.as_ref().map(|ptx| ptx.line);
    let placed = |fault: &Fault| !fault.source.is_empty() || fault.ptx.is_some();
    a.code() == b.code()
        && a.kernel == b.kernel
        && a.source.first() == b.source.first()
        && place(a) == place(b)
        && (placed(a) || a.kind == b.kind)
}

/// Records what has stopped a kernel.
pub(crate) fn stopped(launch: LaunchReport, fault: Fault) {
    record(|recorder| {
        recorder.journal.launched(&fault.kernel);
        recorder.report.stopped = Some(launch);
    });
    faulted(fault);
}

/// Records what has stopped a kernel, or why a call was refused.
pub(crate) fn faulted(fault: Fault) {
    let text = short(&words(&fault), &FILES);
    let heard = record(|recorder| {
        let mut journaled = false;
        if recorder.report.faults.len() < FAULTS {
            journaled = recorder.journal.write(|| Event::Found(fault.clone()));
            recorder.report.faults.push(fault);
        }
        recorder.taken || journaled
    });
    if !heard {
        say(&text);
    }
}

/// Records that a call was refused, and why, for the code that it returns says little.
pub(crate) fn refused(kind: impl Into<Kind>) -> Error {
    refuse(Fault::new(kind))
}

/// Records that a launch was refused, and why.
pub(crate) fn refused_launch(launch: LaunchReport, kind: impl Into<Kind>) -> Error {
    let fault = Fault { kernel: launch.kernel.clone(), ..Fault::new(kind) };
    record(|recorder| recorder.report.stopped = Some(launch));
    refuse(fault)
}

fn refuse(fault: Fault) -> Error {
    let error = error_of(&fault);
    faulted(fault);
    error
}

/// The code with which a real driver answers such a fault. Faults that a GPU would not notice at all, like a race or a
/// read of memory that was never written, are launch failures here.
pub(crate) fn error_of(fault: &Fault) -> Error {
    match fault.kind.status() {
        Status::InvalidValue => Error::INVALID_VALUE,
        Status::OutOfMemory => Error::OUT_OF_MEMORY,
        Status::OutOfResources => Error::LAUNCH_OUT_OF_RESOURCES,
        Status::TooManyBlocks => Error::COOPERATIVE_LAUNCH_TOO_LARGE,
        Status::InvalidCluster => Error::INVALID_CLUSTER_SIZE,
        Status::NotSupported => Error::NOT_SUPPORTED,
        Status::InvalidModule => Error::INVALID_IMAGE,
        Status::IllegalAddress => Error::ILLEGAL_ADDRESS,
        Status::MisalignedAddress => Error::MISALIGNED_ADDRESS,
        Status::IllegalInstruction => Error::ILLEGAL_INSTRUCTION,
        Status::Assertion => Error::ASSERT,
        Status::Timeout => Error::LAUNCH_TIMEOUT,
        Status::StackOverflow => Error::HARDWARE_STACK_ERROR,
        Status::GoesOn | Status::LaunchFailed => Error::LAUNCH_FAILED,
    }
}

/// Records that a module has no kernel of that name.
pub(crate) fn no_kernel(name: &str) {
    record(|recorder| recorder.report.no_kernel = Some(name.to_owned()));
}

pub(crate) fn allocated(bytes: u64) {
    record(|recorder| {
        recorder.report.allocations += 1;
        recorder.report.allocated_bytes += bytes;
    });
}

/// Records what has run for a trace of the program.
pub(crate) fn ran(work: impl FnOnce() -> Work) {
    if traces() {
        record(|recorder| recorder.journal.ran(work));
    }
}

/// Records a copy or a memset.
pub(crate) fn moved(moved: Move) {
    record(|recorder| {
        let report = &mut recorder.report;
        report.copies += 1;
        report.memsets += u64::from(moved.what == Moved::Memset);
        report.copied_bytes += moved.bytes;
        if recorder.settings.record.unwrap_or(true) {
            keep(&mut report.moves, moved, recorder.settings.record_limit.unwrap_or(LAUNCHES));
        }
    });
}

/// Adds to a list, which forgets the older half of what it has when it is full.
fn keep<T>(list: &mut Vec<T>, new: T, limit: usize) {
    if list.len() >= limit {
        list.drain(..limit.div_ceil(2).min(list.len()));
    }
    if limit > 0 {
        list.push(new);
    }
}

/// Returns what happened since the last call as JSON of a `fusion_machine::Report`. To be freed with `fusion_emulator_free_string`.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_take_report() -> *mut c_char {
    let mut report = record(|recorder| {
        recorder.taken = true;
        std::mem::take(&mut recorder.report)
    });
    if let Ok(driver) = driver() {
        report.device = driver.machine.profile().name.clone();
    }
    let json = serde_json::to_string(&report).unwrap_or_default();
    // JSON escapes NUL, so that there is none.
    CString::new(json).unwrap_or_default().into_raw()
}

/// Frees a string that this library returned. Null is allowed.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_free_string(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: the caller passes what `fusion_emulator_take_report` returned, once.
        drop(unsafe { CString::from_raw(string) });
    }
}

/// Says a text as this library does what it has to say: for the emulated CUDA runtime.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_say(text: *const c_char) {
    if !text.is_null() {
        // SAFETY: not null, so the caller passes a NUL-terminated string.
        say(&unsafe { CStr::from_ptr(text) }.to_string_lossy());
    }
}

/// The version of this library. Not to be freed.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Sets options from JSON, for example `{"instruction_budget": 1000000, "checks": {"races": false}}`, and announces
/// that reports will be taken, so that faults are not printed.
///
/// Returns 0, or 1 when it is not JSON of that form, or 2 when an option comes too late, after `cuInit`.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_set_options(json: *const c_char) -> c_int {
    if json.is_null() {
        return 1;
    }
    // SAFETY: not null, so the caller passes a NUL-terminated string.
    let json = unsafe { CStr::from_ptr(json) };
    let Ok(settings) = serde_json::from_slice::<Settings>(json.to_bytes()) else {
        return 1;
    };
    if let Ok(driver) = driver() {
        if settings.concerns_machine() {
            return 2;
        }
        act(driver, &settings);
    }
    record(|recorder| {
        recorder.taken = true;
        recorder.settings.change(settings);
    });
    0
}

/// Does at once what settings ask of a driver that runs.
fn act(driver: &Driver, settings: &Settings) {
    let machine = &driver.machine;
    if settings.concerns_checks() {
        machine.set_checks(settings.checks.over(machine.checks()));
    }
    if let Some(times) = settings.times {
        machine.set_times(times);
    }
    if settings.start_over == Some(true) && machine.memory().start_over() {
        machine.empty_cache();
    }
    if let Some(dry) = &settings.dry {
        if dry.timed {
            machine.empty_cache();
        }
        machine.set_traces(dry.traced);
    }
}

/// Empties the L2: the next launch finds nothing in it. For whoever times launches that are to begin cold.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_empty_cache() {
    if let Ok(driver) = driver() {
        driver.machine.empty_cache();
    }
}

/// Makes bytes of device memory count as never written, so that kernels which depend on them are reported. They keep their
/// values. For whoever fills buffers with what nobody should read.
///
/// Returns 0, or 1 when the range does not lie in one allocation.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_forget(address: u64, len: u64) -> c_int {
    let forgotten = driver().is_ok_and(|driver| driver.machine.memory().forget(address, len).is_ok());
    c_int::from(!forgotten)
}

/// How far into a range of device memory the first byte is that was never written; `u64::MAX` where all were, or where the range
/// does not lie in one allocation.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_unwritten(address: u64, len: u64) -> u64 {
    let first = driver().ok().and_then(|driver| driver.machine.memory().unwritten(address, len));
    first.map_or(u64::MAX, |(at, _)| at)
}
