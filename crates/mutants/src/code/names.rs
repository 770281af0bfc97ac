//! Names and their types, as far as they can be told without a compiler.

use std::ops::Range;

use super::Code;
use fusion_cpp::Kind;

/// A variable or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    pub(crate) text: &'a str,
    /// The type's words with what is promised about it left out: `const float *`, `size_t`.
    pub(crate) kind: String,
    /// Whether it is an array or a pointer, so that its type is that of an element.
    pub(crate) has_elements: bool,
    pub(crate) is_shared: bool,
    pub(crate) is_parameter: bool,
    /// The token at which it is declared.
    pub(crate) declared: usize,
    /// The tokens in which it can be used.
    pub(crate) scope: Range<usize>,
}

impl Name<'_> {
    /// Whether it is a float, or has floats for elements.
    pub(crate) fn is_float(&self) -> bool {
        self.kind.split(' ').any(|word| word == "float")
    }
}

/// Whether a word is a type, or a part of one.
pub(crate) fn is_type(word: &str) -> bool {
    const WORDS: [&str; 21] = [
        "void",
        "bool",
        "auto",
        "signed",
        "unsigned",
        "const",
        "volatile",
        "size_t",
        "half",
        "half2",
        "__half",
        "__half2",
        "__nv_bfloat16",
        "__nv_bfloat162",
        "__nv_fp8_e4m3",
        "ptrdiff_t",
        "wchar_t",
        "nv_bfloat16",
        "bf16",
        "uchar",
        "__restrict__",
    ];
    const VECTORS: [&str; 12] = [
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
    ];
    let sized = |word: &str| {
        let digits = word.trim_start_matches('u').strip_prefix("int").and_then(|rest| rest.strip_suffix("_t"));
        digits.is_some_and(|digits| matches!(digits, "8" | "16" | "32" | "64" | "ptr"))
    };
    let base = word.strip_suffix(['1', '2', '3', '4']).unwrap_or(word);
    WORDS.contains(&word) || VECTORS.contains(&base) || sized(word)
}

/// Words that may stand in a declaration before the name and say nothing about values.
fn is_promise(word: &str) -> bool {
    matches!(
        word,
        "static"
            | "extern"
            | "constexpr"
            | "__restrict__"
            | "__restrict"
            | "volatile"
            | "__shared__"
            | "__constant__"
            | "__device__"
            | "__align__"
            | "register"
    )
}

/// Every declared name, in the order of declaration.
pub(super) fn all<'a>(code: &Code<'a>) -> Vec<Name<'a>> {
    let words = code.tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word);
    words.filter_map(|(token, _)| declaration(code, token)).collect()
}

/// The declaration whose name is at `token`: a name after a type, before `=`, `;`, `,`, `)`, `[` or `:`.
fn declaration<'a>(code: &Code<'a>, token: usize) -> Option<Name<'a>> {
    if is_type(code.word(token)) || !matches!(code.word(token + 1), "=" | ";" | "," | ")" | "[" | ":" | "{") {
        return None;
    }
    let words = type_before(code, token);
    let kind: Vec<&str> = words.clone().map(|at| code.word(at)).filter(|word| !is_promise(word)).collect();
    if !kind.iter().any(|word| is_type(word) && *word != "const") {
        return None;
    }
    // `(float)x)` is a cast, whose closing bracket stands between; `return x;` has no type.
    let is_shared = words.clone().any(|at| code.word(at) == "__shared__");
    let open = code.enclosing(token);
    let is_parameter = matches!(code.word(token + 1), "," | ")")
        && open.is_some_and(|open| code.word(open) == "(" && code.kind(open.wrapping_sub(1)) == Some(Kind::Word));
    Some(Name {
        text: code.word(token),
        scope: token + 1..scope_end(code, token, open),
        has_elements: code.word(token + 1) == "[" || kind.contains(&"*"),
        kind: kind.join(" "),
        is_shared,
        is_parameter,
        declared: token,
    })
}

/// Where a name declared in the brackets that open at `open` goes out of scope.
fn scope_end(code: &Code<'_>, token: usize, open: Option<usize>) -> usize {
    let Some(open) = open else { return code.tokens.len() };
    let close = code.pair(open).unwrap_or(token);
    if code.word(open) != "(" {
        return close;
    }
    // What a loop declares lasts for the loop, a parameter for the function's body.
    let body = || code.pair(close + 1).filter(|&end| end > close);
    let governed = code.statements.iter().find(|statement| statement.header.contains(&token));
    governed.map(|statement| statement.tokens.end).or_else(body).unwrap_or(close)
}

/// The words of a type that end before `token`.
fn type_before(code: &Code<'_>, token: usize) -> Range<usize> {
    let mut start = token;
    while start > 0 {
        let word = code.word(start - 1);
        if !(is_type(word) || is_promise(word) || matches!(word, "*" | "&")) {
            break;
        }
        start -= 1;
    }
    start..token
}
