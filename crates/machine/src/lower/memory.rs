//! Selection of loads, stores, atomics and copies.

use fusion_ptx::ast::{Address, AtomicOp, MbarrierOp, Mode, Op, Operand, Ordering, ScalarType, Scope, Space};

use super::frame::Home;
use super::select::{Selected, Selector, unsupported};
use crate::arith;
use crate::code::{
    Access, AddressOf, Atomic, Base, CopyBulk, CopyTensor, Fill, Mbarrier, MicroOp, Order, Place, Reduce, SlowOp,
    StoreAsync,
};

impl Selector<'_> {
    pub(super) fn memory(&mut self, op: &Op) -> Selected {
        match op {
            Op::Ld { space, ordering, scope, ty, d, addr, cache, .. } => {
                let (place, address) = self.address(*space, addr)?;
                let regs = self.targets(d, ty.bits())?;
                if regs.iter().flatten().any(|r| r.bits == 1) {
                    return unsupported("a predicate cannot be loaded");
                }
                let element = ty.bytes().min(8);
                let words = element == 4 && regs.iter().all(|r| r.is_some_and(|r| r.bits == 32));
                let order = Order::new(*ordering, scope.unwrap_or(Scope::Sys));
                let (signed, read_only) = (ty.is_signed(), cache.non_coherent);
                let access = Access { stores: false, place, address, element, signed, regs, words, read_only, order };
                let index = self.code.accesses.len() as u32;
                self.code.accesses.push(access);
                let known = address.base == Base::None && place == Place::Param;
                self.emit(if known { MicroOp::LoadParam(index) } else { MicroOp::Load(index) });
                if *ordering != Ordering::Weak && matches!(place, Place::Global | Place::Generic) {
                    self.slow(SlowOp::Yield);
                }
            }
            Op::St { space, ordering, scope, ty, addr, a, .. } => {
                let (place, address) = self.address(*space, addr)?;
                // A register may be wider than what is stored of it.
                let regs = self.values(a, ty.bits())?.into_iter().map(Some).collect();
                let element = ty.bytes().min(8);
                let words = element == 4;
                let order = Order::new(*ordering, scope.unwrap_or(Scope::Sys));
                let (signed, read_only) = (false, false);
                let access = Access { stores: true, place, address, element, signed, regs, words, read_only, order };
                self.code.accesses.push(access);
                self.emit(MicroOp::Store(self.code.accesses.len() as u32 - 1));
            }
            // A hint: even an address that is not mapped is no error.
            Op::Prefetch { .. } => self.slow(SlowOp::Nothing),
            Op::Atom { op, space, ordering, scope, ty, mode, d, addr, a, c } => {
                let (place, address) = self.address(*space, addr)?;
                if ty.bits() < 16 {
                    return unsupported("atomics of this width are not supported");
                }
                let mut mode = *mode;
                // On global memory f32 additions flush subnormals (PTX ISA 9.7.13, atom).
                mode.ftz |= *ty == ScalarType::F32 && place == Place::Global;
                let f = match op {
                    AtomicOp::Cas => |old, _| old,
                    op => match arith::atomic(*op, *ty, mode) {
                        Some(f) => f,
                        None => return unsupported(format!("atomic {op:?} of {ty:?}")),
                    },
                };
                // Adding nothing is how one looks.
                let looks = matches!((op, a.as_slice()), (AtomicOp::Add, [Operand::Imm(0)]));
                let d = self.targets(d, ty.bits())?;
                let a = self.values(a, ty.bits())?;
                let c = self.values(c.as_slice(), ty.bits())?;
                let answers = d.iter().any(Option::is_some);
                let counts = matches!(op, AtomicOp::Add | AtomicOp::Inc | AtomicOp::Dec) && !looks;
                let takes = answers && counts && matches!(place, Place::Global | Place::Generic);
                let order = Order { strong: true, ..Order::new(*ordering, *scope) };
                let element = ty.bytes().min(8);
                let op = *op;
                self.slow(SlowOp::Atomic(Atomic { op, place, address, element, f, d, a, c, answers, takes, order }));
            }
            Op::CpAsync { dst, src, size, src_size, .. } => {
                let (_, dst) = self.address(Space::Shared, dst)?;
                let (_, src) = self.address(Space::Global, src)?;
                let src_size = src_size.as_ref().map(|s| self.source(s, 32)).transpose()?;
                self.slow(SlowOp::CopyAsync { dst, src, size: *size, src_size });
            }
            Op::Mbarrier { op, space, ordering, scope, d, addr, a } => {
                let (place, address) = self.address(*space, addr)?;
                let bits = if *op == (MbarrierOp::Wait { parity: false }) { 64 } else { 32 };
                let value = self.value(a, bits)?;
                let (d, p) = match op {
                    MbarrierOp::Wait { .. } => (None, self.optional_flag(*d)?),
                    _ => (self.optional(*d)?, None),
                };
                let order = Order::new(*ordering, *scope);
                self.slow(SlowOp::Mbarrier(Mbarrier { op: *op, place, address, d, p, value, order }));
            }
            Op::StoreAsync { op, ty, addr, a, mbarrier } => {
                let (_, address) = self.address(Space::SharedCluster, addr)?;
                let (_, mbarrier) = self.address(Space::SharedCluster, mbarrier)?;
                let f = match op.map(|op| arith::atomic(op, *ty, Mode::plain())) {
                    Some(None) => return unsupported(format!("red.async of {ty:?}")),
                    Some(found) => found,
                    None => None,
                };
                let a = self.values(a, ty.bits())?;
                self.slow(SlowOp::StoreAsync(StoreAsync { f, address, mbarrier, element: ty.bytes(), a }));
            }
            Op::CopyBulk { to, from, reduce, dst, src, size, mbarrier, multicast } => {
                let (to, dst) = self.address(of_cluster(*to), dst)?;
                let (from, src) = self.address(*from, src)?;
                let size = self.source(size, 32)?;
                let reduce = match *reduce {
                    Some((op, ty)) => {
                        // As other additions to global memory do.
                        let mode = Mode { ftz: ty == ScalarType::F32, ..Mode::plain() };
                        let Some(f) = arith::atomic(op, ty, mode) else {
                            return unsupported(format!("cp.reduce.async.bulk {op:?} of {ty:?}"));
                        };
                        Some(Reduce { f, element: ty.bytes() })
                    }
                    None => None,
                };
                let mbarrier = self.object(mbarrier.as_ref())?;
                let multicast = multicast.as_ref().map(|blocks| self.value(blocks, 16)).transpose()?;
                self.slow(SlowOp::CopyBulk(CopyBulk { to, from, reduce, dst, src, size, mbarrier, multicast }));
            }
            Op::CopyTensor { reduce, map_space, map, coordinates, space, shared, mbarrier, multicast } => {
                let (map_place, map) = self.address(*map_space, map)?;
                let coordinates = coordinates.iter().map(|at| self.source(at, 32)).collect::<Selected<_>>()?;
                // What arrives may be for another block; what is sent is the own one's.
                let space = if mbarrier.is_some() { of_cluster(*space) } else { *space };
                let (_, shared) = self.address(space, shared)?;
                let mbarrier = self.object(mbarrier.as_ref())?;
                let multicast = multicast.as_ref().map(|blocks| self.value(blocks, 16)).transpose()?;
                let reduce = *reduce;
                let copy = CopyTensor { reduce, map_place, map, coordinates, shared, mbarrier, multicast };
                self.slow(SlowOp::CopyTensor(copy));
            }
            _ => return unsupported("not an access"),
        }
        Ok(())
    }

    /// An mbarrier that is told of bytes, in the cluster's shared memory.
    fn object(&mut self, address: Option<&Address>) -> Selected<Option<AddressOf>> {
        address.map(|address| Ok(self.address(Space::SharedCluster, address)?.1)).transpose()
    }

    /// Which memory, and where in it.
    pub(super) fn address(&mut self, space: Space, address: &Address) -> Selected<(Place, AddressOf)> {
        let mut place = match space {
            Space::Generic => Place::Generic,
            Space::Global => Place::Global,
            Space::Shared => Place::Shared,
            Space::SharedCluster => Place::Cluster,
            Space::Local => Place::Local,
            Space::Const => Place::Constant,
            Space::Param if self.function.is_entry => Place::Param,
            Space::Param => Place::Frame,
        };
        let root = self.roots.of(&address.base);
        // In the cluster's shared memory, the own block's variables are at their whole addresses.
        let whole = |s: &mut Self, offset: i64| {
            let base = Base::Word(s.frame.fill(Fill::Shared(0), 32));
            AddressOf { base, offset, in_frame: false, root }
        };
        let at = |offset: i64| AddressOf { base: Base::None, offset, in_frame: false, root };
        let of = match &address.base {
            Operand::Reg(id) => {
                let reg = self.reg(*id)?;
                let base = match reg.bits {
                    64 => Base::Double(reg.slot),
                    1 => return unsupported("a predicate as an address"),
                    _ => Base::Word(reg.slot),
                };
                AddressOf { base, offset: address.offset, in_frame: false, root }
            }
            Operand::Imm(value) => at((*value as i64).wrapping_add(address.offset)),
            Operand::Global(id, offset) => {
                if place == Place::Generic && matches!(self.global_space(*id), Space::Shared | Space::SharedCluster) {
                    place = Place::Shared;
                }
                let base = self.global_address(*id)?;
                let offset = (base as i64).wrapping_add(*offset).wrapping_add(address.offset);
                if place == Place::Cluster { whole(self, offset) } else { at(offset) }
            }
            Operand::Local(id, offset) => {
                let offset = offset.wrapping_add(address.offset);
                match self.home(*id)? {
                    Home::Param(base) => {
                        place = Place::Param;
                        at(i64::from(base).wrapping_add(offset))
                    }
                    Home::Shared => {
                        let offset = i64::from(self.shared_offset(*id)?).wrapping_add(offset);
                        if place == Place::Cluster {
                            whole(self, offset)
                        } else {
                            place = Place::Shared;
                            at(offset)
                        }
                    }
                    Home::Frame(base) => {
                        place = if space == Space::Param { Place::Frame } else { Place::Local };
                        let offset = i64::from(base).wrapping_add(offset);
                        AddressOf { base: Base::None, offset, in_frame: true, root }
                    }
                }
            }
            _ => return unsupported("this operand cannot be an address"),
        };
        Ok((place, of))
    }
}

/// The shared memory of all blocks of the cluster, of which the own one's is a part.
fn of_cluster(space: Space) -> Space {
    if space == Space::Shared { Space::SharedCluster } else { space }
}
