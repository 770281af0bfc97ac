//! Work that `reset` took away, in the checkout's folder `.course/saved`: a folder for each time, named by the moment.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fusion_course::Exercise;

use super::files::{self, Folder};
use super::state::State;
use crate::date;

/// Saves of one exercise.
#[derive(Debug)]
pub(crate) struct Saves<'a> {
    state: &'a State,
    exercise: &'a Exercise,
}

impl<'a> Saves<'a> {
    pub(crate) fn of(state: &'a State, exercise: &'a Exercise) -> Self {
        Self { state, exercise }
    }

    fn folder(&self) -> PathBuf {
        self.state.saved(self.exercise)
    }

    /// Copies the answer's files as they are; returns the folder that they are in, below the checkout's root.
    pub(crate) fn save(&self) -> io::Result<PathBuf> {
        let mut folder = self.folder().join(date::now().replace(':', "-"));
        // Two within a millisecond.
        while self.state.root.join(&folder).exists() {
            folder.as_mut_os_string().push("+");
        }
        for path in Folder::Answer.paths(self.exercise) {
            match fs::read_to_string(self.state.root.join(&path)) {
                Ok(text) => files::write(&self.state.root.join(&folder).join(name(&path)), &text)?,
                // What was deleted cannot be saved, and need not be.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(folder)
    }

    /// Whether anything was ever saved: the folder of all saves stays when the last of them is brought back.
    pub(crate) fn had_some(&self) -> bool {
        self.state.root.join(self.folder()).is_dir()
    }

    /// The newest.
    pub(crate) fn newest(&self) -> io::Result<Option<PathBuf>> {
        let all = match fs::read_dir(self.state.root.join(self.folder())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            all => all?,
        };
        let mut names: Vec<_> = all.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<_>>()?;
        names.sort();
        Ok(names.pop().map(|name| self.folder().join(name)))
    }

    /// Makes what was saved the answer again, and forgets that it was saved.
    pub(crate) fn restore(&self, folder: &Path) -> io::Result<()> {
        let folder = self.state.root.join(folder);
        for path in Folder::Answer.paths(self.exercise) {
            let saved = folder.join(name(&path));
            if saved.exists() {
                files::write(&self.state.root.join(&path), &fs::read_to_string(saved)?)?;
            }
        }
        fs::remove_dir_all(folder)
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
