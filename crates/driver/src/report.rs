//! What happened on the device, kept for our own tools and handed out as JSON; and what is said on stderr.
//!
//! Beside the faults of kernels, a report has those of calls that the driver refused: `E-LAUNCH-GRID`,
//! `E-LAUNCH-BLOCK`, `E-LAUNCH-LOCAL`, `E-LAUNCH-SHARED` and `E-LAUNCH-PARAMS` as the machine itself has them, `E-COPY`, `E-FREE`, `E-MODULE` and `E-OUT-OF-MEMORY`.

use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char, c_int};
use std::io::Write;
use std::sync::Mutex;

use fusion_machine::report::Blame;
use fusion_machine::{Fault, LaunchReport, Options, Report};
use serde::Deserialize;

use crate::driver::{driver, lock};

/// Set to 1, nothing is said on stderr.
const QUIET: &str = "FUSION_EMULATOR_QUIET";
/// How many launches are kept when nobody takes reports. Of more, the older half is forgotten.
const LAUNCHES: usize = 1 << 16;
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
}

/// What `fusion_emulator_set_options` may set. A field that is left out stays as it is.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Warp instructions that one launch may execute. Only before `cuInit`.
    instruction_budget: Option<u64>,
    /// Threads to run blocks on; 0 for as many as there are cores. Only before `cuInit`.
    workers: Option<usize>,
    /// Whether launches are kept in reports.
    record: Option<bool>,
    /// How many launches are kept.
    record_limit: Option<usize>,
}

impl Settings {
    fn change(&mut self, to: Settings) {
        self.instruction_budget = to.instruction_budget.or(self.instruction_budget);
        self.workers = to.workers.or(self.workers);
        self.record = to.record.or(self.record);
        self.record_limit = to.record_limit.or(self.record_limit);
    }
}

fn record<T>(change: impl FnOnce(&mut Recorder) -> T) -> T {
    change(lock(&RECORDER).get_or_insert_default())
}

/// Says something on stderr, once for every different text.
pub(crate) fn say(text: &str) {
    let new = record(|recorder| recorder.said.len() < FAULTS && recorder.said.insert(text.to_owned()));
    if new && std::env::var_os(QUIET).is_none_or(|quiet| quiet != "1") {
        // Nobody is there to be told when stderr is closed.
        // One write, so that what other threads say does not come between.
        let _ = std::io::stderr().write_all(format!("emulated CUDA driver: {text}\n").as_bytes());
    }
}

/// The options that the machine begins with.
pub(crate) fn machine_options() -> Options {
    let settings = record(|recorder| recorder.settings);
    let mut options = Options::default();
    options.instruction_budget = settings.instruction_budget.unwrap_or(options.instruction_budget);
    // Counted once, for asking how many cores there are takes longer than a small launch.
    let workers = settings.workers.filter(|workers| *workers > 0).or_else(cores);
    options.workers = workers.unwrap_or(options.workers);
    options
}

fn cores() -> Option<usize> {
    std::thread::available_parallelism().ok().map(Into::into)
}

pub(crate) fn launched(launch: LaunchReport) {
    if !launch.output.is_empty() {
        let mut stdout = std::io::stdout().lock();
        // A closed pipe is no error of the kernel that prints.
        let _ = stdout.write_all(launch.output.as_bytes()).and_then(|()| stdout.flush());
    }
    record(|recorder| {
        if !recorder.settings.record.unwrap_or(true) {
            return;
        }
        let limit = recorder.settings.record_limit.unwrap_or(LAUNCHES);
        let launches = &mut recorder.report.launches;
        if launches.len() >= limit {
            launches.drain(..limit.div_ceil(2).min(launches.len()));
        }
        if limit > 0 {
            launches.push(launch);
        }
    });
}

pub(crate) fn faulted(fault: Fault) {
    let text = short(&fault);
    let taken = record(|recorder| {
        if recorder.report.faults.len() < FAULTS {
            recorder.report.faults.push(fault);
        }
        recorder.taken
    });
    if !taken {
        say(&text);
    }
}

/// Records that a call was refused, and why, for the code that it returns says little.
pub(crate) fn refused(blame: Blame, code: &str, title: &str, note: &str) {
    refuse(blame, code, "", title, note);
}

/// Records that the launch of a kernel was refused, and why.
pub(crate) fn refused_launch(code: &str, kernel: &str, title: &str, note: &str) {
    refuse(Blame::Kernel, code, kernel, title, note);
}

fn refuse(blame: Blame, code: &str, kernel: &str, title: &str, note: &str) {
    faulted(Fault {
        code: code.to_owned(),
        blame,
        title: title.to_owned(),
        notes: if note.is_empty() { Vec::new() } else { vec![note.to_owned()] },
        kernel: kernel.to_owned(),
        source: Vec::new(),
        ptx: None,
        block: None,
        thread: None,
        lanes: 0,
    });
}

pub(crate) fn allocated(bytes: u64) {
    record(|recorder| {
        recorder.report.allocations += 1;
        recorder.report.allocated_bytes += bytes;
    });
}

pub(crate) fn copied(bytes: u64) {
    record(|recorder| {
        recorder.report.copies += 1;
        recorder.report.copied_bytes += bytes;
    });
}

/// A fault in a few lines: what, where, and what else there is to say.
fn short(fault: &Fault) -> String {
    let mut text = fault.to_string();
    if !fault.kernel.is_empty() {
        text += &format!(" (kernel {})", fault.kernel);
    }
    for position in fault.source.iter().take(1) {
        text += &format!("\n  at {}:{}:{}", position.file, position.line, position.column);
    }
    if let Some(ptx) = &fault.ptx {
        text += &format!("\n  PTX line {}: {}", ptx.line, ptx.text.trim());
    }
    if let (Some(block), Some(thread)) = (fault.block, fault.thread) {
        text += &format!("\n  block {block:?}, thread {thread:?}");
    }
    for note in &fault.notes {
        text += &format!("\n  {note}");
    }
    text
}

/// Returns what happened since the last call as JSON of a `fusion_machine::Report`. To be freed with `fusion_emulator_free_string`.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_take_report() -> *mut c_char {
    let mut report = record(|recorder| {
        recorder.taken = true;
        std::mem::take(&mut recorder.report)
    });
    if let Ok(driver) = driver() {
        report.device = driver.machine.profile().name.to_owned();
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

/// The version of this library. Not to be freed.
#[unsafe(no_mangle)]
extern "C" fn fusion_emulator_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Sets options from JSON, for example `{"instruction_budget": 1000000, "record": false}`, and announces that
/// reports will be taken, so that faults are not printed.
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
    let late = driver().is_ok() && (settings.instruction_budget.is_some() || settings.workers.is_some());
    if late {
        return 2;
    }
    record(|recorder| {
        recorder.taken = true;
        recorder.settings.change(settings);
    });
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_left_out_stay() {
        let mut settings = Settings { workers: Some(3), ..Settings::default() };
        settings.change(serde_json::from_str(r#"{"record": false}"#).unwrap());
        assert_eq!((settings.workers, settings.record), (Some(3), Some(false)));
        assert!(serde_json::from_str::<Settings>(r#"{"recrod": false}"#).is_err());
    }
}
