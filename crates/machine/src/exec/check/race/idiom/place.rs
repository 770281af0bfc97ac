//! Whether two accesses are to one place, as far as the code tells.

use crate::code::{AddressOf, Base, Code, D2, D3, Function, MicroOp, Operands, Root, Slot};

/// An address in the form in which equal ones are the same: the compiler names a place in several ways, by a variable or by a
/// register, with an offset or with a sum.
pub(in crate::exec::check::race) fn comparable(code: &Code, function: &Function, address: AddressOf) -> AddressOf {
    let mut address = AddressOf { root: Root::Unknown, ..address };
    // Each step goes to a register that is written before; one that comes back to itself is a loop's.
    for _ in 0..function.doubles {
        let Base::Double(slot) = address.base else { break };
        let (base, more) = match (fixed(function, slot), written(code, function, slot)) {
            (Some(value), _) => (Base::None, value),
            (None, Some(MicroOp::Mov64(D2 { a, .. }))) if once(code, function, a) => (Base::Double(a), 0),
            (None, Some(MicroOp::Add64(D3 { a, b, .. }))) => match (fixed(function, a), fixed(function, b)) {
                (None, Some(value)) if once(code, function, a) => (Base::Double(a), value),
                (Some(value), None) if once(code, function, b) => (Base::Double(b), value),
                _ => break,
            },
            _ => break,
        };
        address = AddressOf { base, offset: address.offset.wrapping_add(more as i64), ..address };
    }
    address
}

/// The number that a register holds from the beginning, if no instruction writes it.
fn fixed(function: &Function, slot: Slot) -> Option<u64> {
    let (fill, _) = function.fills.iter().find(|(_, reg)| (reg.bits, reg.slot) == (64, slot))?;
    fill.known()
}

/// Whether a register always holds the same, or what one instruction writes.
fn once(code: &Code, function: &Function, slot: Slot) -> bool {
    fixed(function, slot).is_some() || written(code, function, slot).is_some()
}

/// The only instruction that writes a register.
fn written(code: &Code, function: &Function, slot: Slot) -> Option<MicroOp> {
    let mut writers = (function.start..function.end).filter_map(|pc| code.insts.get(pc as usize)).filter(|inst| {
        let mut writes = false;
        inst.op.writes(code, &mut |reg| writes |= (reg.bits, reg.slot) == (64, slot));
        writes
    });
    match (writers.next(), writers.next()) {
        (Some(inst), None) => Some(inst.op),
        _ => None,
    }
}
