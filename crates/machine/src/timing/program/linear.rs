//! What the assembler knows of addresses: sums of registers and constants, by which it sees that two accesses never meet.

use std::collections::{HashMap, HashSet};

use super::{Numbers, Op};
use crate::code::{Base, Code, MicroOp};

/// More registers than these in one sum are not followed.
const MOST: usize = 4;

/// A sum of products of a register and a factor, in the order of the registers, and of a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear<R> {
    pub(crate) terms: Vec<(R, i64)>,
    pub(crate) constant: i64,
}

/// What an instruction computes, or which address it reaches, by its registers' numbers in the [`super::Program`].
pub(crate) type Sum = Linear<u32>;

impl<R: Copy + Ord> Linear<R> {
    fn constant(constant: i64) -> Self {
        Self { terms: Vec::new(), constant }
    }

    fn register(register: R) -> Self {
        Self { terms: vec![(register, 1)], constant: 0 }
    }

    fn add(&mut self, other: &Self, times: i64) {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(times));
        for &(register, factor) in &other.terms {
            let factor = factor.wrapping_mul(times);
            match self.terms.binary_search_by_key(&register, |term| term.0) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.wrapping_add(factor),
                Err(at) => self.terms.insert(at, (register, factor)),
            }
        }
        self.terms.retain(|term| term.1 != 0);
    }

    /// Names registers by others to which a constant is added.
    pub(crate) fn replace(&mut self, by: impl Fn(R) -> (R, i64)) {
        for (register, factor) in std::mem::take(&mut self.terms) {
            let (other, constant) = by(register);
            self.add(&Self { terms: vec![(other, 1)], constant }, factor);
        }
    }

    /// Whether so many bytes here and so many there never have one in common: only what both add to a constant may be unknown.
    pub(crate) fn is_apart(&self, bytes: u32, other: &Self, others: u32) -> bool {
        let (low, high) = (other.constant, other.constant.wrapping_add(i64::from(others)));
        self.terms == other.terms && (self.constant.wrapping_add(i64::from(bytes)) <= low || high <= self.constant)
    }
}

/// Reads off the code what its instructions compute.
pub(super) struct Reader<'a> {
    code: &'a Code,
    numbers: &'a Numbers,
    constants: HashMap<u32, i64>,
    /// Predicates that are true, or false, whatever happens.
    decided: HashSet<u32>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(code: &'a Code, numbers: &'a Numbers) -> Self {
        let functions = code.functions.iter().flatten();
        let fills = functions.flat_map(|function| function.fills.iter().map(|fill| (function.start, fill)));
        let (mut constants, mut decided) = (HashMap::new(), HashSet::new());
        for (pc, (fill, reg)) in fills {
            let Some(value) = fill.known() else { continue };
            match reg.bits {
                64 => _ = constants.insert(numbers.of(pc, reg.slot, 64), value as i64),
                32 => _ = constants.insert(numbers.of(pc, reg.slot, 32), i64::from(value as u32 as i32)),
                1 => _ = decided.insert(numbers.of(pc, reg.slot, 1)),
                _ => {}
            }
        }
        Self { code, numbers, constants, decided }
    }

    /// Whether a predicate is a constant.
    pub(super) fn is_constant(&self, predicate: u32) -> bool {
        self.decided.contains(&predicate)
    }

    /// What an instruction writes, where it is a sum. Sums of 32 bits stay such: what is made of them in 64 is another register.
    pub(super) fn value(&self, pc: u32, op: MicroOp) -> Option<Sum> {
        let of = |slot, bits| self.operand(pc, slot, bits);
        let sum = |a: Sum, b: &Sum, times| {
            let mut sum = a;
            sum.add(b, times);
            Some(sum)
        };
        let product = |a: Sum, b: Sum| match (&a.terms[..], &b.terms[..]) {
            (_, []) => sum(Sum::default(), &a, b.constant),
            ([], _) => sum(Sum::default(), &b, a.constant),
            _ => None,
        };
        let shifted = |a: Sum, by: Sum| {
            let by = by.terms.is_empty().then_some(by.constant).filter(|by| (0..63).contains(by))?;
            sum(Sum::default(), &a, 1 << by)
        };
        match op {
            MicroOp::Mov32(s) => Some(of(s.a, 32)),
            MicroOp::Mov64(s) => Some(of(s.a, 64)),
            MicroOp::Add32(s) => sum(of(s.a, 32), &of(s.b, 32), 1),
            MicroOp::Add64(s) => sum(of(s.a, 64), &of(s.b, 64), 1),
            MicroOp::Sub32(s) => sum(of(s.a, 32), &of(s.b, 32), -1),
            MicroOp::Sub64(s) => sum(of(s.a, 64), &of(s.b, 64), -1),
            MicroOp::Mul32(s) => product(of(s.a, 32), of(s.b, 32)),
            MicroOp::Mul64(s) => product(of(s.a, 64), of(s.b, 64)),
            MicroOp::Mad32(s) => sum(product(of(s.a, 32), of(s.b, 32))?, &of(s.c, 32), 1),
            MicroOp::Mad64(s) => sum(product(of(s.a, 64), of(s.b, 64))?, &of(s.c, 64), 1),
            MicroOp::Shl32(s) => shifted(of(s.a, 32), of(s.b, 32)),
            MicroOp::Shl64(s) => shifted(of(s.a, 64), of(s.b, 32)),
            _ => None,
        }
    }

    /// The address of a load or store.
    pub(super) fn address(&self, pc: u32) -> Option<Sum> {
        let address = self.code.access(pc).map(|access| access.address).filter(|address| !address.in_frame)?;
        let mut sum = match address.base {
            Base::None => Sum::default(),
            Base::Word(slot) => self.operand(pc, slot, 32),
            Base::Double(slot) => self.operand(pc, slot, 64),
        };
        sum.constant = sum.constant.wrapping_add(address.offset);
        Some(sum)
    }

    fn operand(&self, pc: u32, slot: u32, bits: u8) -> Sum {
        let register = || Sum::register(self.numbers.of(pc, slot, bits));
        self.constant(pc, slot, bits).map_or_else(register, Sum::constant)
    }

    /// What an operand is, where the launch does not change it.
    pub(super) fn constant(&self, pc: u32, slot: u32, bits: u8) -> Option<i64> {
        self.constants.get(&self.numbers.of(pc, slot, bits)).copied()
    }
}

/// A register as the instruction of a piece left it that stands there, or, with none, as the piece found it.
type Found = (u32, Option<usize>);

/// The addresses of a piece's loads and stores, in what its registers hold when it begins and in what cannot be followed.
pub(crate) fn addresses(ops: &[&Op]) -> Vec<Option<Linear<Found>>> {
    let mut known: HashMap<u32, Linear<Found>> = HashMap::new();
    let follow = |known: &HashMap<u32, Linear<Found>>, sum: &Sum| {
        let mut found = Linear::constant(sum.constant);
        for &(register, factor) in &sum.terms {
            match known.get(&register) {
                Some(value) => found.add(value, factor),
                None => found.add(&Linear::register((register, None)), factor),
            }
        }
        found
    };
    let address = |(at, op): (usize, &&Op)| {
        let address = op.address.as_ref().map(|sum| follow(&known, sum));
        let value = op.value.as_ref().map(|sum| follow(&known, sum)).filter(|value| value.terms.len() <= MOST);
        for &register in &op.writes {
            let value = value.clone().unwrap_or_else(|| Linear::register((register, Some(at))));
            known.insert(register, value);
        }
        address
    };
    ops.iter().enumerate().map(address).collect()
}
