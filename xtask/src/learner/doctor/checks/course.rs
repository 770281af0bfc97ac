//! The checkout: what is in it, and whether the course may write there.

use std::path::{Path, PathBuf};

use super::super::check::{Check, Finding, Place};
use crate::learner::files::Folder;
use crate::learner::state::{State, exercises};

const CLONE: &str = "change to the folder that you cloned the course into";

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "checkout",
        why: "Exercises are files of the checkout, and commands find them from the folder that you are in.",
        apart: None,
        look: |place| within(place, files),
    },
    Check {
        name: "progress",
        why: "What you have done is kept in the folder `.course` of the checkout.",
        apart: None,
        look: |place| within(place, |root| progress(&State { root: root.to_owned() })),
    },
    Check {
        name: "building",
        why: "Cargo puts the programs that it builds into a folder, one command at a time.",
        apart: None,
        look: |place| within(place, building),
    },
];

fn within(place: &Place, look: impl Fn(&Path) -> Finding) -> Finding {
    match &place.root {
        Some(root) => look(root),
        None => Finding::problem("this is not run inside the course's folder", CLONE),
    }
}

/// Whether every exercise has its files, and every starter.
fn files(root: &Path) -> Finding {
    let wanted = exercises().flat_map(|it| [Folder::Answer, Folder::Starter].map(|folder| folder.paths(it)));
    let missing: Vec<String> = wanted.flatten().filter(|path| !root.join(path).is_file()).collect();
    match &missing[..] {
        [] => Finding::ok(format!("{}, with all {} exercises", root.display(), exercises().count())),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            Finding::problem(
                format!("{first}{more} missing{}", is_or_are(rest.len())),
                format!("git restore {}", missing.join(" ")),
            )
        }
    }
}

fn is_or_are(others: usize) -> &'static str {
    if others == 0 { ": it is" } else { ": they are" }
}

fn progress(state: &State) -> Finding {
    let folder = state.journal().parent().map(Path::to_path_buf).unwrap_or_default();
    if let Err(error) = writable(&folder) {
        return Finding::problem(
            format!("{} cannot be written: {error}", folder.display()),
            format!("sudo chown -R \"$USER\" {}", folder.display()),
        );
    }
    let text = std::fs::read(state.journal()).unwrap_or_default();
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count();
    let read = state.attempts().map_or(0, |attempts| attempts.all.len());
    match lines - read.min(lines) {
        0 if read == 0 => Finding::ok(format!("nothing was graded yet; it will be kept in {}", folder.display())),
        0 => Finding::ok(format!("{read} graded so far, kept in {}", folder.display())),
        cut => Finding::known(format!(
            "{cut} of {lines} lines of {} cannot be read, and are left out; a crash may have cut them off",
            state.journal().display()
        )),
    }
}

/// Whether a folder can be written, or made.
fn writable(folder: &Path) -> std::io::Result<()> {
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    tempfile::tempfile_in(existing).map(drop)
}

fn building(root: &Path) -> Finding {
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    if let Err(error) = writable(&folder) {
        return Finding::problem(
            format!("{} cannot be written: {error}", folder.display()),
            "export CARGO_TARGET_DIR=/a/folder/of/yours",
        );
    }
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let lock = std::fs::File::open(folder.join(profile).join(".cargo-lock"));
    match lock.map(|file| file.try_lock()) {
        Ok(Err(std::fs::TryLockError::WouldBlock)) => Finding::note(
            format!("another cargo is building in {}: `grade` waits for it", folder.display()),
            "wait, or end it; an editor that checks your code is one, and its next build is shorter",
        ),
        _ => Finding::ok(format!("{} can be written", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::check::State as How;
    use super::*;

    fn state() -> (tempfile::TempDir, State) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        (folder, State { root })
    }

    #[test]
    fn the_courses_own_checkout_is_whole_and_an_empty_folder_is_not() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(files(&root).state, How::Ok);
        let (_folder, state) = state();
        let finding = files(&state.root);
        assert_eq!(finding.state, How::Problem);
        assert!(finding.found.starts_with("exercises/day21/src/average.cu and "), "{finding:?}");
        assert_eq!(within(&Place::default(), files).state, How::Problem);
    }

    #[test]
    fn lines_that_were_cut_off_are_counted() {
        let (_folder, state) = state();
        assert_eq!(progress(&state).state, How::Ok);
        std::fs::create_dir(state.root.join(".course")).unwrap();
        std::fs::write(state.journal(), "{\"when\":\"20").unwrap();
        assert!(progress(&state).found.starts_with("1 of 1 lines of "));
    }

    #[test]
    fn a_place_that_is_a_file_cannot_be_written() {
        let (_folder, state) = state();
        std::fs::write(state.root.join(".course"), "").unwrap();
        assert_eq!(progress(&state).state, How::Problem);
    }

    #[test]
    fn a_build_that_goes_on_is_noticed() {
        let (_folder, state) = state();
        let folder = state.root.join("target/debug");
        std::fs::create_dir_all(&folder).unwrap();
        let lock = std::fs::File::create(folder.join(".cargo-lock")).unwrap();
        assert_eq!(building(&state.root).state, How::Ok);
        lock.lock().unwrap();
        let held = building(&state.root).state;
        assert!(held == How::Note || !cfg!(debug_assertions), "{held:?}");
    }
}
