//! Rust: the compiler, cargo, the linker.

use super::super::check::{Check, Finding};
use super::super::packages::{Package, install};
use super::super::programs::{self, version};

/// The oldest that the course is built with.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

const RUSTUP: &str = "install Rust: https://rustup.rs";

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "rustc",
        why: "Launch functions, lessons and the grader are Rust.",
        apart: None,
        look: |place| rustc(programs::says_in(place.root.as_ref(), "rustc", &["--version"]).as_deref()),
    },
    Check {
        name: "cargo",
        why: "Every command of the course is `cargo xtask ...`, and cargo builds your launch functions.",
        apart: None,
        look: |_| match programs::says("cargo", &["--version"]).as_deref().and_then(version) {
            Some(version) => Finding::ok(version.to_string()),
            None => Finding::problem("no `cargo` on the PATH runs", RUSTUP),
        },
    },
    Check {
        name: "linker",
        why: "Rust makes programs with the linker of a C compiler.",
        apart: None,
        look: |_| linker(cfg!(unix), programs::path_of("cc").is_some()),
    },
];

fn rustc(said: Option<&str>) -> Finding {
    let oldest = version(&format!("rustc {OLDEST}"));
    match said.and_then(version) {
        None => Finding::problem("no `rustc` on the PATH runs", RUSTUP),
        Some(version) if Some(&version) < oldest.as_ref() => Finding::problem(
            format!("{version} is too old: the course needs {OLDEST} or newer"),
            "rustup update stable",
        ),
        Some(version) => Finding::ok(format!("{version}; the course needs {OLDEST} or newer")),
    }
}

fn linker(is_unix: bool, is_there: bool) -> Finding {
    match (is_unix, is_there) {
        (true, true) => Finding::ok("there is a `cc`"),
        (false, _) => Finding::ok("Rust's own answer: this program was linked"),
        (true, false) => Finding::problem(
            "there is no `cc` on the PATH",
            install(&[Package("gcc", &[("apt-get", "build-essential")])]),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::check::State::{Ok, Problem};
    use super::*;

    #[test]
    fn rust_must_be_new_enough() {
        for (said, state) in [
            (Some("rustc 1.88.0 (6b00bc388 2025-06-23)"), Problem),
            (Some("rustc 1.89.0 (29483883e 2025-08-04)"), Ok),
            (Some("rustc 1.100.0"), Ok),
            (Some("what?"), Problem),
            (None, Problem),
        ] {
            assert_eq!(rustc(said).state, state, "{said:?}");
        }
    }
}
