//! What is known of the registers while a value is followed.

use std::collections::BTreeMap;

use crate::code::{Argument, Reg};

/// What a register holds that is more than any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Something that depends on what was read.
    Read,
    /// Something that was set, or not, as what was read decides: where that has been decided, it is known.
    Decided,
    /// Something that follows from what an atomic on the same place has found, or was set because of that.
    Told,
    /// What the compare-and-swap at this instruction has found.
    Answer(usize),
    /// Whether a compare-and-swap has exchanged, or that it has not.
    Exchanged(bool),
}

/// A register: its file and slot.
pub(super) type Key = (u8, u32);

pub(super) type State = BTreeMap<Key, Holds>;

/// Stands for the register of the address: it holds another one by now.
pub(super) const MOVED: Key = (u8::MAX, 0);

pub(super) fn key(reg: Reg) -> Key {
    match reg.bits {
        1 => (0, reg.slot),
        64 => (2, reg.slot),
        _ => (1, reg.slot),
    }
}

/// What a register holds that may hold either of two things.
pub(super) fn meet(one: Option<Holds>, other: Option<Holds>) -> Holds {
    match (one, other) {
        (Some(one), Some(other)) if one == other => one,
        (Some(Holds::Decided | Holds::Told), None | Some(Holds::Decided | Holds::Told))
        | (None, Some(Holds::Decided | Holds::Told)) => Holds::Decided,
        _ => Holds::Read,
    }
}

/// Whether an argument or a result of a function is what was read.
pub(super) fn names(state: &State, arguments: &[Argument]) -> bool {
    let read = |argument: &Argument| match argument {
        Argument::Register(reg) => matches!(state.get(&key(*reg)), Some(Holds::Read | Holds::Decided | Holds::Told)),
        // It was stored there.
        Argument::Frame { .. } => false,
    };
    arguments.iter().any(read)
}

/// A register is written: in some lanes only, if `partly`.
pub(super) fn put(state: &mut State, reg: Key, holds: Option<Holds>, partly: bool) {
    let before = state.get(&reg).copied();
    match (holds, partly && before != holds) {
        (_, true) => drop(state.insert(reg, Holds::Read)),
        (Some(holds), false) => drop(state.insert(reg, holds)),
        (None, false) => drop(state.remove(&reg)),
    }
}
