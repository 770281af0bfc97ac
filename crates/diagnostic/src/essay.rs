//! An essay on every code: what it means, what a real GPU does, a wrong kernel and a right one.
//!
//! They are Markdown files, which the book includes. In the terminal they are plain text.

mod markdown;

use fusion_machine::report::CODES;

use crate::Look;
use crate::wrap::wrap;

/// Columns that text is set in at most. Longer lines are hard to read.
const WIDEST: usize = 80;

/// Classes of codes, in the order of [`CODES`], each with the code that begins it.
const CLASSES: [(&str, &str); 9] = [
    ("Memory", "E-OOB-GLOBAL"),
    ("Initialisation", "E-UNINIT-GLOBAL"),
    ("Races", "E-RACE-SHARED"),
    ("Synchronisation", "E-BARRIER-DIVERGENT"),
    ("Kernels that stop themselves", "E-TRAP"),
    ("Launches and calls", "E-LAUNCH-GRID"),
    ("Not your mistake", "E-UNSUPPORTED-INSTRUCTION"),
    ("Arithmetic", "L-INDEX-OVERFLOW"),
    ("Speed", "P-UNCOALESCED"),
];

/// The essay on a code, in Markdown.
pub fn of(code: &str) -> Option<&'static str> {
    ESSAYS.iter().find(|(known, _)| *known == code).map(|(_, essay)| *essay)
}

/// The codes that have essays.
pub fn codes() -> impl Iterator<Item = &'static str> {
    ESSAYS.iter().map(|(code, _)| *code)
}

/// The code that somebody means by `e-null`, `E_NULL` or `null`.
///
/// # Errors
/// The codes that are most like it.
pub fn find(asked: &str) -> Result<&'static str, Vec<&'static str>> {
    let asked = asked.trim().to_uppercase().replace(['_', ' '], "-");
    let bare = |code: &'static str| code.split_once('-').map_or(code, |(_, bare)| bare);
    if let Some(code) = codes().find(|&code| code == asked).or_else(|| codes().find(|&code| bare(code) == asked)) {
        return Ok(code);
    }
    // `race` is the beginning, or the middle, of several.
    let mut like: Vec<&str> = codes().filter(|code| !asked.is_empty() && code.contains(&asked)).collect();
    if like.is_empty() {
        let distance = |code: &&'static str| {
            let whole = strsim::damerau_levenshtein(&asked, code);
            whole.min(strsim::damerau_levenshtein(&asked, bare(code)))
        };
        like = codes().collect();
        like.sort_by_key(distance);
        like.truncate(3);
    }
    Err(like)
}

/// The essay on a code as plain text for a terminal, within 80 columns.
pub fn text(code: &str, look: Look) -> Option<String> {
    of(code).map(|essay| markdown::plain(essay, look.columns().min(WIDEST), look.color))
}

/// All codes with what they mean, by class.
pub fn index(look: Look) -> String {
    let columns = look.columns().min(WIDEST);
    let longest = CODES.iter().map(|(code, _)| code.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (code, meaning) in CODES {
        if let Some((class, _)) = CLASSES.iter().find(|(_, first)| first == code) {
            text += if text.is_empty() { "" } else { "\n" };
            text += &format!("{class}\n");
        }
        let indent = longest + 4;
        let meaning = match columns.saturating_sub(indent) {
            room if room >= 24 => wrap(meaning, room).replace('\n', &format!("\n{}", " ".repeat(indent))),
            // Too narrow for two columns.
            _ => format!("\n    {}", wrap(meaning, columns - 4).replace('\n', "\n    ")),
        };
        text += &format!("  {code:longest$}  {meaning}\n");
    }
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

macro_rules! essays {
    ($($code:literal)*) => {
        &[$(($code, include_str!(concat!("../essays/", $code, ".md")))),*]
    };
}

const ESSAYS: &[(&str, &str)] = essays! {
    "E-OOB-GLOBAL"
    "E-OOB-SHARED"
    "E-OOB-LOCAL"
    "E-OOB-CONST"
    "E-OOB-PARAM"
    "E-NULL"
    "E-HOST-POINTER"
    "E-UNMAPPED"
    "E-USE-AFTER-FREE"
    "E-MISALIGNED"
    "E-WRITE-READONLY"
    "E-UNINIT-GLOBAL"
    "E-UNINIT-SHARED"
    "E-UNINIT-LOCAL"
    "E-UNINIT-REGISTER"
    "W-COPY-UNINIT"
    "E-RACE-SHARED"
    "E-RACE-GLOBAL"
    "E-RACE-BLOCKS"
    "E-RACE-SCOPE"
    "E-RACE-ASYNC"
    "E-RACE-STREAMS"
    "E-RACE-HOST"
    "W-RACE-BENIGN"
    "E-BARRIER-DIVERGENT"
    "E-BARRIER-MISMATCH"
    "E-BARRIER-ID"
    "E-BARRIER-COUNT"
    "E-SYNC-MASK"
    "E-DEADLOCK"
    "E-COOPERATIVE"
    "E-BUDGET"
    "E-TRAP"
    "E-ASSERT"
    "E-STACK"
    "E-CALL"
    "E-LAUNCH-GRID"
    "E-LAUNCH-BLOCK"
    "E-LAUNCH-SHARED"
    "E-LAUNCH-LOCAL"
    "E-LAUNCH-PARAMS"
    "E-LAUNCH-KERNEL"
    "E-LAUNCH-MEMORY"
    "E-COPY"
    "E-FREE"
    "E-MODULE"
    "E-OUT-OF-MEMORY"
    "E-UNSUPPORTED-INSTRUCTION"
    "L-INDEX-OVERFLOW"
    "L-SHIFT"
    "L-FLOAT-TO-INT"
    "L-DIVIDE-BY-ZERO"
    "P-UNCOALESCED"
    "P-BANK-CONFLICT"
    "P-SCALAR-ACCESS"
    "P-LOCAL-MEMORY"
    "P-DIVERGENT"
    "P-ROUND-TRIP"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for asked in ["E-RACE-SHARED", "e-race-shared", "race-shared", "RACE_SHARED", " race shared "] {
            assert_eq!(find(asked), Ok("E-RACE-SHARED"), "{asked}");
        }
        assert_eq!(find("divergent"), Ok("P-DIVERGENT"));
    }

    #[test]
    fn an_unknown_code_is_answered_with_those_like_it() {
        assert_eq!(find("E-MISALINGED").unwrap_err()[0], "E-MISALIGNED");
        assert!(find("race").unwrap_err().contains(&"E-RACE-SHARED"));
        assert!(!find("").unwrap_err().is_empty());
    }

    #[test]
    fn every_class_begins_with_a_code() {
        for (class, first) in CLASSES {
            assert!(CODES.iter().any(|(code, _)| *code == first), "{class}: {first}");
        }
        let index = index(Look::default());
        assert!(index.lines().all(|line| line.len() <= WIDEST), "{index}");
        assert!(index.starts_with("Memory\n  E-OOB-GLOBAL"), "{index}");
    }
}
