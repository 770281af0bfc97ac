//! Faults of memory accesses, in words: which address, by how much it misses, and what lies nearby.

use super::grid::Run;
use super::lanes::each;
use super::trap::Trap;
use crate::memory::{Allocation, AllocationKind};

fn verb(write: bool) -> &'static str {
    if write { "write" } else { "read" }
}

fn first(lanes: u32, addrs: &[u64; 32]) -> u64 {
    each(lanes).next().map_or(0, |lane| addrs[lane])
}

fn plural(n: u64, what: &str) -> String {
    if n == 1 { format!("{n} {what}") } else { format!("{n} {what}s") }
}

pub(crate) fn misaligned(lanes: u32, addrs: &[u64; 32], align: u64, bytes: u64, write: bool) -> Box<Trap> {
    let addr = first(lanes, addrs);
    Trap::new("E-MISALIGNED", lanes, format!("misaligned {} of {} at {addr:#x}", verb(write), plural(bytes, "byte")))
        .note(format!("the address must be a multiple of {align}; this one is {} past one", addr % align))
        .note("a vector access (float4, int2, ...) is only allowed where the pointer and the index make it aligned")
}

/// Lanes that no allocation serves: out of bounds, null, freed, a host pointer, or read-only.
pub(crate) fn stray_global(run: &Run<'_>, lanes: u32, addrs: &[u64; 32], bytes: u64, write: bool) -> Box<Trap> {
    let addr = first(lanes, addrs);
    let size = plural(bytes, "byte");
    let verb = verb(write);
    let near = |region: &std::sync::Arc<crate::memory::Region>| region.allocation.clone();
    let next = run.regions.partition_point(|r| r.allocation.base <= addr);
    let below: Option<Allocation> = next.checked_sub(1).map(|i| near(&run.regions[i]));
    let above: Option<Allocation> = run.regions.get(next).map(near);
    if let Some(a) = &below
        && addr < a.end()
    {
        if a.end() - addr >= bytes {
            return Trap::new("E-WRITE-READONLY", lanes, format!("write of {size} to constant memory at {addr:#x}"))
                .note("__constant__ variables can be written by the host only (cudaMemcpyToSymbol)");
        }
        return past(run, lanes, addr, bytes, verb, a);
    }
    if addr < 4096 {
        return Trap::new("E-NULL", lanes, format!("{verb} of {size} through a null pointer (address {addr:#x})"))
            .note("the pointer is null, or an index was added to a null pointer");
    }
    if let Some(a) = run.memory.freed(addr) {
        return Trap::new("E-USE-AFTER-FREE", lanes, format!("{verb} of {size} at {addr:#x}, in freed memory"))
            .note(format!("allocation {} of {} at {:#x} has been freed", a.id, plural(a.size, "byte"), a.base));
    }
    // Around an allocation lies as much unmapped space as it is large, and a mebibyte at least.
    let reach = |a: &Allocation| a.size.max(1 << 20);
    if let Some(a) = below.as_ref().filter(|a| addr - a.end() < reach(a)) {
        return past(run, lanes, addr, bytes, verb, a);
    }
    if let Some(a) = above.as_ref().filter(|a| a.base - addr <= reach(a)) {
        let before = a.base - addr;
        return Trap::new("E-OOB-GLOBAL", lanes, format!("{verb} of {size} before the start of an allocation"))
            .note(format!(
                "address {addr:#x} is {} before allocation {} of {} at {:#x}",
                plural(before, "byte"),
                a.id,
                plural(a.size, "byte"),
                a.base
            ))
            .note("a negative index, or an unsigned one that wrapped around?");
    }
    let trap = Trap::new("E-UNMAPPED", lanes, format!("{verb} of {size} at {addr:#x}, where nothing is allocated"));
    match addr {
        0x5500_0000_0000..=0x7fff_ffff_ffff => {
            trap.note("this looks like a pointer to host memory: pass device memory to a kernel")
        }
        0..=0xffff_ffff => trap.note("this looks like a number that was passed where a pointer is expected"),
        _ => trap,
    }
}

fn past(run: &Run<'_>, lanes: u32, addr: u64, bytes: u64, verb: &str, a: &Allocation) -> Box<Trap> {
    let size = plural(bytes, "byte");
    let index = (addr - a.base) / bytes.max(1);
    let (code, what) = match a.kind {
        AllocationKind::Constant => ("E-OOB-CONST", "a constant variable"),
        _ => ("E-OOB-GLOBAL", "an allocation"),
    };
    let trap = Trap::new(code, lanes, format!("{verb} of {size} past the end of {what}"));
    let whose = match run.names.iter().find(|(base, _)| *base == a.base) {
        Some((_, name)) => format!("variable `{name}`"),
        None => format!("allocation {}", a.id),
    };
    let trap = match addr.checked_sub(a.end()) {
        Some(beyond) => trap.note(format!(
            "address {addr:#x} is {} past the end of {whose} of {} at {:#x}",
            plural(beyond, "byte"),
            plural(a.size, "byte"),
            a.base
        )),
        None => trap.note(format!(
            "the last {} of it lie past the end of {whose} of {} at {:#x}",
            plural(addr + bytes - a.end(), "byte"),
            plural(a.size, "byte"),
            a.base
        )),
    };
    trap.note(format!(
        "counted in elements of {size}, this is index {index} of {} that the allocation holds",
        a.size / bytes.max(1)
    ))
}

/// An access to shared memory outside of the block's.
pub(crate) fn stray_shared(run: &Run<'_>, lanes: u32, addrs: &[u64; 32], bytes: u64, write: bool) -> Box<Trap> {
    let addr = first(lanes, addrs);
    let have = u64::from(run.shared_bytes);
    let trap = Trap::new(
        "E-OOB-SHARED",
        lanes,
        format!("{} of {} outside of shared memory", verb(write), plural(bytes, "byte")),
    );
    let signed = addr as u32 as i32;
    let trap = if signed < 0 {
        trap.note(format!("the offset is {signed}: before the start of the block's shared memory"))
    } else {
        trap.note(format!(
            "offset {addr} + {bytes} is past the {} of shared memory that the block has ({} static, {} dynamic)",
            plural(have, "byte"),
            run.code.static_shared,
            run.launch.dynamic_shared
        ))
    };
    let nearest = run.code.shared.iter().rev().find(|v| u64::from(v.offset) <= addr);
    match nearest {
        Some(v) if signed >= 0 && run.launch.dynamic_shared == 0 => trap.note(format!(
            "the variable below it is `{}`, {} at offset {}",
            v.name,
            plural(u64::from(v.size), "byte"),
            v.offset
        )),
        _ if run.launch.dynamic_shared == 0 && run.code.shared.is_empty() => {
            trap.note("the launch gave no dynamic shared memory: pass its size in the launch configuration")
        }
        _ => trap,
    }
}

pub(crate) fn stray_local(lanes: u32, addr: u64, bytes: u64, have: u64, write: bool) -> Box<Trap> {
    Trap::new("E-OOB-LOCAL", lanes, format!("{} of {} outside of local memory", verb(write), plural(bytes, "byte")))
        .note(format!("offset {addr} is outside of the thread's {} of local memory", plural(have, "byte")))
        .note("an index past the end of an array that is local to the thread?")
}

pub(crate) fn stray_param(lanes: u32, addr: u64, bytes: u64, have: usize) -> Box<Trap> {
    Trap::new("E-OOB-PARAM", lanes, format!("read of {} outside of the kernel's parameters", plural(bytes, "byte")))
        .note(format!("offset {addr} of a parameter buffer of {}", plural(have as u64, "byte")))
}

pub(crate) fn readonly_param(lanes: u32) -> Box<Trap> {
    Trap::new("E-WRITE-READONLY", lanes, "write to a kernel parameter")
        .note("kernel parameters are constant: copy one to a local variable to change it")
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
