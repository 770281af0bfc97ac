//! Counts with their nouns.

/// `1 block`, `2 blocks`, `3 launches`, `4 copies`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {}", noun(count, what))
}

/// A noun as it stands after a count.
pub fn noun(count: u64, what: &str) -> String {
    let sibilant = ["s", "x", "ch", "sh"].iter().any(|end| what.ends_with(end));
    match what.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        _ if count == 1 => what.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if sibilant => format!("{what}es"),
        None => format!("{what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        for (count, what, text) in [
            (1, "block", "1 block"),
            (0, "block", "0 blocks"),
            (2, "launch", "2 launches"),
            (3, "copy", "3 copies"),
            (3, "way", "3 ways"),
            (1, "copy", "1 copy"),
        ] {
            assert_eq!(counted(count, what), text);
        }
    }
}
