//! Where cases come from: the files that the program carries, or files on disk.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::fs;
use std::path::Path;

/// The files of a suite: path and text of each, sorted by path.
#[derive(Clone, Copy, Debug)]
pub struct Files {
    files: &'static [(&'static str, &'static str)],
    /// What the path of a case ends with; the name of the case is without it.
    ending: &'static str,
}

impl Files {
    pub const fn new(files: &'static [(&'static str, &'static str)], ending: &'static str) -> Self {
        Self { files, ending }
    }

    /// Name (`group/name`) and text of every case, sorted by name.
    pub fn cases(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.files.iter().filter_map(move |&(path, text)| Some((path.strip_suffix(self.ending)?, text)))
    }

    /// The text of a file that is no case, by its path.
    pub fn text(self, path: &str) -> Option<&'static str> {
        self.files.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
    }

    /// The text of a case, by its name.
    pub fn case(self, name: &str) -> Option<&'static str> {
        self.cases().find(|(case, _)| *case == name).map(|(_, text)| text)
    }

    /// The cases that the words ask for: a file on disk stands for itself, any other word for the cases whose names contain
    /// it. No words ask for everything.
    ///
    /// # Errors
    /// The first word that stands for nothing.
    pub fn find(self, words: &[String]) -> Result<Vec<(String, Cow<'static, str>)>, NothingFound> {
        let carried = |(name, text): (&'static str, &'static str)| (name.to_owned(), Cow::Borrowed(text));
        if words.is_empty() {
            return Ok(self.cases().map(carried).collect());
        }
        let mut found: Vec<(String, Cow<'static, str>)> = Vec::new();
        for word in words {
            if word.ends_with(self.ending) && Path::new(word).is_file() {
                let text = fs::read_to_string(word)
                    .map_err(|error| NothingFound { word: word.clone(), why: format!("it cannot be read: {error}") })?;
                found.push((word.clone(), Cow::Owned(text)));
                continue;
            }
            let mut named = self.cases().filter(|(name, _)| name.contains(word.as_str())).peekable();
            if named.peek().is_none() {
                let why = "no case of the suite has it in its name; a list shows them all".to_owned();
                return Err(NothingFound { word: word.clone(), why });
            }
            // A case that two words ask for is one.
            let new: Vec<_> = named.filter(|(name, _)| found.iter().all(|(known, _)| known != name)).collect();
            found.extend(new.into_iter().map(carried));
        }
        Ok(found)
    }
}

/// A word that stands for no case.
#[derive(Clone, Debug)]
pub struct NothingFound {
    pub word: String,
    pub why: String,
}

impl fmt::Display for NothingFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.word, self.why)
    }
}

impl Error for NothingFound {}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: Files = Files::new(&[("a/one.cu", "1"), ("a/one.report", "r"), ("b/two.cu", "2")], ".cu");

    fn names(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = FILES.find(&words).map_err(|error| error.to_string())?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn words_are_parts_of_names() {
        assert_eq!(names(&[]), Ok(vec!["a/one".to_owned(), "b/two".to_owned()]));
        assert_eq!(names(&["b/", "two", "one"]), Ok(vec!["b/two".to_owned(), "a/one".to_owned()]));
        assert!(names(&["a/", "three"]).is_err_and(|why| why.starts_with("`three`: no case")));
        assert!(names(&["none/there.cu"]).is_err());
    }

    #[test]
    fn other_files_are_no_cases() {
        assert_eq!(
            (FILES.text("a/one.report"), FILES.case("a/one"), FILES.case("a/one.report")),
            (Some("r"), Some("1"), None)
        );
        assert_eq!(FILES.cases().count(), 2);
    }
}
