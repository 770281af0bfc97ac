//! An instruction as it is written: guard, opcode, modifiers, operands (PTX ISA 4.3.2, 6).
//!
//! Names are left as they are, because what a name may mean depends on the instruction.

use super::{Parser, Result, quote};
use crate::Diagnostic;
use crate::ast::{Function, Guard, Instruction, LocId, Op, ScalarType, Span};
use crate::decode::{self, Decoder, Problem};
use crate::lexer::TokenKind;
use crate::literal::Constant;
use crate::names::Symbol;

/// An operand and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arg<'a> {
    pub(crate) span: Span,
    pub(crate) kind: ArgKind<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArgKind<'a> {
    /// `name`, `name.x`, `name[2]` or `name+4`
    Name {
        name: &'a str,
        member: Option<&'a str>,
        index: Option<i64>,
        offset: i64,
    },
    /// `!name`
    Not(&'a str),
    Constant(Constant),
    /// `{a, b}`
    Vector(Vec<Arg<'a>>),
    /// `a|b`
    Pair(Box<[Arg<'a>; 2]>),
    /// `[base]`; the offset is the base's.
    Address(Box<Arg<'a>>),
    /// `[base, {x, y}]`: an element of a tensor.
    Tensor(Box<Arg<'a>>, Vec<Arg<'a>>),
    /// `(a, b)`, of calls only.
    List(Vec<Arg<'a>>),
    /// `_`
    Sink,
}

impl<'a> Parser<'a> {
    pub(super) fn instruction(&mut self, function: &mut Function, loc: Option<LocId>) -> Result<()> {
        let start = self.peek().span;
        let guard = self.guard(function)?;
        let (opcode, opcode_span) = self.name("an instruction")?;
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.take_dot() {
            modifiers.push(modifier);
        }
        let full = self.span_from(opcode_span);
        let op = match decode::foreign(opcode, &modifiers) {
            Some(foreign) => {
                self.skip_operands();
                if !foreign.known {
                    self.warn_unsupported(full, foreign.reason);
                }
                self.unsupported(full, foreign.reason.to_string())
            }
            None => {
                let args = self.args(opcode == "call")?;
                let decoder = Decoder::new(opcode, full, modifiers, args, &self.module, &mut self.names, function);
                match decoder.decode() {
                    Ok(op) => op,
                    Err(Problem::Unsupported(reason)) => {
                        self.warn_unsupported(full, &reason);
                        self.unsupported(full, reason)
                    }
                    Err(Problem::Incomplete(diagnostic) | Problem::Invalid(diagnostic)) => {
                        self.report(diagnostic);
                        self.unsupported(full, "it is malformed".to_string())
                    }
                }
            }
        };
        self.expect_semicolon()?;
        function.body.push(Instruction { span: self.span_from(start), loc, guard, op });
        Ok(())
    }

    fn warn_unsupported(&mut self, span: Span, reason: &str) {
        let message = format!("{} cannot be executed: {reason}", quote(self.slice(span)));
        self.report(Diagnostic::warning(span, message));
    }

    fn unsupported(&self, span: Span, reason: String) -> Op {
        // In one line, whatever stands between its modifiers.
        let opcode = self.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
        Op::Unsupported { opcode, reason }
    }

    /// `@p` or `@!p`
    fn guard(&mut self, function: &mut Function) -> Result<Option<Guard>> {
        if !self.eat(b'@') {
            return Ok(None);
        }
        let negated = self.eat(b'!');
        let (name, span) = self.name("a predicate register")?;
        match self.names.resolve(name, function) {
            Some(Symbol::Reg(reg)) if function.registers[reg.index()].ty == ScalarType::Pred => {
                Ok(Some(Guard { reg, negated }))
            }
            Some(_) => Err(Diagnostic::error(span, format!("{} is not a predicate register", quote(name)))),
            None => Err(Diagnostic::error(span, format!("the register {} is not declared", quote(name)))),
        }
    }

    /// The operands up to the `;`, which is left.
    fn args(&mut self, is_call: bool) -> Result<Vec<Arg<'a>>> {
        let mut args = Vec::new();
        if self.is(b';') {
            return Ok(args);
        }
        loop {
            args.push(if is_call && self.is(b'(') { self.list()? } else { self.arg()? });
            if !self.eat(b',') {
                break;
            }
        }
        if self.is(b';') { Ok(args) } else { Err(self.unexpected("`,` or `;`")) }
    }

    fn arg(&mut self) -> Result<Arg<'a>> {
        let start = self.peek().span;
        if self.eat(b'{') {
            let vector = self.args_until(b'}')?;
            return Ok(Arg { span: self.span_from(start), kind: ArgKind::Vector(vector) });
        }
        if self.eat(b'[') {
            let base = self.simple_arg()?;
            if self.eat(b',') {
                self.expect(b'{')?;
                let coordinates = self.args_until(b'}')?;
                self.expect(b']')?;
                let kind = ArgKind::Tensor(Box::new(base), coordinates);
                return Ok(Arg { span: self.span_from(start), kind });
            }
            self.expect(b']')?;
            return Ok(Arg { span: self.span_from(start), kind: ArgKind::Address(Box::new(base)) });
        }
        let first = self.simple_arg()?;
        if !self.eat(b'|') {
            return Ok(first);
        }
        let second = self.simple_arg()?;
        Ok(Arg { span: self.span_from(start), kind: ArgKind::Pair(Box::new([first, second])) })
    }

    fn list(&mut self) -> Result<Arg<'a>> {
        let start = self.bump().span;
        let list = self.args_until(b')')?;
        Ok(Arg { span: self.span_from(start), kind: ArgKind::List(list) })
    }

    /// Simple operands past the closing bracket.
    fn args_until(&mut self, close: u8) -> Result<Vec<Arg<'a>>> {
        let mut args = Vec::new();
        while !self.is(close) {
            args.push(self.simple_arg()?);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(close)?;
        Ok(args)
    }

    /// A name, a constant, `!p` or `_`: what vectors, addresses and lists consist of.
    fn simple_arg(&mut self) -> Result<Arg<'a>> {
        let start = self.peek();
        let kind = if self.starts_constant() {
            let next = self.peek_ahead(1);
            let negates = start.kind == TokenKind::Punct(b'-') && next.kind == TokenKind::Ident;
            if negates && self.slice(next.span) != "WARP_SZ" {
                return Err(Diagnostic::error(start.span, "PTX cannot negate an operand in place; use `neg` first"));
            }
            ArgKind::Constant(self.constant()?)
        } else if self.eat(b'!') {
            ArgKind::Not(self.name("a predicate register")?.0)
        } else {
            let (name, _) = self.name("an operand")?;
            if name == "_" {
                ArgKind::Sink
            } else {
                let member = self.take_dot();
                let index = if self.is(b'[') { Some(self.index()?) } else { None };
                ArgKind::Name { name, member, index, offset: self.added()? }
            }
        };
        Ok(Arg { span: self.span_from(start.span), kind })
    }

    /// The `+8` after a name. Unlike in an initialiser, an offset is only ever added.
    fn added(&mut self) -> Result<i64> {
        if self.is(b'-') {
            return Err(Diagnostic::error(self.peek().span, "PTX only adds offsets: write `+-4` for minus four"));
        }
        self.offset()
    }

    /// `[2]` after the name of an array.
    fn index(&mut self) -> Result<i64> {
        self.expect(b'[')?;
        let index = self.integer()?;
        self.expect(b']')?;
        Ok(index)
    }
}
