//! What goes wrong is data here; sentences are made in `crates/diagnostic`, and what the host's API is called is known there
//! and in `crates/driver`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Where words are meant: names of products and of limits, and what the compiler of PTX says of a module's text, as the
/// front end does.
const WORDS: [&str; 4] = ["profile.rs", "occupancy.rs", "lower", "machine/loaded.rs"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// The string literals of the code, but for attributes, doc comments (which are attributes), tests, and what only a developer
/// reads.
fn literals(tokens: TokenStream, found: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next_if(|next| next.to_string() == "!");
                let attribute = tokens.next().map(|attribute| attribute.to_string()).unwrap_or_default();
                if attribute.replace(' ', "") == "[cfg(test)]" {
                    // The item that it is for ends with its body, or with a semicolon.
                    let ends = |token: &TokenTree| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        token => token.to_string() == ";",
                    };
                    tokens.by_ref().find(ends);
                }
            }
            TokenTree::Ident(name) if name.to_string().starts_with("debug_assert") => {
                tokens.next();
                tokens.next();
            }
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => found.extend(literal.to_string().strip_prefix('"').map(str::to_owned)),
            _ => {}
        }
    }
}

/// Two words side by side, outside of a format's placeholders.
fn is_sentence(literal: &str) -> bool {
    let words: Vec<&str> = literal.split_whitespace().collect();
    let is_word = |word: &str| word.chars().filter(char::is_ascii_alphabetic).count() > 1 && !word.starts_with('{');
    words.windows(2).any(|pair| pair.iter().all(|word| is_word(word)))
}

/// Functions of the device's own runtime: PTX calls them by these names.
const SYMBOLS: [&str; 1] = ["cudaCGGetIntrinsicHandle"];

fn names_the_host(literal: &str) -> bool {
    !SYMBOLS.contains(&literal.trim_end_matches('"'))
        && ["cuda", "cu_", "__sync"].iter().any(|name| literal.to_lowercase().contains(name))
}

#[test]
fn the_machine_says_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    assert!(paths.len() > 50);
    let mut said = Vec::new();
    for path in paths {
        let name = path.strip_prefix(&root).unwrap();
        let is_test =
            name.components().any(|part| ["tests", "tests.rs"].iter().any(|tests| part.as_os_str() == *tests));
        if is_test || WORDS.iter().any(|words| name.starts_with(words) || name == Path::new(&format!("{words}.rs"))) {
            continue;
        }
        let mut found = Vec::new();
        literals(fs::read_to_string(&path).unwrap().parse().unwrap(), &mut found);
        let wrong = found.into_iter().filter(|literal| is_sentence(literal) || names_the_host(literal));
        said.extend(wrong.map(|literal| format!("{}: {literal}", name.display())));
    }
    assert!(said.is_empty(), "sentences belong into crates/diagnostic/src/say:\n{}", said.join("\n"));
}

#[test]
fn what_is_looked_for_is_found() {
    let source = r#"
        /// A doc comment says what it likes.
        #[expect(unused, reason = "so do attributes")]
        fn f(x: u32) -> String { debug_assert!(x > 0, "and developers"); format!("this is {x} of them") }
        #[cfg(test)]
        mod tests { const T: &str = "tests may say it"; }
        const HOST: &str = "cudaMalloc"; const CODE: &str = "E-NULL";
    "#;
    let mut found = Vec::new();
    literals(source.parse().unwrap(), &mut found);
    assert_eq!(found, ["this is {x} of them\"", "cudaMalloc\"", "E-NULL\""]);
    assert!(is_sentence(&found[0]) && names_the_host(&found[1]));
    assert!(!is_sentence(&found[2]) && !names_the_host(&found[2]));
}
