//! Accesses that memory cannot serve.

use fusion_machine::report::kind::{Access, Memory};
use fusion_machine::report::{Buffer, Fault, Name};

use super::Words;
use super::terms::{named, verb};
use crate::counted;
use crate::guard::Check;

/// What to do about an array whose length the kernel decides.
const LENGTH: &str = "declare the array with as many elements as its largest index needs, or compare the index with its length before this access";

/// What to do about an access without a check.
pub(super) const GUARD: &str = "let each thread compare its index with the number of elements before this access, as in `if (i < n)`: a check that \
                                comes later does not guard it";

/// What to do about a check that is there and does not guard the access.
pub(super) fn guard(check: &Check) -> String {
    match check {
        Check::Ended => {
            "the `;` right behind `if (...)` ends the `if`: remove it, so that the check guards the access".into()
        }
        Check::Other { compared, used } => {
            format!("the check compares `{compared}`, but the access uses `{used}`: compare what the access uses")
        }
    }
}

pub(super) fn words(kind: &Memory, fault: &Fault) -> Words {
    let buffer = fault.buffer.as_ref();
    match kind {
        Memory::OutOfBounds { access, .. } => outside(access, buffer),
        Memory::OutsideShared { access, size, fixed, dynamic, declares } => {
            let words = shared(access, buffer);
            let words = match (access.address as u32 as i32) < 0 {
                true => return words.help("a negative index: guard the first elements, or begin the loop later"),
                false => words.note(format!(
                    "the block has {} of shared memory ({fixed} static, {dynamic} dynamic)",
                    counted(*size, "byte")
                )),
            };
            let size =
                |b: &Buffer| format!("{} has {}; this is byte {} of it", named(b), counted(b.size, "byte"), b.offset);
            words.maybe(buffer.map(size)).help(match *dynamic == 0 && !declares {
                true => "`extern __shared__` memory gets its size from the launch: pass it in the launch configuration",
                false => "compare the index with the size of the array, and the launch's shared memory with what the kernel needs",
            })
        }
        Memory::OutsideArray { access, hit } => {
            let hit = match hit {
                Some(Name::DynamicShared) => "the dynamic shared memory".to_owned(),
                Some(name) => name.identifier().map_or("another array".to_owned(), |name| format!("`{name}`")),
                None => "what the compiler put there".to_owned(),
            };
            outside(access, buffer)
                .note(format!("that is still shared memory of the block, so that nothing stops it: it hits {hit}"))
        }
        Memory::OutsideLocal { access, size } => {
            Words::new(format!("{} outside of the thread's local memory", verb(access.write)))
                .label(format!("{} at offset {}", of_size(access), access.address as u32 as i32))
                .note(format!(
                    "the thread has {} of local memory: its arrays, and what the compiler keeps there",
                    counted(*size, "byte")
                ))
                .help("compare the index with the length of the thread's array")
        }
        Memory::OutsideParameters { access, size } => Words::new("read outside of the kernel's parameters")
            .label(format!("{} at offset {}", of_size(access), access.address))
            .note(format!("the parameters have {} in all", counted(*size, "byte")))
            .help("compare the index with the length of the array in the struct that is passed by value"),
        Memory::UnreadableFormat => Words::new("printf: the format is not readable memory"),
        Memory::Null(access) => null(access, buffer),
        Memory::HostPointer(access) => host_pointer(access, buffer),
        Memory::Unmapped(access) => unmapped(access, buffer),
        Memory::Freed(access) => {
            let whose = buffer.map_or(String::new(), |b| format!(", {}", named(b)));
            let size = buffer.map_or(0, |b| b.size);
            Words::new(format!("{} of freed memory{whose}", verb(access.write)))
                .label(of_size(access))
                .note(format!("the allocation of {} was freed before this launch", counted(size, "byte")))
                .help("keep the buffer alive until the work that uses it is done: in Rust, until after the stream was synchronised")
        }
        Memory::FreedByKernel(access) => {
            Words::new(format!("{} of memory that the kernel has freed", verb(access.write)))
                .label(of_size(access))
                .maybe(buffer.map(|b| format!("a block of {} from malloc lay here", counted(b.size, "byte"))))
                .help("free a block when no thread uses it any more: behind a barrier, if several threads do")
        }
        Memory::FreedTwice { size } => Words::new("free of memory that has been freed already")
            .label(format!("frees a block of {} a second time", counted(*size, "byte")))
            .help("let one thread free a block, once, and set the pointer to nullptr afterwards"),
        Memory::FreedInside { offset, size } => Words::new("free of a pointer into the middle of a block")
            .label(format!("points {} behind the start of a block of {}", counted(*offset, "byte"), counted(*size, "byte")))
            .help("keep the pointer that malloc returned, and free that one"),
        Memory::FreedForeign { address } => Words::new("free of what malloc has not returned")
            .label(format!("{address:#x} is no block of the device heap"))
            .note("what the host has allocated is freed by the host; a kernel frees only what a kernel's malloc or new gave"),
        Memory::Misaligned { access, align } => misaligned(access, *align, buffer),
        Memory::WriteConstant(access) => {
            let whose = buffer.map_or(String::new(), |b| format!(", {}", named(b)));
            Words::new(format!("write to constant memory{whose}"))
                .label(of_size(access))
                .note("kernels may only read __constant__ variables")
                .help("let the host write it (cudaMemcpyToSymbol), or make it a __device__ variable")
        }
        Memory::WriteParameter => Words::new("write to a kernel parameter")
            .label("write through a pointer to a parameter")
            .help("kernel parameters are constant: copy one to a local variable to change it"),
    }
}

/// `read of 4 bytes`.
fn of_size(access: &Access) -> String {
    format!("{} of {}", verb(access.write), counted(access.bytes, "byte"))
}

/// Bytes of the largest access of a thread. Only copies of boxes, and their maps, are aligned to more.
const LARGEST: u64 = 16;

fn misaligned(access: &Access, align: u64, buffer: Option<&Buffer>) -> Words {
    let Access { write, address, .. } = *access;
    let what = of_size(access);
    let past = address % align.max(1);
    let words = match buffer {
        Some(b) => Words::new(format!("misaligned {what} of {}", named(b))).note(format!(
            "it begins at byte {} of {}, {past} past a multiple of {align}",
            b.offset,
            named(b)
        )),
        None => Words::new(format!("misaligned {what}"))
            .note(format!("the address {address:#x} must be a multiple of {align}; this one is {past} past one")),
    };
    let words = words.label(format!("{} at no multiple of {align}", verb(write)));
    if align > LARGEST {
        return words
            .help(format!("declare it `alignas({align})`, and let what lies before it have a multiple of that"));
    }
    words.help(
        "where rows or views begin anywhere, access the elements before the first aligned one and behind the last one singly, \
         take narrower vectors (float2), or pad the rows to a multiple of the vector",
    )
}

/// Before the start of a buffer, or past its end.
fn outside(access: &Access, buffer: Option<&Buffer>) -> Words {
    let (verb, size) = (verb(access.write), counted(access.bytes, "byte"));
    let Some(buffer) = buffer else {
        return Words::new(format!("{verb} outside of an allocation")).label(of_size(access));
    };
    let name = named(buffer);
    let whole = counted(buffer.size, "byte");
    if buffer.offset < 0 {
        let before = counted(buffer.offset.unsigned_abs(), "byte");
        return Words::new(format!("{verb} before the start of {name}"))
            .label(format!("{verb} of {size}, {before} before {name}"))
            .note(format!("{name} has {whole}; this is byte {} of it", buffer.offset))
            .help("a negative index, or an unsigned one that wrapped around below 0: guard the first elements");
    }
    let offset = buffer.offset.unsigned_abs();
    let elements = buffer.size / access.bytes.max(1);
    let label = match offset.checked_sub(buffer.size) {
        Some(0) => format!("{verb} of {size} right behind the last one of {name}"),
        Some(beyond) => format!("{verb} of {size}, {} past the end of {name}", counted(beyond, "byte")),
        None => {
            let beyond = (offset + access.bytes).saturating_sub(buffer.size);
            format!("{verb} of {size}, the last {beyond} past the end of {name}")
        }
    };
    Words::new(format!("{verb} past the end of {name}"))
        .label(label)
        .note(format!(
            "{name} has {whole}: counted in elements of {size}, {elements} of them, and this is index {}",
            offset / access.bytes.max(1)
        ))
        .help(match buffer.name {
            // Its length stands in the source.
            Name::Variable(_) => LENGTH,
            _ => GUARD,
        })
}

fn shared(access: &Access, buffer: Option<&Buffer>) -> Words {
    let verb = verb(access.write);
    let offset = access.address as u32 as i32;
    let title = |whose: &str| Words::new(format!("{verb} outside of the block's shared memory{whose}"));
    if offset < 0 {
        return title("").label(format!("{} at offset {offset}: before the start", of_size(access)));
    }
    let whose = buffer.map_or(String::new(), |buffer| format!(", past {}", named(buffer)));
    title(&whose).label(format!("{} at offset {}", of_size(access), access.address))
}

fn null(access: &Access, buffer: Option<&Buffer>) -> Words {
    let verb = verb(access.write);
    let title = match buffer {
        Some(buffer) => format!("{verb} through the null pointer {}", named(buffer)),
        None => format!("{verb} through a null pointer"),
    };
    Words::new(title)
        .label(format!("{} at address {:#x}", of_size(access), access.address))
        .help("pass the address of device memory, or compare the pointer with nullptr before it is used")
}

fn host_pointer(access: &Access, buffer: Option<&Buffer>) -> Words {
    let verb = verb(access.write);
    let title = match buffer {
        Some(buffer) => format!("{verb} through {}, which points to host memory", named(buffer)),
        None => format!("{verb} through a pointer to host memory"),
    };
    Words::new(title)
        .label(format!("{} at {:#x}, in the host's memory", of_size(access), access.address))
        .note("a GPU cannot follow pointers to the memory of a Vec, a slice or a variable of the host program")
        .help("copy the data to the device first (`stream.clone_htod(&vec)`), and pass the CudaSlice instead of the Vec's pointer")
}

fn unmapped(access: &Access, buffer: Option<&Buffer>) -> Words {
    let whose = buffer.map_or(String::new(), |buffer| format!(", through {}", named(buffer)));
    let words = Words::new(format!("{} at an address where nothing is allocated{whose}", verb(access.write)))
        .label(format!("{} at {:#x}", of_size(access), access.address));
    match access.address {
        0x5500_0000_0000..=0x7fff_ffff_ffff => words
            .note("this looks like a pointer to host memory")
            .help("pass device memory to a kernel: a CudaSlice, not the Vec that it was copied from"),
        0..=0xffff_ffff => words
            .note("this looks like a number that was passed where a pointer is expected")
            .help("compare the order and the types of the launch's arguments with the kernel's parameters"),
        _ => {
            let far = buffer.map(|buffer| {
                let side = if buffer.offset < 0 { "before" } else { "behind" };
                let distance = counted(buffer.offset.unsigned_abs(), "byte");
                format!("of the arguments {} is nearest: the address is {distance} {side} its start", named(buffer))
            });
            words.maybe(far).help(
                "the index is far off: an overflow, a size in bytes where elements are counted, or an unset variable?",
            )
        }
    }
}
