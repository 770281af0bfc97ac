//! Who wants to know what a fault is about matches on its kind, or asks its code's class; nobody reads it from the words that were made
//! of it. This looks through the code of those who take faults for comparisons of such words with a text.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use fusion_machine::report::Code;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Folders of the workspace whose code takes faults. `lessons` has a folder for each.
const CONSUMERS: [&str; 11] = [
    "crates/driver/src",
    "crates/cudart/src",
    "crates/grader/src",
    "crates/device/src",
    "crates/ui/src",
    "crates/lesson/src",
    "crates/conformance/src",
    "crates/fuzz/src",
    "crates/baseline/src",
    "lessons",
    "xtask/src",
];

/// What the words of a fault are called.
const WORDS: [&str; 12] =
    ["code", "codes", "title", "note", "notes", "help", "helps", "label", "labels", "message", "messages", "meaning"];

/// Methods that look into a text.
const METHODS: [&str; 8] =
    ["contains", "starts_with", "ends_with", "strip_prefix", "strip_suffix", "find", "split_once", "eq"];

/// What is no fault's, though it is called so: the file, the comparison, and whose words they are.
const OTHERS: [(&str, &str, &str); 16] = [
    ("crates/device/src/compiler/compiled.rs", r#"code.split_once(".entry ")"#, "a line of PTX"),
    ("crates/fuzz/src/finding.rs", r#"message.contains("scoped thread panicked")"#, "a panic's"),
    (COMPILER, r#"message.strip_prefix("identifier \"")"#, NO_CODES),
    (COMPILER, r#"message == "expression must be a modifiable lvalue""#, NO_CODES),
    (COMPILER, r#"message.message.starts_with("expression must have integral")"#, NO_CODES),
    (COMPILER, r#"message.starts_with("A namespace scope variable without memory space annotations")"#, NO_CODES),
    (COMPILER, r#"message.starts_with("A function without execution space annotations")"#, NO_CODES),
    (COMPILER, r#"message.strip_prefix("namespace \"std\" has no member ")"#, NO_CODES),
    ("crates/grader/src/explain/compiler/usual.rs", r#"note.strip_prefix("argument types are: ")"#, NO_CODES),
    ("crates/grader/src/session.rs", r#"panicked.message.contains("CUDA_ERROR_NOT_FOUND")"#, "a panic's"),
    (RUSTC, r#"self.message.starts_with("aborting due to")"#, RUSTCS),
    (RUSTC, r#"message.contains("utf-8 file")"#, RUSTCS),
    (RUSTC, r#"message.contains("valid UTF-8")"#, RUSTCS),
    (RUSTC, r#"message.starts_with("couldn't read")"#, RUSTCS),
    (RUSTC, r#"child.message.contains("..")"#, RUSTCS),
    (RUSTC, r#"child.message.contains("found fn item")"#, RUSTCS),
];
const COMPILER: &str = "crates/grader/src/explain/compiler.rs";
const RUSTC: &str = "xtask/src/build/rustc.rs";
const RUSTCS: &str = "rustc's, and without a code";
const NO_CODES: &str = "NVRTC's errors have no codes";

/// The comparisons of a fault's words with a text, as they are written, but for tests.
fn comparisons(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    search(source.parse().unwrap(), &mut found);
    found
}

fn search(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' && is_test(tokens.get(i + 1)) => {
                // The item that it is for ends with its body, or with a semicolon.
                let ends = |token: &TokenTree| match token {
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    token => token.to_string() == ";",
                };
                i += tokens[i..].iter().position(ends).unwrap_or(tokens.len());
            }
            TokenTree::Punct(punct) if punct.as_char() == '.' => {
                if let (Some(TokenTree::Ident(method)), Some(TokenTree::Group(arguments))) =
                    (tokens.get(i + 1), tokens.get(i + 2))
                    && METHODS.contains(&method.to_string().as_str())
                    && let Some(text) = arguments.stream().into_iter().find_map(|token| text(&token))
                    && are_words(&tokens[..i])
                {
                    found.push(format!("{}.{method}({text})", written(&tokens[..i])));
                }
            }
            // `==` and `!=`.
            TokenTree::Punct(punct) if punct.as_char() == '=' => {
                let operator = i.checked_sub(1).and_then(|before| tokens.get(before));
                let compares = operator.is_some_and(|token| ["=", "!"].contains(&token.to_string().as_str()));
                if let Some(text) = tokens.get(i + 1).and_then(text)
                    && compares
                    && are_words(&tokens[..i - 1])
                {
                    found.push(format!("{} {}= {text}", written(&tokens[..i - 1]), tokens[i - 1]));
                }
            }
            TokenTree::Group(group) => search(group.stream(), found),
            TokenTree::Literal(literal) if is_code(&literal.to_string()) => found.push(literal.to_string()),
            _ => {}
        }
        i += 1;
    }
}

/// `[cfg(test)]`
fn is_test(attribute: Option<&TokenTree>) -> bool {
    attribute.is_some_and(|attribute| attribute.to_string().replace(' ', "") == "[cfg(test)]")
}

/// A literal of text. A single character is asked for when the form matters, such as the end of a line.
fn text(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    Some(literal.to_string()).filter(|text| text.starts_with(['"', 'r']))
}

/// `"E-RACE-SHARED"`: a code by its name, where there is a variant for it.
fn is_code(literal: &str) -> bool {
    let name = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    Code::ALL.iter().any(|code| code.as_str() == name)
}

/// The names in the expression that ends here: `fault.notes[0].as_str()` has three.
fn names(before: &[TokenTree]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = before;
    loop {
        // Calls, indices, and `?`.
        while let [head @ .., last] = rest
            && match last {
                TokenTree::Group(group) => group.delimiter() != Delimiter::Brace,
                token => token.to_string() == "?",
            }
        {
            rest = head;
        }
        let [head @ .., TokenTree::Ident(name)] = rest else { return names };
        names.push(name.to_string());
        rest = match head {
            [head @ .., TokenTree::Punct(dot)] if dot.as_char() == '.' => head,
            [head @ .., TokenTree::Punct(_), TokenTree::Punct(colon)] if colon.as_char() == ':' => head,
            _ => return names,
        };
    }
}

fn are_words(before: &[TokenTree]) -> bool {
    names(before).iter().any(|name| WORDS.contains(&name.as_str()))
}

fn written(before: &[TokenTree]) -> String {
    let mut names = names(before);
    names.reverse();
    names.join(".")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        // Modules of tests have files of their own.
        if path.is_dir() {
            if name != "tests" && name != "target" {
                files(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

#[test]
fn no_consumer_reads_what_a_fault_is_from_its_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut problems = Vec::new();
    let mut others = OTHERS.to_vec();
    for folder in CONSUMERS {
        let mut sources = Vec::new();
        files(&root.join(folder), &mut sources);
        assert!(!sources.is_empty(), "{folder}");
        for path in sources {
            let file = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            for comparison in comparisons(&fs::read_to_string(&path).unwrap()) {
                match others.iter().position(|(other, text, _)| (*other, *text) == (file.as_str(), comparison.as_str()))
                {
                    Some(known) => drop(others.remove(known)),
                    None => problems.push(format!("{file}: {comparison}")),
                }
            }
        }
    }
    assert!(problems.is_empty(), "match on the kind, the code or its class instead of\n{}", problems.join("\n"));
    assert!(others.is_empty(), "no longer there: {others:?}");
}

#[test]
fn such_comparisons_are_found() {
    let found = |body: &str| comparisons(&format!("fn f() {{ {body} }}"));
    for (wrong, name) in [
        ("process.notes.iter().any(|note| note.contains(\"cuGetExportTable\"))", "note.contains(\"cuGetExportTable\")"),
        ("if fault.title.ends_with(\"was never written\") {}", "fault.title.ends_with(\"was never written\")"),
        ("a && say(fault)?.help[0].text.starts_with(\"x\")", "say.help.text.starts_with(\"x\")"),
        ("let b = a || diagnostic.code == \"X\";", "diagnostic.code == \"X\""),
        ("fault.code().as_str() != \"X\"", "fault.code.as_str != \"X\""),
        ("match name { \"E-NULL\" => 1, _ => 0 }", "\"E-NULL\""),
        ("vec![message.find(\"y\")]", "message.find(\"y\")"),
    ] {
        assert_eq!(found(wrong), [name], "{wrong}");
    }
    for right in [
        "fault.code() == Code::Null",
        "matches!(fault.kind, Kind::Race { .. })",
        "name.contains(\"_Z\") && path == \"a\"",
        "let note = text == \"a\";",
        "codes.contains(&code)",
        "note = \"a\"",
        "line.strip_prefix(\"E-NULLS\")",
    ] {
        assert_eq!(found(right), [""; 0], "{right}");
    }
    let test = "#[cfg(test)] mod tests { fn f() { assert!(note.contains(\"x\")) } } fn g() { title.eq(\"y\") }";
    assert_eq!(comparisons(test), ["title.eq(\"y\")"]);
}
