//! Every case on the emulated device: the codes that it must get, and the report beside it.
//!
//! `BLESS=1 cargo test -p fusion-ui` writes the reports anew. Look at what changed before you keep it.

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use fusion_device::Choice;
use fusion_ui::{Case, Expected, Session, codes, kernels, source, text};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One device, so one case at a time.
    arguments.test_threads = Some(1);
    let session = Arc::new(Mutex::new(None));
    let mut trials = Vec::new();
    for name in kernels() {
        let case = source(name).ok_or("it is not UTF-8".to_owned());
        let case = case.and_then(|text| Case::parse(name, text).map_err(|error| error.to_string()));
        let pending = case.as_ref().is_ok_and(|case| case.pending);
        let session = Arc::clone(&session);
        trials.push(Trial::test(name, move || check(&session, &case?)).with_ignored_flag(pending));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(session: &Mutex<Option<Session>>, case: &Case) -> Result<(), Failed> {
    let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
    let session = match &mut *session {
        Some(session) => session,
        none => none.insert(Session::open(Choice::Emulated)?),
    };
    let outcome = session.run(case)?;
    let (found, report) = (codes(&outcome.faults), text(case, &outcome.faults));
    let expected = match &case.expected {
        Expected::Pass => Vec::new(),
        Expected::Fail(codes) => codes.clone(),
    };
    if found != expected {
        return Err(format!("expected {expected:?}, found {found:?}\n{report}").into());
    }
    if let (Expected::Pass, Some(error)) = (&case.expected, &outcome.error) {
        return Err(format!("nothing was found, and yet the driver says: {error}").into());
    }
    compare(&case.name, &report)
}

fn compare(name: &str, report: &str) -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels").join(format!("{name}.report"));
    if std::env::var_os("BLESS").is_some_and(|bless| bless == "1") {
        // Without findings there is nothing to say, and no file.
        if !report.is_empty() {
            std::fs::write(path, report)?;
        } else if path.exists() {
            std::fs::remove_file(path)?;
        }
        return Ok(());
    }
    let expected = if path.exists() { std::fs::read_to_string(path)? } else { String::new() };
    match expected == report {
        true => Ok(()),
        false => {
            Err(format!("the report is not the one beside the case\nexpected:\n{expected}\nfound:\n{report}").into())
        }
    }
}
