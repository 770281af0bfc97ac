//! The check that should guard an access, as far as the source's text tells of it.

use std::ops::Range;

use fusion_cpp::{Kind, Token};

use crate::diagnostic::Diagnostic;
use crate::places;
use crate::sources::{Sources, Text};

/// Lines above an access in which its check is looked for.
const ABOVE: usize = 4;

/// Bytes of text that are looked through, and of an expression that a sentence can hold.
const MOST: usize = 8192;
const LONGEST: usize = 40;

/// What is wrong with a check that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// A semicolon ends the `if` right behind its condition.
    Ended,
    /// It compares something else than the access uses.
    Other { compared: String, used: String },
}

/// What is wrong with the check near the access that a fault is about. None where no such check is found.
pub(crate) fn check(fault: &Diagnostic, sources: &(impl Sources + ?Sized)) -> Option<Check> {
    let memory = fault.buffer.as_ref()?.name.as_str();
    let at = places::place(&fault.source, sources)?;
    let (text, last) = window(&sources.text(&at.file), at.line)?;
    read(&text, last, memory)
}

/// A line with those above it that belong to the same function, and the byte at which the line itself begins.
fn window(text: &Text<'_>, line: u32) -> Option<(String, usize)> {
    let Text::Lines { first, bytes } = text else { return None };
    let index = line.checked_sub(*first)? as usize;
    let from = index.saturating_sub(ABOVE);
    let lines = bytes.split(|&byte| byte == b'\n').skip(from).take(index - from + 1);
    let lines: Vec<_> =
        lines.map(|line| (line.len() <= MOST).then(|| String::from_utf8_lossy(line))).collect::<Option<_>>()?;
    let (last, above) = lines.split_last().filter(|_| lines.len() > index - from)?;
    let inside = match is_border(last) {
        true => 0,
        false => above.iter().rev().take_while(|line| !is_border(line)).count(),
    };
    let mut shown: String = above.iter().skip(above.len() - inside).flat_map(|line| [&**line, "\n"]).collect();
    let start = shown.len();
    shown.push_str(last);
    (shown.len() <= MOST).then_some((shown, start))
}

/// Whether a function begins or ends in a line.
fn is_border(line: &str) -> bool {
    let is_function = |word: &str| matches!(word, "__global__" | "__device__" | "__host__");
    line.starts_with('}') || fusion_cpp::tokens(line).iter().any(|token| is_function(token.text(line)))
}

fn read(text: &str, last: usize, memory: &str) -> Option<Check> {
    let code = Code { text, tokens: fusion_cpp::tokens(text) };
    let (checks, accesses) = (code.conditions(&["if"]), code.accesses(last, memory));
    if checks.iter().any(|check| code.is_ended(check, &accesses, memory)) {
        return Some(Check::Ended);
    }
    let loops = code.conditions(&["for", "while"]);
    let mut found: Option<(&str, &str)> = None;
    for access in &accesses {
        // Which one of two is out of bounds cannot be told.
        let other = code.other(&checks, &loops, access)?;
        if found.is_some_and(|(_, used)| used != other.1) {
            return None;
        }
        found = Some(other);
    }
    let (compared, used) = found?;
    (compared.len() <= LONGEST && used.len() <= LONGEST)
        .then(|| Check::Other { compared: compared.to_owned(), used: used.to_owned() })
}

/// What stands between the parentheses of an `if` or a loop, and the statement or block behind them.
struct Condition {
    inside: Range<usize>,
    guarded: Range<usize>,
}

/// Ranges are of tokens.
struct Code<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Code<'a> {
    /// A token's text; empty past the last.
    fn word(&self, token: usize) -> &'a str {
        self.tokens.get(token).map_or("", |token| token.text(self.text))
    }

    fn is_word(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|token| token.kind == Kind::Word)
    }

    fn words(&self, range: &Range<usize>) -> Vec<&'a str> {
        range.clone().map(|token| self.word(token)).collect()
    }

    /// The names of variables: no members.
    fn names(&self, range: &Range<usize>) -> Vec<&'a str> {
        let is_member = |token: usize| token.checked_sub(1).is_some_and(|dot| matches!(self.word(dot), "." | "->"));
        range.clone().filter(|&token| self.is_word(token) && !is_member(token)).map(|token| self.word(token)).collect()
    }

    fn source(&self, range: &Range<usize>) -> &'a str {
        let last = range.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        let (Some(first), Some(last)) = (self.tokens.get(range.start), last) else { return "" };
        self.text.get(first.span.start..last.span.end).unwrap_or_default()
    }

    /// The token that closes what another one opens.
    fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0_u32;
        for token in open..self.tokens.len() {
            match self.word(token) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return (token > open).then_some(token);
            }
        }
        None
    }

    /// The conditions behind all of these keywords.
    fn conditions(&self, keywords: &[&str]) -> Vec<Condition> {
        let is_one = |token: usize| keywords.contains(&self.word(token)) && self.word(token + 1) == "(";
        let condition = |token: usize| {
            let close = self.close(token + 1)?;
            Some(Condition { inside: token + 2..close, guarded: close..self.end(close + 1) })
        };
        (0..self.tokens.len()).filter(|&token| is_one(token)).filter_map(condition).collect()
    }

    /// Whether a semicolon ends an `if` that was to guard one of the accesses behind it.
    fn is_ended(&self, check: &Condition, accesses: &[Range<usize>], memory: &str) -> bool {
        let close = check.inside.end;
        let compared = self.names(&check.inside);
        let is_for = |access: &Range<usize>| {
            access.start > close && self.names(access).iter().any(|name| compared.contains(name))
        };
        self.word(close + 1) == ";"
            && self.word(close + 2) != "else"
            && !compared.contains(&memory)
            && accesses.iter().any(is_for)
    }

    /// The subscripts of a memory's name from a byte on.
    fn accesses(&self, start: usize, memory: &str) -> Vec<Range<usize>> {
        let is_access = |token: usize| {
            self.tokens.get(token).is_some_and(|it| it.span.start >= start && it.text(self.text) == memory)
                && self.word(token + 1) == "["
        };
        let accesses = (0..self.tokens.len()).filter(|&token| is_access(token));
        accesses.filter_map(|token| Some(token + 2..self.close(token + 1)?)).collect()
    }

    /// The token that ends the statement or block which begins with another one; the number of tokens where none does.
    fn end(&self, first: usize) -> usize {
        let mut depth = 0_u32;
        for token in first..self.tokens.len() {
            match self.word(token) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "}" if depth <= 1 => return token,
                "}" => depth -= 1,
                ";" if depth == 0 => return token,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// What a condition compares with a name by `<`.
    fn compared(&self, condition: &Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = condition.start;
        for token in condition.clone() {
            match self.word(token) {
                "&&" | "||" => start = token + 1,
                "<" if self.is_bound(token + 1) => {
                    while self.word(start) == "(" && self.close(start).is_some_and(|close| close > token) {
                        start += 1;
                    }
                    let left = start..token;
                    if !self.names(&left).is_empty() {
                        found.push(left);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a name, with members at most, is all that a comparison has on its right.
    fn is_bound(&self, first: usize) -> bool {
        let mut next = first + 1;
        while matches!(self.word(next), "." | "->" | "::") {
            next += 2;
        }
        self.is_word(first) && matches!(self.word(next), ")" | "&&" | "||")
    }

    /// What the checks that guard an access compare, where it is not what the access uses, and that.
    fn other(&self, checks: &[Condition], loops: &[Condition], access: &Range<usize>) -> Option<(&'a str, &'a str)> {
        let names = self.names(access);
        if names.is_empty() {
            return None;
        }
        let guards = |condition: &&Condition| condition.guarded.contains(&access.start);
        let guarding = || checks.iter().filter(guards);
        let compared: Vec<_> = guarding().flat_map(|check| self.compared(&check.inside)).collect();
        let used = self.words(access);
        if compared.iter().any(|left| self.words(left) == used) {
            return None;
        }
        let shares = |left: &&Range<usize>| self.names(left).iter().any(|name| names.contains(name));
        let sharing: Vec<_> = compared.iter().filter(shares).collect();
        // An index that is computed nearby may be computed from what is compared.
        let is_computed = || {
            let is_set = |token: usize| names.contains(&self.word(token)) && self.word(token + 1) == "=";
            (0..self.tokens.len()).any(is_set)
        };
        let left = match sharing.as_slice() {
            [] if compared.len() == 1 && !is_computed() => compared.first()?,
            // A cast of what is compared is no other index.
            [left] if used.iter().any(|word| is_arithmetic(word)) => *left,
            // Rows and columns may each have their check.
            _ => return None,
        };
        // What else is said of the index, in this check or in a loop's, may be what is wrong.
        let conditions = guarding().chain(loops.iter().filter(guards));
        let elsewhere = conditions.flat_map(|it| it.inside.clone()).filter(|token| !left.contains(token));
        let is_of_access = |token: usize| self.names(&(token..token + 1)).iter().any(|name| names.contains(name));
        let is_elsewhere = elsewhere.into_iter().any(is_of_access);
        (!is_elsewhere).then(|| (self.source(left), self.source(access)))
    }
}

fn is_arithmetic(word: &str) -> bool {
    matches!(word, "+" | "-" | "*" | "/" | "%" | "<<" | ">>" | "&" | "|" | "^" | "[")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last line has the access to `out`.
    #[track_caller]
    fn check(source: &str, expected: Option<Check>) {
        let line = source.lines().count() as u32;
        let found = window(&Text::whole(source.as_bytes()), line).and_then(|(text, last)| read(&text, last, "out"));
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn a_check_that_does_not_guard_is_told() {
        let other = |compared: &str, used: &str| Some(Check::Other { compared: compared.into(), used: used.into() });
        for (source, expected) in [
            ("if (i < n);\n  out[i] = 1;", Some(Check::Ended)),
            ("if (i < n); out[i] = 1;", Some(Check::Ended)),
            ("if (i < n) out[i + 1] = x[i];", other("i", "i + 1")),
            ("if (i < n) {\n  f();\n  out[2*i] = 1;", other("i", "2*i")),
            ("if (i < n)\n  out[j] = 1;", other("i", "j")),
            ("if ((i < n) && ok) out[i + 1] = 1;", other("i", "i + 1")),
            ("if (row < h) out[row * w + col] = 1;", other("row", "row * w + col")),
            ("if (threadIdx.x < p.n) out[blockIdx.x] = 1;", other("threadIdx.x", "blockIdx.x")),
            // What the access uses is compared, or may be.
            ("if (i < n) out[i] = x[i + 1];", None),
            ("if (i + 1 < n) out[i+1] = 1;", None),
            ("if (i < n - 1) out[i + 1] = 1;", None),
            ("if (i < n) out[(int)i] = 1;", None),
            ("if (static_cast<int>(i) < n) out[i] = 1;", None),
            ("if (row < h && col < w) out[row * w + col] = 1;", None),
            ("if (i < n) out[i + 1] = out[i - 1];", None),
            ("if (i < n) out[0] = 1;", None),
            // Another comparison, or a loop's, may be the wrong one; so may what the index is computed from.
            ("if (row < h && col <= w) out[row * w + col] = 1;", None),
            ("if (i <= n && j < m) out[i] = 1;", None),
            ("if (c < k && i < w * h) out[i] = 1;", None),
            ("if (i < n) for (int k = 0; k <= m; ++k) out[k] = 1;", None),
            ("int at = row * w + col;\nif (row < h) out[at] = 1;", None),
            ("if (i < n) out[i] = out[i + 1];", None),
            // Semicolons that end no check of this access.
            ("if (out[i] > 0); out[i] = 1;", None),
            ("if (i >= n); else out[i] = 1;", None),
            ("out[i] = 1; if (i < n);", None),
            ("if (verbose);\n  out[i] = 1;", None),
            // Another statement's check, another function's, and one too far above.
            ("if (t < m) f(t);\nout[i + 1] = 1;", None),
            ("if (i < n) {\n  f();\n}\nout[i + 1] = 1;", None),
            ("if (i < n);\n}\n__global__ void k() {\n  out[i] = 1;", None),
            ("if (i < n) {\n\n\n\n\n  out[i + 1] = 1;", None),
            ("out[i] = 1;", None),
            ("if (i < n", None),
            ("", None),
        ] {
            check(source, expected);
        }
    }
}
