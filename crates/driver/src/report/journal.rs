//! What happens, line by line in a file, so that it outlives the process however that ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use fusion_machine::report::trace::MOST_WORK;
use fusion_machine::report::{Event, Work};

/// A folder: each process writes a file there that is called by its number.
const FOLDER: &str = "FUSION_EMULATOR_JOURNAL";

/// Set to 1, the file has everything that the device is asked to do, too.
const TRACE: &str = "FUSION_EMULATOR_TRACE";

/// So many launches are written at once, one by one. Of a program that makes more, the rest is counted and written now and then, for
/// otherwise it would fill the disk.
const EAGER: u64 = 1000;

/// The journal of this process, if there is one.
#[derive(Debug, Default)]
pub(super) struct Journal {
    file: Option<File>,
    /// The process that `file` is about: a fork has none yet.
    process: Option<u32>,
    launches: u64,
    /// Launches not yet written, by kernel.
    waiting: BTreeMap<String, u64>,
    /// Work that was written.
    work: usize,
}

/// Whether work is to be traced.
pub(crate) fn traces() -> bool {
    static TRACES: OnceLock<bool> = OnceLock::new();
    *TRACES.get_or_init(|| std::env::var_os(TRACE).is_some_and(|value| value == "1"))
}

impl Journal {
    /// Writes an event. False when nobody keeps a journal.
    pub(super) fn write(&mut self, event: impl FnOnce() -> Event) -> bool {
        if self.file().is_none() {
            return false;
        }
        // What was done before it comes first.
        self.flush();
        self.line(&event())
    }

    pub(super) fn launched(&mut self, kernel: &str) {
        if self.file().is_none() {
            return;
        }
        self.launches += 1;
        *self.waiting.entry(kernel.to_owned()).or_default() += 1;
        if self.launches <= EAGER || self.launches.is_multiple_of(EAGER) {
            self.flush();
        }
    }

    /// Writes what has run, as long as there is not too much of it.
    pub(super) fn ran(&mut self, work: impl FnOnce() -> Work) {
        if self.work < MOST_WORK && self.file().is_some() {
            self.work += 1;
            self.line(&Event::Ran(work()));
        }
    }

    /// Writes the launches that are still only counted.
    pub(super) fn flush(&mut self) {
        for (kernel, times) in std::mem::take(&mut self.waiting) {
            self.line(&Event::Launched { kernel, times });
        }
    }

    /// One write a line, so that what a process had to say when it was killed is whole.
    fn line(&mut self, event: &Event) -> bool {
        let line = serde_json::to_string(event).unwrap_or_default() + "\n";
        self.file().is_some_and(|file| file.write_all(line.as_bytes()).is_ok())
    }

    fn file(&mut self) -> Option<&mut File> {
        let process = std::process::id();
        if self.process != Some(process) {
            *self = Self { process: Some(process), file: open(process), ..Self::default() };
        }
        self.file.as_mut()
    }
}

fn open(process: u32) -> Option<File> {
    let folder = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty())?;
    let file =
        File::options().create(true).append(true).open(Path::new(&folder).join(format!("{process}.jsonl"))).ok()?;
    at_exit();
    Some(file)
}

/// Lets an orderly end write what is only counted.
fn at_exit() {
    #[cfg(target_os = "linux")]
    {
        extern "C" fn flush() {
            // A panic here must not cross into C, and there is nobody left to be told.
            let _ = std::panic::catch_unwind(|| super::record(|recorder| recorder.journal.flush()));
        }
        // SAFETY: the function is of this library, which is never closed, and takes and returns nothing.
        unsafe { libc::atexit(flush) };
    }
}
