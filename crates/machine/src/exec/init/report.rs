//! What is said of a value that depends on what was never written.

use super::shadow::{Kind, Origin};
use crate::code::Place;
use crate::exec::fault;
use crate::exec::finding::Site;
use crate::exec::grid::Worker;
use crate::exec::trap::{Party, Trap};
use crate::report::{Buffer, Severity};

/// Where an undefined value matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Stored to global memory.
    Stored {
        addr: u64,
        bytes: u64,
    },
    Branch,
    Guard,
    Address,
    /// An operand of an atomic.
    Atomic,
    /// An atomic changes memory that was never written.
    Updated,
    Mask,
    Barrier,
    Printed,
}

impl Kind {
    fn place(self) -> Option<Place> {
        match self {
            Kind::Global => Some(Place::Global),
            Kind::Shared => Some(Place::Shared),
            Kind::Local | Kind::Register => None,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Kind::Global => "E-UNINIT-GLOBAL",
            Kind::Shared => "E-UNINIT-SHARED",
            Kind::Local => "E-UNINIT-LOCAL",
            Kind::Register => "E-UNINIT-REGISTER",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Kind::Global => "global memory that was never written",
            Kind::Shared => "shared memory that was never written",
            Kind::Local => "a local variable or array element that was never written",
            Kind::Register => "a variable that was never set",
        }
    }

    /// Who did not write it, and what is there instead.
    fn contents(self) -> &'static str {
        match self {
            Kind::Global => {
                "no copy, no memset and no kernel has written there: new device memory holds whatever was there before (the emulator gives zeros)"
            }
            Kind::Shared => {
                "no thread of the block has written there: shared memory holds whatever an earlier block left (the emulator gives zeros)"
            }
            Kind::Local => {
                "this thread has not written it: it holds whatever was in its place before (the emulator gives zeros)"
            }
            Kind::Register => {
                "on the path that this thread has taken, nothing sets the variable: it holds whatever was in its register (the emulator gives zeros)"
            }
        }
    }

    fn help(self, what: Use, memory: &str) -> String {
        match (self, what) {
            (Kind::Global, Use::Updated) => {
                format!("set {memory} to its start value before the launch: `alloc_zeros`, or a memset")
            }
            (Kind::Global, _) => format!(
                "fill {memory} before the launch (copy the data to it, or allocate it with zeros), or read only as far as it was filled"
            ),
            (Kind::Shared, Use::Updated) => {
                format!("set {memory} to its start value first, and put `__syncthreads()` behind that")
            }
            (Kind::Shared, _) => format!(
                "write all of {memory} that is read: fill what is left over with a value that changes nothing (0 in a sum), or read only as far as it was written"
            ),
            (Kind::Local, _) => "give the array its values where it is declared: `float a[4] = {};`".to_string(),
            (Kind::Register, _) => {
                "give the variable a value where it is declared, or on every path that leads here".to_string()
            }
        }
    }
}

/// The memory itself, for a sentence.
fn whole(buffer: Option<&Buffer>) -> String {
    match buffer {
        Some(buffer) if buffer.name.contains(' ') => buffer.name.clone(),
        Some(buffer) => format!("`{}`", buffer.name),
        None => "the memory".to_string(),
    }
}

/// The element that an access reads, as the source might write it: `tile[33]`.
fn element(buffer: Option<&Buffer>, origin: &Origin) -> String {
    match buffer {
        Some(buffer) if buffer.name.contains(' ') => format!("byte {} of {}", buffer.offset, buffer.name),
        Some(buffer) if buffer.size > u64::from(origin.bytes) => {
            format!("`{}[{}]`", buffer.name, buffer.offset / i64::from(origin.bytes.max(1)))
        }
        Some(buffer) => format!("`{}`", buffer.name),
        None => "it".to_string(),
    }
}

impl Worker<'_> {
    /// Reports that an undefined value is used at `pc`.
    #[cold]
    #[inline(never)]
    pub(super) fn undefined_use(&mut self, what: Use, pc: u32, lanes: u32, origin: Origin) {
        let run = self.run;
        let other = if origin.kind == Kind::Register { u32::MAX } else { origin.pc };
        let site = Site { code: origin.kind.code(), pc, other };
        let (block, warp, count) = (self.block, self.warp, u64::from(lanes.count_ones()));
        self.findings.add(site, block, warp, count, || {
            let about = origin.kind.place().and_then(|p| fault::buffer(run, p, origin.addr, u64::from(origin.bytes)));
            let element = element(about.as_ref(), &origin);
            let depends = origin.kind.what();
            let title = match what {
                Use::Stored { addr, bytes } => match fault::buffer(run, Place::Global, addr, bytes) {
                    Some(target) if !target.name.contains(' ') => {
                        format!("the value stored to `{}` depends on {depends}", target.name)
                    }
                    _ => format!("a value stored to global memory depends on {depends}"),
                },
                Use::Branch => format!("a branch depends on {depends}"),
                Use::Guard => format!("whether this is done depends on {depends}"),
                Use::Address => format!("an address depends on {depends}"),
                Use::Atomic => format!("the operand of an atomic depends on {depends}"),
                Use::Updated => format!("an atomic changes {depends}"),
                Use::Mask => format!("the mask of a warp operation depends on {depends}"),
                Use::Barrier => format!("a barrier depends on {depends}"),
                Use::Printed => format!("what is printed depends on {depends}"),
            };
            let label = match what {
                Use::Stored { .. } => "the value is stored here",
                Use::Branch | Use::Guard => "this is decided by the value",
                Use::Address => "the address is computed from the value",
                Use::Atomic => "the value is an operand here",
                Use::Updated => &format!("the old value of {element} is read here"),
                Use::Mask => "the value says which lanes take part",
                Use::Barrier => "the value is used here",
                Use::Printed => "the value is printed here",
            };
            let mut trap = Trap::new(origin.kind.code(), lanes, title).label(label).at(pc);
            let own = what == Use::Updated && origin.pc == pc;
            if origin.kind != Kind::Register && !own {
                let label = format!("{element} is read here");
                trap = trap.party(Party { label, pc: origin.pc, block: Some(block), thread: Some(origin.thread) });
            }
            // The index of the first element is the same whatever the elements are.
            if let Some(buffer) = about.as_ref().filter(|buffer| !buffer.name.contains(' ') && buffer.offset != 0) {
                let plural = if origin.bytes == 1 { "" } else { "s" };
                trap = trap.note(format!(
                    "{element} is counted in elements of {} byte{plural}: byte {} of {}",
                    origin.bytes, buffer.offset, buffer.size
                ));
            }
            let help = origin.kind.help(what, &whole(about.as_ref()));
            trap = trap.note(origin.kind.contents());
            (Severity::Error, trap.help(help).about(about))
        });
    }
}
