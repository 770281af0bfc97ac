//! Which part of a line a compiler's position means.
//!
//! A line table has where something begins and not where it ends. Where it begins a statement, the compiler means no more
//! than the statement; elsewhere the operand that stands there, with its subscripts and arguments.

use std::ops::Range;

use fusion_cpp::{Kind, Token};

use crate::wrap;

/// What is known of a position before the line is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'a> {
    /// An access to memory of this name.
    Access(&'a str),
    Other,
}

/// The span of what begins at a byte of a line, no wider than half of so many columns, or the place after the line's end.
pub(crate) fn at(line: &str, start: usize, what: What<'_>, columns: usize) -> Range<usize> {
    let guarded = match what {
        What::Access(memory) => guarded(line, start, memory),
        What::Other => None,
    };
    match guarded {
        Some(start) => span(line, start, true, columns),
        None => span(line, start, line.get(..start).is_some_and(|before| before.trim().is_empty()), columns),
    }
}

/// Where the statement begins that an `if` at a byte guards, for an access that can only be in the statement. The
/// compiler gives such a statement the column of the `if`.
fn guarded(line: &str, start: usize, memory: &str) -> Option<usize> {
    let (before, text) = line.split_at_checked(start)?;
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let tokens = fusion_cpp::tokens(text);
    let rest = Rest { text, tokens: &tokens };
    // The access may be in either branch.
    if (0..tokens.len()).any(|token| rest.word(token) == "else") {
        return None;
    }
    let mut first = 0;
    let mut in_braces = false;
    while rest.word(first) == "if" && rest.word(first + 1) == "(" {
        let close = rest.close(first + 1)?;
        if (first + 2..close).any(|token| rest.may_access(token, memory)) {
            return None;
        }
        first = close + 1;
        while rest.word(first) == "{" {
            first += 1;
            in_braces = true;
        }
    }
    let accesses = match rest.word(first) {
        "" | ";" | "}" | "if" | "for" | "while" | "do" | "switch" | "break" | "continue" => false,
        "return" => rest.word(first + 1) != ";",
        _ => true,
    };
    // Of several statements it may be any.
    let end = (first..tokens.len()).find(|&token| rest.word(token) == ";").unwrap_or(tokens.len());
    if in_braces && !matches!(rest.word(end + 1), "" | "}") {
        return None;
    }
    let statement = tokens.get(first).filter(|_| first > 0 && accesses)?;
    Some(start + statement.span.start)
}

fn span(line: &str, start: usize, is_statement: bool, columns: usize) -> Range<usize> {
    let Some(text) = line.get(start..).filter(|rest| !rest.is_empty()) else {
        return line.len()..line.len();
    };
    let tokens = fusion_cpp::tokens(text);
    let rest = Rest { text, tokens: &tokens };
    let length = match rest.word(0) {
        "if" | "while" | "for" | "switch" => rest.group(1).unwrap_or_else(|| rest.end(0)),
        _ if is_statement => rest.statement(),
        "return" => rest.statement(),
        _ => rest.operand(),
    };
    let first = text.chars().next().map_or(0, char::len_utf8);
    start..start + fit(&text[..length.max(first)], columns / 2)
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

/// The code of a line from a position on.
struct Rest<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl<'a> Rest<'a> {
    /// A token's text; empty past the last.
    fn word(&self, token: usize) -> &'a str {
        self.tokens.get(token).map_or("", |token| token.text(self.text))
    }

    /// The byte after a token; 0 past the last.
    fn end(&self, token: usize) -> usize {
        self.tokens.get(token).map_or(0, |token| token.span.end)
    }

    /// Whether a token stands right behind the one before.
    fn is_joined(&self, token: usize) -> bool {
        self.tokens
            .get(token)
            .is_some_and(|it| token.checked_sub(1).is_some_and(|last| self.end(last) == it.span.start))
    }

    /// Whether a condition with this token may access memory of a name: by the name, by a pointer, or in a call.
    fn may_access(&self, token: usize, memory: &str) -> bool {
        let is_call = || {
            let called = token.checked_sub(1).and_then(|before| self.tokens.get(before));
            called.is_some_and(|called| called.kind == Kind::Word)
        };
        match self.word(token) {
            "[" | "*" | "->" => true,
            "(" => is_call(),
            word => word == memory,
        }
    }

    /// Bytes up to the end of the statement or of the code in this line, without what ends it.
    fn statement(&self) -> usize {
        let mut depth = 0_u32;
        for token in 0..self.tokens.len() {
            match self.word(token) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                ";" | "{" if depth == 0 => return token.checked_sub(1).map_or(0, |last| self.end(last)),
                _ => {}
            }
        }
        self.tokens.len().checked_sub(1).map_or(0, |last| self.end(last))
    }

    /// Bytes up to the end of the group that a token opens; none where it opens none, or the line does not close it.
    fn group(&self, open: usize) -> Option<usize> {
        self.close(open).map(|close| self.end(close))
    }

    /// The token that closes what another one opens.
    fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0_u32;
        for token in open..self.tokens.len() {
            match self.word(token) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return (token > open).then_some(token);
            }
        }
        None
    }

    /// Bytes of `name`, `name[i]`, `f(x)`, `a.b`, `p->b`, `(a + b)`; one operator where no operand begins.
    fn operand(&self) -> usize {
        let is_operand = |token: usize| self.tokens.get(token).is_some_and(|it| it.kind != Kind::Operator);
        let mut last = match self.close(0) {
            Some(close) => close,
            None if is_operand(0) => 0,
            None => return self.end(0),
        };
        while self.is_joined(last + 1) {
            let more = match self.word(last + 1) {
                "(" | "[" => self.close(last + 1),
                "." | "->" | "::" => (self.is_joined(last + 2) && is_operand(last + 2)).then_some(last + 2),
                _ => None,
            };
            let Some(more) = more else { break };
            last = more;
        }
        self.end(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `^` marks the start, which is taken out.
    #[track_caller]
    fn check(marked: &str, expected: &str) {
        let start = marked.find('^').unwrap();
        let line = marked.replacen('^', "", 1);
        assert_eq!(&line[at(&line, start, What::Other, 80)], expected);
    }

    #[test]
    fn an_access_that_an_if_guards_is_in_the_statement() {
        for (marked, expected) in [
            ("  ^if (i < n) out[i + 1] = (x[i] + y[i]) / 2.0f;", "out[i + 1] = (x[i] + y[i]) / 2.0f"),
            ("  ^if (i < n) { out[i] = 1; }", "out[i] = 1"),
            ("  if (a) ^if (b) if (c) out[i] = 1;", "out[i] = 1"),
            ("  } else ^if (i < n) out[i] = 1;", "out[i] = 1"),
            ("  ^if (i < n) return x[i];", "return x[i]"),
            ("  ^if (threadIdx.x == 0) done = 1;", "done = 1"),
            // It may be in the condition.
            ("  ^if (v > *best) atomicMax(best, v);", "if (v > *best)"),
            ("  ^if (x[i] > 0) out[i] = 1;", "if (x[i] > 0)"),
            ("  ^if (p->n > 0) out[i] = 1;", "if (p->n > 0)"),
            ("  ^if (next(i) < n) out[i] = 1;", "if (next(i) < n)"),
            ("  ^if (done) out[i] = 1;", "if (done)"),
            // No statement, or none that is sure to have it.
            ("  ^if (i < n) return;", "if (i < n)"),
            ("  ^if (i < n) {", "if (i < n)"),
            ("  ^if (i < n);", "if (i < n)"),
            ("  ^if (i < n) a[i] = 1; else b[i] = 1;", "if (i < n)"),
            ("  ^if (i < n) for (;;) a[i] = 1;", "if (i < n)"),
            ("  ^if (i < n &&", "if"),
            ("  out[i] = ^x[i] + 1;", "x[i]"),
            ("  ^iffy(i) = 1;", "iffy(i) = 1"),
        ] {
            let start = marked.find('^').unwrap();
            let line = marked.replacen('^', "", 1);
            assert_eq!(&line[at(&line, start, What::Access("done"), 80)], expected, "{marked}");
        }
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
        check("  ^printf(\"a; b // %d\", n); // c", "printf(\"a; b // %d\", n)");
        check("  v = ^f(\")\")[1];", "f(\")\")[1]");
        check("  v = a ^<= b;", "<=");
        check("abc^", "");
    }

    #[test]
    fn what_is_too_wide_is_cut() {
        let line = "a".repeat(100);
        assert_eq!(at(&line, 0, What::Other, 40), 0..20);
        let line = "漢".repeat(100);
        assert_eq!(at(&line, 0, What::Other, 40), 0..30);
    }
}
