//! The shared memory that a launch asks for.

use fusion_course::Shapes;
use fusion_machine::report::Kind;
use fusion_machine::report::kind::Memory;

use super::{Cause, Seen, elements, say};

/// Too little, for a reason that the number shows: none at all, or elements counted where bytes are.
pub(super) fn size(seen: &Seen<'_>) -> Option<Cause> {
    let (kernel, access, fixed, dynamic) = seen.faults().find_map(|fault| match fault.kind {
        Kind::Memory(Memory::OutsideShared { access, fixed, dynamic, .. }) => {
            Some((&fault.kernel, access, fixed, dynamic))
        }
        _ => None,
    })?;
    // Before the start, the size is not to blame.
    if !uses_extern(&seen.source.text, kernel) || access.address < u64::from(fixed) {
        return None;
    }
    let dynamic = u64::from(dynamic);
    if dynamic == 0 {
        return Some(Cause::NoShared { bytes: access.bytes });
    }
    let shape = seen.shape();
    let counts = [("columns", shape.columns), ("elements", shape.elements())];
    if let Some((count, _)) = counts.into_iter().find(|(_, count)| *count as u64 == dynamic && access.bytes > 1) {
        return Some(Cause::SharedInElements { dynamic, count, each: access.bytes });
    }
    let arrays = extern_arrays(&seen.source.text, kernel);
    let each = arrays.iter().filter_map(|array| elements::bytes(&array.of)).max()? as u64;
    let columns = shape.columns as u64;
    let too_small = matches!(seen.exercise.shapes, Shapes::Rows { .. }) && dynamic < columns.saturating_mul(each);
    let wider = seen.exercise.inputs.iter().all(|input| (input.dtype.bytes() as u64) < each);
    too_small.then_some(Cause::SharedTooSmall { dynamic, columns, each, wider })
}

/// What is to be said of several arrays whose size the launch decides.
pub(super) fn at_one_place(seen: &Seen<'_>) -> Option<String> {
    let names: Vec<String> =
        extern_arrays(&seen.source.text, &seen.launch()?.kernel).into_iter().map(|array| array.name).collect();
    (names.len() > 1).then(|| say::at_one_place(&names))
}

/// An `extern __shared__` array.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Array {
    name: String,
    /// The type of its elements.
    of: String,
}

/// Whether a kernel uses memory whose size the launch decides.
fn uses_extern(source: &str, kernel: &str) -> bool {
    !extern_arrays(source, kernel).is_empty()
}

/// The `extern __shared__` arrays of a kernel's own, and those of the file that it names.
fn extern_arrays(source: &str, kernel: &str) -> Vec<Array> {
    let tokens = fusion_cpp::tokens(source);
    let words: Vec<&str> = tokens.iter().map(|token| token.text(source)).collect();
    let Some(start) = super::declared(&tokens, source, kernel) else { return Vec::new() };
    let body = body(&words, start);
    let found =
        words.windows(2).enumerate().filter(|(_, pair)| *pair == ["extern", "__shared__"]).filter_map(|(at, _)| {
            let after = words.iter().skip(at + 2).take_while(|word| !matches!(**word, ";" | "["));
            let (name, of) = after.copied().collect::<Vec<_>>().split_last().map(|(name, of)| (*name, of.join(" ")))?;
            let named = || words.get(body.clone()).is_some_and(|body| body.contains(&name));
            (body.contains(&at) || named()).then(|| Array { name: name.to_owned(), of })
        });
    found.collect()
}

/// The tokens between a function's braces, where its name stands at `start`.
fn body(words: &[&str], start: usize) -> std::ops::Range<usize> {
    let open = (start..words.len()).find(|&at| words[at] == "{").unwrap_or(words.len());
    let mut depth = 0_usize;
    let close = (open..words.len()).find(|&at| {
        match words[at] {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    open..close.unwrap_or(words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_that_uses_what_the_launch_decides_is_told_from_others() {
        let own = "__global__ void kept(float* x) { extern __shared__ float row[]; if (x) { row[0] = 1; } }\n\
                   __global__ void kept_long(float* x) { __shared__ float sums[32]; sums[0] = x[0]; }";
        assert!(uses_extern(own, "kept"));
        assert!(!uses_extern(own, "kept_long"));
        let shared = "extern __shared__ float row[];\n__global__ void a() { row[0] = 1; }\n__global__ void b() { }";
        assert!(uses_extern(shared, "a"));
        assert!(!uses_extern(shared, "b"));
        assert!(!uses_extern(shared, "c"));
    }
}
