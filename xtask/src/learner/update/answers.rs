//! The learner's answers, as texts: those that differ from their starters.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::git::Git;
use crate::date;
use crate::learner::files;
use crate::learner::saved::Saves;
use crate::learner::state::State;

/// Edited files by their paths below the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answers(BTreeMap<String, String>);

/// The exercise that a path below the root is a file of: in `src`, `starter` or another folder of its day.
pub(super) fn exercise<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let (day, rest) = path.strip_prefix("exercises/")?.split_once('/')?;
    let name = rest.strip_prefix(folder)?.strip_prefix('/')?;
    let (name, extension) = name.split_once('.')?;
    (day.starts_with("day") && !name.contains('/') && files::EXTENSIONS.contains(&extension)).then_some(name)
}

impl Answers {
    /// All files beside a starter that are not the same.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let mut answers = BTreeMap::new();
        for day in entries(&root.join("exercises")) {
            for name in entries(&root.join("exercises").join(&day).join("starter")) {
                let [own, starter] = ["src", "starter"].map(|folder| format!("exercises/{day}/{folder}/{name}"));
                let Some(text) = text(root, &own)? else { continue };
                if fs::read(root.join(&starter)).is_ok_and(|starter| starter != text.as_bytes()) {
                    answers.insert(own, text);
                }
            }
        }
        Ok(Self(answers))
    }

    /// With the files of other answers as they are now: an exercise may have gone from the course.
    pub(super) fn and(mut self, others: &Self, root: &Path) -> Result<Self, String> {
        for path in others.0.keys() {
            if let Some(text) = text(root, path)? {
                self.0.insert(path.clone(), text);
            }
        }
        Ok(self)
    }

    pub(super) fn paths(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Whether an exercise's answer was edited.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.keys().any(|path| exercise(path, "src") == Some(name))
    }

    /// Saves each edited answer as `reset` does; returns how many there are.
    pub(super) fn save(&self, state: &State) -> Result<usize, String> {
        let mut names: Vec<&str> = self.0.keys().filter_map(|path| exercise(path, "src")).collect();
        names.dedup();
        for name in &names {
            let saved = match fusion_course::find(name) {
                Some(exercise) => Saves::of(state, exercise).save().map(drop),
                None => self.save_unknown(state, name),
            };
            saved.map_err(|error| format!("{name} cannot be saved, and nothing was changed: {error}"))?;
        }
        Ok(names.len())
    }

    /// An exercise that this program does not know, because it is older than the course.
    fn save_unknown(&self, state: &State, name: &str) -> std::io::Result<()> {
        let folder = state.root.join(".course/saved").join(name).join(date::now().replace(':', "-"));
        let own = self.0.iter().filter(|(path, _)| exercise(path, "src") == Some(name));
        own.into_iter()
            .try_for_each(|(path, text)| files::write(&folder.join(path.rsplit('/').next().unwrap_or(path)), text))
    }

    /// Makes the edited files what the branch has. What it does not have goes, so that it stands in nobody's way.
    pub(super) fn put_aside(&self, root: &Path, git: &Git) -> Result<(), String> {
        let (known, others): (Vec<&str>, Vec<&str>) = self.paths().into_iter().partition(|path| git.has(path));
        git.restore(&known)?;
        for path in others {
            fs::remove_file(root.join(path)).map_err(|error| format!("cannot move {path} away: {error}"))?;
        }
        Ok(())
    }

    pub(super) fn write_back(&self, root: &Path) -> Result<(), String> {
        for (path, text) in &self.0 {
            let there = fs::read(root.join(path)).is_ok_and(|there| there == text.as_bytes());
            if !there {
                files::write(&root.join(path), text).map_err(|error| {
                    format!("cannot write {path}: {error}; the answer is in .course/saved and in .course/update.json")
                })?;
            }
        }
        Ok(())
    }
}

/// What is in a file; nothing where it is not there.
fn text(root: &Path, path: &str) -> Result<Option<String>, String> {
    let Ok(bytes) = fs::read(root.join(path)) else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| format!("{path} is no UTF-8 text: save it as that, or move it away"))
}

/// Names of what is in a folder.
fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
