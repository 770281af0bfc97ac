//! Which variable an address was computed from.
//!
//! In C++ a pointer that comes from an array leads to that array and to nothing else, whatever is added to it. PTX still shows
//! where it came from: the variable's name is moved to a register, and numbers are added. A register has one root if every
//! instruction that writes it agrees, wherever it stands. Where they do not, or where an address goes through anything but
//! sums, nothing is claimed.

use fusion_ptx::ast::{Binary, Function, FunctionId, Module, Op, Operand, RegId, Space, Ternary};

use super::SharedLayout;
use crate::code::Root;

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// No address of a variable.
    Number,
    From(Root),
    /// More than one of these, or something else made of an address.
    Mixed,
}

/// The roots of a function's registers.
pub(super) struct Roots<'a> {
    module: &'a Module,
    id: FunctionId,
    shared: &'a SharedLayout,
    /// `None` for what is not written by what was looked at so far.
    registers: Vec<Option<Value>>,
}

impl<'a> Roots<'a> {
    pub(super) fn new(module: &'a Module, id: FunctionId, shared: &'a SharedLayout) -> Self {
        let function = &module.functions[id.index()];
        let mut roots = Self { module, id, shared, registers: vec![None; function.registers.len()] };
        // Without shared variables there is nothing to know.
        if shared.is_empty() {
            return roots;
        }
        // A register changes twice at most.
        while roots.pass(function) {}
        roots
    }

    /// What an operand is an address of.
    pub(super) fn of(&self, operand: &Operand) -> Root {
        match self.value(operand) {
            Some(Value::From(root)) => root,
            _ => Root::Unknown,
        }
    }

    /// Says whether something new was learnt.
    fn pass(&mut self, function: &Function) -> bool {
        let mut changed = false;
        for instruction in &function.body {
            let mut written: Vec<RegId> = Vec::new();
            instruction.op.operands(&mut |_| {}, &mut |d| written.push(d));
            let Some(new) = self.result(&instruction.op) else { continue };
            for d in written {
                let Some(known) = self.registers.get_mut(d.index()) else { continue };
                let joined = join(*known, new);
                changed |= *known != Some(joined);
                *known = Some(joined);
            }
        }
        changed
    }

    fn value(&self, operand: &Operand) -> Option<Value> {
        let shared = |root: Option<Root>| Some(root.map_or(Value::Mixed, Value::From));
        match operand {
            Operand::Reg(id) => self.registers.get(id.index()).copied().flatten(),
            Operand::Global(id, _) if is_shared(self.module.variables.get(id.index()).map(|v| v.space)) => {
                shared(self.shared.root_of_global(*id))
            }
            Operand::Local(id, _) => {
                let variable = self.module.functions[self.id.index()].variables.get(id.index());
                if is_shared(variable.map(|v| v.space)) {
                    shared(self.shared.root_of_local(self.id, *id))
                } else {
                    Some(Value::Mixed)
                }
            }
            Operand::Global(..) => Some(Value::Mixed),
            _ => Some(Value::Number),
        }
    }

    /// What an operation writes, as soon as something is known of all that it reads.
    fn result(&self, op: &Op) -> Option<Value> {
        match op {
            Op::Mov { a, .. } | Op::Cvta { a, .. } | Op::Cvt { a, b: None, .. } => self.value(a),
            // What is added to an aligned address may be put in by `or`, and an address may be rounded by `and`.
            Op::Binary { op: Binary::Add | Binary::Or | Binary::And, a, b, .. } => sum(self.value(a)?, self.value(b)?),
            Op::Binary { op: Binary::Sub, a, b, .. } => match (self.value(a)?, self.value(b)?) {
                (a, Value::Number) => Some(a),
                _ => Some(Value::Mixed),
            },
            Op::Ternary { op: Ternary::Mad | Ternary::MadWide | Ternary::Mad24, a, b, c, .. } => {
                match (self.value(a)?, self.value(b)?) {
                    (Value::Number, Value::Number) => self.value(c),
                    _ => Some(Value::Mixed),
                }
            }
            Op::Selp { a, b, .. } => Some(join(Some(self.value(a)?), self.value(b)?)),
            // What memory holds is taken for a number: with an address it makes an address.
            Op::Ld { .. } | Op::Atom { .. } => Some(Value::Number),
            op => {
                let mut value = Some(Value::Number);
                let mut read = |operand: &Operand| match (value, self.value(operand)) {
                    (None, _) | (_, None) => value = None,
                    (_, Some(Value::Number)) => {}
                    _ => value = Some(Value::Mixed),
                };
                op.operands(&mut read, &mut |_| {});
                value
            }
        }
    }
}

fn is_shared(space: Option<Space>) -> bool {
    matches!(space, Some(Space::Shared | Space::SharedCluster))
}

fn sum(a: Value, b: Value) -> Option<Value> {
    Some(match (a, b) {
        (a, Value::Number) => a,
        (Value::Number, b) => b,
        _ => Value::Mixed,
    })
}

fn join(known: Option<Value>, new: Value) -> Value {
    match known {
        None => new,
        Some(known) if known == new => known,
        Some(_) => Value::Mixed,
    }
}
