//! Every case as a test of its own.

use std::fmt;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};

/// A case as a test.
pub struct Test<S> {
    pub name: String,
    /// Whether it is known not to pass yet.
    pub ignored: bool,
    pub check: Check<S>,
}

/// What a test does with the session.
pub type Check<S> = Box<dyn FnOnce(&mut S) -> Result<(), Failed> + Send>;

impl<S> fmt::Debug for Test<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Test").field("name", &self.name).field("ignored", &self.ignored).finish_non_exhaustive()
    }
}

/// The main function of a test without a harness: runs the tests on one session, one after another, as there is one device.
/// `open` is called for the first one that runs.
pub fn tests<S: Send + 'static>(open: fn() -> Result<S, Failed>, tests: impl IntoIterator<Item = Test<S>>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let session: Arc<Mutex<Option<S>>> = Arc::default();
    let trials = tests.into_iter().map(|test| {
        let session = Arc::clone(&session);
        let run = move || {
            let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
            let session = match &mut *session {
                Some(session) => session,
                none => none.insert(open()?),
            };
            (test.check)(session)
        };
        Trial::test(test.name, run).with_ignored_flag(test.ignored)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
