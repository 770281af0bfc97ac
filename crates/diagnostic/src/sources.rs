//! The text of source files, from wherever the caller has it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::hash::BuildHasher;

/// Gives the text of a source file, headers included, by the path that a fault names.
pub trait Sources {
    fn text(&self, path: &str) -> Text<'_>;
}

/// Lines between the first and the last one of a file that can be shown together.
const MOST_LINES: u32 = 1 << 20;

/// What is known of a source file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// Lines of the file as it was compiled. They need not be UTF-8.
    Lines {
        /// The line that the bytes begin with, one-based.
        first: u32,
        bytes: Cow<'a, [u8]>,
    },
    /// There is a file, but not the one that was compiled: its lines would mislead.
    Changed,
    /// Nobody has it.
    Missing,
}

impl<'a> Text<'a> {
    /// A whole file.
    pub fn whole(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Text::Lines { first: 1, bytes: bytes.into() }
    }

    /// Single lines of a file by their numbers, in any order. Those in between are taken for empty.
    pub fn lines(lines: impl Iterator<Item = (u32, &'a str)>) -> Self {
        let lines: BTreeMap<u32, &str> = lines.filter(|(line, _)| *line > 0).collect();
        let (Some(&first), Some(&last)) = (lines.keys().next(), lines.keys().next_back()) else { return Text::Missing };
        if last - first > MOST_LINES {
            // Whoever names a line so far away has another file in mind.
            return Text::Changed;
        }
        let text: String =
            (first..=last).map(|line| lines.get(&line).copied().unwrap_or_default().to_owned() + "\n").collect();
        Text::Lines { first, bytes: text.into_bytes().into() }
    }
}

/// Without any source, positions are shown by their numbers.
impl Sources for () {
    fn text(&self, _: &str) -> Text<'_> {
        Text::Missing
    }
}

/// Files as they are on disk, by the paths that programs were compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Files {
    /// Bytes of a file at most: a longer one is missing.
    pub largest: u64,
}

impl Sources for Files {
    fn text(&self, path: &str) -> Text<'_> {
        let known = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= self.largest);
        known.then(|| fs::read(path).ok()).flatten().map_or(Text::Missing, Text::whole)
    }
}

/// Whole files by path.
impl<P: AsRef<str>, T: AsRef<[u8]>> Sources for [(P, T)] {
    fn text(&self, path: &str) -> Text<'_> {
        let found = self.iter().find(|(known, _)| known.as_ref() == path);
        found.map_or(Text::Missing, |(_, text)| Text::whole(text.as_ref()))
    }
}

impl<P: AsRef<str>, T: AsRef<[u8]>, const N: usize> Sources for [(P, T); N] {
    fn text(&self, path: &str) -> Text<'_> {
        self.as_slice().text(path)
    }
}

impl<S: BuildHasher> Sources for HashMap<String, String, S> {
    fn text(&self, path: &str) -> Text<'_> {
        self.get(path).map_or(Text::Missing, |text| Text::whole(text.as_bytes()))
    }
}
