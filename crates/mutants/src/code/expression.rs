//! Operands of operators, and what an expression is for.

use std::ops::Range;

use super::{Code, StatementKind, is_type};
use fusion_cpp::Kind;

impl Code<'_> {
    /// Whether an operator stands between two operands: `a - b`, not `-b`, `float* a` or `(float4*)a`.
    pub(crate) fn is_binary(&self, token: usize) -> bool {
        let Some(before) = token.checked_sub(1) else { return false };
        let ends_operand = match (self.kind(before), self.word(before)) {
            (Some(Kind::Number | Kind::Text), _) => true,
            (Some(Kind::Word), word) => !is_type(word) && !matches!(word, "return" | "case" | "else"),
            (_, "]") => true,
            (_, ")") => !self.is_cast(before),
            _ => false,
        };
        let begins_operand = match (self.kind(token + 1), self.word(token + 1)) {
            (Some(Kind::Word | Kind::Number | Kind::Text), word) => !matches!(word, "const" | "__restrict__"),
            (_, word) => matches!(word, "(" | "-" | "+" | "!" | "~" | "*" | "&" | "++" | "--"),
        };
        ends_operand && begins_operand
    }

    /// Whether the bracket that closes at `close` holds a type and nothing else.
    pub(crate) fn is_cast(&self, close: usize) -> bool {
        let Some(open) = self.pair(close) else { return false };
        let word = |at| self.word(at);
        open + 1 < close
            && (open + 1..close).all(|at| is_type(word(at)) || matches!(word(at), "*" | "&"))
            && !(self.kind(open.wrapping_sub(1)) == Some(Kind::Word) && self.before(open) != "return")
    }

    /// Whether `<` or `>` belongs to a template: such brackets stand close to their name, comparisons do not.
    pub(crate) fn is_template_bracket(&self, token: usize) -> bool {
        match self.word(token) {
            "<" => !self.is_spaced(token) || self.before(token) == "template",
            ">" => !self.is_spaced(token),
            _ => false,
        }
    }

    /// The operands of a binary operator.
    pub(crate) fn operands(&self, operator: usize) -> Option<(Range<usize>, Range<usize>)> {
        let own = precedence(self.word(operator))?;
        // To the left, operators that bind as tightly were applied before; to the right, they come after.
        let mut start = operator;
        while let Some(before) = start.checked_sub(1) {
            match (self.pair(before), self.word(before)) {
                (Some(open), ")" | "]" | "}") => start = open,
                (_, word) if self.ends_operand_leftwards(before, word, own) => break,
                _ => start = before,
            }
        }
        let mut end = operator + 1;
        while end < self.tokens.len() {
            match (self.pair(end), self.word(end)) {
                (Some(close), "(" | "[" | "{") => end = close + 1,
                (_, ")" | "]" | "}" | ";" | "," | "?" | ":") => break,
                (_, word) => {
                    let binds = if self.is_binary(end) { precedence(word) } else { None };
                    if end > operator + 1 && (is_assignment(word) || binds.is_some_and(|other| other <= own)) {
                        break;
                    }
                    end += 1;
                }
            }
        }
        (start < operator && operator + 1 < end).then_some((start..operator, operator + 1..end))
    }

    fn ends_operand_leftwards(&self, at: usize, word: &str, own: u8) -> bool {
        matches!(word, "(" | "[" | "{" | ";" | "," | "?" | ":" | "return")
            || is_assignment(word)
            || self.kind(at) == Some(Kind::Directive)
            || (self.is_binary(at) && precedence(word).is_some_and(|other| other < own))
    }

    /// Whether a token helps to make an address, a bound or a condition, rather than a value of the result: it stands
    /// in a subscript, in the header of a loop or an `if`, before a `?`, where an integer or a pointer is declared, in a call
    /// that gives nothing back, in braces that are passed or returned, where a pointer is moved or something is added to
    /// one, or where a type is given a name.
    pub(crate) fn is_index(&self, token: usize) -> bool {
        let mut at = token;
        while let Some(open) = self.enclosing(at) {
            if self.word(open) == "[" || self.word(open) == "(" && self.adds_to_pointer(open, at) {
                return true;
            }
            // Numbers that are passed or returned together in braces say where something lies, or how much of it there
            // is: `sum_of(x, {left, columns})`, `return {first, tiles}`.
            let is_argument = |brace: usize| {
                matches!(self.word(brace.wrapping_sub(1)), "," | "(")
                    && self.enclosing(brace).is_some_and(|outer| self.word(outer) == "(")
            };
            let is_returned = |brace: usize| self.word(brace.wrapping_sub(1)) == "return" && self.counts(brace);
            if self.word(open) == "{" && (is_argument(open) || is_returned(open)) || self.is_condition(at) {
                return true;
            }
            at = open;
        }
        let Some(statement) = self.statement(token) else { return true };
        if statement.kind != StatementKind::Simple {
            return true;
        }
        if self.word(statement.tokens.start) == "using" {
            return true;
        }
        let mut tokens = self.statement_of_lambda(token, &statement.tokens).unwrap_or_else(|| statement.tokens.clone());
        if matches!(self.word(tokens.start), "if" | "for" | "while") {
            let header = self.pair(tokens.start + 1).unwrap_or(tokens.start);
            if token <= header {
                return true;
            }
            tokens.start = header + 1;
        }
        let words: Vec<&str> = tokens.clone().map(|at| self.word(at)).take_while(|word| *word != "=").collect();
        let integer = |word: &&str| matches!(*word, "size_t" | "int" | "unsigned" | "bool" | "long" | "uint" | "auto");
        let declares = words.iter().any(integer) && !words.contains(&"[") && !words.contains(&"return");
        let points = words.contains(&"*") && !words.contains(&"[") && words.len() < tokens.len();
        // A function that gives nothing back is told where to do something: `fetch(step + DEPTH)`.
        let first = tokens.start;
        let calls = matches!(self.word(first + 1), "(" | "<") && words.len() == tokens.len();
        declares || points || calls || self.moves_pointer(first) || self.hands_back(first)
    }

    /// Whether a token belongs to what stands before a `?`, without the brackets around both.
    fn is_condition(&self, token: usize) -> bool {
        // What stands behind a block is another statement.
        if self.word(token) == "{" {
            return false;
        }
        let mut at = self.pair(token).map_or(token, |close| close.max(token));
        while at + 1 < self.tokens.len() {
            at += 1;
            match (self.pair(at), self.word(at)) {
                (_, "?") => return true,
                (Some(close), "(" | "[" | "{") => at = close,
                (_, ")" | "]" | "}" | ";" | "," | ":" | "return") => return false,
                (_, word) if is_assignment(word) => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether what stands in braces is computed from names and whole numbers: no number has a point in it, and no
    /// function is called.
    fn counts(&self, open: usize) -> bool {
        let is_name = |word: &str| word.starts_with(|first: char| first.is_alphabetic() || first == '_');
        let close = self.pair(open).unwrap_or(open);
        let is_call = |at: usize| self.word(at) == "(" && is_name(self.word(at - 1));
        !(open + 1..close).any(|at| is_call(at) || self.word(at).contains('.'))
    }

    /// Of a statement that passes a lambda to a function, the one in the lambda's body with a token.
    fn statement_of_lambda(&self, token: usize, within: &Range<usize>) -> Option<Range<usize>> {
        let mut at = token;
        loop {
            let open = self.enclosing(at).filter(|open| within.contains(open))?;
            if self.word(open) == "{" && open > 0 && self.word(open - 1) == ")" {
                let ends = |other: &usize| self.enclosing(*other) == Some(open) && self.word(*other) == ";";
                let first = (open + 1..at).rev().find(ends).map_or(open + 1, |end| end + 1);
                let last = (at..within.end).find(ends).unwrap_or(within.end);
                return Some(first..last);
            }
            at = open;
        }
    }

    /// Whether the argument with a token, of those in the brackets that open at `open`, is a pointer and something more: `load(x + 8 * i)`.
    fn adds_to_pointer(&self, open: usize, token: usize) -> bool {
        let close = self.pair(open).unwrap_or(token);
        let ends = |at: &usize| self.enclosing(*at) == Some(open) && self.word(*at) == ",";
        let first = (open + 1..token).rev().find(ends).map_or(open + 1, |comma| comma + 1);
        let last = (token..close).find(ends).unwrap_or(close);
        // What stands beside a pointer can make an element of it.
        let element = |at: usize| {
            matches!(self.word(at + 1), "[" | "." | "->") || at > first && matches!(self.word(at - 1), "*" | "." | "->")
        };
        let points = |at: usize| {
            let own = self.enclosing(at) == Some(open) && !element(at);
            own && self.name(at).is_some_and(|name| name.has_elements)
        };
        (first..last).any(|at| points(at) && (self.word(at + 1) == "+" || at > first && self.word(at - 1) == "+"))
    }

    /// Whether a statement that begins here gives a pointer another value, or what may be one: `x += row * columns`.
    fn moves_pointer(&self, first: usize) -> bool {
        let points = self.name(first).map_or_else(|| self.is_bound(first), |name| name.has_elements);
        is_assignment(self.word(first + 1)) && points
    }

    /// Whether a statement gives a value to an integer that the caller gets, which asks where something lies: `unsigned& row`.
    fn hands_back(&self, first: usize) -> bool {
        let integer = |word: &str| matches!(word, "size_t" | "int" | "unsigned");
        let mut kind = self.name(first).map(|name| name.kind.as_str()).unwrap_or_default().split(' ');
        is_assignment(self.word(first + 1)) && kind.clone().any(integer) && kind.any(|word| word == "&")
    }

    /// Whether a name is one of those that parts of a value got, whose types are not said: `auto [x, n] = tensors[i]`.
    fn is_bound(&self, token: usize) -> bool {
        let binds = |open: usize| {
            let before = (0..open).rev().find(|&at| !matches!(self.word(at), "&" | "&&"));
            self.word(open) == "[" && before.is_some_and(|at| self.word(at) == "auto")
        };
        // A name lasts until the brackets around its declaration close.
        let lasts =
            |open: usize| self.enclosing(open).and_then(|block| self.pair(block)).is_none_or(|close| close > token);
        let same = (0..token).filter(|&other| self.word(other) == self.word(token));
        same.filter_map(|other| self.enclosing(other)).any(|open| binds(open) && lasts(open))
    }
}

/// How tightly a binary operator binds (C++, [expr]): larger is tighter.
fn precedence(word: &str) -> Option<u8> {
    Some(match word {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | "<=" | ">" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        "||" => 1,
        _ => return None,
    })
}

/// Whether a word assigns.
pub(crate) fn is_assignment(word: &str) -> bool {
    matches!(word, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=")
}
