//! Which instructions the arithmetic lints look at, and the code that makes them look.
//!
//! A lowered kernel knows no lints, so that they cost nothing when nobody asks. Asked for, they run a copy of it in
//! which every suspect is replaced by one that looks first and then does the same; instructions keep their places.
//!
//! Shifts, divisions and conversions are suspects wherever they stand, except where a selection may drop what they
//! give: compilers compute `n < 32 ? x << n : 0` that way round. Sums and products of 32 bits are suspects only when
//! they become part of an address, which is found by going back from the accesses: through sums, products and
//! moves of 64 bits to where a word is widened, and from there through those of 32. Everything else ends the way, above
//! all remainders, masks and exclusive ors: what is behind them is a hash or a random number, which wraps on purpose.

use std::collections::{BTreeMap, HashMap};

use fusion_ptx::ast::{Binary, Function, Instruction, Module, Op, Operand, RegId, ScalarType, Space, Ternary};

use crate::code::{Checked, Code, Lint, MicroOp, SlowOp};

/// The same code, with its suspects looked at.
pub(crate) fn checked(module: &Module, code: &Code) -> Code {
    let mut out = code.clone();
    let reached = code.functions.iter().enumerate().filter_map(|(i, f)| Some((module.functions.get(i)?, f.as_ref()?)));
    for (function, lowered) in reached {
        // The operation itself is the last that an instruction was lowered to, and of one of the forms that can be checked.
        let mut places = HashMap::new();
        for pc in lowered.start..lowered.end {
            let (Some(inst), Some(origin)) = (code.insts.get(pc as usize), code.origins.get(pc as usize)) else {
                continue;
            };
            if checkable(inst.op) || matches!(inst.op, MicroOp::Load(_) | MicroOp::Store(_) | MicroOp::Slow(_)) {
                places.insert(origin.span.start, pc);
            }
        }
        let place = |at: usize| function.body.get(at).and_then(|i| places.get(&i.span.start)).copied();
        for (at, lints) in suspects(function) {
            let Some(pc) = place(at) else { continue };
            let Some(inst) = out.insts.get_mut(pc as usize).filter(|inst| checkable(inst.op)) else { continue };
            let lints = lints.into_iter().map(|lint| match lint {
                Lint::Index { signed, access } => Lint::Index { signed, access: place(access as usize).unwrap_or(pc) },
                other => other,
            });
            out.slow.push(SlowOp::Checked(Checked { op: inst.op, lints: lints.collect() }));
            inst.op = MicroOp::Slow(out.slow.len() as u32 - 1);
        }
    }
    out
}

/// The forms that [`crate::exec`] can execute outside of its loop.
fn checkable(op: MicroOp) -> bool {
    matches!(
        op,
        MicroOp::Add32(_)
            | MicroOp::Sub32(_)
            | MicroOp::Mul32(_)
            | MicroOp::Mad32(_)
            | MicroOp::Shl32(_)
            | MicroOp::ShrU32(_)
            | MicroOp::ShrS32(_)
            | MicroOp::Shl64(_)
            | MicroOp::ShrU64(_)
            | MicroOp::ShrS64(_)
            | MicroOp::Unary(..)
            | MicroOp::Binary(..)
    )
}

/// The suspects of a function, by their index in its body; [`Lint::Index::access`] is an index of it too.
fn suspects(function: &Function) -> BTreeMap<usize, Vec<Lint>> {
    let mut found: BTreeMap<usize, Vec<Lint>> = BTreeMap::new();
    let mut users: HashMap<RegId, Vec<usize>> = HashMap::new();
    for (at, instruction) in function.body.iter().enumerate() {
        let mut read = |operand: &Operand| {
            if let Operand::Reg(id) = operand {
                users.entry(*id).or_default().push(at);
            }
        };
        instruction.op.operands(&mut read, &mut |_| {});
    }
    for (at, instruction) in function.body.iter().enumerate() {
        if let Some(lint) = suspect(instruction)
            && !is_selected(function, &users, instruction, BEFORE_SELECTION)
        {
            found.entry(at).or_default().push(lint);
        }
    }
    for (at, lint) in Addresses::of(function) {
        found.entry(at).or_default().push(lint);
    }
    found
}

/// Operations between a suspect and the selection that may drop it: `n < 32 ? (1u << n) - 1u : ~0u` has one.
const BEFORE_SELECTION: u32 = 3;

/// Whether what an instruction gives is used by selections only, as it is or computed with.
fn is_selected(
    function: &Function,
    users: &HashMap<RegId, Vec<usize>>,
    instruction: &Instruction,
    between: u32,
) -> bool {
    let mut selected = false;
    instruction.op.operands(&mut |_| {}, &mut |d| {
        let of = users.get(&d).map(Vec::as_slice).unwrap_or_default();
        // One with so many users is not looked through: there are few of a value that is chosen or dropped.
        selected = !of.is_empty()
            && of.len() <= 16
            && of.iter().filter_map(|&at| function.body.get(at)).all(|user| match user.op {
                Op::Selp { .. } | Op::Slct { .. } => true,
                Op::Unary { .. } | Op::Binary { .. } | Op::Ternary { .. } | Op::Mov { .. } | Op::Cvt { .. } => {
                    between > 0 && is_selected(function, users, user, between - 1)
                }
                _ => false,
            });
    });
    selected
}

/// Whether an instruction is one by itself.
fn suspect(instruction: &Instruction) -> Option<Lint> {
    let integer = |ty: ScalarType| !ty.is_float() && ty != ScalarType::Pred;
    match &instruction.op {
        Op::Binary { op: Binary::Shl | Binary::Shr, ty, b: Operand::Reg(_), .. } => {
            Some(Lint::Shift { bits: ty.bits() })
        }
        Op::Binary { op: Binary::Div | Binary::Rem, ty, .. } if integer(*ty) => Some(Lint::Divide),
        Op::Cvt { dty, sty, mode, b: None, .. } if integer(*dty) && sty.is_float() && !mode.sat => {
            Some(Lint::FloatToInt { from: *sty, to: *dty })
        }
        _ => None,
    }
}

/// The way back from addresses.
struct Addresses<'a> {
    function: &'a Function,
    /// The instructions that write a register.
    writers: HashMap<RegId, Vec<usize>>,
    /// Registers still to be looked at: `None` where they are part of a 64-bit sum, else whether the word is signed.
    /// With each the access that it is for.
    work: Vec<(RegId, Option<bool>, usize)>,
    seen: std::collections::HashSet<(RegId, Option<bool>)>,
    found: BTreeMap<usize, (bool, usize)>,
}

impl<'a> Addresses<'a> {
    fn of(function: &'a Function) -> impl Iterator<Item = (usize, Lint)> {
        let mut writers: HashMap<RegId, Vec<usize>> = HashMap::new();
        for (at, instruction) in function.body.iter().enumerate() {
            instruction.op.operands(&mut |_| {}, &mut |d| writers.entry(d).or_default().push(at));
        }
        let mut walk = Self { function, writers, work: Vec::new(), seen: Default::default(), found: BTreeMap::new() };
        for (at, instruction) in function.body.iter().enumerate() {
            let addr = match &instruction.op {
                Op::Ld { space: Space::Global | Space::Generic, addr, .. }
                | Op::St { space: Space::Global | Space::Generic, addr, .. }
                | Op::Atom { space: Space::Global | Space::Generic, addr, .. }
                | Op::CpAsync { src: addr, .. } => addr,
                _ => continue,
            };
            walk.push(&addr.base, None, at);
        }
        while let Some((reg, signed, access)) = walk.work.pop() {
            for at in walk.writers.get(&reg).cloned().unwrap_or_default() {
                match signed {
                    None => walk.wide(at, access),
                    Some(signed) => walk.narrow(at, signed, access),
                }
            }
        }
        walk.found.into_iter().map(|(at, (signed, access))| (at, Lint::Index { signed, access: access as u32 }))
    }

    fn push(&mut self, operand: &Operand, signed: Option<bool>, access: usize) {
        if let Operand::Reg(reg) = operand
            && self.seen.insert((*reg, signed))
        {
            self.work.push((*reg, signed, access));
        }
    }

    /// Goes back over an instruction that gives 64 bits of an address.
    fn wide(&mut self, at: usize, access: usize) {
        let function = self.function;
        let Some(instruction) = function.body.get(at) else { return };
        match &instruction.op {
            Op::Binary { op: Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max, a, b, .. }
            | Op::Selp { a, b, .. }
            | Op::Slct { a, b, .. } => {
                self.push(a, None, access);
                self.push(b, None, access);
            }
            Op::Binary { op: Binary::Shl, a, .. } | Op::Mov { a, .. } | Op::Cvta { a, .. } => {
                self.push(a, None, access)
            }
            Op::Binary { op: Binary::MulWide, ty, a, b, .. } if ty.bits() == 32 => {
                self.push(a, Some(ty.is_signed()), access);
                self.push(b, Some(ty.is_signed()), access);
            }
            Op::Ternary { op: Ternary::MadWide, ty, a, b, c, .. } if ty.bits() == 32 => {
                self.push(a, Some(ty.is_signed()), access);
                self.push(b, Some(ty.is_signed()), access);
                self.push(c, None, access);
            }
            Op::Ternary { op: Ternary::Mad, a, b, c, .. } => {
                for operand in [a, b, c] {
                    self.push(operand, None, access);
                }
            }
            Op::Cvt { sty, a, .. } if sty.bits() == 32 && !sty.is_float() => {
                self.push(a, Some(sty.is_signed()), access)
            }
            Op::Cvt { sty, a, .. } if sty.bits() == 64 && !sty.is_float() => self.push(a, None, access),
            _ => {}
        }
    }

    /// Goes back over one that gives a word of an index.
    fn narrow(&mut self, at: usize, signed: bool, access: usize) {
        let function = self.function;
        let Some(instruction) = function.body.get(at) else { return };
        let word = |ty: &ScalarType| ty.bits() == 32 && !ty.is_float();
        match &instruction.op {
            Op::Binary { op: Binary::Add | Binary::Sub | Binary::Mul, ty, mode, a, b, .. }
                if word(ty) && !mode.carry_in && !mode.carry_out =>
            {
                self.find(at, signed, access);
                self.push(a, Some(signed), access);
                self.push(b, Some(signed), access);
            }
            Op::Binary { op: Binary::Shl, ty, a, .. } if word(ty) => {
                self.find(at, signed, access);
                self.push(a, Some(signed), access);
            }
            Op::Ternary { op: Ternary::Mad, ty, mode, a, b, c, .. }
                if word(ty) && !mode.carry_in && !mode.carry_out =>
            {
                self.find(at, signed, access);
                for operand in [a, b, c] {
                    self.push(operand, Some(signed), access);
                }
            }
            Op::Binary { op: Binary::Min | Binary::Max | Binary::Or, a, b, .. }
            | Op::Selp { a, b, .. }
            | Op::Slct { a, b, .. } => {
                self.push(a, Some(signed), access);
                self.push(b, Some(signed), access);
            }
            Op::Mov { a, .. } => self.push(a, Some(signed), access),
            _ => {}
        }
    }

    /// Where a word is widened both ways, the more lenient reading holds.
    fn find(&mut self, at: usize, signed: bool, access: usize) {
        self.found.entry(at).and_modify(|known| known.0 &= signed).or_insert((signed, access));
    }
}
