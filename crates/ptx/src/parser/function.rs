//! `.entry` and `.func`: the line before the body (PTX ISA 11.2, 11.4).

use super::{Parser, Result, quote};
use crate::Diagnostic;
use crate::ast::{Directives, Function, FunctionId, Linkage, Param};
use crate::names::Symbol;

impl<'a> Parser<'a> {
    pub(super) fn function(&mut self, is_entry: bool, linkage: Linkage) -> Result<()> {
        self.bump();
        self.names.open();
        self.locations.enter_function();
        let parsed = self.function_in_scope(is_entry, linkage);
        // Only an error leaves scopes open, and has been or will be reported.
        while self.names.depth() > 0 {
            self.names.close(&mut []);
        }
        parsed
    }

    fn function_in_scope(&mut self, is_entry: bool, linkage: Linkage) -> Result<()> {
        let mut function = Function {
            name: String::new(),
            span: self.peek().span,
            is_entry,
            linkage,
            params: Vec::new(),
            returns: Vec::new(),
            registers: Vec::new(),
            variables: Vec::new(),
            labels: Vec::new(),
            nounroll: Vec::new(),
            has_body: false,
            body: Vec::new(),
            directives: Directives::default(),
        };
        // `.attribute` stands before the name, and compilers have put `.noreturn` there.
        self.function_directives(&mut function.directives)?;
        if self.is(b'(') {
            function.returns = self.params(&mut function)?;
        }
        let (name, span) = self.name("the name of the function")?;
        (function.name, function.span) = (name.to_string(), span);
        if self.is(b'(') {
            function.params = self.params(&mut function)?;
        }
        self.function_directives(&mut function.directives)?;

        let id = self.declare_function(name, &function)?;
        if self.is(b'{') {
            if self.module.functions[id.index()].has_body {
                self.check_fresh(false, name, span);
            }
            function.has_body = true;
            // A function may call itself, so its declaration has to stand already.
            self.module.functions[id.index()].has_body = true;
            self.body(&mut function);
            self.module.functions[id.index()] = function;
            return Ok(());
        }
        if self.is_end() || self.starts_line() && !self.is(b';') {
            return Err(self.unexpected("`{` or `;`"));
        }
        self.expect_semicolon()
    }

    /// The function's entry in the module; the first declaration makes it, later ones complete it.
    fn declare_function(&mut self, name: &'a str, function: &Function) -> Result<FunctionId> {
        match self.names.global(name) {
            Some(Symbol::Function(id)) => {
                let known = &mut self.module.functions[id.index()];
                if !known.has_body {
                    *known = function.clone();
                }
                Ok(id)
            }
            Some(_) => {
                Err(Diagnostic::error(function.span, format!("{} is already declared in this scope", quote(name))))
            }
            None => {
                let id = FunctionId(self.module.functions.len() as u32);
                self.module.functions.push(function.clone());
                self.names.declare_global(name, Symbol::Function(id));
                Ok(id)
            }
        }
    }

    /// Formal parameters in parentheses, laid out one after the other.
    fn params(&mut self, function: &mut Function) -> Result<Vec<Param>> {
        self.expect(b'(')?;
        let mut params = Vec::new();
        let mut end = 0u32;
        while !self.is(b')') {
            for mut param in self.param(function)? {
                let offset = end.checked_next_multiple_of(param.align);
                let Some((offset, next)) = offset.and_then(|offset| Some((offset, offset.checked_add(param.size)?)))
                else {
                    return Err(Diagnostic::error(param.span, "the parameters do not fit 4 GiB"));
                };
                (param.offset, end) = (offset, next);
                params.push(param);
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        Ok(params)
    }

    fn function_directives(&mut self, directives: &mut Directives) -> Result<()> {
        loop {
            let token = self.peek();
            let Some(word) = self.take_dot() else { return Ok(()) };
            match word {
                "maxntid" => directives.max_threads = Some(self.extents()?),
                "reqntid" => directives.required_threads = Some(self.extents()?),
                "minnctapersm" | "maxnctapersm" => directives.min_blocks_per_sm = Some(self.small()?),
                "maxnreg" => directives.max_registers = Some(self.small()?),
                "noreturn" => directives.noreturn = true,
                "reqnctapercluster" => directives.required_cluster = Some(self.extents()?),
                "explicitcluster" => directives.explicit_cluster = true,
                "maxclusterrank" => directives.max_cluster_rank = Some(self.small()?),
                "blocksareclusters" | "unique" => {}
                "abi_preserve" | "abi_preserve_control" => drop(self.small()?),
                "attribute" => self.skip_attributes()?,
                "pragma" => self.skip_statement(),
                "loc" => drop(self.loc()?),
                _ => {
                    let message = format!("{} is no directive of a function", quote(self.slice(token.span)));
                    return Err(Diagnostic::error(token.span, message));
                }
            }
        }
    }

    /// `x`, `x, y` or `x, y, z`; what is left out is 1.
    fn extents(&mut self) -> Result<[u32; 3]> {
        let mut extents = [1; 3];
        for (axis, extent) in extents.iter_mut().enumerate() {
            if axis > 0 && !self.eat(b',') {
                break;
            }
            *extent = self.small()?;
        }
        Ok(extents)
    }
}
