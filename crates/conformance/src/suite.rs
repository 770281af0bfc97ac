//! Where cases come from: the files that the program carries, or files on disk.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::fs;
use std::path::Path;

/// Name (`group/form`) and text of every file of the suite, sorted by name.
pub fn embedded() -> &'static [(&'static str, &'static str)] {
    include!(concat!(env!("OUT_DIR"), "/suite.rs"))
}

/// The cases that the words ask for: a `.ptx` file on disk stands for itself, any other word for the embedded files
/// whose names contain it. No words ask for everything.
///
/// # Errors
/// The first word that stands for nothing.
pub fn find(words: &[String]) -> Result<Vec<(String, Cow<'static, str>)>, NothingFound> {
    let carried = |&(name, text): &(&'static str, &'static str)| (name.to_owned(), Cow::Borrowed(text));
    if words.is_empty() {
        return Ok(embedded().iter().map(carried).collect());
    }
    let mut found = Vec::new();
    for word in words {
        if word.ends_with(".ptx") && Path::new(word).is_file() {
            let text = fs::read_to_string(word)
                .map_err(|error| NothingFound { word: word.clone(), why: format!("it cannot be read: {error}") })?;
            found.push((word.clone(), Cow::Owned(text)));
            continue;
        }
        let before = found.len();
        found.extend(embedded().iter().filter(|(name, _)| name.contains(word.as_str())).map(carried));
        if found.len() == before {
            let why = "no file of the suite has it in its name; --list shows them all".to_owned();
            return Err(NothingFound { word: word.clone(), why });
        }
    }
    Ok(found)
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
