//! Programs that some of the course uses, and none of the exercises.

use super::super::check::{Check, Finding};
use super::super::packages::{Package, install};
use super::super::programs::{path_of, says, version};

/// The release of mdBook that the book is made with.
const MDBOOK: &str = "0.5.4";

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "git",
        why: "Git keeps your answers apart from the course's own changes.",
        apart: None,
        look: |_| found("git", &["--version"], &[Package("git", &[])]),
    },
    Check {
        name: "mdbook",
        why: "The pages of the book are made by mdBook. The same text is in book/src, as Markdown.",
        apart: None,
        look: |_| mdbook(says("mdbook", &["--version"]).as_deref()),
    },
    Check {
        name: "clangd",
        why: "An editor shows mistakes in a kernel while you type, with clangd; `doctor --editor` sets it up.",
        apart: None,
        look: |_| {
            found(
                "clangd",
                &["--version"],
                &[Package(
                    "clangd",
                    &[
                        ("dnf", "clang-tools-extra"),
                        ("pacman", "clang"),
                        ("apk", "clang-extra-tools"),
                        ("brew", "llvm"),
                    ],
                )],
            )
        },
    },
    Check {
        name: "tmux",
        why: "One of the course's own tests drives a terminal by it; learners do not need it.",
        apart: None,
        look: |_| found("tmux", &["-V"], &[Package("tmux", &[])]),
    },
    Check {
        name: "chromium",
        why: "The test `cargo xtask book --browser` looks at the pages of the book by it; learners do not need it.",
        apart: None,
        look: |_| chromium(|name| path_of(name).is_some()),
    },
];

fn found(program: &str, arguments: &[&str], packages: &[Package]) -> Finding {
    match says(program, arguments) {
        Some(said) => Finding::ok(version(&said).map_or(said, |version| version.to_string())),
        None => Finding::note("not installed", install(packages)),
    }
}

fn mdbook(said: Option<&str>) -> Finding {
    let install = format!("cargo install mdbook --version {MDBOOK} --locked");
    let release = version(MDBOOK);
    match said.and_then(version) {
        None => Finding::note("not installed", install),
        Some(found) if Some(found.release()) == release.as_ref().map(|version| version.release()) => {
            Finding::ok(found.to_string())
        }
        Some(found) => {
            Finding::note(format!("{found}, and the book is made with {MDBOOK}: its pages may look different"), install)
        }
    }
}

/// What distributions and vendors call it.
const CHROMIUM: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

fn chromium(is_there: impl Fn(&str) -> bool) -> Finding {
    match CHROMIUM.iter().find(|name| is_there(name)) {
        Some(name) => Finding::ok(format!("there is a `{name}`")),
        None => Finding::note("not installed", install(&[Package("chromium", &[])])),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::check::State::{Note, Ok};
    use super::*;

    #[test]
    fn the_book_wants_its_release_of_mdbook() {
        assert_eq!(mdbook(Some("mdbook v0.5.9")).state, Ok);
        assert_eq!(mdbook(Some("mdbook v0.4.52")).state, Note);
        assert_eq!(mdbook(None).fix.as_deref(), Some("cargo install mdbook --version 0.5.4 --locked"));
    }

    #[test]
    fn it_is_the_release_that_ci_takes() {
        let ci = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/run")).unwrap();
        assert!(ci.contains(&format!("MDBOOK_VERSION={MDBOOK}\n")));
    }
}
