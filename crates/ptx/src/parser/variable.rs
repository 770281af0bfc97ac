//! Types, names and extents of declarations (PTX ISA 5.3, 5.4).

use super::{Parser, Result, quote};
use crate::Diagnostic;
use crate::ast::{Function, GlobalId, Linkage, LocalId, Param, ParamPlace, RegId, ScalarType, Space, Span, Variable};
use crate::lexer::TokenKind;
use crate::names::{Family, Symbol, add_register};
use std::collections::HashMap;

/// Of a module: a hostile text could ask for four billion variables in one line.
pub(super) const MAX_COPIES: u32 = 1 << 16;

/// `.align 16 .v4 .f32`: what stands between a state space and a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeSpec {
    pub(super) ty: ScalarType,
    pub(super) lanes: u8,
    pub(super) align: u32,
    /// `.texref`, `.samplerref` or `.surfref`, whose initialisers are lists of properties.
    pub(super) opaque: bool,
}

/// A declared name with its array extents.
#[derive(Clone, Debug)]
pub(super) struct Declarator<'a> {
    pub(super) name: &'a str,
    pub(super) span: Span,
    /// Outermost first; 0 where the brackets are empty, which only the first may be.
    pub(super) dims: Vec<u64>,
    /// `name<4>`: that many variables, `name0` to `name3`.
    pub(super) copies: Option<u32>,
}

impl TypeSpec {
    /// Size of one element of an array, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.ty.bytes()) * u64::from(self.lanes)
    }
}

impl<'a> Parser<'a> {
    /// Alignment, vector length, type and attributes, in whichever order they come.
    pub(super) fn type_spec(&mut self) -> Result<TypeSpec> {
        let start = self.peek().span;
        let (mut ty, mut lanes, mut align, mut opaque) = (None, 1, None, false);
        while self.peek().kind == TokenKind::Dot {
            let token = self.bump();
            match &self.slice(token.span)[1..] {
                "align" => {
                    let span = self.peek().span;
                    let value = self.small()?;
                    if !value.is_power_of_two() || value > 1 << 16 {
                        return Err(Diagnostic::error(span, "an alignment is a power of two of at most 65536"));
                    }
                    align = Some(value);
                }
                "v2" => lanes = 2,
                "v4" => lanes = 4,
                // What a pointer parameter points to, and `.attribute(.managed)`.
                "ptr" => {
                    // The alignment after `.ptr` is the pointee's, not the parameter's.
                    for space in [".global", ".const", ".local", ".shared"] {
                        self.eat_dot(space);
                    }
                    if self.eat_dot(".align") {
                        self.count()?;
                    }
                }
                "attribute" => self.skip_attributes()?,
                // What textures, samplers and surfaces are is up to the instructions that use them, none of which is
                // emulated. The 64 bits give the name an address.
                "texref" | "samplerref" | "surfref" => (ty, opaque) = (Some(ScalarType::B64), true),
                word => match ScalarType::from_name(word) {
                    Some(found) => ty = Some(found),
                    None => {
                        let message = format!("{} is no type of a variable", quote(self.slice(token.span)));
                        return Err(Diagnostic::error(token.span, message));
                    }
                },
            }
        }
        let Some(ty) = ty else {
            return Err(Diagnostic::error(start, "this declaration has no type, such as `.b32`"));
        };
        let natural = (ty.bytes() * u32::from(lanes)).next_power_of_two();
        Ok(TypeSpec { ty, lanes, align: align.unwrap_or(natural).max(ty.bytes()), opaque })
    }

    /// `(.managed)`, `(.unified(19, 95))`: where a variable or function lives on several devices.
    pub(super) fn skip_attributes(&mut self) -> Result<()> {
        self.expect(b'(')?;
        let mut depth = 1u32;
        while depth > 0 && !self.is_end() {
            match self.bump().kind {
                TokenKind::Punct(b'(') => depth += 1,
                TokenKind::Punct(b')') => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// `name`, `name[4][4]`, `name[]` or `name<4>`
    pub(super) fn declarator(&mut self) -> Result<Declarator<'a>> {
        let (name, span) = self.name("a name")?;
        let (mut dims, mut copies) = (Vec::new(), None);
        if self.eat(b'<') {
            copies = Some(self.small()?);
            self.expect(b'>')?;
        }
        while self.eat(b'[') {
            if self.is(b']') && !dims.is_empty() {
                return Err(Diagnostic::error(self.peek().span, "only the first extent may be left out"));
            }
            dims.push(if self.is(b']') { 0 } else { self.extent()? });
            self.expect(b']')?;
        }
        if let Some(copies) = copies {
            let left = self.copies_left.checked_sub(copies).filter(|_| dims.is_empty());
            self.copies_left = left.ok_or_else(|| {
                let message = format!("`name<n>` declares at most {MAX_COPIES} variables of a module, and no arrays");
                Diagnostic::error(span, message)
            })?;
        }
        Ok(Declarator { name, span, dims, copies })
    }

    fn extent(&mut self) -> Result<u64> {
        let start = self.peek().span;
        match self.integer()? {
            extent if extent >= 0 => Ok(extent as u64),
            _ => Err(Diagnostic::error(self.span_from(start), "an array cannot have a negative extent")),
        }
    }

    pub(super) fn byte_size(&self, spec: &TypeSpec, declarator: &Declarator<'_>) -> Result<u64> {
        let size = declarator.dims.iter().try_fold(spec.bytes(), |size, &dim| size.checked_mul(dim));
        size.filter(|&size| size <= i64::MAX as u64)
            .ok_or_else(|| Diagnostic::error(declarator.span, format!("{} is too large", quote(declarator.name))))
    }

    /// `.reg .b32 a, %r<100>;` after its `.reg`.
    pub(super) fn registers(&mut self, function: &mut Function) -> Result<()> {
        let spec = self.type_spec()?;
        loop {
            let (name, span) = self.name("the name of a register")?;
            let fresh = if self.eat(b'<') {
                let count = self.small()?;
                self.expect(b'>')?;
                self.names.declare_family(name, Family { count, ty: spec.ty, lanes: spec.lanes, span })
            } else {
                let symbol = add_register(function, name, spec.ty, spec.lanes, span);
                self.names.declare(name, symbol)
            };
            self.check_fresh(fresh, name, span);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect_semicolon()
    }

    /// `.global .f32 a, b[4] = {...};` after its state space, in a function or outside.
    pub(super) fn variables(
        &mut self,
        space: Space,
        linkage: Linkage,
        mut function: Option<&mut Function>,
    ) -> Result<()> {
        let spec = self.type_spec()?;
        loop {
            let mut declarator = self.declarator()?;
            if let Some(copies) = declarator.copies {
                self.copies(&spec, &declarator, copies, space, linkage, function.as_deref_mut())?;
                if !self.eat(b',') {
                    break;
                }
                continue;
            }
            let initializer =
                if self.eat(b'=') { self.initializer(&spec, &mut declarator)? } else { Default::default() };
            let size = self.byte_size(&spec, &declarator)?;
            let (name, span) = (declarator.name, declarator.span);
            let variable = Variable {
                name: name.to_string(),
                span,
                space,
                ty: spec.ty,
                align: spec.align,
                size,
                linkage,
                initializer: initializer.pieces,
            };
            match &mut function {
                Some(function) if !matches!(space, Space::Global | Space::Const) => {
                    let id = LocalId(function.variables.len() as u32);
                    function.variables.push(variable);
                    let fresh = self.names.declare(name, Symbol::Local(id));
                    self.check_fresh(fresh, name, span);
                }
                _ => {
                    let id = self.declare_variable(name, variable);
                    self.fixups.extend(initializer.fixups.into_iter().map(|fixup| fixup.of(id)));
                }
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect_semicolon()
    }

    /// `name<4>`: the variables `name0` to `name3` (PTX ISA 5.4.6). A name that the text never mentions needs no symbol.
    fn copies(
        &mut self,
        spec: &TypeSpec,
        declarator: &Declarator<'a>,
        copies: u32,
        space: Space,
        linkage: Linkage,
        mut function: Option<&mut Function>,
    ) -> Result<()> {
        let size = self.byte_size(spec, declarator)?;
        let mentioned = self.mentioned(declarator.name, copies);
        for copy in 0..copies {
            let variable = Variable {
                name: format!("{}{copy}", declarator.name),
                span: declarator.span,
                space,
                ty: spec.ty,
                align: spec.align,
                size,
                linkage,
                initializer: Vec::new(),
            };
            let symbol = match &mut function {
                Some(function) if !matches!(space, Space::Global | Space::Const) => {
                    function.variables.push(variable);
                    Symbol::Local(LocalId(function.variables.len() as u32 - 1))
                }
                _ => {
                    self.module.variables.push(variable);
                    Symbol::Global(GlobalId(self.module.variables.len() as u32 - 1))
                }
            };
            if let Some(name) = mentioned.get(&copy) {
                let fresh = self.names.declare(name, symbol);
                self.check_fresh(fresh, name, declarator.span);
            }
        }
        Ok(())
    }

    /// Which of the names `prefix0`, `prefix1` and so on below `count` the text mentions.
    pub(super) fn mentioned(&self, prefix: &str, count: u32) -> HashMap<u32, &'a str> {
        let names = self.tokens.iter().filter(|token| token.kind == TokenKind::Ident);
        let numbered = names.filter_map(|token| {
            let name = self.slice(token.span);
            let digits = name.strip_prefix(prefix)?;
            let is_plain = digits == "0" || digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
            let number = digits.parse().ok().filter(|&number| is_plain && number < count)?;
            Some((number, name))
        });
        numbered.collect()
    }

    /// Enters a module variable. A definition takes the place of an earlier `.extern` declaration.
    fn declare_variable(&mut self, name: &'a str, variable: Variable) -> GlobalId {
        if let Some(Symbol::Global(id)) = self.names.global(name)
            && self.names.depth() == 0
        {
            let known = &mut self.module.variables[id.index()];
            let declared = |linkage| matches!(linkage, Linkage::Extern | Linkage::Common);
            if known.linkage == Linkage::Extern {
                *known = variable;
            } else if !declared(variable.linkage) {
                self.check_fresh(false, name, variable.span);
            }
            return id;
        }
        let id = GlobalId(self.module.variables.len() as u32);
        let span = variable.span;
        self.module.variables.push(variable);
        let fresh = self.names.declare(name, Symbol::Global(id));
        self.check_fresh(fresh, name, span);
        id
    }

    /// One formal parameter, declared in the innermost scope. A vector of registers is one for each of its lanes.
    pub(super) fn param(&mut self, function: &mut Function) -> Result<Vec<Param>> {
        let is_register = self.eat_dot(".reg");
        if !is_register && !self.eat_dot(".param") {
            return Err(self.unexpected("`.param` or `.reg`"));
        }
        let spec = self.type_spec()?;
        let declarator = self.declarator()?;
        let size = self.byte_size(&spec, &declarator)?;
        let (name, span) = (declarator.name, declarator.span);
        let Ok(size) = u32::try_from(size) else {
            return Err(Diagnostic::error(span, format!("{} is too large for a parameter", quote(name))));
        };
        let (first, symbol) = if is_register {
            let symbol = add_register(function, name, spec.ty, spec.lanes, span);
            match symbol {
                Symbol::Reg(id) | Symbol::Vector(id, _) => (ParamPlace::Register(id), symbol),
                _ => return Err(Diagnostic::error(span, "this parameter cannot be a register")),
            }
        } else {
            let id = LocalId(function.variables.len() as u32);
            function.variables.push(Variable {
                name: name.to_string(),
                span,
                space: Space::Param,
                ty: spec.ty,
                align: spec.align,
                size: size.into(),
                linkage: Linkage::Internal,
                initializer: Vec::new(),
            });
            (ParamPlace::Memory(id), Symbol::Local(id))
        };
        // The parameters of a prototype may all be called `_`.
        let fresh = self.names.declare(name, symbol) || name == "_";
        self.check_fresh(fresh, name, span);
        let first =
            Param { name: name.to_string(), span, place: first, ty: spec.ty, align: spec.align, size, offset: 0 };
        let ParamPlace::Register(RegId(id)) = first.place else { return Ok(vec![first]) };
        let lane = |lane| Param {
            place: ParamPlace::Register(RegId(id + lane)),
            align: spec.ty.bytes(),
            size: spec.ty.bytes(),
            ..first.clone()
        };
        Ok((0..spec.lanes.into()).map(lane).collect())
    }

    pub(super) fn check_fresh(&mut self, fresh: bool, name: &str, span: Span) {
        if !fresh {
            let message = format!("{} is already declared in this scope", quote(name));
            self.report(Diagnostic::error(span, message));
        }
    }

    pub(super) fn expect_semicolon(&mut self) -> Result<()> {
        if self.eat(b';') { Ok(()) } else { Err(self.unexpected("`;`")) }
    }
}
