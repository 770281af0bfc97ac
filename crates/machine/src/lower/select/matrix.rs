//! Matrices that a warp holds together.
//!
//! A `wmma.load` or `wmma.store` becomes a load or store for each register, or for each element where those of a register do not lie side by side:
//! so all that is known of loads and stores holds for them.

use fusion_ptx::ast::{Address, Fragment, Op, Operand, Part, Space};

use super::{Selected, Selector, unsupported};
use crate::code::{
    Access, AddressOf, Base, D2, D3, Fill, Fragments, MatrixAccess, MicroOp, Order, Place, Product, Reg, Slot, SlowOp,
    WarpgroupProduct, word,
};

/// Elements of a row of `ldmatrix`.
const ROW: usize = 8;

impl Selector<'_> {
    pub(super) fn matrix(&mut self, op: &Op) -> Selected {
        match op {
            Op::LoadMatrix { transposed, space, d, addr } => {
                let regs = self.targets(d, 32)?;
                self.rows(false, *transposed, *space, addr, regs)
            }
            Op::StoreMatrix { transposed, space, addr, a } => {
                let regs = self.values(a, 32)?.into_iter().map(Some).collect();
                self.rows(true, *transposed, *space, addr, regs)
            }
            Op::MoveMatrix { d, a } => {
                let a = self.value(a, 32)?;
                let d = self.destination(*d, 32)?;
                self.slow(SlowOp::MoveMatrix { d, a });
                Ok(())
            }
            Op::Mma { mma, d, a, b, c } => {
                let d = self.targets(d, mma.d.register_bits())?;
                let a = self.values(a, mma.a.register_bits())?;
                let b = self.values(b, mma.b.register_bits())?;
                let c = self.values(c, mma.c.register_bits())?;
                let fragments = Fragments::of(mma).into();
                self.slow(SlowOp::Product(Product { form: *mma, fragments, d, a, b, c }));
                Ok(())
            }
            Op::Wgmma { form, d, c, a, a_at, b_at, add } => {
                let bits = form.d.register_bits();
                let (d, c) = (self.targets(d, bits)?, self.values(c, bits)?);
                let a = self.values(a, form.a.register_bits())?;
                let a_at = a_at.as_ref().map(|at| self.value(at, 64)).transpose()?;
                let b_at = self.value(b_at, 64)?;
                let add = self.pred(*add)?;
                self.slow(SlowOp::Wgmma(WarpgroupProduct { form: *form, d, a, a_at, b_at, c, add }));
                Ok(())
            }
            Op::WmmaLoad { fragment, by_rows, space, d, addr, stride } => {
                let bits = fragment.ty.register_bits();
                let mut regs = Vec::with_capacity(d.len());
                for target in d {
                    regs.push(self.any_destination(*target, bits)?);
                }
                // The address may be in one of them.
                let held: Vec<Reg> = regs.iter().map(|_| self.frame.temporary(bits)).collect();
                self.fragment(false, fragment, *by_rows, (*space, addr), &held, stride.as_ref())?;
                let once = held.len() / fragment.copies.max(1) as usize;
                for (i, reg) in regs.iter().enumerate() {
                    let moved = D2 { d: reg.slot, a: held[i % once.max(1)].slot };
                    self.emit(if bits == 64 { MicroOp::Mov64(moved) } else { MicroOp::Mov32(moved) });
                }
                Ok(())
            }
            Op::WmmaStore { fragment, by_rows, space, addr, a, stride } => {
                let regs = self.values(a, fragment.ty.register_bits())?;
                self.fragment(true, fragment, *by_rows, (*space, addr), &regs, stride.as_ref())
            }
            _ => unsupported("this instruction has no matrix"),
        }
    }

    fn rows(
        &mut self,
        stores: bool,
        transposed: bool,
        space: Space,
        addr: &Address,
        regs: Vec<Option<Reg>>,
    ) -> Selected {
        let (place, address) = self.address(space, addr)?;
        let row = access(stores, place, address, 2, vec![None; ROW]);
        self.slow(SlowOp::Matrix(MatrixAccess { row, transposed, regs }));
        Ok(())
    }

    fn fragment(
        &mut self,
        stores: bool,
        fragment: &Fragment,
        by_rows: bool,
        (space, addr): (Space, &Address),
        regs: &[Reg],
        stride: Option<&Operand>,
    ) -> Selected {
        let (place, address) = self.address(space, addr)?;
        let lines = if by_rows { fragment.columns } else { fragment.rows };
        let stride = match stride {
            Some(stride) => self.source(stride, 32)?,
            None => self.frame.fill(Fill::Constant(lines.into()), 32),
        };
        let bits = fragment.ty.bits();
        // Whether the elements of a register lie side by side: they do along A's and the sum's rows, and along B's columns.
        let packed = by_rows == (fragment.part != Part::B) || fragment.per_register() == 1;
        let registers = regs.len() as u32 / fragment.copies.max(1);
        self.counted = false;
        self.slow(SlowOp::Together);
        let in_register = fragment.per_register();
        for (register, reg) in (0..registers).zip(regs) {
            let first = register * in_register;
            if packed {
                let at = self.element(fragment, by_rows, first, &address, stride);
                self.transfer(access(stores, place, at, fragment.ty.register_bits() / 8, vec![Some(*reg)]));
                continue;
            }
            let parts: Vec<Reg> = (0..in_register).map(|_| self.frame.temporary(bits)).collect();
            if stores {
                self.counted = false;
                self.slow(SlowOp::Unpack { parts: parts.clone(), a: *reg });
            }
            for (element, part) in (first..).zip(&parts) {
                let at = self.element(fragment, by_rows, element, &address, stride);
                self.transfer(access(stores, place, at, bits / 8, vec![Some(*part)]));
            }
            if !stores {
                self.slow(SlowOp::Pack { d: *reg, parts });
            }
        }
        Ok(())
    }

    fn transfer(&mut self, access: Access) {
        let stores = access.stores;
        let index = self.code.accesses.len() as u32;
        self.code.accesses.push(access);
        // The assembler makes as many instructions of it.
        self.counted = true;
        self.emit(if stores { MicroOp::Store(index) } else { MicroOp::Load(index) });
    }

    /// Where each lane's element is: `base + (line * stride + column) * size`, where a line is what lies side by side.
    fn element(
        &mut self,
        fragment: &Fragment,
        by_rows: bool,
        element: u32,
        base: &AddressOf,
        stride: Slot,
    ) -> AddressOf {
        self.counted = false;
        let place = |lane: u32| {
            let (row, column) = fragment.place(lane, element);
            if by_rows { (row, column) } else { (column, row) }
        };
        // Both grow with the group (lane / 4) and within it (lane % 4) by constants.
        let (origin, by_group, by_lane) = (place(0), place(4), place(1));
        let lane = self.frame.fill(Fill::LaneId, 32);
        let (two, three) = (self.constant(2), self.constant(3));
        let [group, within] = [(); 2].map(|()| self.frame.temporary(32).slot);
        self.emit(MicroOp::ShrU32(D3 { d: group, a: lane, b: two }));
        self.emit(MicroOp::And32(D3 { d: within, a: lane, b: three }));
        let mut along = |start: u32, step: u32, inner: u32| {
            let (step, inner, start) = (self.constant(step), self.constant(inner), self.constant(start));
            let [first, sum] = [(); 2].map(|()| self.frame.temporary(32).slot);
            self.emit(MicroOp::Mad32(crate::code::D4 { d: first, a: group, b: step, c: start }));
            self.emit(MicroOp::Mad32(crate::code::D4 { d: sum, a: within, b: inner, c: first }));
            sum
        };
        let line = along(origin.0, by_group.0 - origin.0, by_lane.0 - origin.0);
        let column = along(origin.1, by_group.1 - origin.1, by_lane.1 - origin.1);
        let bits = self.frame.fill(Fill::Constant(fragment.ty.bits().into()), 64);
        let eighth = self.frame.fill(Fill::Constant(3), 32);
        let [lines, columns, elements, wide, bytes] = [(); 5].map(|()| self.frame.temporary(64).slot);
        self.emit(MicroOp::MulWideU(D3 { d: lines, a: line, b: stride }));
        self.emit(MicroOp::ZeroExtend64(D2 { d: columns, a: column }));
        self.emit(MicroOp::Add64(D3 { d: elements, a: lines, b: columns }));
        self.emit(MicroOp::Mul64(D3 { d: wide, a: elements, b: bits }));
        self.emit(MicroOp::ShrU64(D3 { d: bytes, a: wide, b: eighth }));
        let address = match base.base {
            Base::None => bytes,
            Base::Double(slot) => {
                let sum = self.frame.temporary(64).slot;
                self.emit(MicroOp::Add64(D3 { d: sum, a: slot, b: bytes }));
                sum
            }
            Base::Word(slot) => {
                let [base, sum] = [(); 2].map(|()| self.frame.temporary(64).slot);
                self.emit(MicroOp::ZeroExtend64(D2 { d: base, a: slot }));
                self.emit(MicroOp::Add64(D3 { d: sum, a: base, b: bytes }));
                sum
            }
        };
        AddressOf { base: Base::Double(address), ..*base }
    }

    fn constant(&mut self, value: u32) -> Slot {
        self.frame.fill(Fill::Constant(value.into()), 32)
    }
}

fn access(stores: bool, place: Place, address: AddressOf, element: u32, regs: Vec<Option<Reg>>) -> Access {
    let words = element == 4 && regs.iter().all(|reg| reg.is_some_and(|reg| reg == word(reg.slot)));
    Access { stores, place, address, element, signed: false, regs, words, read_only: false, order: Order::WEAK }
}
