//! Instruction forms, taken from right modules.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::seeds;

/// The kinds of registers, each with a pool of its own in a generated function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Class {
    Predicate,
    B16,
    B32,
    B64,
    F32,
    F64,
}

impl Class {
    pub(super) const ALL: [Self; 6] = [Self::Predicate, Self::B16, Self::B32, Self::B64, Self::F32, Self::F64];

    /// The pool's prefix, the number of its registers, and its type.
    pub(super) fn pool(self) -> (&'static str, usize, &'static str) {
        match self {
            Self::Predicate => ("%p", 6, "pred"),
            Self::B16 => ("%h", 6, "b16"),
            Self::B32 => ("%r", 12, "b32"),
            Self::B64 => ("%d", 8, "b64"),
            Self::F32 => ("%f", 8, "f32"),
            Self::F64 => ("%g", 4, "f64"),
        }
    }

    fn of(ty: &str) -> Option<Self> {
        Some(match ty {
            "pred" => Self::Predicate,
            "b16" | "u16" | "s16" | "f16" => Self::B16,
            "b32" | "u32" | "s32" | "f16x2" => Self::B32,
            "b64" | "u64" | "s64" => Self::B64,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    Register(Class),
    Negated(Class),
    Memory,
    Vector(Vec<Operand>),
    Pair(Vec<Operand>),
    Number(String),
    /// A special register, or `_`.
    Word(String),
}

/// An instruction with holes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Template {
    pub(super) opcode: String,
    pub(super) operands: Vec<Operand>,
}

/// Every form of the seeds once, in their order.
pub(super) fn templates() -> &'static [Template] {
    static TEMPLATES: OnceLock<Vec<Template>> = OnceLock::new();
    TEMPLATES.get_or_init(|| {
        let mut known = HashSet::new();
        let all = seeds().iter().flat_map(|text| forms(text));
        all.filter(|template| known.insert(template.clone())).collect()
    })
}

/// How the names of special registers begin.
const SPECIAL: [&str; 14] = [
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask",
    "%clock",
    "%globaltimer",
    "%dynamic_smem_size",
];

fn forms(text: &str) -> Vec<Template> {
    let mut registers: HashMap<String, Class> = HashMap::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim().trim_start_matches(['{', ' ']);
        let Some(statement) = line.strip_suffix(';') else { continue };
        if let Some(declared) = statement.strip_prefix(".reg .") {
            let (ty, names) = declared.split_once(char::is_whitespace).unwrap_or_default();
            if let Some(class) = Class::of(ty) {
                // `%r<8>` stands for %r0 to %r7: only what comes before the number is kept.
                let plain = |name: &str| name.split('<').next().unwrap_or_default().trim().to_owned();
                registers.extend(names.split(',').map(|name| (plain(name), class)));
            }
        } else if let Some(template) = form(statement, &registers) {
            found.push(template);
        }
    }
    found
}

fn form(statement: &str, registers: &HashMap<String, Class>) -> Option<Template> {
    let statement = match statement.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace)?.1.trim(),
        None => statement,
    };
    let (opcode, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
    // Control flow is made by hand, where it is known to end.
    // And products of warp groups are for one target, and for blocks of whole groups.
    let control = ["bra", "brx", "call", "ret", "exit", "trap", "brkpt", ".", "mbarrier", "wgmma"];
    if control.iter().any(|word| opcode.starts_with(word)) || opcode.contains(':') {
        return None;
    }
    let operands = pieces(rest).into_iter().map(|text| operand(text, registers)).collect::<Option<Vec<_>>>()?;
    Some(Template { opcode: opcode.to_owned(), operands })
}

/// Splits at commas outside of brackets.
fn pieces(text: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut pieces = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    pieces.push(text[start..].trim());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn operand(text: &str, registers: &HashMap<String, Class>) -> Option<Operand> {
    let all = |text: &str, at: &[char]| {
        text.split(at).map(|part| operand(part.trim(), registers)).collect::<Option<Vec<_>>>()
    };
    if text.starts_with('[') {
        return Some(Operand::Memory);
    }
    if let Some(inner) = text.strip_prefix('{') {
        return Some(Operand::Vector(all(inner.trim_end_matches('}'), &[','])?));
    }
    if text.contains('|') {
        return Some(Operand::Pair(all(text, &['|'])?));
    }
    let register = |name: &str| {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        registers.get(name).or_else(|| registers.get(prefix)).copied()
    };
    if let Some(class) = register(text) {
        return Some(Operand::Register(class));
    }
    if let Some(class) = text.strip_prefix('!').and_then(register) {
        return Some(Operand::Negated(class));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return Some(Operand::Number(text.to_owned()));
    }
    let special = |name: &str| SPECIAL.iter().any(|word| name.starts_with(word));
    (text == "_" || text == "WARP_SZ" || special(text)).then(|| Operand::Word(text.to_owned()))
}
