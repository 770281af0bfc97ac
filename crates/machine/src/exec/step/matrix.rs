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
    let places = Places::new(fragment, by_columns);
    for (register, reg) in (0..fragment.elements() / per).zip(held) {
        let words = regs.get(*reg);
        for inside in 0..per {
            let first = places.of_element(register * per + inside);
            for (word, lane) in words.iter().zip(places.of_lanes) {
                elements[first + lane] = word >> (bits * inside) & keep;
            }
        }
    }
    elements
}

/// Where the elements of a fragment lie among all of its matrix: a lane's first one, and so much further on each of its others, which
/// is the same for all lanes.
struct Places<'a> {
    fragment: &'a Fragment,
    by_columns: bool,
    of_lanes: [usize; 32],
}

impl<'a> Places<'a> {
    fn new(fragment: &'a Fragment, by_columns: bool) -> Self {
        let mut places = Self { fragment, by_columns, of_lanes: [0; 32] };
        places.of_lanes = std::array::from_fn(|lane| places.of(lane as u32, 0));
        places
    }

    fn of_element(&self, element: u32) -> usize {
        self.of(0, element)
    }

    fn of(&self, lane: u32, element: u32) -> usize {
        let Fragment { rows, columns, .. } = *self.fragment;
        let (row, column) = self.fragment.place(lane, element);
        (if self.by_columns { column * rows + row } else { row * columns + column }) as usize
    }
}

fn scatter(regs: &mut View<'_>, fragment: &Fragment, held: &[Option<Reg>], elements: &[u64]) {
    let (bits, per) = (fragment.ty.bits(), fragment.per_register());
    let places = Places::new(fragment, false);
    for (register, reg) in (0..).zip(held) {
        let Some(reg) = reg else { continue };
        let mut words = [0; 32];
        for inside in 0..per {
            let first = places.of_element(register * per + inside);
            for (word, lane) in words.iter_mut().zip(places.of_lanes) {
                *word |= elements[first + lane] << (bits * inside);
            }
        }
        regs.put(*reg, FULL, &words);
    }
}
