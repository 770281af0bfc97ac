//! What a warp does with matrices in its registers.

use fusion_ptx::ast::Fragment;

use crate::arith::tensor;
use crate::code::{Product, Reg};
use crate::exec::context::Worker;
use crate::exec::state::lanes::{FULL, View, lanes};

/// `movmatrix`: the 8 by 8 elements of 16 bits, rows as columns.
pub(crate) fn transposed(words: &[u64; 32]) -> [u64; 32] {
    let element = |row: usize, column: usize| words[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    lanes(|lane| element(2 * (lane % 4), lane / 4) | element(2 * (lane % 4) + 1, lane / 4) << 16)
}

/// `mma` and `wmma.mma`.
pub(crate) fn multiply(worker: &mut Worker<'_>, regs: &mut View<'_>, product: &Product) {
    let form = &product.form;
    let (a, b) = (gathered(regs, &form.a(), &product.a, false), gathered(regs, &form.b(), &product.b, true));
    let c = gathered(regs, &form.c(), &product.c, false);
    let mut d = vec![0; c.len()];
    let (arch, compute) = (worker.arch, worker.run.compute);
    arch.dispatch(
        #[inline(always)]
        || tensor::multiply(form, compute, &a, &b, &c, &mut d),
    );
    scatter(regs, &form.d(), &product.d, &d);
    let fused = u64::from(form.shape.m * form.shape.n * form.shape.k);
    worker.counters.tensor_operations += 2 * fused;
}

/// The elements that the lanes hold, row by row or column by column.
fn gathered(regs: &View<'_>, fragment: &Fragment, held: &[Reg], by_columns: bool) -> Vec<u64> {
    let (bits, per) = (fragment.ty.bits(), fragment.per_register());
    let keep = u64::MAX >> (64 - bits);
    let mut elements = vec![0; (fragment.rows * fragment.columns) as usize];
    for register in 0..fragment.elements() / per {
        let Some(reg) = held.get(register as usize) else { continue };
        for (lane, value) in (0..).zip(regs.get(*reg)) {
            for inside in 0..per {
                let (row, column) = fragment.place(lane, register * per + inside);
                let at = if by_columns { column * fragment.rows + row } else { row * fragment.columns + column };
                elements[at as usize] = value >> (bits * inside) & keep;
            }
        }
    }
    elements
}

fn scatter(regs: &mut View<'_>, fragment: &Fragment, held: &[Option<Reg>], elements: &[u64]) {
    let (bits, per) = (fragment.ty.bits(), fragment.per_register());
    for (register, reg) in (0..).zip(held) {
        let Some(reg) = reg else { continue };
        let part = |lane: usize, inside: u32| {
            let (row, column) = fragment.place(lane as u32, register * per + inside);
            elements[(row * fragment.columns + column) as usize] << (bits * inside)
        };
        regs.put(*reg, FULL, &lanes(|lane| (0..per).fold(0, |value, inside| value | part(lane, inside))));
    }
}
