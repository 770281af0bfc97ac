//! Which expressions of a source are of integers and which of floats, as far as names and literals tell.

use std::collections::HashMap;
use std::ops::Range;

use fusion_cpp::{Kind, Token};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Integer,
    Float,
    Unknown,
}

/// Types of integers. Bytes are not among them: they may hold numbers of other formats.
const INTEGERS: [&str; 11] =
    ["int", "unsigned", "long", "short", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "ptrdiff_t", "uint"];

const FLOATS: [&str; 9] =
    ["float", "double", "half", "__half", "nv_bfloat16", "__nv_bfloat16", "float2", "float3", "float4"];

/// Functions of floats, without the `f` at their end.
const FUNCTIONS: [&str; 21] = [
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "tanh",
    "erf",
    "pow",
    "fabs",
    "fmax",
    "fmin",
    "sin",
    "cos",
    "floor",
    "ceil",
    "rint",
    "round",
    "fma",
    "fmod",
    "__fdivide",
];

/// Variables that CUDA has.
const BUILT_IN: [&str; 4] = ["threadIdx", "blockIdx", "blockDim", "gridDim"];

/// Words before an expression that are no part of it.
const KEYWORDS: [&str; 6] = ["return", "if", "while", "for", "else", "case"];

/// Tokens of an expression that is looked at, at most: its parentheses may be nested as deeply.
const MOST: usize = 256;

/// What ends an expression.
const BORDERS: [&str; 23] = [
    "(", "[", "{", "}", ";", ",", "=", "+=", "-=", "*=", "/=", "?", ":", "<", ">", "<=", ">=", "==", "!=", "&&", "||",
    ")", "]",
];

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Declared {
    of: Type,
    /// Whether that is the type of its elements.
    elements: bool,
}

/// A source's tokens, and the types that its names have.
pub(super) struct Words<'a> {
    text: &'a str,
    pub(super) tokens: Vec<Token>,
    names: HashMap<&'a str, Declared>,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut words = Self { text, tokens: fusion_cpp::tokens(text), names: HashMap::new() };
        for at in 0..words.tokens.len() {
            if let Some((name, declared)) = words.declared(at) {
                // Another function may have the same name for something else.
                let known = words.names.entry(name).or_insert(declared);
                if *known != declared {
                    known.of = Type::Unknown;
                }
            }
        }
        words
    }

    pub(super) fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text(self.text))
    }

    /// The text of some tokens, in one line.
    pub(super) fn source(&self, tokens: &Range<usize>) -> String {
        let (first, last) = (self.tokens.get(tokens.start), self.tokens.get(tokens.end.wrapping_sub(1)));
        let text = first.zip(last).and_then(|(first, last)| self.text.get(first.span.start..last.span.end));
        text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The line and the column of a token, both counted from one.
    pub(super) fn place(&self, at: usize) -> (u32, u32) {
        let start = self.tokens.get(at).map_or(0, |token| token.span.start);
        fusion_cpp::place(self.text, start)
    }

    /// The type of what a name alone gives: an address is no number.
    pub(super) fn named(&self, name: &str) -> Type {
        self.names.get(name).filter(|declared| !declared.elements).map_or(Type::Unknown, |declared| declared.of)
    }

    fn element(&self, name: &str) -> Type {
        self.names.get(name).filter(|declared| declared.elements).map_or(Type::Unknown, |declared| declared.of)
    }

    /// The name that is declared with a type which begins here: a variable, a parameter, or a function that returns it.
    fn declared(&self, at: usize) -> Option<(&'a str, Declared)> {
        let of = self.type_at(at)?;
        let skip = |word: &str| matches!(word, "*" | "const" | "__restrict__") || INTEGERS.contains(&word);
        let name = (at + 1..self.tokens.len()).find(|&next| !skip(self.word(next)))?;
        let follows = matches!(self.word(name + 1), "=" | ";" | "," | ")" | "[" | "(" | ":");
        let elements = self.word(name + 1) == "[" || (at..name).any(|at| self.word(at) == "*");
        (self.is_word(name) && follows).then(|| (self.word(name), Declared { of, elements }))
    }

    fn type_at(&self, at: usize) -> Option<Type> {
        let word = self.word(at);
        if INTEGERS.contains(&word) {
            return Some(Type::Integer);
        }
        FLOATS.contains(&word).then_some(Type::Float)
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    /// The token that closes what this one opens.
    pub(super) fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (open..self.tokens.len()).find(|&at| {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        })
    }

    /// The token that opens what this one closes.
    fn open(&self, close: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (0..=close).rev().find(|&at| {
            match self.word(at) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        })
    }

    /// The type of a cast, `(float)`, whose parenthesis opens here; with the token that closes it.
    fn cast(&self, open: usize) -> Option<(Type, usize)> {
        let close = self.close(open).filter(|&close| close > open + 1 && self.word(open) == "(")?;
        let types = |at: usize| self.type_at(at).or((self.word(at) == "const").then_some(Type::Unknown));
        (open + 1..close).all(|at| types(at).is_some()).then_some(())?;
        Some((self.type_at(close - 1)?, close))
    }

    /// Where the operand begins that ends with this token.
    fn before(&self, end: usize) -> Option<usize> {
        let mut at = match self.word(end) {
            ")" | "]" => self.open(end)?,
            _ => self.tokens.get(end).filter(|token| matches!(token.kind, Kind::Word | Kind::Number)).map(|_| end)?,
        };
        while let Some(previous) = at.checked_sub(1) {
            let opens = matches!(self.word(at), "(" | "[");
            at = match self.word(previous) {
                "." if matches!(self.word(previous.checked_sub(1)?), ")" | "]") => self.open(previous - 1)?,
                "." => previous.checked_sub(1)?,
                "]" if opens => self.open(previous)?,
                ")" if self.cast(self.open(previous)?).is_some() => self.open(previous)?,
                // `static_cast<float>(x)`
                ">" if opens && self.word(previous.wrapping_sub(2)) == "<" => previous.checked_sub(3)?,
                word if opens && self.is_word(previous) && !KEYWORDS.contains(&word) => previous,
                _ => break,
            };
        }
        Some(at)
    }

    /// The token behind the operand that begins here.
    fn after(&self, start: usize) -> Option<usize> {
        let mut at = start;
        while matches!(self.word(at), "-" | "+") {
            at += 1;
        }
        while let Some((_, close)) = self.cast(at) {
            at = close + 1;
        }
        at = match self.word(at) {
            "(" => self.close(at)? + 1,
            _ => self.tokens.get(at).filter(|it| matches!(it.kind, Kind::Word | Kind::Number)).map(|_| at + 1)?,
        };
        loop {
            at = match self.word(at) {
                "(" | "[" => self.close(at)? + 1,
                "." if self.is_word(at + 1) => at + 2,
                "<" if self.word(at + 2) == ">" && self.word(at + 3) == "(" => at + 3,
                _ => return Some(at),
            };
        }
    }

    /// The type of an operand.
    fn operand(&self, tokens: Range<usize>) -> Type {
        let mut at = tokens.start;
        while matches!(self.word(at), "-" | "+") {
            at += 1;
        }
        if let Some((of, _)) = self.cast(at) {
            return of;
        }
        let (word, next) = (self.word(at), self.word(at + 1));
        if word == "(" {
            return self.close(at).map_or(Type::Unknown, |close| self.of(at + 1..close));
        }
        if self.tokens.get(at).is_some_and(|token| token.kind == Kind::Number) {
            let hexadecimal = word.starts_with("0x") || word.starts_with("0X");
            let float = !hexadecimal && word.contains(['.', 'e', 'E', 'f', 'F']);
            return if float { Type::Float } else { Type::Integer };
        }
        match next {
            "(" => self.called(at),
            "<" if word == "static_cast" => self.type_at(at + 2).unwrap_or(Type::Unknown),
            "." if BUILT_IN.contains(&word) => Type::Integer,
            "[" => self.element(word),
            _ => self.named(word),
        }
    }

    /// What a function returns.
    fn called(&self, at: usize) -> Type {
        let word = self.word(at);
        if let Some(of) = self.type_at(at) {
            return of;
        }
        if word.contains("2float") || is_of_floats(word) {
            return Type::Float;
        }
        if word.contains("2int") || word.contains("2uint") {
            return Type::Integer;
        }
        if let ("max" | "min", Some(close)) = (word, self.close(at + 1)) {
            let mut of = Type::Integer;
            let mut from = at + 2;
            while from < close {
                let end = self.border(from);
                of = join(of, self.of(from..end));
                from = end + 1;
            }
            return of;
        }
        self.named(word)
    }

    /// The type of an expression.
    pub(super) fn of(&self, tokens: Range<usize>) -> Type {
        if tokens.len() > MOST {
            return Type::Unknown;
        }
        let (mut of, mut at) = (Type::Integer, tokens.start);
        loop {
            let Some(end) = self.after(at).filter(|end| *end <= tokens.end) else { return Type::Unknown };
            of = join(of, self.operand(at..end));
            if end == tokens.end {
                return of;
            }
            if !matches!(self.word(end), "+" | "-" | "*" | "/" | "%") {
                return Type::Unknown;
            }
            at = end + 1;
        }
    }

    /// The operands of a division of two integers, where this token is one.
    pub(super) fn integers(&self, slash: usize) -> Option<[Range<usize>; 2]> {
        let left = self.before(slash.checked_sub(1).filter(|_| self.word(slash) == "/")?)?;
        let mut start = left;
        // `a * b / c` is `(a * b) / c`.
        while let Some(sign) = start.checked_sub(1).filter(|&sign| matches!(self.word(sign), "*" | "/" | "%")) {
            start = self.before(sign.checked_sub(1)?)?;
        }
        let end = self.after(slash + 1)?;
        let both = self.of(start..slash) == Type::Integer && self.operand(slash + 1..end) == Type::Integer;
        both.then_some([start..slash, slash + 1..end])
    }

    /// Whether a float is made of what an expression gives: by what it is added to or multiplied by, by what takes it,
    /// or by where it is stored.
    pub(super) fn becomes_float(&self, tokens: &Range<usize>) -> bool {
        let (mut start, mut end) = (tokens.start, tokens.end);
        loop {
            (start, end) = (self.border_before(start), self.border(end));
            if self.of(start..end) == Type::Float {
                return true;
            }
            let Some(mut border) = start.checked_sub(1) else { return false };
            let stores = matches!(self.word(border), "=" | "+=" | "-=" | "*=" | "/=");
            if stores {
                let target = border.checked_sub(1).and_then(|last| Some(self.before(last)?..border));
                return target.is_some_and(|target| self.operand(target) == Type::Float);
            }
            while self.word(border) == "," {
                let Some(before) = self.border_before(border).checked_sub(1) else { return false };
                border = before;
            }
            if self.word(border) != "(" {
                return false;
            }
            let Some((open, close)) = Some(border).zip(self.close(border)) else { return false };
            let Some(before) = open.checked_sub(1) else { return false };
            if self.is_word(before) && !KEYWORDS.contains(&self.word(before)) {
                return self.type_at(before) == Some(Type::Float) || is_of_floats(self.word(before));
            }
            // Parentheses alone, and a cast before them.
            start = self.before(close).unwrap_or(open);
            end = close + 1;
            if self.operand(start..end) == Type::Float {
                return true;
            }
        }
    }

    /// The token that ends the expression which goes on here.
    pub(super) fn border(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.tokens.len() {
            let word = self.word(at);
            match (word, self.close(at)) {
                ("(" | "[", Some(close)) => at = close + 1,
                _ if BORDERS.contains(&word) => return at,
                _ => at += 1,
            }
        }
        at
    }

    /// Where the expression begins that goes on up to here.
    fn border_before(&self, until: usize) -> usize {
        let mut at = until;
        while let Some(previous) = at.checked_sub(1) {
            let word = self.word(previous);
            match (word, self.open(previous)) {
                (")" | "]", Some(open)) => at = open,
                _ if BORDERS.contains(&word) || KEYWORDS.contains(&word) => return at,
                _ => at = previous,
            }
        }
        at
    }
}

/// What comes of two numbers.
fn join(one: Type, other: Type) -> Type {
    match (one, other) {
        (Type::Float, _) | (_, Type::Float) => Type::Float,
        (Type::Integer, Type::Integer) => Type::Integer,
        _ => Type::Unknown,
    }
}

fn is_of_floats(function: &str) -> bool {
    let name = function.strip_suffix('f').unwrap_or(function);
    FUNCTIONS.iter().any(|known| name == *known || name.strip_prefix("__") == Some(known) || function == *known)
}
