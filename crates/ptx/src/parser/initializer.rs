//! Initial values of variables (PTX ISA 5.4.4).

use super::variable::{Declarator, TypeSpec};
use super::{Parser, Result, quote};
use crate::Diagnostic;
use crate::ast::{GlobalId, Init, ScalarType, Span};
use crate::lexer::TokenKind;
use crate::literal::{Constant, unsuited};
use crate::names::Symbol;

/// A name in an initialiser. It is resolved when the module is complete, for it may come later.
#[derive(Clone, Debug)]
pub(super) struct Fixup<'a> {
    variable: GlobalId,
    piece: usize,
    name: &'a str,
    span: Span,
}

impl Fixup<'_> {
    pub(super) fn of(self, variable: GlobalId) -> Self {
        Self { variable, ..self }
    }
}

/// The pieces of an initialiser as they are gathered.
#[derive(Debug, Default)]
pub(super) struct Initializer<'a> {
    pub(super) pieces: Vec<Init>,
    pub(super) fixups: Vec<Fixup<'a>>,
}

impl<'a> Initializer<'a> {
    /// Appends bytes to the last piece if they follow it.
    fn bytes(&mut self, at: u64, value: &[u8]) {
        if let Some(Init::Bytes { offset, bytes }) = self.pieces.last_mut()
            && *offset + bytes.len() as u64 == at
        {
            bytes.extend_from_slice(value);
        } else {
            self.pieces.push(Init::Bytes { offset: at, bytes: value.to_vec() });
        }
    }

    fn address(&mut self, name: &'a str, span: Span, piece: Init) {
        self.fixups.push(Fixup { variable: GlobalId(0), piece: self.pieces.len(), name, span });
        self.pieces.push(piece);
    }

    /// One byte of a name's address, which joins those of the same address before it.
    fn byte(&mut self, name: &'a str, span: Span, piece: Init) {
        let same = self.fixups.last().is_some_and(|fixup| fixup.name == name && fixup.piece + 1 == self.pieces.len());
        if let (
            Some(Init::Address { offset, size, from, addend, generic, .. }),
            &Init::Address { offset: at, from: byte, addend: added, generic: is_generic, .. },
        ) = (self.pieces.last_mut().filter(|_| same), &piece)
            && (*offset + u64::from(*size), *from + *size, *addend, *generic) == (at, byte, added, is_generic)
        {
            *size += 1;
            return;
        }
        self.address(name, span, piece);
    }
}

impl<'a> Parser<'a> {
    /// What follows the `=`. The first extent of an unsized array becomes what the initialiser needs.
    pub(super) fn initializer(&mut self, spec: &TypeSpec, declarator: &mut Declarator<'a>) -> Result<Initializer<'a>> {
        let mut gathered = Initializer::default();
        if spec.opaque {
            self.skip_braces();
            return Ok(gathered);
        }
        // A vector's lanes are one more dimension.
        let mut dims = declarator.dims.clone();
        if spec.lanes > 1 {
            dims.push(spec.lanes.into());
        }
        if dims.is_empty() {
            let braced = self.eat(b'{');
            self.element(spec, 0, &mut gathered)?;
            if braced {
                self.expect(b'}')?;
            }
            return Ok(gathered);
        }
        // The bytes of one entry of each dimension: the product of what is inside it.
        let mut sizes = vec![u64::from(spec.ty.bytes()); dims.len()];
        for level in (1..dims.len()).rev() {
            sizes[level - 1] = sizes[level].saturating_mul(dims[level]);
        }
        let count = self.braces(spec, &dims, &sizes, 0, &mut gathered)?;
        if declarator.dims.first() == Some(&0) {
            declarator.dims[0] = count;
        }
        Ok(gathered)
    }

    /// A list in braces whose outermost dimension is the first of `dims`; the number of
    /// its entries.
    fn braces(
        &mut self,
        spec: &TypeSpec,
        dims: &[u64],
        sizes: &[u64],
        base: u64,
        gathered: &mut Initializer<'a>,
    ) -> Result<u64> {
        let entry = sizes[0].max(1);
        let limit = if dims[0] == 0 { u64::MAX } else { entry.saturating_mul(dims[0]) };
        self.expect(b'{')?;
        let mut at = 0u64;
        while !self.is(b'}') {
            let too_many = Diagnostic::error(self.peek().span, "more initial values than the array has elements");
            let at_here = base.checked_add(at).filter(|_| at < limit).ok_or(too_many)?;
            match (self.is(b'{'), dims.len()) {
                (false, 1) => self.element(spec, at_here, gathered)?,
                (true, 1) => {
                    return Err(Diagnostic::error(self.peek().span, "more braces than the array has dimensions"));
                }
                (true, _) => {
                    self.nested(|parser| parser.braces(spec, &dims[1..], &sizes[1..], at_here, gathered))?;
                }
                (false, _) => {
                    return Err(Diagnostic::error(self.peek().span, "each row of an array has its own braces"));
                }
            }
            at = at.saturating_add(entry);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b'}')?;
        Ok(at / entry)
    }

    /// A constant, or the address of a name.
    fn element(&mut self, spec: &TypeSpec, at: u64, gathered: &mut Initializer<'a>) -> Result<()> {
        let token = self.peek();
        if token.kind == TokenKind::Ident && self.peek_text() != "WARP_SZ" {
            let piece = |addend, generic| Init::Address {
                offset: at,
                size: spec.ty.bytes() as u8,
                from: 0,
                target: GlobalId(0),
                addend,
                generic,
            };
            let (name, span, addend, generic) = self.address_of()?;
            gathered.address(name, span, piece(addend, generic));
            return Ok(());
        }
        let value = self.constant()?;
        if self.is(b'(') {
            return self.masked(value, token.span, at, gathered);
        }
        // Of a `.b` type, a floating-point value of the same size gives the bits.
        let ty = match (value, spec.ty) {
            (Constant::Int { .. }, ty) => ty,
            (_, ScalarType::B32) => ScalarType::F32,
            (_, ScalarType::B64) => ScalarType::F64,
            (_, ty) => ty,
        };
        if !value.suits(ty) {
            return Err(Diagnostic::error(self.span_from(token.span), unsuited(ty)));
        }
        let bits = value.bits(ty);
        gathered.bytes(at, &u128::from(bits).to_le_bytes()[..spec.ty.bytes() as usize]);
        Ok(())
    }

    /// `name`, `name+4`, `generic(name)`, `generic(name)+4` or `generic(name+4)`
    fn address_of(&mut self) -> Result<(&'a str, Span, i64, bool)> {
        let (mut name, mut span) = self.name("a name")?;
        let generic = name == "generic" && self.is(b'(');
        let mut inner = 0;
        if generic {
            self.bump();
            (name, span) = self.name("the name of a variable")?;
            inner = self.offset()?;
            self.expect(b')')?;
        }
        let addend = inner.wrapping_add(self.offset()?);
        Ok((name, span, addend, generic))
    }

    /// `0xff(name)`, `0xff00(name)`, ...: one byte of an address, shifted down. A compiler that lays out a packed
    /// structure writes all eight in order.
    fn masked(&mut self, mask: Constant, start: Span, at: u64, gathered: &mut Initializer<'a>) -> Result<()> {
        self.expect(b'(')?;
        let (name, span, addend, generic) = self.address_of()?;
        self.expect(b')')?;
        let mask = mask.as_int().unwrap_or(0) as u64;
        let from = mask.trailing_zeros() / 8;
        if from > 7 || mask != 0xff << (8 * from) {
            let message =
                "a mask takes one byte of an address: 0xff(name), 0xff00(name), up to 0xff00000000000000(name)";
            return Err(Diagnostic::error(self.span_from(start), message));
        }
        let piece = Init::Address { offset: at, size: 1, from: from as u8, target: GlobalId(0), addend, generic };
        gathered.byte(name, span, piece);
        Ok(())
    }

    /// Puts the addresses of variables and functions where their names stood.
    pub(super) fn resolve_initializers(&mut self) {
        for Fixup { variable, piece, name, span } in std::mem::take(&mut self.fixups) {
            let symbol = self.names.global(name);
            let known = self.module.variables.get_mut(variable.index());
            let Some(found) = known.and_then(|variable| variable.initializer.get_mut(piece)) else { continue };
            match (symbol, &mut *found) {
                (Some(Symbol::Global(id)), Init::Address { target, .. }) => *target = id,
                (Some(Symbol::Function(target)), &mut Init::Address { offset, size, from, .. }) => {
                    *found = Init::Function { offset, size, from, target };
                }
                _ => {
                    // Nothing may be left that points to a variable it does not mean.
                    *found = Init::Bytes { offset: 0, bytes: Vec::new() };
                    let message = format!("{} is no variable or function of this module", quote(name));
                    self.report(Diagnostic::error(span, message));
                }
            }
        }
    }
}
