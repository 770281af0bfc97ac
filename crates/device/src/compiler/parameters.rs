//! What a kernel's parameters are called. NVRTC's PTX numbers them (`add_gelu_param_0`); the source has their names.
//!
//! The names go along with the PTX as comments, which a real driver passes over:
//!
//! ```text
//! // parameters add_gelu: x, y, out, n
//! ```
//!
//! The emulated device reads them, so that its reports say `x` where they would say `argument 0`. A name that is
//! not certain is `_`, and a kernel that is not certain has no comment.

use std::fmt::Write;

use super::compiled::kernel;
use super::tokens::{Token, tokens};

/// A kernel as the source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declared<'a> {
    name: &'a str,
    /// None for a parameter without a name.
    parameters: Vec<Option<&'a str>>,
}

/// Adds the comments to the end of the PTX, where they move no line.
pub(super) fn add_names(ptx: &mut String, sources: &[&str]) {
    let declared: Vec<Vec<Token<'_>>> = sources.iter().map(|text| tokens(text)).collect();
    let declared: Vec<Declared<'_>> = declared.iter().flat_map(|tokens| kernels(tokens)).collect();
    let mut comments = String::new();
    for (entry, count) in entries(ptx) {
        if let Some(names) = names(&declared, entry, count) {
            let names: Vec<&str> = names.iter().map(|name| name.unwrap_or("_")).collect();
            // Writing to a string does not fail.
            let _ = writeln!(comments, "// parameters {entry}: {}", names.join(", "));
        }
    }
    if !comments.is_empty() && !ptx.ends_with('\n') {
        ptx.push('\n');
    }
    ptx.push_str(&comments);
}

/// The names of an entry's parameters, when all declarations that may be meant agree on them.
fn names<'a>(declared: &[Declared<'a>], entry: &str, count: usize) -> Option<Vec<Option<&'a str>>> {
    let mut meant = declared.iter().filter(|kernel| kernel.parameters.len() == count && means(entry, kernel.name));
    let mut names = meant.next()?.parameters.clone();
    for other in meant {
        // A prototype need not name what its definition does.
        for (name, other) in names.iter_mut().zip(&other.parameters) {
            match (*name, *other) {
                (None, other) => *name = other,
                (Some(a), Some(b)) if a != b => return None,
                _ => {}
            }
        }
    }
    names.iter().any(Option::is_some).then_some(names)
}

/// Whether an entry of the PTX may be the kernel of that name: it has it, or it is mangled and contains it.
fn means(entry: &str, name: &str) -> bool {
    let part = format!("{}{name}", name.len());
    let whole = |at: usize| !entry[..at].ends_with(|c: char| c.is_ascii_digit());
    entry == name || entry.starts_with("_Z") && entry.match_indices(&part).any(|(at, _)| whole(at))
}

/// The entries of the PTX with the number of their parameters.
fn entries(ptx: &str) -> Vec<(&str, usize)> {
    let mut entries = Vec::new();
    for line in ptx.lines() {
        let Some(name) = kernel(line) else { continue };
        // The name is a part of the text; what stands behind it is its list.
        let behind = name.as_ptr() as usize - ptx.as_ptr() as usize + name.len();
        let list = ptx[behind..].trim_start().strip_prefix('(').and_then(|list| list.split(')').next());
        entries.push((name, list.map_or(0, |list| list.matches(".param").count())));
    }
    entries
}

/// Every `__global__` function that the tokens declare, as far as they leave no doubt.
fn kernels<'a>(tokens: &[Token<'a>]) -> Vec<Declared<'a>> {
    let global = |token: &Token<'_>| *token == Token::Word("__global__");
    let starts = tokens.iter().enumerate().filter(|(_, token)| global(token)).map(|(i, _)| i + 1);
    starts.filter_map(|start| declaration(&tokens[start..])).collect()
}

/// What is called like a function in a declaration without being the function.
const ATTRIBUTES: &[&str] = &[
    "__launch_bounds__",
    "__cluster_dims__",
    "__block_size__",
    "__maxnreg__",
    "__attribute__",
    "__declspec",
    "__align__",
    "alignas",
    "decltype",
    "noexcept",
    "requires",
];

/// The function that a declaration is about: the last name with a list in parentheses, before the body.
fn declaration<'a>(tokens: &[Token<'a>]) -> Option<Declared<'a>> {
    let mut found = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Mark(b'{' | b';' | b'}') => break,
            Token::Word("__global__") => return None,
            Token::Mark(b'(') => {
                let len = group(&tokens[at..])?;
                if let Some(name) = name_before(&tokens[..at])
                    && !ATTRIBUTES.contains(&name)
                {
                    found = Some((name, &tokens[at + 1..at + len - 1]));
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    let (name, list) = found?;
    Some(Declared { name, parameters: parameters(list)? })
}

/// The number of tokens up to the one that closes what the first one opens.
fn group(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark(b'(' | b'[' | b'{') => depth += 1,
            Token::Mark(b')' | b']' | b'}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(i + 1);
        }
    }
    None
}

/// The name at the end of the tokens, behind which a specialisation may have arguments: `k` or `k<float>`.
fn name_before<'a>(tokens: &[Token<'a>]) -> Option<&'a str> {
    let mut end = tokens.len();
    if tokens.last() == Some(&Token::Mark(b'>')) {
        let mut depth = 0_i32;
        end = tokens.iter().rposition(|token| {
            depth += match token {
                Token::Mark(b'>') => 1,
                Token::Mark(b'<') => -1,
                _ => 0,
            };
            depth == 0
        })?;
    }
    match tokens[..end].last()? {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

/// The names in a list of parameters. None when there is a pack, or the list cannot be taken apart for certain.
fn parameters<'a>(list: &[Token<'a>]) -> Option<Vec<Option<&'a str>>> {
    if list.is_empty() || list == [Token::Word("void")] {
        return Some(Vec::new());
    }
    let mut names = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut angle = 0_u32;
    // Where the parameter's default value begins.
    let mut default = None;
    while let Some(token) = list.get(at) {
        match token {
            Token::Mark(b'(' | b'[' | b'{') => {
                at += group(&list[at..])?;
                continue;
            }
            // Three dots are a pack, whose parameters the source does not count.
            Token::Mark(b'.') if angle == 0 && default.is_none() => return None,
            // In a value it may be a comparison as well.
            Token::Mark(b'<' | b'>') if default.is_some() => return None,
            Token::Mark(b'<') => angle += 1,
            Token::Mark(b'>') => angle = angle.checked_sub(1)?,
            Token::Mark(b'=') if angle == 0 => default = default.or(Some(at)),
            Token::Mark(b',') if angle == 0 => {
                names.push(name(&list[start..default.unwrap_or(at)]));
                (start, default) = (at + 1, None);
            }
            _ => {}
        }
        at += 1;
    }
    if angle != 0 {
        return None;
    }
    names.push(name(&list[start..default.unwrap_or(at)]));
    Some(names)
}

/// Words that name no parameter, and that do not make a type by themselves.
const QUALIFIERS: &[&str] = &[
    "const",
    "volatile",
    "restrict",
    "__restrict__",
    "__restrict",
    "__grid_constant__",
    "struct",
    "class",
    "enum",
    "union",
    "typename",
];

/// Types that are keywords.
const TYPES: &[&str] = &[
    "void", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "auto", "wchar_t",
    "char8_t", "char16_t", "char32_t",
];

/// The name that a parameter's declaration gives, when it certainly gives one.
fn name<'a>(declaration: &[Token<'a>]) -> Option<&'a str> {
    let mut tokens = declaration;
    // Sizes of an array and attributes stand behind the name.
    while tokens.last() == Some(&Token::Mark(b']')) {
        let mut depth = 0_i32;
        let open = tokens.iter().rposition(|token| {
            depth += match token {
                Token::Mark(b']') => 1,
                Token::Mark(b'[') => -1,
                _ => 0,
            };
            depth == 0
        })?;
        tokens = &tokens[..open];
    }
    let (last, before) = tokens.split_last()?;
    // `float (*f)(float)` and the like: rare, and worth no guess.
    let plain = !before.iter().any(|token| matches!(token, Token::Mark(b'(')));
    let Token::Word(word) = last else { return None };
    let typed = before.iter().any(|token| matches!(token, Token::Word(word) if !QUALIFIERS.contains(word)));
    let qualified = before.last() == Some(&Token::Mark(b':'));
    (plain && typed && !qualified && !QUALIFIERS.contains(word) && !TYPES.contains(word)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name and parameters of the only kernel in a source: `k(x, _)`.
    fn only(source: &str) -> String {
        let tokens = tokens(source);
        let found: Vec<String> = kernels(&tokens)
            .into_iter()
            .map(|it| {
                let names: Vec<&str> = it.parameters.into_iter().map(|name| name.unwrap_or("_")).collect();
                format!("{}({})", it.name, names.join(" "))
            })
            .collect();
        found.join(" ")
    }

    #[test]
    fn parameters_are_found() {
        let cases = [
            ("extern \"C\" __global__ void k(const float* x, float* __restrict__ out, int n) {}", "k(x out n)"),
            ("__global__ void __launch_bounds__(256) k(float *x) {}", "k(x)"),
            ("__launch_bounds__(256, 2) __global__ void k(float *x) {}", "k(x)"),
            ("__global__ __launch_bounds__((N < 4 ? 1 : 2)) void k(float *x) {}", "k(x)"),
            ("__global__ void k(float *x) __launch_bounds__(256);", "k(x)"),
            ("void __global__ k(float *x) {}", "k(x)"),
            ("template <typename T, int N> __global__ void k(const T* __restrict__ x, Array<T, N> a) {}", "k(x a)"),
            ("template <> __global__ void k<float, 4>(float* x) {}", "k(x)"),
            ("namespace a::b { __global__ static void k(unsigned n, std::size_t m) {} }", "k(n m)"),
            (
                "__global__ void k(int, float*, const T, T const, unsigned, ns::T, struct S, typename T::type) {}",
                "k(_ _ _ _ _ _ _ _)",
            ),
            ("__global__ void k(ns::T x, struct S s, typename T::type t, const struct S* p) {}", "k(x s t p)"),
            ("__global__ void k(float x[4], float y[2][3], float[4], int n [[maybe_unused]]) {}", "k(x y _ n)"),
            ("__global__ void k([[maybe_unused]] int n, __align__(16) S s, alignas(8) S t) {}", "k(n _ _)"),
            ("__global__ void k(float (*f)(float, int), float x) {}", "k(_ x)"),
            (
                "__global__ void k(const __grid_constant__ Params params, int n = 3, float y = g(1, 2)) {}",
                "k(params n y)",
            ),
            ("__global__ void k(Map<int, Pair<float, int>> m, float* const __restrict x) {}", "k(m x)"),
            ("__global__ void k(float* x /* in, out */, // the input\n int n) {}", "k(x n)"),
            ("__global__ void k() {} __global__ void l(void) {}", "k() l()"),
            ("__global__ void k(int n = 1 < 2, int m) {}", ""),
            ("template <typename... T> __global__ void k(float* x, T... rest) {}", ""),
            ("#define KERNEL(name) __global__ void name(float* x)\n// __global__ void l(int n)\n", ""),
            ("const char* s = \"__global__ void k(int n) {}\";", ""),
            ("__global__ void k(", ""),
            ("__global__", ""),
            ("__global__ )>((<", ""),
        ];
        for (source, expected) in cases {
            assert_eq!(only(source), expected, "{source}");
        }
    }

    #[test]
    fn comments_follow_the_ptx() {
        let ptx = ".visible .entry a(\n\t.param .u64 a_param_0,\n\t.param .u32 a_param_1\n)\n{ }\n\
                   .visible .entry _ZN2ns1bIfEEvPT_(.param .u64 p) { }\n\
                   .visible .entry _Z1ci(.param .u32 p) { }\n\
                   .visible .entry _Z2ddi(.param .u32 p) { }\n\
                   .visible .entry e() { }";
        let source = "__global__ void a(float*, int); extern \"C\" __global__ void a(float* x, int n) {}
            template <typename T> __global__ void b(T* out) {}
            __global__ void c(int n) {} __global__ void c(float f) {}
            __global__ void d(int n) {} __global__ void e() {}";
        let mut text = ptx.to_owned();
        add_names(&mut text, &[source, "__global__ void dd(int m) {}"]);
        let added = text.strip_prefix(ptx).unwrap();
        assert_eq!(added, "\n// parameters a: x, n\n// parameters _ZN2ns1bIfEEvPT_: out\n// parameters _Z2ddi: m\n");
    }
}
