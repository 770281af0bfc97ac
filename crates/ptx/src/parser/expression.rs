//! Constant expressions (PTX ISA 4.5.6): C's operators on 64-bit integers and doubles.

use super::{Parser, Result};
use crate::Diagnostic;
use crate::ast::Span;
use crate::lexer::TokenKind;
use crate::literal::Constant;

/// How tightly the binary operators bind.
const TERNARY: u8 = 0;
const ADDITIVE: u8 = 9;
const MULTIPLICATIVE: u8 = 10;

impl Parser<'_> {
    pub(super) fn constant(&mut self) -> Result<Constant> {
        self.constant_of(TERNARY)
    }

    pub(super) fn integer(&mut self) -> Result<i64> {
        let start = self.peek().span;
        self.constant()?.as_int().ok_or_else(|| {
            Diagnostic::error(self.span_from(start), "expected an integer, found a floating-point constant")
        })
    }

    /// A number, or an expression in parentheses: what stands between `<` and `>`.
    pub(super) fn count(&mut self) -> Result<u64> {
        let start = self.peek().span;
        match self.unary()?.as_int() {
            Some(count) if count >= 0 => Ok(count as u64),
            _ => Err(Diagnostic::error(self.span_from(start), "expected a count")),
        }
    }

    /// A count that fits 32 bits.
    pub(super) fn small(&mut self) -> Result<u32> {
        let start = self.peek().span;
        u32::try_from(self.count()?).map_err(|_| Diagnostic::error(self.span_from(start), "this number is too large"))
    }

    /// The `+ 8 - 4` that may follow a name.
    pub(super) fn offset(&mut self) -> Result<i64> {
        let mut offset = 0i64;
        while self.is(b'+') || self.is(b'-') {
            let sign = self.bump();
            let Some(term) = self.constant_of(MULTIPLICATIVE)?.as_int() else {
                return Err(Diagnostic::error(self.span_from(sign.span), "an offset is an integer number of bytes"));
            };
            let minus = sign.kind == TokenKind::Punct(b'-');
            offset = if minus { offset.wrapping_sub(term) } else { offset.wrapping_add(term) };
        }
        Ok(offset)
    }

    /// Whether a constant expression starts here.
    pub(super) fn starts_constant(&self) -> bool {
        match self.peek().kind {
            TokenKind::Number => true,
            TokenKind::Dot => self.peek_text()[1..].starts_with(|c: char| c.is_ascii_digit()),
            TokenKind::Ident => self.peek_text() == "WARP_SZ",
            TokenKind::Punct(b'-' | b'+' | b'~' | b'(') => true,
            TokenKind::Punct(b'!') => self.peek_ahead(1).kind == TokenKind::Number,
            _ => false,
        }
    }

    fn constant_of(&mut self, weakest: u8) -> Result<Constant> {
        self.nested(|parser| {
            let start = parser.peek().span;
            let mut left = parser.unary()?;
            while let Some((operator, strength)) = parser.operator().filter(|&(_, strength)| strength >= weakest) {
                for _ in 0..operator.len() {
                    parser.bump();
                }
                if operator == "?" {
                    let yes = parser.constant()?;
                    parser.expect(b':')?;
                    let no = parser.constant()?;
                    left = if truth(left) { yes } else { no };
                    continue;
                }
                let right = parser.constant_of(strength + 1)?;
                left = binary(operator, left, right)
                    .map_err(|message| Diagnostic::error(parser.span_from(start), message))?;
            }
            Ok(left)
        })
    }

    fn operator(&self) -> Option<(&'static str, u8)> {
        let TokenKind::Punct(first) = self.peek().kind else { return None };
        let next = self.peek_ahead(1);
        let second = match next.kind {
            TokenKind::Punct(second) if next.span.start == self.peek().span.end => second,
            _ => 0,
        };
        Some(match (first, second) {
            (b'?', _) => ("?", TERNARY),
            (b'|', b'|') => ("||", 1),
            (b'&', b'&') => ("&&", 2),
            (b'|', _) => ("|", 3),
            (b'^', _) => ("^", 4),
            (b'&', _) => ("&", 5),
            (b'=', b'=') => ("==", 6),
            (b'!', b'=') => ("!=", 6),
            (b'<', b'<') => ("<<", 8),
            (b'>', b'>') => (">>", 8),
            (b'<', b'=') => ("<=", 7),
            (b'>', b'=') => (">=", 7),
            (b'<', _) => ("<", 7),
            (b'>', _) => (">", 7),
            (b'+', _) => ("+", ADDITIVE),
            (b'-', _) => ("-", ADDITIVE),
            (b'*', _) => ("*", MULTIPLICATIVE),
            (b'/', _) => ("/", MULTIPLICATIVE),
            (b'%', _) => ("%", MULTIPLICATIVE),
            _ => return None,
        })
    }

    fn unary(&mut self) -> Result<Constant> {
        let token = self.peek();
        let bad = |span: Span, message: String| Diagnostic::error(span, message);
        match token.kind {
            TokenKind::Number | TokenKind::Dot if self.starts_constant() => {
                self.bump();
                Constant::parse(self.slice(token.span)).map_err(|message| bad(token.span, message))
            }
            TokenKind::Ident if self.peek_text() == "WARP_SZ" => {
                self.bump();
                Ok(Constant::int(32))
            }
            TokenKind::Punct(sign @ (b'-' | b'+' | b'~' | b'!')) => {
                self.bump();
                let value = self.nested(Self::unary)?;
                match (sign, value) {
                    (b'-', _) => Ok(value.negate()),
                    (b'+', _) => Ok(value),
                    (b'!', _) => Ok(Constant::int((!truth(value)).into())),
                    (_, Constant::Int { bits, unsigned }) => Ok(Constant::Int { bits: !bits, unsigned }),
                    _ => Err(bad(token.span, "`~` is for integers".to_string())),
                }
            }
            TokenKind::Punct(b'(') => {
                self.bump();
                let unsigned = self.eat_dot(".u64");
                if unsigned || self.eat_dot(".s64") {
                    self.expect(b')')?;
                    let bits = match self.nested(Self::unary)? {
                        Constant::Int { bits, .. } => bits,
                        other if unsigned => double(other) as u64,
                        other => double(other) as i64 as u64,
                    };
                    return Ok(Constant::Int { bits, unsigned });
                }
                let value = self.constant()?;
                self.expect(b')')?;
                Ok(value)
            }
            _ => Err(self.unexpected("a constant")),
        }
    }
}

fn truth(value: Constant) -> bool {
    match value {
        Constant::Int { bits, .. } => bits != 0,
        _ => double(value) != 0.0,
    }
}

fn double(value: Constant) -> f64 {
    match value {
        Constant::Int { bits, unsigned: true } => bits as f64,
        Constant::Int { bits, unsigned: false } => bits as i64 as f64,
        Constant::Float(value) => value,
        Constant::Single(bits) => f32::from_bits(bits).into(),
        Constant::Double(bits) => f64::from_bits(bits),
    }
}

fn binary(operator: &str, left: Constant, right: Constant) -> std::result::Result<Constant, &'static str> {
    let truth_value = |value: bool| Ok(Constant::int(value.into()));
    match operator {
        "||" => return truth_value(truth(left) || truth(right)),
        "&&" => return truth_value(truth(left) && truth(right)),
        _ => {}
    }
    let (Constant::Int { bits: a, unsigned: left }, Constant::Int { bits: b, unsigned: right }) = (left, right) else {
        let (a, b) = (double(left), double(right));
        return match operator {
            "+" => Ok(Constant::Float(a + b)),
            "-" => Ok(Constant::Float(a - b)),
            "*" => Ok(Constant::Float(a * b)),
            "/" => Ok(Constant::Float(a / b)),
            "==" => truth_value(a == b),
            "!=" => truth_value(a != b),
            "<" => truth_value(a < b),
            "<=" => truth_value(a <= b),
            ">" => truth_value(a > b),
            ">=" => truth_value(a >= b),
            _ => Err("this operator is for integers"),
        };
    };
    let unsigned = left || right;
    let (sa, sb) = (a as i64, b as i64);
    let order = if unsigned { a.cmp(&b) } else { sa.cmp(&sb) };
    let bits = match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" | "%" if b == 0 => return Err("division by zero"),
        "/" if unsigned => a / b,
        "/" => sa.wrapping_div(sb) as u64,
        // A remainder is one of unsigned numbers (PTX ISA 4.5.6, table 5).
        "%" => return Ok(Constant::Int { bits: a % b, unsigned: true }),
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        // A shift has the type of its left operand. The manual says nothing about amounts of 64 and more, of which
        // NVIDIA's assembler takes the low six bits.
        "<<" => return Ok(Constant::Int { bits: a.wrapping_shl(b as u32), unsigned: left }),
        ">>" if left => return Ok(Constant::Int { bits: a.wrapping_shr(b as u32), unsigned: true }),
        ">>" => return Ok(Constant::int(sa.wrapping_shr(b as u32))),
        "==" => return truth_value(order.is_eq()),
        "!=" => return truth_value(order.is_ne()),
        "<" => return truth_value(order.is_lt()),
        "<=" => return truth_value(order.is_le()),
        ">" => return truth_value(order.is_gt()),
        _ => return truth_value(order.is_ge()),
    };
    Ok(Constant::Int { bits, unsigned })
}
