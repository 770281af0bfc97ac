//! Which bits of a warp's registers are undefined. Only registers that hold some are kept; there are few of them, and
//! most warps have none.

use crate::code::Reg;
use crate::exec::state::lanes::{Bases, each};
pub(crate) use crate::report::kind::Undefined as Kind;

/// Where an undefined value came from: the first of the lanes that read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) kind: Kind,
    /// The load. A register has none.
    pub(crate) pc: u32,
    pub(crate) addr: u64,
    pub(crate) bytes: u32,
    /// In the block's order.
    pub(crate) thread: u32,
    /// Of a thread's own memory: another thread has written there, in its own.
    pub(crate) others: bool,
}

/// The undefined bits of a register.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) undefined: [u64; 32],
    /// Lanes whose value was computed from undefined bits, not merely copied.
    pub(crate) derived: u32,
    /// The last one wins.
    pub(crate) origin: Origin,
}

impl Mark {
    pub(crate) fn lanes(&self) -> u32 {
        (0..32).fold(0, |lanes, i| lanes | u32::from(self.undefined[i] != 0) << i)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Shadow {
    /// Words, doubles, predicates.
    files: [Vec<Option<Box<Mark>>>; 3],
    marks: usize,
}

fn place(bases: Bases, reg: Reg) -> (usize, usize) {
    let (file, base) = match reg.bits {
        1 => (2, bases.predicates),
        64 => (1, bases.doubles),
        _ => (0, bases.words),
    };
    (file, (base + reg.slot) as usize)
}

/// The bits that a register has.
pub(crate) fn width(reg: Reg) -> u64 {
    u64::MAX >> (64 - u32::from(reg.bits.clamp(1, 64)))
}

impl Shadow {
    /// Whether any register holds an undefined bit.
    pub(crate) fn any(&self) -> bool {
        self.marks > 0
    }

    pub(crate) fn get(&self, bases: Bases, reg: Reg) -> Option<&Mark> {
        let (file, slot) = place(bases, reg);
        self.files[file].get(slot)?.as_deref()
    }

    /// The lanes of a register that hold an undefined bit.
    pub(crate) fn lanes(&self, bases: Bases, reg: Reg) -> u32 {
        self.get(bases, reg).map_or(0, Mark::lanes)
    }

    /// A register gets a new value in the lanes of `mask`, with these undefined bits.
    pub(crate) fn put(&mut self, bases: Bases, reg: Reg, mask: u32, mark: &Mark) {
        let undefined = |lane: usize| mark.undefined[lane] & width(reg);
        if each(mask).all(|lane| undefined(lane) == 0) {
            return self.clear(bases, reg, mask);
        }
        let (file, slot) = place(bases, reg);
        let file = &mut self.files[file];
        if file.len() <= slot {
            file.resize_with(slot + 1, || None);
        }
        let entry = file[slot].get_or_insert_with(|| {
            self.marks += 1;
            Box::new(Mark { undefined: [0; 32], derived: 0, origin: mark.origin })
        });
        for lane in each(mask) {
            entry.undefined[lane] = undefined(lane);
        }
        entry.derived = entry.derived & !mask | mark.derived & mask;
        entry.origin = mark.origin;
    }

    /// A register gets a new value, all of it defined, in the lanes of `mask`.
    pub(crate) fn clear(&mut self, bases: Bases, reg: Reg, mask: u32) {
        let (file, slot) = place(bases, reg);
        if let Some(entry) = self.files[file].get_mut(slot) {
            self.marks -= usize::from(wipe(entry, mask));
        }
    }

    /// Every register of a frame and those above it is done with.
    pub(crate) fn leave(&mut self, bases: Bases, mask: u32) {
        if self.marks == 0 {
            return;
        }
        for (file, base) in self.files.iter_mut().zip([bases.words, bases.doubles, bases.predicates]) {
            for entry in file.iter_mut().skip(base as usize) {
                self.marks -= usize::from(wipe(entry, mask));
            }
        }
    }
}

/// Says whether nothing is left.
fn wipe(entry: &mut Option<Box<Mark>>, mask: u32) -> bool {
    let Some(mark) = entry else { return false };
    for lane in each(mask) {
        mark.undefined[lane] = 0;
    }
    mark.derived &= !mask;
    let empty = mark.undefined.iter().all(|bits| *bits == 0);
    if empty {
        *entry = None;
    }
    empty
}
