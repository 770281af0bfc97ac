//! Undefined bits in matrices: lanes hold parts of what all of them compute.

use super::How::Copied;
use super::{Flow, Operand};
use crate::code::{MatrixAccess, Product, Reg, WarpgroupProduct};
use crate::exec::check::init::shadow::{Mark, Origin, Shadow};
use crate::exec::check::init::{Lanes, Pending};
use crate::exec::check::{BlockChecks, Watch};
use crate::exec::state::lanes::{Bases, each};
use crate::report::kind::Undefined;
use fusion_ptx::ast::Fragment;

/// What `ldmatrix` has loaded: the bytes of rows, to the lanes that hold their elements.
pub(super) fn loaded(shadow: &mut Shadow, bases: Bases, access: &MatrixAccess, loaded: &Lanes) {
    for (matrix, reg) in access.regs.iter().enumerate() {
        let Some(reg) = reg else { continue };
        let mut mark = Mark { undefined: [0; 32], derived: 0, origin: loaded.origin };
        for (lane, undefined) in mark.undefined.iter_mut().enumerate() {
            for half in 0..2 {
                let (row, column) = access.place(lane, half);
                let from = 8 * matrix + row;
                if loaded.lanes >> from & 1 == 0 {
                    continue;
                }
                let bytes = loaded.bytes[from] >> (2 * column) & 0b11;
                *undefined |= super::bits::spread(bytes) << (16 * half);
                mark.derived |= u32::from(bytes != 0 && loaded.derived >> from & 1 == 1) << lane;
            }
        }
        shadow.put(bases, *reg, u32::MAX, &mark);
    }
}

impl Flow<'_> {
    /// What `stmatrix` stores: the elements that lanes hold, to the rows that they belong to.
    pub(super) fn stored_matrix(&self, access: &MatrixAccess, storing: &mut Lanes) {
        for (matrix, reg) in access.regs.iter().enumerate() {
            let Some(mark) = reg.and_then(|reg| self.shadow.get(self.bases, reg)) else { continue };
            for lane in each(mark.lanes()) {
                for half in 0..2 {
                    let bytes = super::bits::bytes(mark.undefined[lane]) >> (2 * half) & 0b11;
                    if bytes == 0 {
                        continue;
                    }
                    let (row, column) = access.place(lane, half);
                    let to = 8 * matrix + row;
                    let before = if storing.lanes >> to & 1 == 1 { storing.bytes[to] } else { 0 };
                    let derived = mark.derived >> lane & 1 == 1 || before != 0 && storing.derived >> to & 1 == 1;
                    storing.add(to, before | bytes << (2 * column), derived, mark.origin);
                }
            }
        }
    }

    /// `movmatrix` moves undefined bits as it moves others.
    pub(super) fn moved_matrix(&self, d: Reg, a: Reg, pending: &mut Pending) {
        let a = self.operand(a);
        let element = |row: usize, column: usize| a.undefined[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
        let mut mark = self.mark(&[&a], Copied, |lane| {
            let (row, column) = (2 * (lane % 4), lane / 4);
            element(row, column) | element(row + 1, column) << 16
        });
        let from = |lane: usize| [2 * (lane % 4), 2 * (lane % 4) + 1].map(|row| 4 * row + lane / 8);
        for lane in each(self.mask) {
            let derived = from(lane).iter().any(|&from| a.derived >> from & 1 == 1) && mark.undefined[lane] != 0;
            mark.derived = mark.derived & !(1 << lane) | u32::from(derived) << lane;
        }
        pending.push((d, self.mask, Box::new(mark)));
    }

    /// An element of a product depends on a row of A, a column of B and an element of C.
    pub(super) fn product(&self, product: &Product, pending: &mut Pending) {
        let form = &product.form;
        let mut origin = None;
        let mut undefined = |fragment: &Fragment, held: &[Reg]| {
            let operands: Vec<Operand> = held.iter().map(|reg| self.operand(*reg)).collect();
            origin = origin.or_else(|| operands.iter().find_map(|operand| operand.origin));
            places(fragment, &operands)
        };
        let rows: Vec<u32> = undefined(&form.a(), &product.a).into_iter().map(|(row, _)| row).collect();
        let columns: Vec<u32> = undefined(&form.b(), &product.b).into_iter().map(|(_, column)| column).collect();
        let sums = undefined(&form.c(), &product.c);
        let depends =
            |place: (u32, u32)| rows.contains(&place.0) || columns.contains(&place.1) || sums.contains(&place);
        pending.extend(marks(&form.d(), &product.d, origin.unwrap_or_default(), depends));
    }

    /// The same of a warp's part of `wgmma`: what its registers tell. Of shared memory, [`Watch::multiplied_undefined`] does.
    pub(super) fn warpgroup_product(&self, product: &WarpgroupProduct, pending: &mut Pending) {
        let form = &product.form;
        let mut origin = None;
        let mut undefined = |fragment: &Fragment, held: &[Reg]| {
            let operands: Vec<Operand> = held.iter().map(|reg| self.operand(*reg)).collect();
            origin = origin.or_else(|| operands.iter().find_map(|operand| operand.origin));
            places(fragment, &operands)
        };
        let rows: Vec<u32> = undefined(&form.a(), &product.a).into_iter().map(|(row, _)| row).collect();
        let adds = self.regs.predicate(product.add.0, product.add.1) & 1 == 1;
        let sums = if adds { undefined(&form.d(), &product.c) } else { Vec::new() };
        let depends = |place: (u32, u32)| rows.contains(&place.0) || sums.binary_search(&place).is_ok();
        pending.extend(marks(&form.d(), &product.d, origin.unwrap_or_default(), depends));
    }
}

impl Watch<'_> {
    /// A product of a warp group has read what was never written: rows of A, and columns of B.
    #[cold]
    pub(crate) fn multiplied_undefined(
        &mut self,
        checks: &mut BlockChecks,
        product: &WarpgroupProduct,
        (rows, columns): (&[u32], &[u32]),
        address: u64,
    ) {
        let Some(init) = checks.init.as_deref_mut() else { return };
        let (warp, pc) = (self.warp, self.pc);
        if init.pending_at != (warp, pc) {
            init.pending.clear();
            init.pending_at = (warp, pc);
        }
        let kind = Undefined::Shared;
        let origin =
            Origin { kind, pc, addr: address, bytes: product.form.a.bits() / 8, thread: 32 * warp, others: false };
        let depends = |place: (u32, u32)| rows.contains(&place.0) || columns.contains(&place.1);
        for (reg, lanes, mark) in marks(&product.form.d(), &product.d, origin, depends) {
            match init.pending.iter_mut().find(|(known, ..)| *known == reg) {
                Some((.., known)) => {
                    (0..32).for_each(|lane| known.undefined[lane] |= mark.undefined[lane]);
                    known.derived |= mark.derived;
                    known.origin = mark.origin;
                }
                None => init.pending.push((reg, lanes, mark)),
            }
        }
        self.undefined = true;
    }
}

/// The undefined bits of the registers that hold a sum, of which the elements at some places are undefined.
fn marks(d: &Fragment, held: &[Option<Reg>], origin: Origin, depends: impl Fn((u32, u32)) -> bool) -> Pending {
    let (bits, per) = (d.ty.bits(), d.per_register());
    let mark = |register: u32| {
        let mut mark = Mark { undefined: [0; 32], derived: 0, origin };
        for (lane, undefined) in mark.undefined.iter_mut().enumerate() {
            for inside in 0..per {
                if depends(d.place(lane as u32, register * per + inside)) {
                    *undefined |= u64::MAX >> (64 - bits) << (bits * inside);
                }
            }
        }
        mark.derived = mark.lanes();
        mark
    };
    let registers = (0..).zip(held).filter_map(|(number, reg)| Some((number, (*reg)?)));
    registers.map(|(number, reg)| (reg, u32::MAX, Box::new(mark(number)))).collect()
}

/// The elements of which a bit is undefined.
fn places(fragment: &Fragment, held: &[Operand]) -> Vec<(u32, u32)> {
    let (bits, per) = (fragment.ty.bits(), fragment.per_register());
    let once = (fragment.elements() / per) as usize;
    let mut found = Vec::new();
    for (register, operand) in (0..).zip(held.iter().take(once)) {
        for (lane, undefined) in (0..).zip(&operand.undefined) {
            if *undefined == 0 {
                continue;
            }
            let is_undefined = |inside: &u32| undefined >> (bits * inside) & u64::MAX >> (64 - bits) != 0;
            found.extend((0..per).filter(is_undefined).map(|inside| fragment.place(lane, register * per + inside)));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
