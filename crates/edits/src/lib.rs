//! Wrong kernels as edits of a right one.
//!
//! An exercise has one file of them, in TOML:
//!
//! ```toml
//! [one_past_the_end]
//! mistake = "The guard says `<=` where it must say `<`."
//! refused = "fault E-OOB-GLOBAL"
//! cu = [{ find = "i < n;", replace = "i <= n;" }]
//! ```
//!
//! Each `find` must be in the right text exactly once. An edit that no longer applies would otherwise be a mistake that is no
//! longer made.
#![cfg_attr(test, allow(clippy::unwrap_used))]

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// A wrong kernel: what it does wrong, and what the grader must say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    /// What is wrong, in a sentence.
    pub mistake: String,
    /// The failure that it must be refused for, as the grader names it: `values`, or `fault E-OOB-GLOBAL`.
    #[serde(default)]
    pub refused: Option<String>,
    /// Or the code of the warning with which it passes: `W-RACE-BENIGN`.
    #[serde(default)]
    pub warned: Option<String>,
    /// Edits of the kernel.
    #[serde(default)]
    pub cu: Vec<Edit>,
    /// Edits of the launch.
    #[serde(default)]
    pub rs: Vec<Edit>,
}

impl Mistake {
    /// What the grader must say: the failure, or `warning` and its code; none where the entry does not say which.
    pub fn verdict(&self) -> Option<String> {
        match (&self.refused, &self.warned) {
            (Some(failure), None) => Some(failure.clone()),
            (None, Some(code)) => Some(format!("warning {code}")),
            _ => None,
        }
    }
}

/// One change of a text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub find: String,
    pub replace: String,
}

/// Reads a file of mistakes, by name.
///
/// # Errors
/// It is no TOML, or holds something else.
pub fn read(text: &str) -> Result<BTreeMap<String, Mistake>, toml::de::Error> {
    toml::from_str(text)
}

/// The text with all edits made. All of them are looked for in the text as it was.
///
/// # Errors
/// One of them does not apply at exactly one place, or changes what another one changes.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, Stale> {
    let mut places = edits.iter().map(|edit| Ok((place(text, edit)?, edit))).collect::<Result<Vec<_>, Stale>>()?;
    places.sort_by_key(|(at, _)| *at);
    let (mut edited, mut end) = (String::new(), 0);
    for (at, edit) in places {
        let kept = text.get(end..at).ok_or_else(|| Stale::Overlaps { find: edit.find.clone() })?;
        edited.push_str(kept);
        edited.push_str(&edit.replace);
        end = at + edit.find.len();
    }
    Ok(edited + text.get(end..).unwrap_or_default())
}

fn place(text: &str, edit: &Edit) -> Result<usize, Stale> {
    let find = edit.find.clone();
    if edit.find == edit.replace || edit.find.is_empty() {
        return Err(Stale::ChangesNothing { find });
    }
    let places: Vec<usize> = text.match_indices(&edit.find).map(|(at, _)| at).collect();
    match places[..] {
        [at] => Ok(at),
        _ => Err(Stale::Times { find, times: places.len() }),
    }
}

/// Why an edit cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stale {
    /// It is in the text so many times, which is not once.
    Times {
        find: String,
        times: usize,
    },
    Overlaps {
        find: String,
    },
    ChangesNothing {
        find: String,
    },
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stale::Times { find, times: 0 } => write!(f, "`{find}` is not there"),
            Stale::Times { find, times } => write!(f, "`{find}` is there {times} times, and must be there once"),
            Stale::Overlaps { find } => write!(f, "`{find}` overlaps another edit"),
            Stale::ChangesNothing { find } => write!(f, "replacing `{find}` changes nothing"),
        }
    }
}

impl std::error::Error for Stale {}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(find: &str, replace: &str) -> Edit {
        Edit { find: find.to_owned(), replace: replace.to_owned() }
    }

    #[test]
    fn edits_are_made_in_the_text_as_it_was() {
        let swapped = apply("q * k + v", &[edit("v", "k"), edit("k", "v")]).unwrap();
        assert_eq!(swapped, "q * v + k");
        assert_eq!(apply("unchanged", &[]).unwrap(), "unchanged");
    }

    #[test]
    fn an_edit_applies_at_one_place() {
        let error = |edits: &[Edit]| apply("a + b + a", edits).unwrap_err().to_string();
        assert_eq!(error(&[edit("c", "d")]), "`c` is not there");
        assert_eq!(error(&[edit("a", "d")]), "`a` is there 2 times, and must be there once");
        assert_eq!(error(&[edit("a + b", "d"), edit("b + a", "d")]), "`b + a` overlaps another edit");
        assert_eq!(error(&[edit("b", "b")]), "replacing `b` changes nothing");
    }

    #[test]
    fn a_file_names_its_mistakes() {
        let text = r#"
            [one_past_the_end]
            mistake = "The guard says `<=`."
            refused = "fault E-OOB-GLOBAL"
            cu = [{ find = "i < n", replace = "i <= n" }]
        "#;
        let mistakes = read(text).unwrap();
        let mistake = &mistakes["one_past_the_end"];
        assert_eq!((mistake.verdict().as_deref(), mistake.rs.len()), (Some("fault E-OOB-GLOBAL"), 0));
        assert_eq!(mistake.cu, [edit("i < n", "i <= n")]);
        for (says, verdict) in
            [("warned = 'W-A'", Some("warning W-A")), ("", None), ("refused = 'a'\nwarned = 'b'", None)]
        {
            let read = read(&format!("[a]\nmistake = ''\n{says}")).unwrap();
            assert_eq!(read["a"].verdict().as_deref(), verdict);
        }
        for bad in ["[a]\nmistake = ''\nrefused = ''\nrust = []", "a = 1"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
