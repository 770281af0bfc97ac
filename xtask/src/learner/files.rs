//! The files of an exercise: where each lies in the checkout, what is in it, and how it is written.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use fusion_course::Exercise;

/// The kernel and its launch, in this order.
pub(crate) const EXTENSIONS: [&str; 2] = ["cu", "rs"];

/// A folder that has both files of an exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// What the learner edits.
    Answer,
    /// The same as it was at first. Nobody edits it, so that an edited answer can be compared with it.
    Starter,
    Solution,
    /// The top rung of the ladder, which not every exercise has.
    Top,
}

impl Folder {
    /// Paths of both files below the checkout's root.
    pub(crate) fn paths(self, exercise: &Exercise) -> [String; 2] {
        let (day, name) = (exercise.day, exercise.name);
        let folder = match self {
            Self::Answer => format!("exercises/day{day}/src"),
            Self::Starter => format!("exercises/day{day}/starter"),
            Self::Solution => format!("solutions/day{day}/src"),
            Self::Top => format!("solutions/day{day}/top"),
        };
        EXTENSIONS.map(|extension| format!("{folder}/{name}.{extension}"))
    }

    /// What is in both files.
    pub(crate) fn read(self, root: &Path, exercise: &Exercise) -> io::Result<Texts> {
        let [kernel, launch] = self.paths(exercise).map(|path| {
            fs::read_to_string(root.join(&path))
                .map_err(|error| io::Error::new(error.kind(), format!("cannot read {path}: {error}")))
        });
        Ok(Texts([kernel?, launch?].map(|text| match self {
            Self::Answer | Self::Starter => text,
            Self::Solution | Self::Top => without_anchors(&text),
        })))
    }
}

/// Without the marks by which the book finds what it prints.
fn without_anchors(text: &str) -> String {
    let is_mark = |line: &&str| ["// ANCHOR:", "// ANCHOR_END:"].iter().any(|mark| line.trim_start().starts_with(mark));
    text.split_inclusive('\n').filter(|line| !is_mark(line)).collect()
}

/// What is in a kernel's file and in its launch's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Texts(pub(crate) [String; 2]);

impl Texts {
    /// Tells one version of a text from another (64-bit FNV-1a): the same on every machine, and no secret.
    pub(crate) fn fingerprints(&self) -> [String; 2] {
        let fingerprint = |text: &String| {
            let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
        };
        [fingerprint(&self.0[0]), fingerprint(&self.0[1])]
    }
}

/// The page of the book that an exercise's day has for its exercises.
pub(crate) fn page(exercise: &Exercise) -> String {
    format!("book/src/day{}/exercises.md", exercise.day)
}

/// Writes a file in one step: whoever reads it, and a crash, finds either what was there or all of the text.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    // Who may read the text is for the umask to say, as ever.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(".writing-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_as_a_whole_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/a.cu");
        for text in ["one", "two"] {
            write(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    }

    #[test]
    fn what_is_for_the_book_is_not_shown() {
        assert_eq!(without_anchors("a\n  // ANCHOR: kernel\nb\n// ANCHOR_END: kernel\n// c"), "a\nb\n// c");
    }

    #[test]
    fn fingerprints_tell_texts_apart() {
        let texts = |kernel: &str| Texts([kernel.to_owned(), String::new()]).fingerprints();
        // The values of FNV's authors.
        assert_eq!(texts("a"), ["af63dc4c8601ec8c", "cbf29ce484222325"]);
        assert_ne!(texts("a")[0], texts("b")[0]);
    }
}
