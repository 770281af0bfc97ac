//! What stands outside functions (PTX ISA 11.1, 11.6).

use super::{Parser, Result, quote};
use crate::Diagnostic;
use crate::ast::{Callee, Linkage, Op, Space, Span};
use crate::lexer::TokenKind;
use crate::names::Symbol;

impl<'a> Parser<'a> {
    pub(super) fn translation_unit(&mut self) {
        while !self.is_end() {
            let start = self.at;
            if let Err(diagnostic) = self.directive() {
                self.report(diagnostic);
                self.skip_to_directive();
            }
            if self.at == start {
                self.bump();
            }
        }
        if self.module.version == (0, 0) {
            let message = "no `.version` directive, with which every PTX text begins";
            self.report(Diagnostic::error(Span::default(), message));
        } else if self.module.target.is_empty() {
            self.report(Diagnostic::error(Span::default(), "no `.target` directive, such as `.target sm_90`"));
        }
        if self.module.address_size == 0 {
            // The manual says 32; NVIDIA's assembler takes the host's, and there are no 32-bit ones any more.
            self.module.address_size = 64;
        }
        self.resolve_initializers();
        self.resolve_aliases();
        self.name_locations();
    }

    fn directive(&mut self) -> Result<()> {
        let linkage = self.linkage();
        let token = self.peek();
        match self.peek_text() {
            ".version" => self.version(),
            ".target" => self.target(),
            ".address_size" => self.address_size(),
            ".entry" => self.function(true, linkage),
            ".func" => self.function(false, linkage),
            ".global" => self.module_variables(Space::Global, linkage),
            ".const" => self.module_variables(Space::Const, linkage),
            ".shared" => self.module_variables(Space::Shared, linkage),
            ".local" => self.module_variables(Space::Local, linkage),
            ".file" => {
                self.bump();
                self.file()
            }
            ".loc" => {
                self.bump();
                self.loc().map(drop)
            }
            ".section" => {
                self.bump();
                self.section()
            }
            ".alias" => self.alias(),
            ".pragma" => {
                self.bump();
                self.skip_statement();
                Ok(())
            }
            ";" => {
                self.bump();
                Ok(())
            }
            text if token.kind == TokenKind::Dot => {
                Err(Diagnostic::error(token.span, format!("{} is no directive of a module", quote(text))))
            }
            _ => Err(self.unexpected("a directive such as `.entry` or `.global`")),
        }
    }

    /// `.visible`, `.extern`, `.weak`, `.common`
    pub(super) fn linkage(&mut self) -> Linkage {
        let mut linkage = Linkage::Internal;
        loop {
            linkage = match self.peek_text() {
                ".visible" => Linkage::Visible,
                ".extern" => Linkage::Extern,
                ".weak" => Linkage::Weak,
                ".common" => Linkage::Common,
                _ => return linkage,
            };
            self.bump();
        }
    }

    fn version(&mut self) -> Result<()> {
        self.bump();
        let token = self.bump();
        let parts = self.slice(token.span).split_once('.');
        let version = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        self.module.version = version.ok_or_else(|| Diagnostic::error(token.span, "expected a version such as 9.0"))?;
        Ok(())
    }

    fn address_size(&mut self) -> Result<()> {
        self.bump();
        let span = self.peek().span;
        self.module.address_size = self.small()?;
        if self.module.address_size == 64 {
            return Ok(());
        }
        let message = "only 64-bit addresses are supported, here as by NVIDIA's drivers for sm_90 and up; \
                       write `.address_size 64`, and pointers as `.u64`";
        Err(Diagnostic::error(span, message))
    }

    fn target(&mut self) -> Result<()> {
        self.bump();
        loop {
            let (name, _) = self.name("a target such as `sm_90`")?;
            if let Some(sm) = name.strip_prefix("sm_") {
                let digits = sm.trim_end_matches(|c: char| !c.is_ascii_digit());
                self.module.sm = digits.parse().unwrap_or(0);
                self.module.target = name.to_string();
            } else if self.module.target.is_empty() {
                self.module.target = name.to_string();
            }
            if !self.eat(b',') {
                return Ok(());
            }
        }
    }

    fn module_variables(&mut self, space: Space, linkage: Linkage) -> Result<()> {
        self.bump();
        if space == Space::Const {
            self.skip_bank()?;
        }
        self.variables(space, linkage, None)
    }

    /// `.const[3]`: the banks of PTX before 2.2.
    pub(super) fn skip_bank(&mut self) -> Result<()> {
        if self.eat(b'[') {
            self.count()?;
            self.expect(b']')?;
        }
        Ok(())
    }

    /// `.alias name, function;`
    fn alias(&mut self) -> Result<()> {
        self.bump();
        let (alias, span) = self.name("the alias")?;
        self.expect(b',')?;
        let (function, _) = self.name("the name of a function")?;
        self.aliases.push((alias, function, span));
        self.expect_semicolon()
    }

    /// Points the calls of aliases to the functions that they stand for.
    fn resolve_aliases(&mut self) {
        for (alias, function, span) in std::mem::take(&mut self.aliases) {
            let Some(Symbol::Function(target)) = self.names.global(function) else {
                self.report(Diagnostic::error(span, format!("{} is no function of this module", quote(function))));
                continue;
            };
            let Some(Symbol::Function(declared)) = self.names.global(alias) else {
                self.names.declare_global(alias, Symbol::Function(target));
                continue;
            };
            for instruction in self.module.functions.iter_mut().flat_map(|function| &mut function.body) {
                if let Op::Call { callee: Callee::Direct(callee), .. } = &mut instruction.op
                    && *callee == declared
                {
                    *callee = target;
                }
            }
        }
    }

    /// Skips what cannot be understood: past a `;` or a block, or to the next directive of a module.
    fn skip_to_directive(&mut self) {
        while !self.is_end() {
            if self.starts_line()
                && matches!(
                    self.peek_text(),
                    ".version"
                        | ".target"
                        | ".address_size"
                        | ".entry"
                        | ".func"
                        | ".visible"
                        | ".extern"
                        | ".weak"
                        | ".common"
                        | ".global"
                        | ".const"
                        | ".file"
                        | ".section"
                )
            {
                return;
            }
            let closes = if self.is(b'{') {
                self.skip_braces();
                true
            } else {
                match self.bump().kind {
                    TokenKind::Punct(b';') => return,
                    kind => kind == TokenKind::Punct(b'}'),
                }
            };
            // The end of a body, and not of a list within an initialiser.
            if closes && self.starts_line() {
                return;
            }
        }
    }
}
