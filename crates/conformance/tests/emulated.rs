//! Every file of the suite on the emulated device, as a test of its own.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use fusion_conformance::{Case, Session, embedded};
use fusion_device::Choice;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One device, so one case at a time.
    arguments.test_threads = Some(1);
    let session = Arc::new(Mutex::new(None));
    let trials = embedded().iter().map(|&(name, text)| {
        let session = Arc::clone(&session);
        Trial::test(name, move || check(&session, name, text))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn check(session: &Mutex<Option<Session>>, name: &str, text: &str) -> Result<(), Failed> {
    let case = Case::parse(name, text)?;
    let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
    let session = match &mut *session {
        Some(session) => session,
        none => none.insert(Session::open(Choice::Emulated)?),
    };
    Ok(session.run(&case)?.unwrap_or(Ok(()))?)
}
