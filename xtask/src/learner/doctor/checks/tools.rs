//! Programs that some of the course uses, and none of the exercises.

use super::super::check::{Check, Finding};
use super::super::editor;
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
        why: "The book is made by mdBook. Without it, read the Markdown in book/src: it names the files with the code.",
        apart: None,
        look: |_| mdbook(says("mdbook", &["--version"]).as_deref()),
    },
    Check {
        name: "clangd",
        why: "An editor shows mistakes in a kernel while you type, with clangd; `doctor --editor` sets it up.",
        apart: None,
        look: |place| {
            let set_up = place.root.as_ref().and_then(|root| editor::is_current(root));
            clangd(says("clangd", &["--version"]).as_deref(), set_up)
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

/// What distributions call it.
pub(in super::super) const CLANGD: Package = Package(
    "clangd",
    &[("dnf", "clang-tools-extra"), ("pacman", "clang"), ("apk", "clang-extra-tools"), ("brew", "llvm")],
);

/// Whether it was set up, and for the course as it is now.
fn clangd(said: Option<&str>, set_up: Option<bool>) -> Finding {
    const SET_UP: &str = "cargo xtask doctor --editor";
    let Some(said) = said else { return Finding::note("not installed", install(&[CLANGD])) };
    let version = version(said).map_or_else(|| said.to_owned(), |version| version.to_string());
    match set_up {
        Some(true) => Finding::ok(format!("{version}, set up for kernels")),
        Some(false) => Finding::note(format!("{version}, set up for kernels of an older course"), SET_UP),
        None => Finding::note(format!("{version}, and not set up for kernels"), SET_UP),
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
    fn clangd_is_to_be_set_up() {
        let said = Some("clangd version 22.1.1 (x)");
        for (said, set_up, state) in
            [(None, None, Note), (said, None, Note), (said, Some(false), Note), (said, Some(true), Ok)]
        {
            assert_eq!(clangd(said, set_up).state, state);
        }
    }

    #[test]
    fn it_is_the_release_that_ci_takes() {
        let ci = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/run")).unwrap();
        assert!(ci.contains(&format!("MDBOOK_VERSION={MDBOOK}\n")));
        for page in ["README.md", "book/src/getting-started.md"] {
            let text = std::fs::read_to_string(format!("{}/../{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            assert!(text.contains(&format!("cargo install mdbook --version {MDBOOK} --locked\n")), "{page}");
        }
    }
}
