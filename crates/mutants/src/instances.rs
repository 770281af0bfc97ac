//! A source whose kernels are made by a macro, taken apart into sources with one such kernel each.

use std::ops::Range;

use crate::code::Code;
use crate::lexer::Kind;

/// The source with one call of a macro each, where it calls its own macros for several kernels, as `KERNEL(32)` and
/// `KERNEL(64)` outside of any function; nothing where it has fewer than two such lines. Lines keep their numbers.
///
/// A compiler takes most of its time for the kernels, each by itself. Who needs one of them need not wait for all.
pub fn instances(source: &str) -> Vec<String> {
    let calls = calls(&Code::new(source));
    if calls.len() < 2 {
        return Vec::new();
    }
    let alone = |kept: usize| {
        let mut text = source.to_owned();
        for (_, call) in calls.iter().enumerate().filter(|(index, _)| *index != kept).rev() {
            let newlines = source[call.clone()].matches('\n').count();
            text.replace_range(call.clone(), &"\n".repeat(newlines));
        }
        text
    };
    (0..calls.len()).map(alone).collect()
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
    fn one_kernel_is_not_taken_apart() {
        assert_eq!(instances(&SOURCE.replace("KERNEL(2)", "")), [""; 0]);
        assert_eq!(instances("#define K(N)\nK(1\n}K(2)"), [""; 0]);
    }
}
