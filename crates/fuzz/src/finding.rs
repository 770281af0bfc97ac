//! A promise that was broken.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

/// Which promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Something panicked.
    Panic,
    /// A case took far longer than its instruction budget explains.
    Slow,
    /// A case took far more memory than it may.
    Memory,
    /// Two runs of the same launch differ.
    Unrepeatable,
    /// One worker and two give different results, although no block touches what another writes.
    Workers,
    /// A check changed a result.
    Check,
    /// A fault or a report that is not well formed.
    Report,
    /// A position outside of the text, or an index outside of its table.
    Syntax,
}

/// What was found, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    pub detail: String,
}

impl Finding {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }

    /// Two findings with the same site are taken for the same mistake: the numbers of the detail are left out.
    pub fn site(&self) -> String {
        let line = self.detail.lines().next().unwrap_or_default();
        match self.kind {
            Kind::Panic => format!("{:?} {line}", self.kind),
            _ => {
                let words: String = line.chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
                format!("{:?} {words}", self.kind)
            }
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.detail)
    }
}

/// The place and message of the last panic, of whatever thread: the machine's helpers panic on their own.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Makes panics quiet, and remembers where they were. Called once, before [`crate::check`].
pub fn watch_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |l| format!("{}:{}", l.file(), l.line()));
        let payload = info.payload();
        let message = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let message = message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        // The helper's own panic comes first; that of the thread that joined it says nothing more.
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none() || !message.contains("scoped thread panicked") {
            *last = Some(format!("{place}\n{message}"));
        }
    }));
}

/// Runs something; a panic becomes a finding.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Finding> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        Finding::new(Kind::Panic, last.take().unwrap_or_else(|| "at an unknown place".to_owned()))
    })
}
