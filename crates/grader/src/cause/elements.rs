//! What the source declares the elements of a buffer to be.

use fusion_course::DType;
use fusion_cpp::tokens;

use super::{Cause, Seen};

/// Types that stand for numbers of memory's own: name and bytes. One of integers may as well stand for several small ones.
const TYPES: [(&str, DType); 7] = [
    ("float", DType::F32),
    ("half", DType::F16),
    ("__half", DType::F16),
    ("nv_bfloat16", DType::Bf16),
    ("__nv_bfloat16", DType::Bf16),
    ("int8_t", DType::I8),
    ("char", DType::I8),
];

/// A parameter that is declared as a pointer to other numbers than those of the buffer that it received.
pub(super) fn of_another_type(seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    launch.arguments.iter().find_map(|argument| {
        let name = argument.name.as_deref()?;
        let buffer = seen.at(argument.unsigned()?)?;
        let (declared, dtype) = pointee(&seen.source.text, &launch.kernel, name)?;
        // Bytes may stand for anything.
        let differs = dtype != buffer.dtype && dtype != DType::I8;
        differs.then(|| Cause::Elements { name: name.to_owned(), declared, takes: dtype, has: buffer.dtype })
    })
}

/// The type of what a kernel's parameter points to, if it is one of [`TYPES`].
fn pointee(source: &str, kernel: &str, parameter: &str) -> Option<(&'static str, DType)> {
    let tokens = tokens(source);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
    let list = super::declared(&tokens, source, kernel)? + 2;
    let end = (list..tokens.len()).find(|&at| text(at) == ")")?;
    let at = (list..end).find(|&at| text(at) == parameter && matches!(text(at + 1), "," | ")" | "["))?;
    let start = (list..at).rev().find(|&at| text(at) == ",").map_or(list, |comma| comma + 1);
    let words: Vec<&str> = (start..at).map(text).collect();
    let pointers = words.iter().filter(|word| **word == "*").count();
    let found = TYPES.iter().find(|(name, _)| words.contains(name))?;
    (pointers == 1).then_some(*found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_that_a_parameter_points_to_is_found() {
        let source = "// k(float* y)\nextern \"C\" __global__ void k(const float* __restrict__ x, unsigned* words,\n\
                      __nv_bfloat16 *b, float s, const float** rows, size_t n) { f(x); }";
        let found = |name| pointee(source, "k", name).map(|(_, dtype)| dtype);
        assert_eq!(found("x"), Some(DType::F32));
        assert_eq!(found("b"), Some(DType::Bf16));
        for name in ["words", "s", "rows", "n", "y"] {
            assert_eq!(found(name), None, "{name}");
        }
        assert_eq!(pointee(source, "other", "x"), None);
    }
}
