//! Several translation units to one, as a linker makes it of them (PTX ISA 11.6, linking directives).
//!
//! The result is text again, so that whoever loads it needs to know nothing of linking. Names that a unit keeps to itself
//! are renamed where another unit has them too; `.file` numbers are counted on; of debugging data only the names of
//! inlined functions are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::ast::Linkage;
use crate::lexer::{Token, TokenKind, lex};

/// A translation unit, and what to call it in messages.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// Merges units into one text. Of a single one it is that unit's own, unchanged.
///
/// Which errors a unit has by itself is for [`parse`](crate::parse) to say: what cannot be understood is carried along.
///
/// # Errors
/// A sentence for every symbol that two units define, or that one uses as another kind of thing than it is.
pub fn link(units: &[Unit<'_>]) -> Result<String, Vec<String>> {
    if let [unit] = units {
        return Ok(unit.text.to_owned());
    }
    let read: Vec<Read<'_>> = units.iter().map(|unit| Read::new(unit.text)).collect();
    let owners = owners(units, &read)?;
    let version = read.iter().map(|unit| unit.version).max().unwrap_or_default();
    let target = read.iter().max_by_key(|unit| unit.sm).map_or("", |unit| unit.target);
    let size = read.iter().map(|unit| unit.address_size).find(|size| !size.is_empty()).unwrap_or("64");
    let mut text = format!(".version {}.{}\n.target {target}\n.address_size {size}\n", version.0, version.1);
    // Variables first, then declarations, then bodies: a name stands before it is used.
    let mut parts = [String::new(), String::new(), String::new()];
    let mut declared = BTreeSet::new();
    let mut files = 0u32;
    for (index, unit) in read.iter().enumerate() {
        let clashing = unit.clashing(index, &read);
        for item in &unit.items {
            let owner = item.symbol().and_then(|symbol| owners.get(symbol.name)).copied();
            let part = match (&item.kind, owner) {
                // Another unit has the definition.
                (Kind::Symbol(symbol), Some(owner)) if owner != index && symbol.defines => continue,
                (Kind::Symbol(symbol), Some(_)) if !symbol.defines && !symbol.function => continue,
                // What nobody defines, or is declared before its definition, is declared once.
                (Kind::Symbol(symbol), _) if !symbol.defines && symbol.linkage != Linkage::Internal => {
                    if !declared.insert(symbol.name) {
                        continue;
                    }
                    usize::from(symbol.function)
                }
                (Kind::Symbol(symbol), _) if !symbol.function => 0,
                (Kind::Symbol(symbol), _) if !symbol.defines => 1,
                (Kind::File, _) => 0,
                (Kind::Symbol(_) | Kind::Other, _) => 2,
            };
            unit.write(item, &clashing, index, files, &mut parts[part]);
        }
        files = files.saturating_add(unit.files);
    }
    parts.iter().for_each(|part| text += part);
    Ok(text)
}

/// Which unit each symbol that units share is taken from.
fn owners<'a>(units: &[Unit<'_>], read: &[Read<'a>]) -> Result<BTreeMap<&'a str, usize>, Vec<String>> {
    let mut owners: BTreeMap<&str, (usize, &Symbol<'_>)> = BTreeMap::new();
    let mut errors = Vec::new();
    for (index, unit) in read.iter().enumerate() {
        for symbol in unit.symbols().filter(|symbol| symbol.defines && symbol.linkage != Linkage::Internal) {
            match owners.get(symbol.name) {
                Some((_, known)) if known.is_weak() && !symbol.is_weak() => {}
                Some(_) if symbol.is_weak() => continue,
                Some((first, _)) => {
                    let (name, first) = (units[index].name, units[*first].name);
                    errors.push(format!(
                        "Multiple definition of '{}' in '{name}', first defined in '{first}'",
                        symbol.name
                    ));
                    continue;
                }
                None => {}
            }
            owners.insert(symbol.name, (index, symbol));
        }
    }
    for (index, unit) in read.iter().enumerate() {
        for symbol in unit.symbols().filter(|symbol| symbol.linkage != Linkage::Internal) {
            if let Some((first, owner)) = owners.get(symbol.name)
                && owner.function != symbol.function
            {
                let what = |symbol: &Symbol<'_>| if symbol.function { "a function" } else { "a variable" };
                errors.push(format!(
                    "'{}' is {} in '{}' and {} in '{}'",
                    symbol.name,
                    what(symbol),
                    units[index].name,
                    what(owner),
                    units[*first].name
                ));
            }
        }
    }
    if errors.is_empty() {
        Ok(owners.into_iter().map(|(name, (index, _))| (name, index)).collect())
    } else {
        Err(errors)
    }
}

/// A unit cut into its directives.
#[derive(Debug, Default)]
struct Read<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    items: Vec<Item<'a>>,
    version: (u32, u32),
    target: &'a str,
    sm: u32,
    address_size: &'a str,
    /// The largest number of a `.file`.
    files: u32,
}

/// A directive of the module: its tokens, and what it is.
#[derive(Debug)]
struct Item<'a> {
    tokens: std::ops::Range<usize>,
    kind: Kind<'a>,
}

#[derive(Debug)]
enum Kind<'a> {
    Symbol(Symbol<'a>),
    File,
    /// An `.alias`, a `.pragma`, or the strings of debugging data.
    Other,
}

#[derive(Debug)]
struct Symbol<'a> {
    name: &'a str,
    linkage: Linkage,
    function: bool,
    /// Neither `.extern` nor a function without a body.
    defines: bool,
}

impl Symbol<'_> {
    fn is_weak(&self) -> bool {
        matches!(self.linkage, Linkage::Weak | Linkage::Common)
    }
}

impl<'a> Item<'a> {
    fn symbol(&self) -> Option<&Symbol<'a>> {
        match &self.kind {
            Kind::Symbol(symbol) if symbol.linkage != Linkage::Internal => Some(symbol),
            _ => None,
        }
    }
}

impl<'a> Read<'a> {
    fn new(text: &'a str) -> Self {
        let tokens = lex(text, &mut Vec::new());
        let mut unit = Self { text, tokens, ..Self::default() };
        let mut at = 0;
        while unit.kind(at) != TokenKind::End {
            let start = at;
            let (end, kind) = unit.directive(start);
            at = end.max(start + 1);
            unit.items.extend(kind.map(|kind| Item { tokens: start..at, kind }));
        }
        unit
    }

    fn kind(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::End, |token| token.kind)
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.span.start as usize..token.span.end as usize])
    }

    fn symbols(&self) -> impl Iterator<Item = &Symbol<'a>> {
        self.items.iter().filter_map(|item| match &item.kind {
            Kind::Symbol(symbol) => Some(symbol),
            _ => None,
        })
    }

    /// The end of the directive that begins here, and what to keep of it.
    fn directive(&mut self, start: usize) -> (usize, Option<Kind<'a>>) {
        match self.word(start) {
            ".version" => {
                let parts = self.word(start + 1).split_once('.');
                let version = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
                self.version = version.unwrap_or_default();
                (start + 2, None)
            }
            ".target" => {
                let mut end = start + 2;
                while self.word(end) == "," {
                    end += 2;
                }
                self.target = self.between(start + 1, end);
                let digits: String = self.target.chars().filter(char::is_ascii_digit).collect();
                self.sm = digits.parse().unwrap_or(0);
                (end, None)
            }
            ".address_size" => {
                self.address_size = self.word(start + 1);
                (start + 2, None)
            }
            ".file" => {
                self.files = self.files.max(self.word(start + 1).parse().unwrap_or(0));
                let mut end = start + 3;
                while self.word(end) == "," {
                    end += 2;
                }
                (end, Some(Kind::File))
            }
            ".section" => {
                let strings = self.word(start + 1) == ".debug_str";
                (self.past(start), strings.then_some(Kind::Other))
            }
            _ => {
                let end = self.past(start);
                (end, Some(self.declaration(start, end).map_or(Kind::Other, Kind::Symbol)))
            }
        }
    }

    /// Past the `;` or the body with which a declaration ends.
    fn past(&self, start: usize) -> usize {
        let (mut at, mut depth, mut initialiser) = (start, 0u32, false);
        loop {
            match self.kind(at) {
                TokenKind::End => return at,
                TokenKind::Punct(b'=') => initialiser |= depth == 0,
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') if depth <= 1 && !initialiser => return at + 1,
                TokenKind::Punct(b'}') => depth = depth.saturating_sub(1),
                TokenKind::Punct(b';') if depth == 0 => return at + 1,
                _ => {}
            }
            at += 1;
        }
    }

    fn declaration(&self, start: usize, end: usize) -> Option<Symbol<'a>> {
        let (mut linkage, mut is, mut depth) = (Linkage::Internal, None, 0u32);
        for at in start..end {
            match self.word(at) {
                ".visible" => linkage = Linkage::Visible,
                ".extern" => linkage = Linkage::Extern,
                ".weak" => linkage = Linkage::Weak,
                ".common" => linkage = Linkage::Common,
                ".func" => is = is.or(Some(true)),
                ".entry" => (is, linkage) = (is.or(Some(true)), Linkage::Visible),
                ".global" | ".const" | ".shared" | ".local" => is = is.or(Some(false)),
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                name if depth == 0 && self.kind(at) == TokenKind::Ident => {
                    let function = is?;
                    let defines = if function { self.word(end - 1) == "}" } else { linkage != Linkage::Extern };
                    return Some(Symbol { name, linkage, function, defines });
                }
                _ => {}
            }
        }
        None
    }

    /// Names that this unit keeps to itself and that other units have too.
    fn clashing(&self, own: usize, units: &[Read<'_>]) -> BTreeSet<&'a str> {
        let private = |symbol: &&Symbol<'a>| symbol.linkage == Linkage::Internal;
        let mut names: BTreeSet<&str> = self.symbols().filter(private).map(|symbol| symbol.name).collect();
        let others = units.iter().enumerate().filter(|(index, _)| *index != own);
        let taken: BTreeSet<&str> = others.flat_map(|(_, unit)| unit.symbols()).map(|symbol| symbol.name).collect();
        names.retain(|name| taken.contains(name));
        // The labels of debugging data are numbered anew by each compilation.
        let strings = self.items.iter().filter(|item| self.word(item.tokens.start) == ".section");
        let tokens = strings.flat_map(|item| item.tokens.clone());
        names.extend(tokens.filter(|&at| self.kind(at) == TokenKind::Ident).map(|at| self.word(at)));
        names
    }

    /// Whether a word is what an instruction does, and no name: a function may be called `add`. It stands where a statement
    /// begins, perhaps behind a guard; labels and the first of a list stand there, too.
    fn is_opcode(&self, at: usize) -> bool {
        let before = |n: usize| at.checked_sub(n).map_or(TokenKind::End, |at| self.kind(at));
        let guarded = before(1) == TokenKind::Ident
            && (before(2) == TokenKind::Punct(b'@')
                || before(2) == TokenKind::Punct(b'!') && before(3) == TokenKind::Punct(b'@'));
        let begins = guarded || matches!(before(1), TokenKind::Punct(b';' | b'{' | b'}' | b':'));
        let next = self.kind(at + 1);
        begins && matches!(next, TokenKind::Dot | TokenKind::Ident | TokenKind::Punct(b'(' | b';'))
    }

    fn between(&self, start: usize, end: usize) -> &'a str {
        let place = |at: usize| self.tokens.get(at).map_or(self.text.len(), |token| token.span.start as usize);
        let last = self.tokens.get(end.saturating_sub(1)).map_or(self.text.len(), |token| token.span.end as usize);
        self.text.get(place(start)..last).unwrap_or_default()
    }

    /// Writes a directive with its names and file numbers as they are in the whole.
    fn write(&self, item: &Item<'_>, clashing: &BTreeSet<&str>, unit: usize, files: u32, out: &mut String) {
        let mut last = None::<usize>;
        for at in item.tokens.clone() {
            let Some(token) = self.tokens.get(at) else { break };
            let (from, to) = (token.span.start as usize, token.span.end as usize);
            out.push_str(last.map_or("", |last| &self.text[last..from]));
            let word = &self.text[from..to];
            let numbers_file = at > 0
                && token.kind == TokenKind::Number
                && matches!(self.word(at - 1), ".file" | ".loc" | "inlined_at");
            match word.parse::<u32>() {
                Ok(number) if numbers_file => write!(out, "{}", number.saturating_add(files)).unwrap_or_default(),
                _ if token.kind == TokenKind::Ident && clashing.contains(word) && !self.is_opcode(at) => {
                    write!(out, "{word}$unit{unit}").unwrap_or_default();
                }
                _ => out.push_str(word),
            }
            last = Some(to);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

    fn linked(texts: &[&str]) -> Result<String, Vec<String>> {
        let names = ["a.ptx", "b.ptx", "c.ptx"];
        let texts: Vec<String> = texts.iter().map(|text| format!("{HEADER}{text}")).collect();
        let units: Vec<Unit<'_>> = texts.iter().zip(names).map(|(text, name)| Unit { name, text }).collect();
        link(&units)
    }

    /// The names of the variables and functions with a body that are left.
    #[track_caller]
    fn check(texts: &[&str], expect: &[&str]) -> String {
        let text = linked(texts).unwrap();
        let parsed = crate::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
        let variables = parsed.module.variables.iter().map(|variable| variable.name.as_str());
        let functions = parsed.module.functions.iter().filter(|f| f.has_body).map(|f| f.name.as_str());
        assert_eq!(variables.chain(functions).collect::<Vec<_>>(), expect, "{text}");
        text
    }

    const CALLER: &str = ".extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry k() { .param .b32 a; .param .b32 b; call (b), twice, (a); ret; }";
    const TWICE: &str = ".visible .func (.param .b32 r) twice(.param .b32 x) { ret; }";

    #[test]
    fn what_one_uses_another_defines() {
        check(&[CALLER, TWICE], &["twice", "k"]);
        check(&[TWICE, CALLER], &["twice", "k"]);
        check(
            &[
                ".extern .global .u32 table[4];\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [table]; ret; }",
                ".visible .global .u32 table[4] = {1, 2, 3, 4};",
            ],
            &["table", "k"],
        );
        // What nobody defines stays declared, once; the load says what is missing.
        check(&[".extern .shared .b8 s[];", ".extern .shared .b8 s[];"], &["s"]);
    }

    #[test]
    fn weak_symbols_are_merged_and_strong_ones_are_not() {
        let (weak, strong) = (".weak .func f() { ret; }", ".visible .func f() { ret; }");
        check(&[weak, weak], &["f"]);
        for texts in [[weak, strong], [strong, weak]] {
            assert!(check(&texts, &["f"]).contains(".visible .func f"));
        }
        let error = linked(&[strong, weak, strong]).unwrap_err();
        assert_eq!(error, ["Multiple definition of 'f' in 'c.ptx', first defined in 'a.ptx'"]);
        let error = linked(&[strong, ".extern .global .u32 f;"]).unwrap_err();
        assert_eq!(error, ["'f' is a variable in 'b.ptx' and a function in 'a.ptx'"]);
    }

    #[test]
    fn private_names_stay_apart() {
        let unit = |entry: &str| {
            format!(
                ".global .u32 count;\n.func help() {{ ret; }}\n.visible .entry {entry}() {{ .reg .b64 %r; mov.u64 %r, count; call help; ret; }}"
            )
        };
        let text =
            check(&[&unit("k"), &unit("l")], &["count$unit0", "count$unit1", "help$unit0", "k", "help$unit1", "l"]);
        assert!(text.contains("mov.u64 %r, count$unit1; call help$unit1;"), "{text}");
    }

    #[test]
    fn an_opcode_is_no_name() {
        let unit = |entry: &str| {
            format!(
                ".func add() {{ ret; }}\n.func ret() {{ ret; }}\n.global .u64 table[2] = {{add, ret}};\n\
                 .visible .entry {entry}() {{ .reg .u32 %r; .reg .pred %p; add: add.u32 %r, %r, 1; @!%p add.u32 %r, %r, 2; \
                 @%p bra add; {{ call add; call ret; }} ret; }}"
            )
        };
        let text = linked(&[&unit("k"), &unit("l")]).unwrap();
        let parsed = crate::parse(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
        for part in [
            ".func add$unit1() { ret; }",
            "{add$unit1, ret$unit1}",
            "add$unit1: add.u32 %r, %r, 1; @!%p add.u32 %r, %r, 2;",
            "@%p bra add$unit1; { call add$unit1; call ret$unit1; } ret; }",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn an_initialiser_in_a_body_ends_nothing() {
        let kernel = ".visible .entry k() { .global .u32 t[2] = {1, 2}; ret; }\n.visible .func f() { ret; }";
        check(&[kernel, ".visible .func g() { ret; }"], &["t", "k", "f", "g"]);
        // The definition of the other unit is taken, and nothing else is lost with its own.
        check(&[".visible .func f() { ret; }", &kernel.replace(".visible .func", ".weak .func")], &["t", "f", "k"]);
    }

    #[test]
    fn numbers_of_files_do_not_overflow() {
        let unit = ".file 4294967295 \"a\"";
        assert!(linked(&[unit, unit, unit]).unwrap().contains(unit));
    }

    #[test]
    fn source_positions_stay_right() {
        let unit = |entry: &str, file: &str, inlined: &str| {
            let bytes: Vec<String> = inlined.bytes().map(|byte| byte.to_string()).collect();
            format!(
                ".visible .entry {entry}() {{\n.loc 1 7 3\n.loc 1 2 1, function_name $L__info_string0, inlined_at 1 7 3\nret;\n}}\n.file 1 \"{file}\"\n\
                 .section .debug_str {{\n$L__info_string0:\n.b8 {},0\n}}\n.section .debug_info {{ .b32 5\n}}",
                bytes.join(",")
            )
        };
        let text = check(&[&unit("k", "a.cu", "one"), &unit("l", "b.cu", "two")], &["k", "l"]);
        let module = crate::parse(&text).module;
        let files: Vec<&str> = module.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, ["a.cu", "b.cu"]);
        let inlined = module.locations.iter().filter_map(|at| Some((at.file.index(), at.function.as_deref()?)));
        assert_eq!(inlined.collect::<Vec<_>>(), [(0, "one"), (1, "two")]);
    }

    #[test]
    fn one_unit_is_itself_and_headers_are_the_newest() {
        assert_eq!(linked(&["what is this"]).unwrap(), format!("{HEADER}what is this"));
        let newer = ".version 8.4\n.target sm_90a, debug\n.address_size 64\n.visible .entry k() { ret; }";
        let units = [Unit { name: "a", text: HEADER }, Unit { name: "b", text: newer }];
        assert!(link(&units).unwrap().starts_with(".version 8.4\n.target sm_90a, debug\n.address_size 64\n"));
    }

    #[test]
    fn no_text_makes_it_panic() {
        let text = format!(
            "{HEADER}{CALLER}\n.global .u32 x[2] = {{1, 2}};\n.file 1 \"a\", 1, 2\n.section .debug_str {{\n$L:\n.b8 1\n}}"
        );
        for end in 0..text.len() {
            let cut = &text[..end];
            let _ = link(&[Unit { name: "a", text: cut }, Unit { name: "b", text: &text[end..] }]);
        }
    }
}
