//! Names and their scopes (PTX ISA 4.4, 5.4, 12).
//!
//! A block in braces opens a scope of registers, variables and labels; the module is the outermost
//! scope. A label may be used before it stands, and in any scope inside its own.

use crate::ast::{Function, FunctionId, GlobalId, Label, LabelId, LocalId, RegId, Register, ScalarType, Span};
use std::collections::HashMap;

/// Scopes deeper than this share the last one, so that a look-up is never slow.
const MAX_DEPTH: usize = 64;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Symbol {
    Reg(RegId),
    /// A vector of registers with consecutive indices.
    Vector(RegId, u8),
    Local(LocalId),
    Global(GlobalId),
    Function(FunctionId),
    /// A `.branchtargets` list, by its index in [`Names::targets`].
    Targets(usize),
    /// A `.callprototype` or `.calltargets`, which nobody needs to look into.
    Prototype,
}

/// `.reg .b32 %r<100>;`: registers that come into being when they are first named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) count: u32,
    pub(crate) ty: ScalarType,
    /// The registers in each, 1 unless declared `.v2` or `.v4`.
    pub(crate) lanes: u8,
    pub(crate) span: Span,
}

#[derive(Debug, Default)]
struct Scope<'a> {
    symbols: HashMap<&'a str, Symbol>,
    families: HashMap<&'a str, Family>,
    labels: HashMap<&'a str, LabelId>,
    /// Labels used but not yet seen: normally one per name, more where inner scopes used it too.
    awaited: HashMap<&'a str, Vec<LabelId>>,
}

#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    module: HashMap<&'a str, Symbol>,
    scopes: Vec<Scope<'a>>,
    /// How many open blocks have no scope of their own.
    unscoped: usize,
    /// The `.branchtargets` lists of the function.
    pub(crate) targets: Vec<Vec<LabelId>>,
}

const UNPLACED: u32 = u32::MAX;

impl<'a> Names<'a> {
    pub(crate) fn depth(&self) -> usize {
        self.scopes.len() + self.unscoped
    }

    pub(crate) fn open(&mut self) {
        if self.scopes.len() < MAX_DEPTH {
            self.scopes.push(Scope::default());
        } else {
            self.unscoped += 1;
        }
    }

    /// Closes the innermost scope. Its open labels become the surrounding scope's; those of the
    /// outermost scope, which are nobody's, are returned.
    pub(crate) fn close(&mut self, labels: &mut [Label]) -> Vec<LabelId> {
        if self.unscoped > 0 {
            self.unscoped -= 1;
            return Vec::new();
        }
        let Some(scope) = self.scopes.pop() else { return Vec::new() };
        let Some(outer) = self.scopes.last_mut() else {
            self.targets.clear();
            let mut lost: Vec<LabelId> = scope.awaited.into_values().flatten().collect();
            lost.sort();
            return lost;
        };
        for (name, ids) in scope.awaited {
            match outer.labels.get(name) {
                Some(label) => {
                    let target = labels.get(label.index()).map_or(UNPLACED, |label| label.target);
                    for id in ids {
                        if let Some(label) = labels.get_mut(id.index()) {
                            label.target = target;
                        }
                    }
                }
                None => outer.awaited.entry(name).or_default().extend(ids),
            }
        }
        Vec::new()
    }

    /// Declares a name in the innermost scope. False if that scope has it already.
    pub(crate) fn declare(&mut self, name: &'a str, symbol: Symbol) -> bool {
        let Some(scope) = self.scopes.last_mut() else {
            return self.module.insert(name, symbol).is_none();
        };
        scope.family(name).is_none() && scope.symbols.insert(name, symbol).is_none()
    }

    /// Declares a name of the module from wherever we are.
    pub(crate) fn declare_global(&mut self, name: &'a str, symbol: Symbol) {
        self.module.insert(name, symbol);
    }

    pub(crate) fn declare_family(&mut self, prefix: &'a str, family: Family) -> bool {
        match self.scopes.last_mut() {
            Some(scope) => scope.families.insert(prefix, family).is_none(),
            None => true,
        }
    }

    pub(crate) fn global(&self, name: &str) -> Option<Symbol> {
        self.module.get(name).copied()
    }

    /// Looks a name up from the innermost scope outwards.
    pub(crate) fn resolve(&mut self, name: &'a str, function: &mut Function) -> Option<Symbol> {
        for scope in self.scopes.iter_mut().rev() {
            if let Some(symbol) = scope.symbols.get(name) {
                return Some(*symbol);
            }
            if !scope.families.is_empty()
                && let Some(family) = scope.family(name)
            {
                let symbol = add_register(function, name, family.ty, family.lanes, family.span);
                scope.symbols.insert(name, symbol);
                return Some(symbol);
            }
        }
        self.global(name)
    }

    /// The label that `name` means here. Only what stands in the innermost scope is certain: a
    /// label of an outer scope may yet be hidden by one further down in this scope.
    pub(crate) fn use_label(&mut self, name: &'a str, span: Span, function: &mut Function) -> LabelId {
        let Some(scope) = self.scopes.last_mut() else { return add_label(function, name, span, UNPLACED) };
        let known = scope.labels.get(name).or_else(|| scope.awaited.get(name).and_then(|ids| ids.first()));
        if let Some(label) = known {
            return *label;
        }
        let label = add_label(function, name, span, UNPLACED);
        scope.awaited.entry(name).or_default().push(label);
        label
    }

    /// Places a label at the next instruction. False if the scope has it already.
    pub(crate) fn place_label(&mut self, name: &'a str, span: Span, function: &mut Function) -> bool {
        let Some(scope) = self.scopes.last_mut() else { return true };
        let target = function.body.len() as u32;
        let label = match scope.awaited.remove(name) {
            Some(ids) => {
                for id in &ids {
                    let label = &mut function.labels[id.index()];
                    label.target = target;
                    label.span = span;
                }
                ids[0]
            }
            None => add_label(function, name, span, target),
        };
        scope.labels.insert(name, label).is_none()
    }
}

impl Scope<'_> {
    /// The family that `name` belongs to: `%r17` is a member of `%r<18>`, and `%p12` may be of `%p1<3>`.
    fn family(&self, name: &str) -> Option<Family> {
        let digits = name.bytes().rev().take(10).take_while(u8::is_ascii_digit).count();
        (1..=digits).find_map(|count| {
            let (prefix, number) = name.split_at(name.len() - count);
            if count > 1 && number.starts_with('0') {
                return None;
            }
            let family = self.families.get(prefix)?;
            (number.parse::<u32>().ok()? < family.count).then_some(*family)
        })
    }
}

/// Adds a register, or the `lanes` registers of a vector, to the function.
pub(crate) fn add_register(function: &mut Function, name: &str, ty: ScalarType, lanes: u8, span: Span) -> Symbol {
    let id = RegId(function.registers.len() as u32);
    if lanes == 1 {
        function.registers.push(Register { name: name.to_string(), ty, span });
        return Symbol::Reg(id);
    }
    for lane in b"xyzw".iter().take(lanes.into()) {
        function.registers.push(Register { name: format!("{name}.{}", *lane as char), ty, span });
    }
    Symbol::Vector(id, lanes)
}

fn add_label(function: &mut Function, name: &str, span: Span, target: u32) -> LabelId {
    let id = LabelId(function.labels.len() as u32);
    function.labels.push(Label { name: name.to_string(), span, target });
    id
}
