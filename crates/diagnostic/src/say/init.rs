//! Values that depend on what was never written.

use std::borrow::Cow;

use fusion_machine::report::kind::{Absent, Init, Undefined, Use};
use fusion_machine::report::{Buffer, Fault, Kind, Name};

use super::Words;
use super::terms::named;
use crate::counted;

pub(super) fn words(kind: &Init, fault: &Fault) -> Words {
    match *kind {
        Init::Used { what, ref by, bytes, others } => {
            let words = used(what, by, bytes, fault.buffer.as_ref());
            let words = if others { words.note(EACH_ITS_OWN).help(SHARED) } else { words };
            words.help(help(what, by, fault.buffer.as_ref()))
        }
        Init::Copied { missing, at_least, first, len } => copied(missing, at_least, first, len),
    }
}

/// Of an array that one thread writes and another reads, as if there were one for all.
const EACH_ITS_OWN: &str =
    "another thread of the block has written this element, of its own array: each thread has one";
const SHARED: &str = "is the array meant to be one for all threads of the block? Declare it `__shared__`";

/// Where the value was read, for a party's label.
pub(super) fn read(fault: &Fault) -> String {
    let what = match fault.kind {
        Kind::Init(Init::Used { what: Undefined::Shuffle { lane, .. }, .. }) => format!("lane {lane}"),
        Kind::Init(Init::Used { bytes, .. }) => element(fault.buffer.as_ref(), bytes),
        _ => "it".into(),
    };
    format!("{what} is read here")
}

fn used(what: Undefined, by: &Use, bytes: u32, buffer: Option<&Buffer>) -> Words {
    let depends = depends(what);
    let element = element(buffer, bytes);
    let title = match by {
        Use::Stored { to } => match to.as_ref().and_then(Name::identifier) {
            Some(target) => format!("the value stored to `{target}` depends on {depends}"),
            None => format!("a value stored to global memory depends on {depends}"),
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
    let label = match by {
        Use::Stored { .. } => "the value is stored here",
        Use::Branch | Use::Guard => "this is decided by the value",
        Use::Address => "the address is computed from the value",
        Use::Atomic => "the value is an operand here",
        Use::Updated => &format!("the old value of {element} is read here"),
        Use::Mask => "the value says which lanes take part",
        Use::Barrier => "the value is used here",
        Use::Printed => "the value is printed here",
    };
    // The index of the first element is the same whatever the elements are.
    let counted = buffer.filter(|b| b.name.identifier().is_some() && b.offset != 0).map(|b| {
        let size = counted(bytes.into(), "byte");
        format!("{element} is byte {} of {}: its index counts elements of {size}", b.offset, b.size)
    });
    Words::new(title).label(label).maybe(counted).note(contents(what))
}

/// The element that an access reads, as the source might write it: `tile[33]`.
fn element(buffer: Option<&Buffer>, bytes: u32) -> String {
    match buffer {
        Some(b) if b.name.identifier().is_none() => format!("byte {} of {}", b.offset, named(b)),
        Some(b) if b.size > u64::from(bytes) => {
            format!("`{}[{}]`", super::terms::name(b), b.offset / i64::from(bytes.max(1)))
        }
        Some(b) => named(b),
        None => "it".into(),
    }
}

fn depends(what: Undefined) -> &'static str {
    match what {
        Undefined::Global => "global memory that was never written",
        Undefined::Shared => "shared memory that was never written",
        Undefined::Local => "a local variable or array element that was never written",
        Undefined::Register => "a variable that was never set",
        Undefined::Shuffle { absent: Absent::Unnamed, .. } => "a shuffle from a thread that the mask leaves out",
        Undefined::Shuffle { absent: Absent::Exited, .. } => "a shuffle from a thread that has exited",
        Undefined::Shuffle { absent: Absent::NoThread, .. } => "a shuffle from a thread that does not exist",
    }
}

/// Who did not write it, and what is there instead.
fn contents(what: Undefined) -> Cow<'static, str> {
    let text = match what {
        Undefined::Global => {
            "no copy, no memset and no kernel has written there: new device memory holds whatever was there before (the emulator gives zeros)"
        }
        Undefined::Shared => {
            "no thread of the block had written there by then: shared memory holds whatever an earlier block left (the emulator gives zeros)"
        }
        Undefined::Local => {
            "this thread has not written it: it holds whatever was in its place before (the emulator gives zeros)"
        }
        Undefined::Register => {
            "on the path that this thread has taken, nothing sets the variable: it holds whatever was in its register (the emulator gives zeros)"
        }
        Undefined::Shuffle { lane, absent } => {
            let why = match absent {
                Absent::Unnamed => format!("the mask does not name lane {lane}"),
                Absent::Exited => format!("the thread of lane {lane} has exited"),
                Absent::NoThread => format!("the block's last warp is not full: no thread is in lane {lane}"),
            };
            return format!("{why}, so what a shuffle brings from there is undefined (the emulator gives the reading thread its own value)").into();
        }
    };
    text.into()
}

fn help(what: Undefined, by: &Use, buffer: Option<&Buffer>) -> String {
    let memory = buffer.map_or_else(|| "the memory".to_owned(), named);
    match (what, by) {
        (Undefined::Global, Use::Updated) => {
            format!("set {memory} to its start value before the launch: `alloc_zeros`, or a memset")
        }
        (Undefined::Global, _) => format!(
            "fill {memory} before the launch (copy the data to it, or allocate it with zeros), or read only as far as it was filled"
        ),
        (Undefined::Shared, Use::Updated) => {
            format!("set {memory} to its start value first, and put `__syncthreads()` behind that")
        }
        (Undefined::Shared, _) => format!(
            "write every element of {memory} that the kernel reads: fill the unused ones with a value that changes nothing (0 in a sum), or read only those that were written"
        ),
        (Undefined::Local, _) => "give the array its values where it is declared: `float a[4] = {};`".to_owned(),
        (Undefined::Register, _) => {
            "give the variable a value where it is declared, or on every path that leads here".to_owned()
        }
        (Undefined::Shuffle { absent: Absent::Exited, .. }, _) => {
            "let every thread of the warp come to the shuffle: no `return` before it, and no condition around it. Threads with \
             nothing to do take part with a value that changes nothing (0 in a sum, -infinity in a maximum); guard the stores that follow"
                .to_owned()
        }
        (Undefined::Shuffle { absent: Absent::NoThread, .. }, _) => {
            "launch blocks of a multiple of 32 threads, of which those with nothing to do take part with a value that changes \
             nothing (0 in a sum, -infinity in a maximum), or use what is read only where that lane has a thread"
                .to_owned()
        }
        (Undefined::Shuffle { absent: Absent::Unnamed, .. }, _) => {
            "read only lanes that the mask names, or name those too and let them execute the shuffle".to_owned()
        }
    }
}

/// Of a copy to the host.
fn copied(missing: u64, at_least: bool, first: u64, len: u64) -> Words {
    let more = if at_least { "at least " } else { "" };
    let first = match first % 4 {
        0 => format!(
            "the first one is byte {first} of the {len} that are copied: index {} of 4-byte elements",
            first / 4
        ),
        _ => format!("the first one is byte {first} of the {len} that are copied"),
    };
    Words::new(format!(
        "a copy to the host reads {more}{} never written",
        match missing {
            1 => "1 byte that was".to_owned(),
            missing => format!("{missing} bytes that were"),
        }
    ))
    .note(first)
    .help(
        "let the kernel write every element: compare the launch's blocks and threads with the number of elements, and \
         the kernel's guard. Where some are meant to stay as they are, begin with `alloc_zeros`",
    )
}
