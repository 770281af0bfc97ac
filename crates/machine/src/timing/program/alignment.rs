//! What the assembler knows of addresses whatever the launch: how many of a register's lowest bits are zero.

use super::Numbers;
use crate::code::{Code, Inst, Operands, Reg, Role, Rule};

/// More of them matter to no access: the widest has sixteen bytes.
const MOST: u32 = 8;

/// Of each register, by its number in the [`super::Program`], how many of its lowest bits are zero wherever it is read.
pub(super) struct Alignment(Vec<u32>);

impl Alignment {
    /// Follows what instructions do with constants: a register that nothing has written yet may be anything, and each write takes from that.
    pub(super) fn new(code: &Code, numbers: &Numbers, registers: usize) -> Self {
        // What goes from function to function is not named.
        if code.functions.iter().flatten().count() > 1 {
            return Self(vec![0; registers]);
        }
        let mut zeros = vec![MOST; registers];
        let mut constants = vec![None; registers];
        for function in code.functions.iter().flatten() {
            for (fill, reg) in &function.fills {
                let Some(number) = number(numbers, function.start, *reg).filter(|&number| number < registers) else {
                    continue;
                };
                constants[number] = fill.known();
                zeros[number] = fill.known().map_or(0, |value| value.trailing_zeros().min(MOST));
            }
        }
        let mut changes = true;
        while changes {
            changes = false;
            for (pc, inst) in (0..).zip(&code.insts) {
                let known = |reg: Reg| number(numbers, pc, reg).map_or((0, None), |at| (zeros[at], constants[at]));
                let made = made(code, inst, known);
                let mut writes = Vec::new();
                inst.op.operands(code, &mut |role, reg| {
                    if role == Role::Write {
                        writes.extend(number(numbers, pc, reg));
                    }
                });
                for at in writes {
                    changes |= made < zeros[at];
                    zeros[at] = zeros[at].min(made);
                }
            }
        }
        Self(zeros)
    }

    pub(super) fn of(&self, register: u32) -> u32 {
        self.0.get(register as usize).copied().unwrap_or(0)
    }
}

/// The register's number. A predicate is no address.
fn number(numbers: &Numbers, pc: u32, reg: Reg) -> Option<usize> {
    (reg.bits > 1).then(|| numbers.of(pc, reg.slot, if reg.bits == 64 { 64 } else { 32 }) as usize)
}

/// How many of the lowest bits of what an instruction writes are zero, by those of its operands and by the constants among them.
fn made(code: &Code, inst: &Inst, known: impl Fn(Reg) -> (u32, Option<u64>)) -> u32 {
    let mut operands = Vec::new();
    inst.op.operands(code, &mut |role, reg| {
        if role == Role::Read && reg.bits > 1 {
            operands.push(known(reg));
        }
    });
    let zeros = |at: usize| operands.get(at).map_or(MOST, |&(zeros, _)| zeros);
    match inst.op.rule(code) {
        Rule::Sum => zeros(0).min(zeros(1)),
        Rule::Product => (zeros(0) + zeros(1)).min(zeros(2)),
        Rule::Bitwise(table) => {
            let has = |bit: u32, at: usize, index: u8| index >> (2 - at) & 1 == 0 || bit >= zeros(at);
            let one = |bit: u32| {
                (0..8).any(|index: u8| {
                    table >> index & 1 == 1 && (0..operands.len().min(3)).all(|at| has(bit, at, index))
                })
            };
            (0..MOST).take_while(|&bit| !one(bit)).count() as u32
        }
        Rule::Shift(by) => match operands.get(1) {
            Some(&(_, Some(places))) => by(u64::MAX << zeros(0), places).trailing_zeros(),
            _ => 0,
        },
        Rule::ZeroExtended(_) | Rule::SignExtended(_) | Rule::Concatenated => zeros(0),
        Rule::Selected { .. } => zeros(0).min(zeros(1)),
        _ => 0,
    }
    .min(MOST)
}
