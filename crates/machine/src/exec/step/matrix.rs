//! What a warp does with matrices in its registers.

use crate::arith::tensor;
use crate::code::{Places, Product, Reg};
use crate::exec::context::Worker;
use crate::exec::state::lanes::{FULL, View, lanes};

/// `movmatrix`: the 8 by 8 elements of 16 bits, rows as columns.
pub(crate) fn transposed(words: &[u64; 32]) -> [u64; 32] {
    let element = |row: usize, column: usize| words[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    lanes(|lane| element(2 * (lane % 4), lane / 4) | element(2 * (lane % 4) + 1, lane / 4) << 16)
}

/// `mma` and `wmma.mma`.
pub(crate) fn multiply(worker: &mut Worker<'_>, regs: &mut View<'_>, product: &Product) {
    let (form, fragments) = (&product.form, &product.fragments);
    let (a, b) = (gathered(regs, &fragments.a, &product.a), gathered(regs, &fragments.b, &product.b));
    let c = gathered(regs, &fragments.c, &product.c);
    let mut d = vec![0; c.len()];
    tensor::multiply(worker.arch, form, worker.run.compute, &a, &b, &c, &mut d);
    scatter(regs, &fragments.d, &product.d, &d);
    let fused = u64::from(form.shape.m * form.shape.n * form.shape.k);
    worker.counters.tensor_operations += 2 * fused;
}

/// The elements that the lanes hold.
fn gathered(regs: &View<'_>, places: &Places, held: &[Reg]) -> Vec<u64> {
    let keep = u64::MAX >> (64 - places.bits);
    let mut elements = vec![0; places.count];
    for (of_register, reg) in places.of_elements.chunks(places.per_register).zip(held) {
        let words = regs.get(*reg);
        for (inside, first) in (0..).zip(of_register) {
            for (word, lane) in words.iter().zip(places.of_lanes) {
                elements[first + lane] = word >> (places.bits * inside) & keep;
            }
        }
    }
    elements
}

fn scatter(regs: &mut View<'_>, places: &Places, held: &[Option<Reg>], elements: &[u64]) {
    for (of_register, reg) in places.of_elements.chunks(places.per_register).zip(held) {
        let Some(reg) = reg else { continue };
        let mut words = [0; 32];
        for (inside, first) in (0..).zip(of_register) {
            for (word, lane) in words.iter_mut().zip(places.of_lanes) {
                *word |= elements[first + lane] << (places.bits * inside);
            }
        }
        regs.put(*reg, FULL, &words);
    }
}
