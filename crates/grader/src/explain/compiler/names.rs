//! What to do about a name that the compiler does not know.

use fusion_course::Source;
use fusion_cpp::Kind;

/// Where the name comes from, or what was meant by it.
pub(super) fn undefined(unknown: &str, source: &Source) -> String {
    match unknown {
        "let" | "fn" | "mut" => format!(
            "`{unknown}` is Rust: in CUDA C++ the type stands first, as in `size_t i = ...` or `float one(float x) {{ ... }}`"
        ),
        "INFINITY" | "HUGE_VALF" => {
            "kernels are compiled without <math.h>: write `CUDART_INF_F` and `#include <math_constants.h>`, or \
             `__int_as_float(0x7f800000)`"
                .to_owned()
        }
        "FLT_MAX" => "`#include <float.h>` has `FLT_MAX`; it is 3.402823466e38f".to_owned(),
        _ => {
            let ours = fusion_baseline::headers().iter();
            let ours = ours.into_iter().find(|(_, text)| text.lines().any(|line| declared(line) == Some(unknown)));
            ours.map(|(name, _)| format!("`#include \"{name}\"` has `{unknown}`"))
                .or_else(|| further_down(unknown, source))
                .or_else(|| cudas_header(unknown, source))
                .or_else(|| built_in(unknown))
                .or_else(|| similar(unknown, source))
                .unwrap_or_else(|| declare(unknown))
        }
    }
}

/// A function that the source defines below the place that calls it.
fn further_down(unknown: &str, source: &Source) -> Option<String> {
    let text = source.text.as_str();
    let tokens = fusion_cpp::tokens(text);
    let word = |at: usize| tokens.get(at).map_or("", |token| token.text(text));
    let defined = |&at: &usize| {
        let close = (at..tokens.len()).find(|&at| word(at) == ")");
        word(at) == unknown && word(at + 1) == "(" && close.is_some_and(|close| word(close + 1) == "{")
    };
    let at = tokens.get((0..tokens.len()).find(defined)?)?.span.start;
    let (line, _) = fusion_cpp::place(text, at);
    Some(format!("`{unknown}` is defined in line {line}: in C++ a function stands above those that call it"))
}

/// What is in names of CUDA's own headers and in no others, and the header.
const CUDAS_HEADERS: [(&str, &str); 5] = [
    ("bfloat16", "cuda_bf16.h"),
    ("__half", "cuda_fp16.h"),
    ("2half", "cuda_fp16.h"),
    ("__nv_fp8", "cuda_fp8.h"),
    ("CUDART_", "math_constants.h"),
];

/// The header that such names come from, where the source does not have it.
fn cudas_header(unknown: &str, source: &Source) -> Option<String> {
    let (part, header) = CUDAS_HEADERS.into_iter().find(|(part, _)| unknown.contains(part))?;
    let lacks = !source.text.contains(header);
    lacks.then(|| format!("names with `{part}` in them come from `#include <{header}>`, which this file does not have"))
}

/// The built-in variable or function that a name nearly is.
fn built_in(unknown: &str) -> Option<String> {
    let near = |name: &&str| strsim::damerau_levenshtein(unknown, name) <= 2;
    let of = |names: &[&'static str], what: &str| {
        let found = names.iter().copied().find(near)?;
        Some(format!("CUDA has a {what} `{found}`: was it meant?"))
    };
    of(&["threadIdx", "blockIdx", "blockDim", "gridDim"], "variable").or_else(|| {
        of(&["__syncthreads", "__syncwarp", "__shfl_down_sync", "__shfl_xor_sync", "atomicAdd"], "function")
    })
}

/// The name of the source's own that another one nearly is.
fn similar(unknown: &str, source: &Source) -> Option<String> {
    let text = source.text.as_str();
    let tokens = fusion_cpp::tokens(text);
    let words = tokens.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text(text));
    // A longer name may have a letter more that is wrong. A short one is near to too many.
    let most = match unknown.len() {
        0..=2 => return None,
        3..=5 => 1,
        _ => 2,
    };
    let near = |word: &&str| *word != unknown && strsim::damerau_levenshtein(unknown, word) <= most;
    // What another line declares, such as a parameter, stands there twice at least.
    let count = |word: &str| tokens.iter().filter(|token| token.text(text) == word).count();
    let found = words.filter(near).max_by_key(|word| count(word))?;
    Some(format!("the file has a name `{found}`: was it meant?"))
}

/// What to do about a name that is like no other.
fn declare(unknown: &str) -> String {
    format!(
        "no line above declares `{unknown}` within the same braces: declare it with its type, as in \
         `float {unknown} = 0.0f;`, or check how it is spelled"
    )
}

/// The name that a line of a header declares: the last word before its parameters, its members or its value.
fn declared(line: &str) -> Option<&str> {
    let starts = ["__device__ ", "struct ", "constexpr "];
    let head = line.split(['(', '{', '=', ';']).next()?;
    starts.iter().any(|start| line.starts_with(start)).then(|| head.split_whitespace().last())?
}
