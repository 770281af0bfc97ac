//! Every case on the emulated device: the codes that it must get, and the report beside it.
//!
//! `BLESS=1 cargo test -p fusion-ui` writes the reports anew. Look at what changed before you keep it.

use std::path::Path;
use std::process::ExitCode;

use fusion_device::Choice;
use fusion_suite::Test;
use fusion_ui::{Case, Expected, SUITE, Session, codes, text};
use libtest_mimic::Failed;

fn main() -> ExitCode {
    let tests = SUITE.cases().map(|(name, text)| {
        let case = Case::parse(name, text).map_err(|error| error.to_string());
        let ignored = case.as_ref().is_ok_and(|case| case.pending);
        Test { name: name.to_owned(), ignored, check: Box::new(move |session: &mut Session| check(session, &case?)) }
    });
    fusion_suite::tests(|| Ok(Session::open(Choice::Emulated)?), tests)
}

fn check(session: &mut Session, case: &Case) -> Result<(), Failed> {
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
