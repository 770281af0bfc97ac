//! A source with several kernels, taken apart into sources with one kernel each.

use std::ops::Range;

use crate::code::Code;
use fusion_cpp::Kind;

/// The source with one of its kernels each: a definition that is written out, as `extern "C" __global__ void k() {}`, or a call
/// of a macro of its own that makes one, as `KERNEL(32)` outside of any function; nothing where it has fewer than two. Lines
/// keep their numbers.
///
/// A compiler takes most of its time for the kernels, each by itself. Who needs one of them need not wait for all.
pub fn instances(source: &str) -> Vec<String> {
    let code = Code::new(source);
    let mut kernels = calls(&code);
    kernels.extend(definitions(&code));
    kernels.sort_by_key(|kernel| kernel.start);
    if kernels.len() < 2 {
        return Vec::new();
    }
    let alone = |kept: usize| {
        let mut text = source.to_owned();
        for (_, kernel) in kernels.iter().enumerate().filter(|(index, _)| *index != kept).rev() {
            let newlines = source[kernel.clone()].matches('\n').count();
            text.replace_range(kernel.clone(), &"\n".repeat(newlines));
        }
        text
    };
    (0..kernels.len()).map(alone).collect()
}

/// The bytes of every kernel that is written out, from `extern` to its last bracket.
fn definitions(code: &Code<'_>) -> Vec<Range<usize>> {
    let definition = |token: usize| {
        let begins =
            code.word(token) == "extern" && code.word(token + 1) == "\"C\"" && code.word(token + 2) == "__global__";
        let outside = begins && code.enclosing(token).is_none();
        // The first brace that no other bracket encloses, unless a declaration ends before it.
        let body = (token..code.tokens.len()).filter(|_| outside).find(|&at| matches!(code.word(at), "{" | ";"))?;
        Some(code.bytes(&(token..code.pair(body)? + 1)))
    };
    (0..code.tokens.len()).filter_map(definition).collect()
}

/// The bytes of every call of a macro that the source defines, outside of functions, as the whole of its lines.
fn calls(code: &Code<'_>) -> Vec<Range<usize>> {
    let macros: Vec<&str> = (0..code.tokens.len())
        .filter(|&token| code.kind(token) == Some(Kind::Directive))
        .filter_map(|token| code.word(token).strip_prefix("#define ")?.split_once('('))
        .map(|(name, _)| name.trim())
        .collect();
    let is_call = |token: usize| {
        let close = code.pair(token + 1).filter(|_| code.word(token + 1) == "(")?;
        let alone = code.starts_line(token) && code.starts_line(close + 1);
        let found = macros.contains(&code.word(token)) && alone && code.enclosing(token).is_none();
        found.then(|| code.bytes(&(token..close + 1)))
    };
    (0..code.tokens.len()).filter_map(is_call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#define KERNEL(N) \\\n    void k##N() {}\n#define ONE 1\nvoid f() {\n    KERNEL(1)\n}\nKERNEL(2)\nint i = KERNEL(3);\nKERNEL(4)  // the last\n";

    #[test]
    fn each_has_one_call() {
        let made = instances(SOURCE);
        assert_eq!(made, [SOURCE.replace("KERNEL(4)", ""), SOURCE.replace("KERNEL(2)", "")]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let long = SOURCE.replace("KERNEL(2)", "KERNEL(\n    2)");
        let made = instances(&long);
        assert_eq!(made[1], long.replace("KERNEL(\n    2)", "\n"));
    }

    #[test]
    fn kernels_that_are_written_out_count_as_well() {
        let any =
            "extern \"C\" __global__ void __launch_bounds__(64)\n    any(float* x) {\n    if (x) { x[0] = 1; }\n}\n";
        let other = "extern \"C\" __global__ void other();\nextern \"C\" __global__ void other() {}";
        let source = format!("{SOURCE}{any}{other}");
        let made = instances(&source);
        let without = |texts: &[&str]| {
            texts
                .iter()
                .fold(source.clone(), |left, text| left.replacen(text, &"\n".repeat(text.matches('\n').count()), 1))
        };
        let (any, defined) = (any.trim_end(), "extern \"C\" __global__ void other() {}");
        assert_eq!(made.len(), 4);
        assert_eq!(made[2], without(&["KERNEL(2)", "KERNEL(4)", defined]));
        assert_eq!(made[3], without(&["KERNEL(2)", "KERNEL(4)", any]));
    }

    #[test]
    fn one_kernel_is_not_taken_apart() {
        assert_eq!(instances(&SOURCE.replace("KERNEL(2)", "")), [""; 0]);
        assert_eq!(instances("#define K(N)\nK(1\n}K(2)"), [""; 0]);
    }
}
