//! A verdict does not depend on what was left in the shell.

use std::io::Write as _;
use std::process::{Command, Stdio};

use fusion_grader::judgement::Judgement;
use fusion_grader::protocol::Message;

/// What its messages begin with.
const TOKEN: &str = "checks";

#[test]
fn checks_that_the_environment_switches_off_are_made() {
    let judgement = judged(&["--sample", "accumulates"], ("FUSION_EMULATOR_CHECKS", "none"));
    let reason = judgement.failure().map(|failure| failure.reason());
    assert_eq!(reason.as_deref(), Some("fault E-UNINIT-GLOBAL"));
}

#[test]
fn a_budget_of_the_environment_stops_no_kernel() {
    let judgement = judged(&[], ("FUSION_EMULATOR_BUDGET", "100"));
    assert_eq!(judgement.failure(), None);
    assert!(judgement.parts.right.evidence.is_some_and(|right| right.launches > 10));
}

/// Judges whether add_gelu is right, in an environment with this variable.
fn judged(options: &[&str], (name, value): (&str, &str)) -> Judgement {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solutions-day22"));
    command.args(["judge", "--exercise", "add_gelu", "--device", "emulated", "--parts", "right"]);
    command.args(options).env(name, value);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    // It ends when this closes. Through a pipe, messages come on standard output.
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(format!("{TOKEN}\n").as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    let printed = String::from_utf8_lossy(&output.stdout);
    let judged = printed.lines().find_map(|line| match Message::parse(line, TOKEN) {
        Some(Message::Judged { judgement, .. }) => Some(judgement),
        _ => None,
    });
    *judged.unwrap_or_else(|| panic!("nothing was judged:\n{printed}"))
}
