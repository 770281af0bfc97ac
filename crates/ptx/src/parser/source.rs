//! Where the program came from: `.file`, `.loc` and the `.section`s of debugging data (PTX ISA 11.5).

use super::{Parser, Result};
use crate::Diagnostic;
use crate::ast::{FileId, LocId, Location, SourceFile};
use crate::lexer::TokenKind;
use std::collections::HashMap;

/// Where the name of a function stands: at a label of `.debug_str`, plus an offset.
type Name<'a> = (&'a str, i64);

/// The `.loc` positions seen so far, and the strings that name inlined functions.
#[derive(Debug, Default)]
pub(super) struct Locations<'a> {
    /// Every distinct position, with the label of its function's name.
    known: HashMap<(Location, Option<Name<'a>>), LocId>,
    /// The latest position at each file, line and column of the current function: what `inlined_at` refers to.
    latest: HashMap<(FileId, u32, u32), LocId>,
    /// Positions whose function name stands in `.debug_str`, which usually comes last.
    unnamed: Vec<(LocId, Name<'a>)>,
    files: HashMap<u32, FileId>,
    strings: Vec<u8>,
    labels: HashMap<&'a str, usize>,
}

impl<'a> Locations<'a> {
    pub(super) fn enter_function(&mut self) {
        self.latest.clear();
    }
}

impl<'a> Parser<'a> {
    /// `.file 1 "path" {, timestamp, size}`
    pub(super) fn file(&mut self) -> Result<()> {
        let number = self.small()?;
        if self.peek().kind != TokenKind::Text {
            return Err(self.unexpected("the path of the file in quotes"));
        }
        let path = self.peek_text().trim_matches('"').to_string();
        self.bump();
        while self.eat(b',') {
            self.constant()?;
        }
        let id = self.file_id(number);
        self.module.files[id.index()].path = path;
        Ok(())
    }

    /// A file's entry, which comes into being when a `.loc` names it before its `.file` does.
    fn file_id(&mut self, number: u32) -> FileId {
        let files = &mut self.module.files;
        *self.locations.files.entry(number).or_insert_with(|| {
            files.push(SourceFile { number, path: String::new() });
            FileId(files.len() as u32 - 1)
        })
    }

    /// `.loc file line column {, function_name label {+ offset}, inlined_at file line column}`
    pub(super) fn loc(&mut self) -> Result<LocId> {
        let (file, line, column) = self.source_position()?;
        let (mut label, mut inlined_at) = (None, None);
        while self.eat(b',') {
            match self.name("`function_name` or `inlined_at`")? {
                ("function_name", _) => {
                    let (name, _) = self.name("a label")?;
                    label = Some((name, self.offset()?));
                }
                ("inlined_at", _) => {
                    let (file, line, column) = self.source_position()?;
                    inlined_at = Some(match self.locations.latest.get(&(file, line, column)) {
                        Some(id) => *id,
                        None => self.intern(Location { file, line, column, inlined_at: None, function: None }, None),
                    });
                }
                (_, span) => return Err(Diagnostic::error(span, "expected `function_name` or `inlined_at`")),
            }
        }
        let id = self.intern(Location { file, line, column, inlined_at, function: None }, label);
        self.locations.latest.insert((file, line, column), id);
        Ok(id)
    }

    fn source_position(&mut self) -> Result<(FileId, u32, u32)> {
        let file = self.small()?;
        Ok((self.file_id(file), self.small()?, self.small()?))
    }

    fn intern(&mut self, location: Location, label: Option<Name<'a>>) -> LocId {
        let Locations { known, unnamed, .. } = &mut self.locations;
        let locations = &mut self.module.locations;
        *known.entry((location, label)).or_insert_with_key(|(location, label)| {
            let id = LocId(locations.len() as u32);
            locations.push(location.clone());
            unnamed.extend(label.map(|label| (id, label)));
            id
        })
    }

    /// `.section name { ... }`. Of all sections only the strings matter.
    pub(super) fn section(&mut self) -> Result<()> {
        let is_strings = self.peek_text() == ".debug_str";
        if self.take_dot().is_none() {
            self.name("the name of the section")?;
        }
        if !self.is(b'{') {
            return Err(self.unexpected("`{`"));
        }
        if is_strings {
            self.debug_strings()
        } else {
            self.skip_braces()
        }
        Ok(())
    }

    /// Labels and lists of bytes. What is neither cannot be a name, and is skipped.
    fn debug_strings(&mut self) {
        self.bump();
        while !self.is_end() && !self.eat(b'}') {
            let token = self.bump();
            match token.kind {
                TokenKind::Ident if self.is(b':') => {
                    let at = self.locations.strings.len();
                    self.locations.labels.insert(self.slice(token.span), at);
                }
                TokenKind::Number => {
                    self.locations.strings.push(self.slice(token.span).parse().unwrap_or(b'?'));
                }
                _ => {}
            }
        }
    }

    /// Fills in the names of the inlined functions.
    pub(super) fn name_locations(&mut self) {
        let Locations { unnamed, strings, labels, .. } = &self.locations;
        for (id, (label, offset)) in unnamed {
            let start = labels.get(label).and_then(|&at| at.checked_add_signed(*offset as isize));
            if let Some(bytes) = start.and_then(|start| strings.get(start..)) {
                let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
                self.module.locations[id.index()].function = Some(String::from_utf8_lossy(name).into_owned());
            }
        }
    }
}
