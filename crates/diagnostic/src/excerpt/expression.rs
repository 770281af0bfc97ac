//! Which part of a line a compiler's position means.
//!
//! A line table has where something begins and not where it ends. Where it begins a statement, the compiler means no more
//! than the statement; elsewhere the operand that stands there, with its subscripts and arguments.

use std::ops::Range;

use crate::wrap;

/// The span of what begins at a byte of a line, no wider than half of so many columns, or the place after the line's end.
pub(crate) fn at(line: &str, start: usize, columns: usize) -> Range<usize> {
    let Some(rest) = line.get(start..).filter(|rest| !rest.is_empty()) else {
        return line.len()..line.len();
    };
    let begins_line = line[..start].trim().is_empty();
    let word = word(rest);
    let length = match &rest[..word] {
        "if" | "while" | "for" | "switch" => word + parenthesised(&rest[word..]),
        _ if begins_line => statement(rest),
        "return" => statement(rest),
        _ => operand(rest),
    };
    start..start + fit(&rest[..length.max(first(rest))], columns / 2)
}

/// Bytes of the longest beginning that is so wide at most, and one character at least.
fn fit(text: &str, columns: usize) -> usize {
    let mut width = 0;
    for (at, c) in text.char_indices() {
        width += wrap::width(c.encode_utf8(&mut [0; 4]));
        if width > columns.max(1) && at > 0 {
            return at;
        }
    }
    text.len()
}

fn first(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Bytes of the identifier or number that the text begins with.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Bytes up to the end of the statement or of the code in this line, without what ends it.
fn statement(text: &str) -> usize {
    let mut depth = 0_u32;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ';' | '{' if depth == 0 => {
                end = at;
                break;
            }
            '/' if text[at..].starts_with("//") => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    text[..end].trim_end().len()
}

/// Bytes of `name`, `name[i]`, `f(x)`, `a.b`, `p->b`, `(a + b)`; one operator where no operand begins.
fn operand(text: &str) -> usize {
    let mut end = match text.as_bytes().first() {
        Some(b'(' | b'[') => balanced(text),
        _ => word(text),
    };
    if end == 0 {
        return first(text);
    }
    loop {
        let rest = &text[end..];
        let more = match rest.as_bytes() {
            [b'(' | b'[', ..] => balanced(rest),
            [b'.', ..] => joined(rest, 1),
            [b'-', b'>', ..] | [b':', b':', ..] => joined(rest, 2),
            _ => 0,
        };
        if more == 0 {
            return end;
        }
        end += more;
    }
}

/// Bytes of `.name` or `->name`.
fn joined(text: &str, by: usize) -> usize {
    match word(&text[by..]) {
        0 => 0,
        name => by + name,
    }
}

/// Bytes of a bracketed group, with spaces before it.
fn parenthesised(text: &str) -> usize {
    let spaces = text.len() - text.trim_start().len();
    match text[spaces..].starts_with('(') {
        true => spaces + balanced(&text[spaces..]),
        false => 0,
    }
}

/// Bytes of the group that the text's bracket opens; 0 when the line does not close it.
fn balanced(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + c.len_utf8();
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `^` marks the start, which is taken out.
    #[track_caller]
    fn check(marked: &str, expected: &str) {
        let start = marked.find('^').unwrap();
        let line = marked.replacen('^', "", 1);
        assert_eq!(&line[at(&line, start, 80)], expected);
    }

    #[test]
    fn a_position_means_what_begins_there() {
        check("  ^out[i] = x[i] + 1; // store", "out[i] = x[i] + 1");
        check("  out[i] = ^x[i + f(1)] + 1;", "x[i + f(1)]");
        check("  out[i] = ^tile[a][b].x + 1;", "tile[a][b].x");
        check("  v = ^p->next->value;", "p->next->value");
        check("  v = ^std::max(a, b);", "std::max(a, b)");
        check("  v = a ^+ b;", "+");
        check("  v = ^(a + b)[2];", "(a + b)[2]");
        check("  ^__syncthreads();", "__syncthreads()");
        check("  ^if (threadIdx.x < 16) __syncthreads();", "if (threadIdx.x < 16)");
        check("  if (t) ^return x[t];", "return x[t]");
        check("  ^for (int i = 0; i < n; ++i) {", "for (int i = 0; i < n; ++i)");
        check("  ^f(a, // the first", "f(a,");
        check("  v = ^f(a, // unclosed", "f");
        check("  v = ^漢[i];", "漢[i]");
        check("abc^", "");
    }

    #[test]
    fn what_is_too_wide_is_cut() {
        let line = "a".repeat(100);
        assert_eq!(at(&line, 0, 40), 0..20);
        let line = "漢".repeat(100);
        assert_eq!(at(&line, 0, 40), 0..30);
    }
}
