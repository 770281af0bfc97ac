//! Every file of the suite on the emulated device, as a test of its own.

use std::process::ExitCode;

use fusion_conformance::{Case, SUITE, Session};
use fusion_device::Choice;
use fusion_suite::Test;

fn main() -> ExitCode {
    let tests = SUITE.cases().map(|(name, text)| Test {
        name: name.to_owned(),
        ignored: false,
        check: Box::new(move |session: &mut Session| Ok(session.run(&Case::parse(name, text)?)?.unwrap_or(Ok(()))?)),
    });
    fusion_suite::tests(|| Ok(Session::open(Choice::Emulated)?), tests)
}
