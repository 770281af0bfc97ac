//! Timing as on a GPU, with the emulated device's clock for the events: what it says is no measurement, but the steps are
//! taken, all but holding the device back, warming it up and sampling its clock.

use std::io::Write as _;
use std::process::{Command, Stdio};

use fusion_grader::bench::{Role, Size};
use fusion_grader::judgement::Timing;
use fusion_grader::protocol::Message;

/// What its messages begin with.
const TOKEN: &str = "timing";

/// One size of an exercise whose kernel reads an output, in pairs and alone.
#[test]
fn every_variant_has_a_time() {
    // Its ladder has nothing but a top, which in a short sweep is timed where it is asked for, in the submission's place.
    let expected = [Role::Unfused, Role::Submission, Role::Rung];
    for (arguments, variants) in [(&[][..], 3), (&["--short", "--top"], 2)] {
        let size = bench(arguments);
        let roles: Vec<Role> = size.variants.iter().map(|variant| variant.role).collect();
        assert_eq!(roles, expected[..variants], "{arguments:?}");
        for variant in &size.variants {
            let Some(Timing::Measured { time_ns, pairs, .. }) = &variant.timing else { panic!("{variant:?}") };
            assert!(time_ns.median > 0.0 && *pairs > 0, "{variant:?}");
        }
    }
}

fn bench(arguments: &[&str]) -> Size {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solutions-day24"));
    command.args(["bench", "--exercise", "add_rmsnorm", "--device", "emulated", "--as-gpu", "--sizes", "64x64"]);
    let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    // It ends when this closes. Through a pipe, messages come on standard output.
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(format!("{TOKEN}\n").as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut sizes = printed.lines().filter_map(|line| match Message::parse(line, TOKEN) {
        Some(Message::Timed { size, .. }) => Some(*size),
        _ => None,
    });
    sizes.next().unwrap_or_else(|| panic!("nothing was timed:\n{printed}"))
}
