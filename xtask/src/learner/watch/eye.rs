//! Looks at the files of one exercise.

use std::path::{Path, PathBuf};

use fusion_course::Exercise;

use crate::learner::files::{Folder, Texts};

/// What was seen of an exercise's files.
#[derive(Debug)]
pub(super) struct Eye {
    root: PathBuf,
    exercise: &'static Exercise,
    /// What was graded last, or is being graded.
    known: Option<Texts>,
    /// What was there at the last look, if it was something else.
    seen: Option<Texts>,
}

impl Eye {
    pub(super) fn new(root: &Path, exercise: &'static Exercise) -> Self {
        Self { root: root.to_owned(), exercise, known: None, seen: None }
    }

    pub(super) fn is_of_another(&self, exercise: &Exercise) -> bool {
        self.exercise.name != exercise.name
    }

    /// Whether there is something new to be graded: it was the same at two looks, so that nothing is graded of which an editor has
    /// written half.
    pub(super) fn has_news(&mut self) -> bool {
        // An editor that replaces a file may have taken it away for a moment.
        let Ok(texts) = Folder::Answer.read(&self.root, self.exercise) else { return false };
        if self.known.as_ref() == Some(&texts) {
            self.seen = None;
            return false;
        }
        if self.seen.as_ref() != Some(&texts) {
            self.seen = Some(texts);
            return false;
        }
        self.known = self.seen.take();
        true
    }

    /// Has the same files graded again.
    pub(super) fn forget(&mut self) {
        self.known = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::files;

    #[test]
    fn news_is_what_has_come_to_rest() {
        let root = tempfile::tempdir().unwrap();
        let exercise = fusion_course::find("mul_add").unwrap();
        let [kernel, launch] = Folder::Answer.paths(exercise).map(|path| root.path().join(path));
        let mut eye = Eye::new(root.path(), exercise);
        assert!(!eye.has_news(), "there is nothing");
        for (path, text) in [(&kernel, "one"), (&launch, "two")] {
            files::write(path, text).unwrap();
        }
        assert_eq!([eye.has_news(), eye.has_news(), eye.has_news()], [false, true, false]);
        files::write(&kernel, "half").unwrap();
        assert!(!eye.has_news());
        files::write(&kernel, "whole").unwrap();
        assert_eq!([eye.has_news(), eye.has_news(), eye.has_news()], [false, true, false]);
        // What came and went is nothing new.
        files::write(&kernel, "gone").unwrap();
        assert!(!eye.has_news());
        files::write(&kernel, "whole").unwrap();
        assert_eq!([eye.has_news(), eye.has_news()], [false, false]);
        eye.forget();
        assert_eq!([eye.has_news(), eye.has_news()], [false, true]);
    }
}
