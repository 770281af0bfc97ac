//! A warp's part of a product of its warp group: 16 rows of A and of D, and all of B.

use fusion_ptx::ast::MatrixType;

use crate::arith::tensor;
use crate::code::{Reg, WarpgroupProduct};
use crate::exec::check::Multiplied;
use crate::exec::context::{Common, Worker};
use crate::exec::fault;
use crate::exec::fault::finding::Site;
use crate::exec::fault::trap::Trapped;
use crate::exec::memory::descriptor::{Descriptor, PIECE};
use crate::exec::memory::shared;
use crate::exec::state::lanes::{Bases, FULL, View, lanes};
use crate::exec::state::shared::Shared;
use crate::exec::state::warp::Warp;
use crate::report::Code;

/// Rows that a warp has.
const ROWS: usize = 16;

/// `wgmma.mma_async`.
pub(crate) fn multiply(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    bases: Bases,
    product: &WarpgroupProduct,
) -> Trapped {
    let form = &product.form;
    let (n, k) = (form.n as usize, form.k() as usize);
    let mut regs = warp.regs.view(bases);
    let a_at = product.a_at.map(|at| *regs.double(at.slot));
    let b_at = *regs.double(product.b_at.slot);
    let first = warp.index % 4 * ROWS as u32;
    let a_tile = a_at.map(|at| Tile::new(Descriptor::of(at[0]), form.a, form.a_transposed, first, ROWS));
    let b_tile = Tile::new(Descriptor::of(b_at[0]), form.b, form.b_transposed, 0, n);
    let mut pieces = Vec::new();
    for tile in a_tile.iter().chain([&b_tile]) {
        read(worker, common, tile)?;
        pieces.extend(&tile.pieces);
    }
    let differ = a_at.iter().chain([&b_at]).any(|at| at.iter().any(|lane| *lane != at[0]));
    let descriptors = [a_at.map_or(0, |at| at[0]), b_at[0]];
    let multiplied = Multiplied { product, bases, descriptors, differ, pieces: &pieces };
    worker.watch.multiplies(&mut common.checks, &multiplied);
    undefined(worker, common, product, a_tile.as_ref(), &b_tile);

    let a = match &a_tile {
        Some(tile) => tile.lines(&common.shared),
        None => factor(&regs, form.a, k, &product.a),
    };
    let b = b_tile.lines(&common.shared);
    let adds = regs.predicate(product.add.0, product.add.1) & 1 == 1;
    let c = if adds { sums(&regs, form.d, n, &product.c) } else { vec![0; ROWS * n] };
    let mut d = vec![0; ROWS * n];
    tensor::multiply_of_warpgroup(worker.arch, form, &a, &b, &c, &mut d);
    scatter(&mut regs, form.d, n, &product.d, &d);
    worker.counters.tensor_operations += 2 * (ROWS * n * k) as u64;
    Ok(())
}

/// Rows of A, or columns of B, in shared memory.
struct Tile {
    descriptor: Descriptor,
    ty: MatrixType,
    /// Elements along k do not lie side by side.
    transposed: bool,
    count: usize,
    /// Where its pieces are. Of each row two, along k; or, where it is transposed, of eight rows one for each k.
    pieces: Vec<u64>,
}

impl Tile {
    fn new(descriptor: Descriptor, ty: MatrixType, transposed: bool, first: u32, count: usize) -> Self {
        let rows = first..first + count as u32;
        let pieces = match transposed {
            false => rows.flat_map(|row| [0, 1].map(|piece| descriptor.along_k(row, piece))).collect(),
            true => {
                let k = 256 / ty.bits();
                rows.step_by(8).flat_map(|row| (0..k).map(move |k| descriptor.across_k(row / 8, k))).collect()
            }
        };
        Self { descriptor, ty, transposed, count, pieces }
    }

    /// Row by row, the elements along k. The pieces are known to be there.
    fn lines(&self, shared: &Shared) -> Vec<u32> {
        let bits = self.ty.bits();
        let (k, per) = (256 / bits as usize, (128 / bits) as usize);
        let keep = u32::MAX >> (32 - bits);
        let mut lines = vec![0; self.count * k];
        for (number, at) in self.pieces.iter().enumerate() {
            let words = &shared[(at / 4) as usize..][..4];
            for inside in 0..per {
                let bit = inside as u32 * bits;
                let element = words[(bit / 32) as usize] >> (bit % 32) & keep;
                let to = match self.transposed {
                    false => number * per + inside,
                    true => (number / k * 8 + inside) * k + number % k,
                };
                lines[to] = element;
            }
        }
        lines
    }

    /// The rows, or columns, that a piece holds elements of.
    fn rows_of(&self, number: usize) -> std::ops::Range<u32> {
        match self.transposed {
            false => number as u32 / 2..number as u32 / 2 + 1,
            true => {
                let first = number as u32 / (256 / self.ty.bits()) * 8;
                first..first + 8
            }
        }
    }
}

/// Looks whether a tile lies in the block's shared memory, and in the array in which it begins, and shows it to the
/// checks.
fn read(worker: &mut Worker<'_>, common: &mut Common, tile: &Tile) -> Trapped {
    let bytes = u64::from(PIECE);
    let start = tile.descriptor.start();
    let holds = |variable: &&crate::code::SharedVariable| {
        (u64::from(variable.offset)..u64::from(variable.offset) + u64::from(variable.size)).contains(&start)
    };
    let variable = worker.run.code.shared.iter().find(holds);
    for pieces in tile.pieces.chunks(32) {
        let mask = FULL >> (32 - pieces.len());
        let addrs = lanes(|lane| pieces.get(lane).copied().unwrap_or(0));
        shared::check(worker, &common.shared, mask, &addrs, bytes, false)?;
        if let Some(variable) = variable {
            let (low, high) = (u64::from(variable.offset), u64::from(variable.offset) + u64::from(variable.size));
            let out = |lane: usize| u32::from(addrs[lane] < low || addrs[lane] + bytes > high) << lane;
            let outside = (0..pieces.len()).fold(0, |outside, lane| outside | out(lane));
            if outside != 0 {
                let (run, pc) = (worker.run, worker.watch.pc);
                let site = Site { code: Code::OobShared, pc, other: u32::MAX };
                let (block, warp) = (worker.watch.block, worker.watch.warp);
                worker.watch.findings.add(site, block, warp, 1, || {
                    fault::outside_array(run, variable, outside, &addrs, bytes, false).at(pc)
                });
            }
        }
        worker.watch.product_reads(&mut common.checks, mask, &addrs);
    }
    Ok(())
}

/// Finds rows of A and columns of B of which a byte was never written.
fn undefined(worker: &mut Worker<'_>, common: &mut Common, product: &WarpgroupProduct, a: Option<&Tile>, b: &Tile) {
    let mut first = None;
    let mut unwritten = |tile: &Tile| -> Vec<u32> {
        let missing = |(_, at): &(usize, &u64)| common.checks.is_unwritten(**at, PIECE.into());
        let found = tile.pieces.iter().enumerate().filter(missing);
        let mut rows: Vec<u32> = found
            .flat_map(|(number, at)| {
                first = first.or(Some(*at));
                tile.rows_of(number)
            })
            .collect();
        rows.dedup();
        rows
    };
    let (rows, columns) = (a.map_or_else(Vec::new, &mut unwritten), unwritten(b));
    if let Some(address) = first {
        worker.watch.multiplied_undefined(&mut common.checks, product, (&rows, &columns), address);
    }
}

/// Row and column of an element of a lane (PTX ISA 9.7.15.5.1.1): those of a register lie side by side.
fn place(lane: usize, element: usize) -> (usize, usize) {
    (lane / 4 + element / 2 % 2 * 8, element / 4 * 8 + lane % 4 * 2 + element % 2)
}

/// A warp's rows of A from registers.
fn factor(regs: &View<'_>, ty: MatrixType, k: usize, held: &[Reg]) -> Vec<u32> {
    let (bits, per) = (ty.bits(), (32 / ty.bits()) as usize);
    let keep = u32::MAX >> (32 - bits);
    let mut rows = vec![0; ROWS * k];
    for (register, reg) in held.iter().enumerate() {
        for (lane, value) in regs.word(reg.slot).iter().enumerate() {
            let (row, first) = (lane / 4 + register % 2 * 8, (register / 2 * 4 + lane % 4) * per);
            for inside in 0..per {
                rows[row * k + first + inside] = value >> (bits * inside as u32) & keep;
            }
        }
    }
    rows
}

/// A warp's rows of C, of elements of 32 or 16 bits.
fn sums(regs: &View<'_>, ty: MatrixType, n: usize, held: &[Reg]) -> Vec<u32> {
    let (bits, per) = (ty.bits(), (32 / ty.bits()) as usize);
    let keep = u32::MAX >> (32 - bits);
    let mut rows = vec![0; ROWS * n];
    for (register, reg) in held.iter().enumerate() {
        for (lane, value) in regs.word(reg.slot).iter().enumerate() {
            for inside in 0..per {
                let (row, column) = place(lane, register * per + inside);
                rows[row * n + column] = value >> (bits * inside as u32) & keep;
            }
        }
    }
    rows
}

fn scatter(regs: &mut View<'_>, ty: MatrixType, n: usize, held: &[Option<Reg>], rows: &[u32]) {
    let (bits, per) = (ty.bits(), (32 / ty.bits()) as usize);
    for (register, reg) in held.iter().enumerate() {
        let Some(reg) = reg else { continue };
        let element = |lane: usize, inside: usize| {
            let (row, column) = place(lane, register * per + inside);
            rows[row * n + column] << (bits * inside as u32)
        };
        let value = lanes(|lane| (0..per).fold(0, |value, inside| value | element(lane, inside)));
        regs.put_word(reg.slot, FULL, &value);
    }
}
