//! What a warp does with matrices in its registers.

use crate::arith::tensor;
use crate::code::{Fragments, Places, Product, Reg};
use crate::exec::context::Worker;
use crate::exec::state::lanes::{FULL, View, lanes};

/// `movmatrix`: the 8 by 8 elements of 16 bits, rows as columns.
pub(crate) fn transposed(words: &[u64; 32]) -> [u64; 32] {
    let element = |row: usize, column: usize| words[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    lanes(|lane| element(2 * (lane % 4), lane / 4) | element(2 * (lane % 4) + 1, lane / 4) << 16)
}

/// `mma` and `wmma.mma`.
pub(crate) fn multiply(worker: &mut Worker<'_>, regs: &mut View<'_>, product: &Product) {
    let (form, compute) = (&product.form, worker.run.compute);
    match tensor::adder_of_floats(form, compute) {
        Some(adder) => {
            let [a, b, c, d] = &mut [[0; FLOATS]; 4];
            multiplied(regs, product, [a, b, c, d], |factors, d| {
                tensor::multiply_floats(worker.arch, form, adder, factors, d);
            });
        }
        None => {
            let Fragments { a, b, c, d } = &*product.fragments;
            let [a, b, c, d] = &mut [a, b, c, d].map(|places| vec![0; places.count]);
            multiplied(regs, product, [&mut a[..], b, c, d], |factors, d| tensor::multiply(form, compute, factors, d));
        }
    }
    let fused = u64::from(form.shape.m * form.shape.n * form.shape.k);
    worker.counters.tensor_operations += 2 * fused;
}

/// Puts where D is held what `multiply` makes of A, B and C. Buffers have room for the elements of each.
#[inline(always)]
fn multiplied<T: Bits>(
    regs: &mut View<'_>,
    product: &Product,
    [a, b, c, d]: [&mut [T]; 4],
    multiply: impl FnOnce([&[T]; 3], &mut [T]),
) {
    let fragments = &product.fragments;
    let a = gathered(regs, &fragments.a, &product.a, a);
    let b = gathered(regs, &fragments.b, &product.b, b);
    let c = gathered(regs, &fragments.c, &product.c, c);
    let d = &mut d[..fragments.d.count];
    multiply([a, b, c], d);
    scatter(regs, &fragments.d, &product.d, d);
}

/// Floats of a matrix, at most: 32 rows of 16, or 16 of 32.
const FLOATS: usize = 512;

/// What holds an element's bits.
trait Bits: Copy {
    fn of(word: u64) -> Self;
    fn word(self) -> u64;
}

impl Bits for u32 {
    fn of(word: u64) -> Self {
        word as u32
    }

    fn word(self) -> u64 {
        self.into()
    }
}

impl Bits for u64 {
    fn of(word: u64) -> Self {
        word
    }

    fn word(self) -> u64 {
        self
    }
}

/// The elements that the lanes hold.
fn gathered<'a, T: Bits>(regs: &View<'_>, places: &Places, held: &[Reg], elements: &'a mut [T]) -> &'a [T] {
    let keep = u64::MAX >> (64 - places.bits);
    let elements = &mut elements[..places.count];
    for (of_register, reg) in places.of_elements.chunks(places.per_register).zip(held) {
        let words = regs.get(*reg);
        for (inside, first) in (0..).zip(of_register) {
            for lane in 0..32 {
                elements[first + places.of_lanes[lane]] = T::of(words[lane] >> (places.bits * inside) & keep);
            }
        }
    }
    elements
}

fn scatter<T: Bits>(regs: &mut View<'_>, places: &Places, held: &[Option<Reg>], elements: &[T]) {
    for (of_register, reg) in places.of_elements.chunks(places.per_register).zip(held) {
        let Some(reg) = reg else { continue };
        let mut words = [0; 32];
        for (inside, first) in (0..).zip(of_register) {
            for lane in 0..32 {
                words[lane] |= elements[first + places.of_lanes[lane]].word() << (places.bits * inside);
            }
        }
        regs.put(*reg, FULL, &words);
    }
}
