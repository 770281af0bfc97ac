//! The statements of a function (PTX ISA 4.3).

use super::{Parser, Result, quote};
use crate::Diagnostic;
use crate::ast::{Function, LabelId, LocId, Space};
use crate::lexer::TokenKind;
use crate::names::Symbol;

impl<'a> Parser<'a> {
    /// From the opening brace of a function past the one that closes it.
    pub(super) fn body(&mut self, function: &mut Function) {
        let outside = self.names.depth();
        let mut loc = None;
        while !self.is_end() {
            let start = self.peek().span;
            if self.eat(b'{') {
                self.names.open();
            } else if self.eat(b'}') {
                self.close_scope(function);
                if self.names.depth() == outside {
                    break;
                }
            } else if matches!(self.peek_text(), ".entry" | ".func" | ".visible" | ".version") {
                self.report(Diagnostic::error(start, "the function before this is not closed; `}` is missing"));
                break;
            } else if let Err(diagnostic) = self.statement(function, &mut loc) {
                self.report(diagnostic);
                self.skip_statement();
                if self.peek().span == start {
                    self.bump();
                }
            }
        }
        if self.is_end() && self.names.depth() > outside {
            let message = format!("the body of {} is never closed; `}}` is missing", quote(&function.name));
            self.report(Diagnostic::error(function.span, message));
        }
        // The function's own scope, that of its parameters, is the last.
        while self.names.depth() > 0 {
            self.close_scope(function);
        }
    }

    fn close_scope(&mut self, function: &mut Function) {
        for id in self.names.close(&mut function.labels) {
            let label = &mut function.labels[id.index()];
            let message = format!("there is no label {} in this function", quote(&label.name));
            let diagnostic = Diagnostic::error(label.span, message);
            label.target = function.body.len() as u32;
            self.report(diagnostic);
        }
    }

    fn statement(&mut self, function: &mut Function, loc: &mut Option<LocId>) -> Result<()> {
        let token = self.peek();
        match token.kind {
            TokenKind::Dot => self.body_directive(function, loc),
            TokenKind::Ident if self.peek_ahead(1).kind == TokenKind::Punct(b':') => self.label(function),
            TokenKind::Ident | TokenKind::Punct(b'@') => self.instruction(function, *loc),
            TokenKind::Punct(b';') => {
                self.bump();
                Ok(())
            }
            _ => Err(self.unexpected("an instruction")),
        }
    }

    fn body_directive(&mut self, function: &mut Function, loc: &mut Option<LocId>) -> Result<()> {
        let linkage = self.linkage();
        let token = self.bump();
        let space = match self.slice(token.span) {
            ".reg" => return self.registers(function),
            ".loc" => {
                *loc = Some(self.loc()?);
                return Ok(());
            }
            ".pragma" => {
                if self.slice(self.peek().span) == "\"nounroll\"" {
                    function.nounroll.push(function.body.len() as u32);
                }
                self.skip_statement();
                return Ok(());
            }
            ".file" => return self.file(),
            ".section" => return self.section(),
            ".global" => Space::Global,
            ".const" => Space::Const,
            ".shared" => Space::Shared,
            ".local" => Space::Local,
            ".param" => Space::Param,
            text => {
                let message = format!("{} is no directive of a function's body", quote(text));
                return Err(Diagnostic::error(token.span, message));
            }
        };
        if space == Space::Const {
            self.skip_bank()?;
        }
        self.variables(space, linkage, Some(function))
    }

    /// `name:`, and the lists and prototypes that a label may name.
    fn label(&mut self, function: &mut Function) -> Result<()> {
        let (name, span) = self.name("a label")?;
        self.expect(b':')?;
        let fresh = if self.eat_dot(".branchtargets") {
            let targets = self.branch_targets(function)?;
            self.names.targets.push(targets);
            self.expect_semicolon()?;
            self.names.declare(name, Symbol::Targets(self.names.targets.len() - 1))
        } else if self.eat_dot(".callprototype") || self.eat_dot(".calltargets") {
            self.skip_statement();
            self.names.declare(name, Symbol::Prototype)
        } else {
            self.names.place_label(name, span, function)
        };
        self.check_fresh(fresh, name, span);
        Ok(())
    }

    /// `L1, L2, L3`, or `L<3>` for `L0, L1, L2`.
    fn branch_targets(&mut self, function: &mut Function) -> Result<Vec<LabelId>> {
        let mut targets = Vec::new();
        loop {
            let (name, span) = self.name("a label")?;
            if self.eat(b'<') {
                let count = self.small()?;
                self.expect(b'>')?;
                let mentioned = self.mentioned(name, count);
                for label in 0..count {
                    let Some(name) = mentioned.get(&label) else {
                        return Err(Diagnostic::error(
                            span,
                            format!("there is no label `{name}{label}` in this function"),
                        ));
                    };
                    targets.push(self.names.use_label(name, span, function));
                }
            } else {
                targets.push(self.names.use_label(name, span, function));
            }
            if !self.eat(b',') {
                return Ok(targets);
            }
        }
    }
}
