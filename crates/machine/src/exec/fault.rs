//! Faults of memory accesses, in words: which address, by how much it misses, and what lies nearby.

use super::grid::Run;
use super::lanes::each;
use super::trap::Trap;
use crate::code::Place;
use crate::machine::ParamInfo;
use crate::memory::{Allocation, AllocationKind};
use crate::report::Buffer;

fn verb(write: bool) -> &'static str {
    if write { "write" } else { "read" }
}

fn first(lanes: u32, addrs: &[u64; 32]) -> u64 {
    each(lanes).next().map_or(0, |lane| addrs[lane])
}

fn plural(n: u64, what: &str) -> String {
    if n == 1 { format!("{n} {what}") } else { format!("{n} {what}s") }
}

/// `buffer` is what holds the first of the lanes' addresses.
pub(crate) fn misaligned(
    lanes: u32,
    addrs: &[u64; 32],
    align: u64,
    bytes: u64,
    write: bool,
    buffer: Option<Buffer>,
) -> Box<Trap> {
    let addr = first(lanes, addrs);
    let size = plural(bytes, "byte");
    let past = addr % align;
    let (title, note) = match &buffer {
        Some(b) => (
            format!("misaligned {} of {size} of `{}`", verb(write), b.name),
            format!("it begins at byte {} of `{}`, {past} past a multiple of {align}", b.offset, b.name),
        ),
        None => (
            format!("misaligned {} of {size}", verb(write)),
            format!("the address {addr:#x} must be a multiple of {align}; this one is {past} past one"),
        ),
    };
    Trap::new("E-MISALIGNED", lanes, title)
        .label(format!("{} at no multiple of {align}", verb(write)))
        .note(note)
        .help(
            "where rows or views begin anywhere, access the elements before the first aligned one and behind the last one singly, \
             take narrower vectors (float2), or pad the rows to a multiple of the vector",
        )
        .about(buffer)
}

/// Lanes that no allocation serves: out of bounds, null, freed, a host pointer, or read-only.
pub(crate) fn stray_global(run: &Run<'_>, lanes: u32, addrs: &[u64; 32], bytes: u64, write: bool) -> Box<Trap> {
    let addr = first(lanes, addrs);
    let size = plural(bytes, "byte");
    let verb = verb(write);
    let next = run.regions.partition_point(|r| r.allocation.base <= addr);
    let below = next.checked_sub(1).map(|i| &run.regions[i].allocation);
    if let Some(a) = below
        && addr < a.end()
        && a.end() - addr >= bytes
    {
        let buffer = of_allocation(run, a, addr, bytes);
        return Trap::new("E-WRITE-READONLY", lanes, format!("write to constant memory, `{}`", buffer.name))
            .label(format!("write of {size}"))
            .note("kernels may only read __constant__ variables")
            .help("let the host write it (cudaMemcpyToSymbol), or make it a __device__ variable")
            .about(Some(buffer));
    }
    if addr < 4096 {
        let argument = pointer_argument(run, addr, bytes);
        let title = match &argument {
            Some(buffer) => format!("{verb} through the null pointer `{}`", buffer.name),
            None => format!("{verb} through a null pointer"),
        };
        return Trap::new("E-NULL", lanes, title)
            .label(format!("{verb} of {size} at address {addr:#x}"))
            .help("pass the address of device memory, or compare the pointer with nullptr before it is used")
            .about(argument);
    }
    if let Some(trap) = host_pointer(run, lanes, addr, bytes, verb) {
        return trap;
    }
    if let Some(buffer) = buffer(run, Place::Global, addr, bytes)
        && run.memory.freed(addr).is_none_or(|freed| addr >= freed.end())
    {
        return outside(lanes, verb, bytes, buffer, below.map(|a| a.kind));
    }
    if let Some(a) = run.memory.freed(addr) {
        let buffer = of_allocation(run, &a, addr, bytes);
        return Trap::new("E-USE-AFTER-FREE", lanes, format!("{verb} of freed memory, `{}`", buffer.name))
            .label(format!("{verb} of {size}"))
            .note(format!("the allocation of {} was freed before this launch", plural(a.size, "byte")))
            .help("keep the buffer alive until the work that uses it is done: in Rust, until after the stream was synchronised")
            .about(Some(buffer));
    }
    let argument = pointer_argument(run, addr, bytes).or_else(|| nearest_argument(run, addr, bytes));
    let whose = argument.as_ref().map_or(String::new(), |buffer| format!(", through `{}`", buffer.name));
    let trap = Trap::new("E-UNMAPPED", lanes, format!("{verb} at an address where nothing is allocated{whose}"))
        .label(format!("{verb} of {size} at {addr:#x}"))
        .about(argument);
    match addr {
        0x5500_0000_0000..=0x7fff_ffff_ffff => trap
            .note("this looks like a pointer to host memory")
            .help("pass device memory to a kernel: a CudaSlice, not the Vec that it was copied from"),
        0..=0xffff_ffff => trap
            .note("this looks like a number that was passed where a pointer is expected")
            .help("compare the order and the types of the launch's arguments with the kernel's parameters"),
        _ => {
            let far = trap.buffer.as_ref().map(|buffer| {
                let side = if buffer.offset < 0 { "before" } else { "behind" };
                let distance = plural(buffer.offset.unsigned_abs(), "byte");
                format!("of the arguments `{}` is nearest: the address is {distance} {side} its start", buffer.name)
            });
            let trap = far.into_iter().fold(trap, Trap::note);
            trap.help(
                "the index is far off: an overflow, a size in bytes where elements are counted, or an unset variable?",
            )
        }
    }
}

/// An access to the host's own memory, unless it was meant for a mirrored allocation and missed.
fn host_pointer(run: &Run<'_>, lanes: u32, addr: u64, bytes: u64, verb: &str) -> Option<Box<Trap>> {
    if !run.memory.is_host(addr) {
        return None;
    }
    let argument = pointer_argument(run, addr, bytes);
    let missed = match &argument {
        Some(buffer) => run.memory.find(addr.wrapping_add_signed(-buffer.offset)).is_some(),
        None => buffer(run, Place::Global, addr, bytes).is_some(),
    };
    if missed {
        return None;
    }
    let title = match &argument {
        Some(buffer) => format!("{verb} through `{}`, which points to host memory", buffer.name),
        None => format!("{verb} through a pointer to host memory"),
    };
    let trap = Trap::new("E-HOST-POINTER", lanes, title)
        .label(format!("{verb} of {} at {addr:#x}, in the host's memory", plural(bytes, "byte")))
        .note("a GPU cannot follow pointers to the memory of a Vec, a slice or a variable of the host program")
        .help("copy the data to the device first (`stream.clone_htod(&vec)`), and pass the CudaSlice instead of the Vec's pointer");
    Some(trap.about(argument))
}

/// An access that begins before a buffer, or ends past it.
fn outside(lanes: u32, verb: &str, bytes: u64, buffer: Buffer, kind: Option<AllocationKind>) -> Box<Trap> {
    let size = plural(bytes, "byte");
    let code = if kind == Some(AllocationKind::Constant) { "E-OOB-CONST" } else { "E-OOB-GLOBAL" };
    let name = buffer.name.clone();
    let whole = plural(buffer.size, "byte");
    let trap = if buffer.offset < 0 {
        let before = plural(buffer.offset.unsigned_abs(), "byte");
        Trap::new(code, lanes, format!("{verb} before the start of `{name}`"))
            .label(format!("{verb} of {size}, {before} before `{name}`"))
            .note(format!("`{name}` has {whole}; this is byte {} of it", buffer.offset))
            .help("a negative index, or an unsigned one that wrapped around below 0: guard the first elements")
    } else {
        let offset = buffer.offset.unsigned_abs();
        let elements = buffer.size / bytes.max(1);
        let label = match offset.checked_sub(buffer.size) {
            Some(0) => format!("{verb} of {size} right behind the last one of `{name}`"),
            Some(beyond) => format!("{verb} of {size}, {} past the end of `{name}`", plural(beyond, "byte")),
            None => format!("{verb} of {size}, the last {} past the end of `{name}`", offset + bytes - buffer.size),
        };
        let trap = Trap::new(code, lanes, format!("{verb} past the end of `{name}`")).label(label).note(format!(
            "`{name}` has {whole}: counted in elements of {size}, {elements} of them, and this is index {}",
            offset / bytes.max(1)
        ));
        trap.help("let each thread compare its index with the number of elements before this access, as in `if (i < n)`: a check that \
             comes later does not guard it")
    };
    trap.about(Some(buffer))
}

/// An access to shared memory outside of the block's.
pub(crate) fn stray_shared(run: &Run<'_>, lanes: u32, addrs: &[u64; 32], bytes: u64, write: bool) -> Box<Trap> {
    let addr = first(lanes, addrs);
    let (verb, size) = (verb(write), plural(bytes, "byte"));
    let have = plural(u64::from(run.shared_bytes), "byte");
    let signed = addr as u32 as i32;
    let title = |what: &str| format!("{verb} outside of the block's shared memory{what}");
    if signed < 0 {
        return Trap::new("E-OOB-SHARED", lanes, title(""))
            .label(format!("{verb} of {size} at offset {signed}: before the start"))
            .help("a negative index: guard the first elements, or begin the loop later");
    }
    let about = buffer(run, Place::Shared, addr, bytes);
    let whose = about.as_ref().map_or(String::new(), |buffer| format!(", past `{}`", buffer.name));
    let trap = Trap::new("E-OOB-SHARED", lanes, title(&whose))
        .label(format!("{verb} of {size} at offset {addr}"))
        .note(format!(
            "the block has {have} of shared memory ({} static, {} dynamic)",
            run.code.static_shared, run.launch.dynamic_shared
        ));
    let trap = match &about {
        Some(buffer) => trap.note(format!(
            "`{}` has {}; this is byte {} of it",
            buffer.name,
            plural(buffer.size, "byte"),
            buffer.offset
        )),
        None => trap,
    };
    let trap = if run.launch.dynamic_shared == 0 && run.code.shared.is_empty() {
        trap.help("`extern __shared__` memory gets its size from the launch: pass it in the launch configuration")
    } else {
        trap.help(
            "compare the index with the size of the array, and the launch's shared memory with what the kernel needs",
        )
    };
    trap.about(about)
}

pub(crate) fn stray_local(lanes: u32, addr: u64, bytes: u64, have: u64, write: bool) -> Box<Trap> {
    let (verb, size) = (verb(write), plural(bytes, "byte"));
    Trap::new("E-OOB-LOCAL", lanes, format!("{verb} outside of the thread's local memory"))
        .label(format!("{verb} of {size} at offset {}", addr as u32 as i32))
        .note(format!(
            "the thread has {} of local memory: its arrays, and what the compiler keeps there",
            plural(have, "byte")
        ))
        .help("compare the index with the length of the thread's array")
}

pub(crate) fn stray_param(lanes: u32, addr: u64, bytes: u64, have: usize) -> Box<Trap> {
    Trap::new("E-OOB-PARAM", lanes, "read outside of the kernel's parameters")
        .label(format!("read of {} at offset {addr}", plural(bytes, "byte")))
        .note(format!("the parameters have {} in all", plural(have as u64, "byte")))
        .help("compare the index with the length of the array in the struct that is passed by value")
}

pub(crate) fn readonly_param(lanes: u32) -> Box<Trap> {
    Trap::new("E-WRITE-READONLY", lanes, "write to a kernel parameter")
        .label("write through a pointer to a parameter")
        .help("kernel parameters are constant: copy one to a local variable to change it")
}

/// The buffer or variable that holds an address, or that lies nearest to one that nothing holds.
pub(crate) fn buffer(run: &Run<'_>, place: Place, addr: u64, bytes: u64) -> Option<Buffer> {
    match place {
        Place::Global | Place::Constant => {
            let next = run.regions.partition_point(|r| r.allocation.base <= addr);
            let below = next.checked_sub(1).map(|i| &run.regions[i].allocation);
            let above = run.regions.get(next).map(|r| &r.allocation);
            // Around an allocation lies as much unmapped space as it is large, and a mebibyte at least.
            let reach = |a: &Allocation| a.size.max(1 << 20);
            let allocation = below.filter(|a| addr < a.end() || addr - a.end() < reach(a));
            allocation.or(above.filter(|a| a.base - addr <= reach(a))).map(|a| of_allocation(run, a, addr, bytes))
        }
        Place::Shared => {
            let variable = run.code.shared.iter().rev().find(|v| u64::from(v.offset) <= addr);
            let dynamic = u64::from(run.code.dynamic_shared_offset);
            if run.launch.dynamic_shared > 0 && addr >= dynamic {
                return Some(Buffer {
                    name: "the dynamic shared memory".into(),
                    argument: None,
                    size: u64::from(run.launch.dynamic_shared),
                    offset: (addr - dynamic) as i64,
                    bytes: bytes as u32,
                });
            }
            variable.map(|v| Buffer {
                name: demangled(&v.name),
                argument: None,
                size: u64::from(v.size),
                offset: (addr - u64::from(v.offset)) as i64,
                bytes: bytes as u32,
            })
        }
        _ => None,
    }
}

/// An allocation under the name that the kernel knows it by: that of the parameter which points at it, or into it.
fn of_allocation(run: &Run<'_>, a: &Allocation, addr: u64, bytes: u64) -> Buffer {
    let pointing = |at: &dyn Fn(u64) -> bool| run.arguments.iter().position(|p| pointer(run, p).is_some_and(at));
    let argument = pointing(&|v| v == a.base).or_else(|| pointing(&|v| v > a.base && v <= a.end()));
    let variable = run.names.iter().find(|(base, _)| *base == a.base).map(|(_, name)| demangled(name));
    let name = variable.or_else(|| argument.map(|i| run.argument(i)));
    Buffer {
        name: name.unwrap_or_else(|| format!("allocation {}", a.id)),
        argument: argument.map(|i| i as u32),
        size: a.size,
        offset: addr.wrapping_sub(a.base) as i64,
        bytes: bytes as u32,
    }
}

/// The parameter that an address was most likely computed from: the pointer nearest below it, at most 4 GiB away.
fn pointer_argument(run: &Run<'_>, addr: u64, bytes: u64) -> Option<Buffer> {
    let values = run.arguments.iter().enumerate().filter_map(|(i, p)| Some((i, pointer(run, p)?)));
    let below = values.filter(|(_, value)| *value <= addr && addr - value < 1 << 32);
    let (index, value) = below.max_by_key(|(index, value)| (*value, std::cmp::Reverse(*index)))?;
    Some(Buffer {
        name: run.argument(index),
        argument: Some(index as u32),
        size: 0,
        offset: (addr - value) as i64,
        bytes: bytes as u32,
    })
}

/// The parameter that points to an allocation nearest to an address, which an index may have led far away.
fn nearest_argument(run: &Run<'_>, addr: u64, bytes: u64) -> Option<Buffer> {
    let values = run.arguments.iter().enumerate().filter_map(|(i, p)| Some((i, pointer(run, p)?)));
    let pointers = values.filter(|(_, value)| run.memory.find(*value).is_some());
    // An index of 32 bits leads at most this far, with elements of 16 bytes.
    let near = pointers.filter(|(_, value)| value.abs_diff(addr) <= 16 << 32);
    let (index, value) = near.min_by_key(|(index, value)| (value.abs_diff(addr), *index))?;
    Some(Buffer {
        name: run.argument(index),
        argument: Some(index as u32),
        size: run.memory.find(value).map_or(0, |a| a.size),
        offset: addr.wrapping_sub(value) as i64,
        bytes: bytes as u32,
    })
}

/// A parameter of eight bytes, which may be a pointer.
fn pointer(run: &Run<'_>, p: &ParamInfo) -> Option<u64> {
    let bytes = run.params.get(p.offset as usize..)?.get(..8)?;
    (p.size == 8).then(|| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

/// A variable's name as C++ writes it, without the function that it belongs to.
fn demangled(name: &str) -> String {
    let full = crate::report::demangle(name);
    full.rsplit("::").next().unwrap_or(&full).to_string()
}

/// A mask in words: `lanes 0-15`.
pub(crate) fn lane_list(mask: u32) -> String {
    let mut parts = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        if mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let start = lane;
        while lane < 32 && mask >> lane & 1 == 1 {
            lane += 1;
        }
        parts.push(if lane - start == 1 { format!("{start}") } else { format!("{start}-{}", lane - 1) });
    }
    let noun = if mask.count_ones() == 1 { "lane" } else { "lanes" };
    format!("{noun} {}", parts.join(", "))
}
