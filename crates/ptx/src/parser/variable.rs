//! Types, names and extents of declarations (PTX ISA 5.3, 5.4).

use super::{Parser, Result, quote};
use crate::Diagnostic;
use crate::ast::{Function, GlobalId, Linkage, LocalId, Param, ParamPlace, ScalarType, Space, Span, Variable};
use crate::names::{Family, Symbol, add_register};

/// `.align 16 .v4 .f32`: what stands between a state space and a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeSpec {
    pub(super) ty: ScalarType,
    pub(super) lanes: u8,
    pub(super) align: u32,
}

/// A declared name with its array extents.
#[derive(Clone, Debug)]
pub(super) struct Declarator<'a> {
    pub(super) name: &'a str,
    pub(super) span: Span,
    /// Outermost first; 0 where the brackets are empty, which only the first may be.
    pub(super) dims: Vec<u64>,
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
        let (mut ty, mut lanes, mut align) = (None, 1, None);
        while self.peek().kind == crate::lexer::TokenKind::Dot {
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
                "v8" => lanes = 8,
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
                "attribute" => {
                    self.expect(b'(')?;
                    while !self.is_end() && !self.eat(b')') {
                        self.bump();
                    }
                }
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
        Ok(TypeSpec { ty, lanes, align: align.unwrap_or(natural).max(ty.bytes()) })
    }

    /// `name`, `name[4][4]` or `name[]`
    pub(super) fn declarator(&mut self) -> Result<Declarator<'a>> {
        let (name, span) = self.name("a name")?;
        let mut dims = Vec::new();
        while self.eat(b'[') {
            if self.is(b']') && !dims.is_empty() {
                return Err(Diagnostic::error(self.peek().span, "only the first extent may be left out"));
            }
            dims.push(if self.is(b']') { 0 } else { self.extent()? });
            self.expect(b']')?;
        }
        Ok(Declarator { name, span, dims })
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

    /// One formal parameter, declared in the innermost scope.
    pub(super) fn param(&mut self, function: &mut Function) -> Result<Param> {
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
        let (place, symbol) = if is_register {
            match add_register(function, name, spec.ty, 1, span) {
                symbol @ Symbol::Reg(id) => (ParamPlace::Register(id), symbol),
                _ => return Err(Diagnostic::error(span, "a parameter cannot be a vector of registers")),
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
        Ok(Param { name: name.to_string(), span, place, ty: spec.ty, align: spec.align, size, offset: 0 })
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
