//! A warp's registers, and the loops over its 32 lanes.
//!
//! The loops are written so that the compiler makes vector instructions of them: operands are
//! copied out first (a destination may be an operand), every lane is computed, and the result is
//! blended in under the mask.

use crate::code::{Reg, Slot, TRUE};

/// The mask of a whole warp.
pub(crate) const FULL: u32 = u32::MAX;

/// One value a lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Lanes<T>(pub(crate) [T; 32]);

/// The three register files of a warp, frames stacked one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    pub(crate) words: Vec<Lanes<u32>>,
    pub(crate) doubles: Vec<Lanes<u64>>,
    pub(crate) predicates: Vec<u32>,
}

/// Where a frame begins in each file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bases {
    pub(crate) words: u32,
    pub(crate) doubles: u32,
    pub(crate) predicates: u32,
}

/// The registers of one frame.
pub(crate) struct View<'a> {
    pub(crate) words: &'a mut [Lanes<u32>],
    pub(crate) doubles: &'a mut [Lanes<u64>],
    pub(crate) predicates: &'a mut [u32],
}

impl Registers {
    /// Makes room for a frame of the given sizes above `bases`.
    pub(crate) fn reserve(&mut self, bases: Bases, words: u32, doubles: u32, predicates: u32) {
        let grow = |have: usize, base: u32, size: u32| have.max((base + size) as usize);
        self.words.resize(grow(self.words.len(), bases.words, words), Lanes([0; 32]));
        self.doubles.resize(grow(self.doubles.len(), bases.doubles, doubles), Lanes([0; 32]));
        self.predicates.resize(grow(self.predicates.len(), bases.predicates, predicates), 0);
    }

    #[inline]
    pub(crate) fn view(&mut self, bases: Bases) -> View<'_> {
        View {
            words: &mut self.words[bases.words as usize..],
            doubles: &mut self.doubles[bases.doubles as usize..],
            predicates: &mut self.predicates[bases.predicates as usize..],
        }
    }
}

/// New lanes from old ones.
#[inline(always)]
pub(crate) fn lanes<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; 32] {
    let mut out = [T::default(); 32];
    for (i, o) in out.iter_mut().enumerate() {
        *o = f(i);
    }
    out
}

/// Writes under a mask.
#[inline(always)]
fn blend<T: Copy>(target: &mut [T; 32], mask: u32, value: &[T; 32]) {
    if mask == FULL {
        *target = *value;
    } else {
        for i in 0..32 {
            target[i] = if mask & 1 << i != 0 { value[i] } else { target[i] };
        }
    }
}

/// The lanes of a mask, lowest first.
#[inline(always)]
pub(crate) fn each(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        Some(lane)
    })
}

impl View<'_> {
    #[inline(always)]
    pub(crate) fn word(&self, slot: Slot) -> &[u32; 32] {
        &self.words[slot as usize].0
    }

    #[inline(always)]
    pub(crate) fn double(&self, slot: Slot) -> &[u64; 32] {
        &self.doubles[slot as usize].0
    }

    /// The lanes in which a predicate, or its complement, is true.
    #[inline(always)]
    pub(crate) fn predicate(&self, slot: Slot, negated: bool) -> u32 {
        self.predicates[slot as usize] ^ if negated { FULL } else { 0 }
    }

    #[inline(always)]
    pub(crate) fn put_word(&mut self, slot: Slot, mask: u32, value: &[u32; 32]) {
        blend(&mut self.words[slot as usize].0, mask, value);
    }

    #[inline(always)]
    pub(crate) fn put_double(&mut self, slot: Slot, mask: u32, value: &[u64; 32]) {
        blend(&mut self.doubles[slot as usize].0, mask, value);
    }

    #[inline(always)]
    pub(crate) fn put_predicate(&mut self, slot: Slot, mask: u32, value: u32) {
        debug_assert_ne!(slot, TRUE);
        let p = &mut self.predicates[slot as usize];
        *p = *p & !mask | value & mask;
    }

    /// A register of any file as 64-bit lanes.
    #[inline(always)]
    pub(crate) fn get(&self, reg: Reg) -> [u64; 32] {
        match reg.bits {
            64 => *self.double(reg.slot),
            1 => {
                let p = self.predicates[reg.slot as usize];
                lanes(|i| u64::from(p >> i & 1))
            }
            _ => {
                let words = self.word(reg.slot);
                lanes(|i| u64::from(words[i]))
            }
        }
    }

    /// One lane of a register of any file.
    pub(crate) fn get_lane(&self, reg: Reg, lane: usize) -> u64 {
        match reg.bits {
            64 => self.double(reg.slot)[lane],
            1 => u64::from(self.predicates[reg.slot as usize] >> lane & 1),
            _ => u64::from(self.word(reg.slot)[lane]),
        }
    }

    /// Writes the low bits of 64-bit lanes to a register of any file.
    #[inline(always)]
    pub(crate) fn put(&mut self, reg: Reg, mask: u32, value: &[u64; 32]) {
        match reg.bits {
            64 => self.put_double(reg.slot, mask, value),
            1 => {
                let bits = (0..32).fold(0, |bits, i| bits | ((value[i] & 1) as u32) << i);
                self.put_predicate(reg.slot, mask, bits);
            }
            32 => self.put_word(reg.slot, mask, &lanes(|i| value[i] as u32)),
            bits => {
                let keep = (1u32 << bits) - 1;
                self.put_word(reg.slot, mask, &lanes(|i| value[i] as u32 & keep));
            }
        }
    }

    #[inline(always)]
    pub(crate) fn words1(&mut self, d: Slot, a: Slot, mask: u32, f: impl Fn(u32) -> u32) {
        let a = *self.word(a);
        self.put_word(d, mask, &lanes(|i| f(a[i])));
    }

    #[inline(always)]
    pub(crate) fn words2(&mut self, d: Slot, a: Slot, b: Slot, mask: u32, f: impl Fn(u32, u32) -> u32) {
        let (a, b) = (*self.word(a), *self.word(b));
        self.put_word(d, mask, &lanes(|i| f(a[i], b[i])));
    }

    #[inline(always)]
    pub(crate) fn words3(&mut self, d: Slot, abc: [Slot; 3], mask: u32, f: impl Fn(u32, u32, u32) -> u32) {
        let (a, b, c) = (*self.word(abc[0]), *self.word(abc[1]), *self.word(abc[2]));
        self.put_word(d, mask, &lanes(|i| f(a[i], b[i], c[i])));
    }

    #[inline(always)]
    pub(crate) fn doubles2(&mut self, d: Slot, a: Slot, b: Slot, mask: u32, f: impl Fn(u64, u64) -> u64) {
        let (a, b) = (*self.double(a), *self.double(b));
        self.put_double(d, mask, &lanes(|i| f(a[i], b[i])));
    }

    #[inline(always)]
    pub(crate) fn doubles3(&mut self, d: Slot, abc: [Slot; 3], mask: u32, f: impl Fn(u64, u64, u64) -> u64) {
        let (a, b, c) = (*self.double(abc[0]), *self.double(abc[1]), *self.double(abc[2]));
        self.put_double(d, mask, &lanes(|i| f(a[i], b[i], c[i])));
    }

    /// Double from a double and a word: shifts.
    #[inline(always)]
    pub(crate) fn shift(&mut self, d: Slot, a: Slot, b: Slot, mask: u32, f: impl Fn(u64, u32) -> u64) {
        let (a, b) = (*self.double(a), *self.word(b));
        self.put_double(d, mask, &lanes(|i| f(a[i], b[i])));
    }

    /// Double from two words.
    #[inline(always)]
    pub(crate) fn widen(&mut self, d: Slot, a: Slot, b: Slot, mask: u32, f: impl Fn(u32, u32) -> u64) {
        let (a, b) = (*self.word(a), *self.word(b));
        self.put_double(d, mask, &lanes(|i| f(a[i], b[i])));
    }

    #[inline(always)]
    pub(crate) fn compare_words(&mut self, p: Slot, a: Slot, b: Slot, mask: u32, f: impl Fn(u32, u32) -> bool) {
        let (a, b) = (*self.word(a), *self.word(b));
        let mut bits = 0;
        for i in 0..32 {
            bits |= u32::from(f(a[i], b[i])) << i;
        }
        self.put_predicate(p, mask, bits);
    }

    #[inline(always)]
    pub(crate) fn compare_doubles(&mut self, p: Slot, a: Slot, b: Slot, mask: u32, f: impl Fn(u64, u64) -> bool) {
        let (a, b) = (*self.double(a), *self.double(b));
        let mut bits = 0;
        for i in 0..32 {
            bits |= u32::from(f(a[i], b[i])) << i;
        }
        self.put_predicate(p, mask, bits);
    }
}
