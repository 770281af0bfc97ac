//! What the CUDA compiler says, with what to do where it says that to nobody who does not know yet.

mod names;
mod usual;

use std::path::Path;

use fusion_course::Source;
use fusion_cpp::{Kind, Token};
use fusion_device::compiler::Place;
use fusion_device::{Diagnostic, Severity};
use fusion_diagnostic::counted;

use super::text;
use crate::judgement::{Code, Failure, Location};

/// The first error of the CUDA compiler, with the others counted.
pub(crate) fn diagnostics(diagnostics: &[Diagnostic], log: &str, source: &Source) -> Failure {
    let mut errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let Some(first) = errors.next() else {
        return log.lines().fold(Failure::new(Code::Compile, "the CUDA source does not compile"), Failure::note);
    };
    let unmarked = Unmarked::find(first, source);
    let mut failure = Failure::new(Code::Compile, title(first, source));
    failure.notes = first.notes.clone();
    failure.notes.extend(
        unmarked
            .map(|function| function.remedy())
            .or_else(|| remedy(&first.message, source))
            .or_else(|| of_line(first, source))
            .or_else(|| usual::of_call(first, source))
            .or_else(|| usual::of_types(first))
            .or_else(|| usual::of_message(&first.message)),
    );
    failure.location = first.place.as_ref().map(|place| {
        let text = text(&place.file, source);
        let (line, column) = (place.line, place.column.unwrap_or(0));
        let (line, column) = match MISSED_LATE.contains(&first.message.as_str()) {
            true => end_before(&text, line, column),
            false => (line, column),
        };
        Location::new(&place.file, line, column, &text)
    });
    // A template is compiled for each of its arguments, and each time says the same.
    let mut others: Vec<String> = Vec::new();
    for error in errors {
        let at = error.place.as_ref().map(|at| format!("{}:{}: ", at.file, at.line)).unwrap_or_default();
        let other = format!("also {at}{}", title(error, source));
        if !others.contains(&other) {
            others.push(other);
        }
    }
    let more = others.len().saturating_sub(3);
    failure.notes.extend(others.into_iter().take(3));
    match more {
        0 => failure,
        more => failure.note(format!("and {} more", counted(more as u64, "error"))),
    }
}

/// Messages on what is missing at the end of a line, and is missed at the beginning of a later one.
const MISSED_LATE: [&str; 4] = ["expected a \";\"", "expected a \")\"", "expected a \"]\"", "expected a \",\""];

fn title(message: &Diagnostic, source: &Source) -> String {
    if is_hosts_variable(&message.message) {
        return "a variable outside of functions is the CPU's, which the GPU cannot use".to_owned();
    }
    Unmarked::find(message, source).map_or_else(|| message.message.clone(), |function| function.title())
}

fn is_hosts_variable(message: &str) -> bool {
    message.starts_with("A namespace scope variable without memory space annotations")
}

fn is_hosts_function(message: &str) -> bool {
    message.starts_with("A function without execution space annotations")
}

/// A function that is neither the device's nor a kernel, and so the host's, which such a source has none of.
struct Unmarked {
    name: String,
    /// What is to be written before it.
    mark: Option<&'static str>,
    /// Its declaration up to its name, without `extern "C"` and template parameters.
    head: String,
}

impl Unmarked {
    /// The function that the compiler's message is about, if it is one on such a function.
    fn find(message: &Diagnostic, source: &Source) -> Option<Self> {
        if !is_hosts_function(&message.message) {
            return None;
        }
        let place = message.place.as_ref()?;
        let text = text(&place.file, source);
        let tokens = fusion_cpp::tokens(&text);
        let at = name_at(&tokens, &text, place)?;
        let name = tokens[at].text(&text).to_owned();
        let head = head(&tokens[..at], &text);
        let exercise = Path::new(&source.path).file_stem().unwrap_or_default().to_string_lossy();
        let is_kernels = name.strip_prefix(&*exercise).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        let word = |wanted: &str| tokens.iter().filter(|token| token.text(&text) == wanted).count();
        let mark = match head.ends_with("void") {
            true if is_kernels => Some("__global__"),
            // Whoever is called is no kernel.
            true if word(&name) < 2 => None,
            _ => Some("__device__"),
        };
        Some(Self { name, mark, head })
    }

    fn title(&self) -> String {
        let name = &self.name;
        match self.mark {
            Some("__global__") => format!("the kernel `{name}` is not marked `__global__`"),
            Some(mark) => format!("the function `{name}` is not marked `{mark}`"),
            None => format!("the function `{name}` is marked neither `__global__` nor `__device__`"),
        }
    }

    fn remedy(&self) -> String {
        let Self { name, head, .. } = self;
        let write = match self.mark {
            Some("__global__") => format!("write `extern \"C\" __global__ {head} {name}(...)`"),
            Some(mark) => format!("write `{mark} {head} {name}(...)`"),
            None => format!(
                "a kernel is `extern \"C\" __global__ {head} {name}(...)`, and a function that kernels call is \
                 `__device__ {head} {name}(...)`"
            ),
        };
        format!("{write}: without it, it is a function of the CPU's, which the GPU cannot run")
    }
}

/// The function's name at a place in its declaration: the first word from there on that has an opening parenthesis behind it.
fn name_at(tokens: &[Token], text: &str, place: &Place) -> Option<usize> {
    let start = offset(text, place.line, place.column.unwrap_or(1));
    let is_name =
        |pair: &[Token]| pair[0].kind == Kind::Word && pair[1].text(text) == "(" && pair[0].span.start >= start;
    tokens.windows(2).position(is_name)
}

/// The tokens of a declaration before its name.
pub(super) fn declaration<'a>(before: &'a [Token], text: &str) -> &'a [Token] {
    let ends = |token: &Token| token.kind == Kind::Directive || matches!(token.text(text), ";" | "{" | "}");
    &before[before.iter().rposition(ends).map_or(0, |end| end + 1)..]
}

/// What a declaration begins with, of the tokens before its name.
fn head(before: &[Token], text: &str) -> String {
    let mut head = declaration(before, text);
    if let [first, rest @ ..] = head
        && first.text(text) == "template"
    {
        // `template <typename T>`: up to the last `>`, since what follows is a type and words.
        head = &rest[rest.iter().position(|token| token.text(text) == ">").map_or(0, |end| end + 1)..];
    }
    if let [first, second, rest @ ..] = head
        && first.text(text) == "extern"
        && second.kind == Kind::Text
    {
        head = rest;
    }
    let [first, .., last] = head else { return head.iter().map(|token| token.text(text)).collect() };
    text.get(first.span.start..last.span.end).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The byte at a line and column, both counted from one.
fn offset(text: &str, line: u32, column: u32) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    start + column.saturating_sub(1) as usize
}

/// Where the statement before a position ends, if it does so in an earlier line: that is where something is missing which the
/// compiler misses only here.
fn end_before(text: &str, line: u32, column: u32) -> (u32, u32) {
    let (start, at) = (offset(text, line, 1), offset(text, line, column));
    let tokens = fusion_cpp::tokens(text);
    let before = tokens.iter().take_while(|token| token.span.end <= at).last().map(|token| token.span.end);
    let end = before.filter(|end| *end < start).and_then(|end| text.get(..end));
    end.map_or((line, column), |text| {
        let mut lines = text.split('\n');
        (lines.clone().count() as u32, lines.next_back().map_or(0, str::len) as u32)
    })
}

/// What to do about messages that say it to nobody who does not know yet.
fn remedy(message: &str, source: &Source) -> Option<String> {
    if is_hosts_variable(message) {
        let text = "a number that never changes is a constant: write `const` before its type. Another variable outside of functions \
                    is the GPU's where it is marked `__device__`";
        return Some(text.to_owned());
    }
    if let Some(name) = message.strip_prefix("namespace \"std\" has no member ") {
        return Some(usual::without_std(name.trim_matches('"')));
    }
    if CANNOT_OPEN.iter().any(|start| message.starts_with(start)) {
        let header = message.split('"').nth(1).unwrap_or_default();
        if !header.contains('.') {
            return Some(format!(
                "`<{header}>` is the CPU's: in a kernel there is no standard library, and CUDA's own functions, such as `sqrtf`, need no header"
            ));
        }
        let names: Vec<String> = fusion_baseline::headers().iter().map(|(name, _)| format!("`{name}`")).collect();
        return Some(format!("the course's headers are in kernels/include: {}", names.join(", ")));
    }
    if message == "expression must be a modifiable lvalue" {
        return Some("what is declared `const` cannot be stored to".to_owned());
    }
    let unknown = message.strip_prefix("identifier \"")?.split('"').next()?;
    Some(names::undefined(unknown, source))
}

/// Warnings on which there is something to say: what one has in it, and what to do. `NAME` stands for the name in
/// quotes.
const WARNINGS: [(&str, &str); 5] = [
    (
        "before its value is set",
        "give `NAME` a value where it is declared, such as 0: until it has one it holds anything",
    ),
    ("missing return statement", "end `NAME` with a `return`: without one it returns anything"),
    ("declared but never referenced", "no line uses `NAME`: was it to be used?"),
    ("set but never used", "no line reads `NAME`: was it to be read?"),
    ("expression has no effect", "the line computes something and keeps it nowhere: was it to be stored with `=`?"),
];

/// What to do about a warning that may be why values are wrong.
pub(crate) fn warning(message: &str) -> Option<String> {
    let (_, remedy) = WARNINGS.iter().find(|(part, _)| message.contains(part))?;
    let name = message.split('"').nth(1);
    let plain = name.and_then(|name| name.split('(').next()?.split_whitespace().last());
    // A remedy for a name says nothing without one.
    match plain {
        Some(name) => Some(remedy.replace("NAME", name)),
        None => (!remedy.contains("NAME")).then(|| (*remedy).to_owned()),
    }
}

/// Operators of integers alone, which other languages have for other numbers: the operator, and what is written for floats.
const OF_INTEGERS: [(&str, &str); 2] = [
    ("^", "`^` combines the bits of integers: a square is `x * x`, and a power `powf(x, y)`"),
    ("%", "`%` is for integers: the rest of a division of floats is `fmodf(x, y)`"),
];

/// What to do about a message that the line it is about explains.
fn of_line(message: &Diagnostic, source: &Source) -> Option<String> {
    let place = message.place.as_ref().filter(|_| message.message.starts_with("expression must have integral"))?;
    let text = text(&place.file, source);
    let line = text.lines().nth(place.line.saturating_sub(1) as usize)?;
    OF_INTEGERS.iter().find(|(operator, _)| line.contains(operator)).map(|(_, remedy)| (*remedy).to_owned())
}

/// How the compiler says that there is no such header.
const CANNOT_OPEN: [&str; 2] = ["cannot open source file", "could not open source file"];

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { path: "exercises/day22/src/scale.cu".to_owned(), text: text.to_owned() }
    }

    fn error(message: &str, line: u32, column: u32) -> Diagnostic {
        let place = Place { file: source("").path, line, column: Some(column) };
        let (message, notes) = (message.to_owned(), Vec::new());
        Diagnostic { severity: Severity::Error, place: Some(place), number: None, message, notes }
    }

    #[test]
    fn what_the_hosts_functions_lack_is_said() {
        let says = "A function without execution space annotations (__host__/__device__/__global__) is considered a host function";
        for (text, line, column, title, write) in [
            (
                "extern \"C\" void scale(int* x) {}",
                1,
                17,
                "the kernel `scale` is not marked `__global__`",
                "`extern \"C\" __global__ void scale(...)`",
            ),
            (
                "#include \"a.cuh\"\nvoid scale_long(int* x) {}",
                2,
                6,
                "the kernel `scale_long` is not marked `__global__`",
                "`extern \"C\" __global__ void scale_long(...)`",
            ),
            (
                "int a; static float\nf(float x) { return x; }",
                2,
                1,
                "the function `f` is not marked `__device__`",
                "`__device__ static float f(...)`",
            ),
            (
                "template <class T>\ninline T f(T x) {}",
                2,
                10,
                "the function `f` is not marked `__device__`",
                "`__device__ inline T f(...)`",
            ),
            (
                "void add(int* x) {}\n__global__ void scale(int* x) { add(x); }",
                1,
                6,
                "the function `add` is not marked `__device__`",
                "`__device__ void add(...)`",
            ),
            (
                "void other(int* x) {}",
                1,
                6,
                "the function `other` is marked neither `__global__` nor `__device__`",
                "a kernel is `extern",
            ),
        ] {
            let failure = diagnostics(&[error(says, line, column)], "", &source(text));
            assert_eq!((failure.title.as_str(), failure.location.map(|at| at.line)), (title, Some(line)));
            assert!(failure.notes[0].contains(write), "{}", failure.notes[0]);
        }
    }

    #[test]
    fn what_is_missing_at_the_end_of_a_line_is_missing_there() {
        let text = "{\n    x = f(a\n\n    y = 1;\n    z = (b;\n}";
        for (message, line, column, expected) in [
            ("expected a \")\"", 4, 5, (2, 11)),
            ("expected a \";\"", 4, 5, (2, 11)),
            ("expected a \")\"", 5, 11, (5, 11)),
            ("expected an expression", 4, 5, (4, 5)),
        ] {
            let failure = diagnostics(&[error(message, line, column)], "", &source(text));
            assert_eq!(failure.location.map(|at| (at.line, at.column)), Some(expected), "{message}");
        }
    }

    #[test]
    fn the_first_compiler_error_leads() {
        let diagnostic = |severity, message: &str| Diagnostic { severity, ..error(message, 2, 3) };
        let all = [
            diagnostic(Severity::Warning, "unused"),
            diagnostic(Severity::Error, "identifier \"two\" is undefined"),
            diagnostic(Severity::Error, "another"),
        ];
        let failure = diagnostics(&all, "", &source("one\n  two(x);\n"));
        assert_eq!(failure.title, "identifier \"two\" is undefined");
        assert_eq!(failure.notes.last().map(String::as_str), Some("also exercises/day22/src/scale.cu:2: another"));
        assert_eq!(failure.location.map(|at| (at.line, at.column)), Some((2, 3)));
        assert_eq!(diagnostics(&[], "line\nline", &source("")).notes.len(), 2);
    }

    #[test]
    fn warnings_say_what_to_do() {
        for (message, said) in [
            ("variable \"acc\" is used before its value is set", Some("give `acc` a value")),
            ("missing return statement at end of non-void function \"gelu(float)\"", Some("end `gelu` with")),
            ("missing return statement at end of non-void function \"float gelu(float)\"", Some("end `gelu` with")),
            ("variable \"sums\" was declared but never referenced", Some("no line uses `sums`")),
            ("variable \"total\" was set but never used", Some("no line reads `total`")),
            ("expression has no effect", Some("stored with `=`")),
            ("variable was declared but never referenced", None),
            ("integer conversion resulted in a change of sign", None),
        ] {
            let told = warning(message);
            assert_eq!(
                told.as_ref().map(|text| text.contains(said.unwrap_or("nothing"))),
                said.map(|_| true),
                "{message}"
            );
        }
    }

    #[test]
    fn what_a_message_does_not_tell_is_added() {
        for (message, said) in [
            ("cannot open source file \"reduction.cuh\"", Some("`reduce.cuh`")),
            ("identifier \"INFINITY\" is undefined", Some("math_constants.h")),
            ("identifier \"reduce_row\" is undefined", Some("`#include \"reduce.cuh\"`")),
            ("identifier \"WARPS\" is undefined", Some("`#include \"reduce.cuh\"`")),
            ("identifier \"gelu_tanh\" is undefined", Some("`#include \"activation.cuh\"`")),
            ("identifier \"Row\" is undefined", Some("`#include \"row.cuh\"`")),
            ("identifier \"CUDART_INF_F\" is undefined", Some("`#include <math_constants.h>`")),
            ("identifier \"__nv_bfloat16\" is undefined", Some("`#include <cuda_bf16.h>`")),
            ("identifier \"__nv_fp8x2_e4m3\" is undefined", Some("`#include <cuda_fp8.h>`")),
            ("identifier \"FLT_MAX\" is undefined", Some("`#include <float.h>`")),
            // It is included.
            ("identifier \"__half2flaot\" is undefined", Some("no line above declares")),
            ("identifier \"half\" is undefined", Some("no line above declares")),
            ("identifier \"threadldx\" is undefined", Some("`threadIdx`")),
            ("identifier \"__syncthread\" is undefined", Some("`__syncthreads`")),
            ("identifier \"value\" is undefined", Some("`float value = 0.0f;`")),
            ("cannot open source file \"vector\"", Some("no standard library")),
            ("namespace \"std\" has no member \"max\"", Some("write `fmaxf(a, b)`")),
            ("namespace \"std\" has no member \"span\"", Some("write CUDA's own function")),
            ("expected a \";\"", None),
        ] {
            let remedy = remedy(message, &source("#include <cuda_fp16.h>"));
            assert_eq!(
                remedy.as_ref().map(|text| text.contains(said.unwrap_or("nothing"))),
                said.map(|_| true),
                "{message}"
            );
        }
    }
}
