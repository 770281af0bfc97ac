//! The interpreter, `src/exec`, lies in layers, and a lower one names no upper one: neither in a `use`, nor in a path, nor by
//! giving a method to a type that is not its own.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The lowest first. A layer is a file of `src/exec` with the folder beside it.
const LAYERS: [&str; 8] = ["state", "fault", "check", "context", "memory", "sync", "step", "grid"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// Of `exec/check/race/row.rs`: `exec`, `check`, `race`, `row`.
fn module(file: &Path) -> Vec<String> {
    file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect()
}

/// The paths in the code of a module; of `use a::{b, c::d}` there are two.
fn paths(tokens: TokenStream, prefix: &[String], found: &mut BTreeSet<Vec<String>>) {
    let mut path = prefix.to_vec();
    let mut colons = 0;
    for token in tokens {
        let goes_on = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ':',
            TokenTree::Ident(_) => colons == 2,
            TokenTree::Group(group) => colons == 2 && group.delimiter() == Delimiter::Brace,
            TokenTree::Literal(_) => false,
        };
        if !goes_on && path.len() > prefix.len() {
            found.insert(std::mem::replace(&mut path, prefix.to_vec()));
        }
        colons = match &token {
            TokenTree::Punct(_) if goes_on => colons + 1,
            _ => 0,
        };
        match token {
            TokenTree::Ident(name) => path.push(name.to_string()),
            TokenTree::Group(group) => {
                paths(group.stream(), if goes_on { &path } else { &[] }, found);
                path = prefix.to_vec();
            }
            _ => {}
        }
    }
    if path.len() > prefix.len() {
        found.insert(path);
    }
}

/// A path from the crate's root on, if it is one within the crate.
fn absolute(path: &[String], here: &[String]) -> Option<Vec<String>> {
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([here, &path[1..]].concat()),
        "super" => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            Some([here.get(..here.len().checked_sub(ups)?)?, &path[ups..]].concat())
        }
        _ => None,
    }
}

/// What the code of a module of `exec` names of `exec`, each path without that.
fn named(source: &str, here: &[String]) -> Vec<Vec<String>> {
    let mut found = BTreeSet::new();
    paths(source.parse().unwrap(), &[], &mut found);
    let inside = found.iter().filter_map(|path| absolute(path, here));
    inside.filter(|path| path.len() > 1 && path[0] == "exec").map(|path| path[1..].to_vec()).collect()
}

/// The types to which methods of their own are given, `impl T`, not those of a trait.
fn extended(tokens: TokenStream, found: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(name) if name == "impl" => {
                let head: Vec<TokenTree> = std::iter::from_fn(|| {
                    tokens.next_if(
                        |next| !matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace),
                    )
                })
                .collect();
                // Outside of the angle brackets; a lifetime there is no type.
                let mut depth = 0;
                let mut names = Vec::new();
                for token in head {
                    match token {
                        TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                        TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
                        TokenTree::Ident(name) if depth == 0 => names.push(name.to_string()),
                        _ => {}
                    }
                }
                if let [only] = names.as_slice() {
                    found.push(only.clone());
                }
            }
            TokenTree::Group(group) => extended(group.stream(), found),
            _ => {}
        }
    }
}

/// What is wrong in a module.
fn wrong(source: &str, here: &[String]) -> Vec<String> {
    let own = LAYERS.iter().position(|layer| *layer == here[1]).unwrap();
    let mut wrong = Vec::new();
    let mut foreign = BTreeMap::new();
    for path in named(source, here) {
        let Some(layer) = LAYERS.iter().position(|layer| *layer == path[0]) else {
            wrong.push(format!("{} names exec::{}, which is no layer", here.join("::"), path.join("::")));
            continue;
        };
        if layer > own {
            wrong.push(format!("{} names exec::{} of a layer above", here.join("::"), path.join("::")));
        }
        if layer != own {
            foreign.extend(path.last().map(|name| (name.clone(), path[0].clone())));
        }
    }
    let mut types = Vec::new();
    extended(source.parse().unwrap(), &mut types);
    for name in types {
        if let Some(layer) = foreign.get(&name) {
            wrong.push(format!("{} gives methods to {name}, which is of {layer}", here.join("::")));
        }
    }
    wrong
}

#[test]
fn no_layer_names_one_above() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&root.join("exec"), &mut found);
    assert!(found.len() > 40);
    let mut said = Vec::new();
    for file in found {
        let here = module(file.strip_prefix(&root).unwrap());
        match LAYERS.contains(&here[1].as_str()) {
            true => said.extend(wrong(&fs::read_to_string(&file).unwrap(), &here)),
            false => said.push(format!("{} is in no layer", here.join("::"))),
        }
    }
    assert!(said.is_empty(), "\n{}", said.join("\n"));
}

#[test]
fn what_is_looked_for_is_found() {
    let here = module(Path::new("exec/check/race/row.rs"));
    let says = |source: &str| wrong(source, &here).len();
    assert_eq!(
        says("use crate::exec::state::{lanes::each, run::Run}; use super::line::Line; use super::super::Watch;"),
        0
    );
    assert_eq!(says("use crate::exec::{state::run::Run, memory::{global, shared::Shape}};"), 2);
    assert_eq!(says("fn f() { g(crate::exec::step::builtin::NAMES) }"), 1);
    assert_eq!(says("use super::super::super::grid::block;"), 1);
    assert_eq!(says("use crate::exec::Run;"), 1);
    assert_eq!(says("use crate::exec::state::run::Run; impl Run<'_> { fn f() {} }"), 1);
    assert_eq!(says("use crate::exec::state::run::Run; impl Default for Own { fn f(_: Run) {} } impl Own<Run> {}"), 0);
}
