//! Faults of memory accesses: which address, by how much it misses, and what lies nearby.

pub(crate) mod finding;
mod heap;
pub(crate) mod trap;

use crate::code::{Place, SharedVariable};
use crate::exec::fault::trap::Trap;
use crate::exec::state::lanes::each;
use crate::exec::state::run::Run;
use crate::machine::ParamInfo;
use crate::memory::{Allocation, AllocationKind};
use crate::report::kind::{Access, Memory};
use crate::report::{Buffer, Name};

fn first(lanes: u32, addrs: &[u64; 32]) -> u64 {
    each(lanes).next().map_or(0, |lane| addrs[lane])
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
    let access = Access { write, bytes, address: first(lanes, addrs) };
    Trap::new(Memory::Misaligned { access, align }, lanes).about(buffer)
}

/// Lanes that no allocation serves: out of bounds, null, freed, a host pointer, or read-only.
pub(crate) fn stray_global(run: &Run<'_>, lanes: u32, addrs: &[u64; 32], bytes: u64, write: bool) -> Box<Trap> {
    let (kind, about) = stray(run, Access { write, bytes, address: first(lanes, addrs) });
    Trap::new(kind, lanes).about(about)
}

/// Which mistake it is, and the memory that it is about.
fn stray(run: &Run<'_>, access: Access) -> (Memory, Option<Buffer>) {
    let Access { bytes, address, .. } = access;
    let next = run.regions.partition_point(|r| r.allocation.base <= address);
    let below = next.checked_sub(1).map(|i| &run.regions[i].allocation);
    if let Some(a) = below
        && a.kind == AllocationKind::Constant
        && address < a.end()
        && a.end() - address >= bytes
    {
        return (Memory::WriteConstant(access), Some(of_allocation(run, a, address, bytes)));
    }
    if address < 4096 {
        return (Memory::Null(access), pointer_argument(run, address, bytes));
    }
    if let Some(found) = heap::stray(run, access) {
        return found;
    }
    if let Some(argument) = host_pointer(run, address, bytes) {
        return (Memory::HostPointer(access), argument);
    }
    if let Some(buffer) = buffer(run, Place::Global, address, bytes)
        && run.memory.freed(address).is_none_or(|freed| address >= freed.end())
    {
        let constant = below.is_some_and(|a| a.kind == AllocationKind::Constant);
        return (Memory::OutOfBounds { access, constant }, Some(buffer));
    }
    if let Some(a) = run.memory.freed(address) {
        return (Memory::Freed(access), Some(of_allocation(run, &a, address, bytes)));
    }
    let near = pointer_argument(run, address, bytes).or_else(|| nearest_argument(run, address, bytes));
    (Memory::Unmapped(access), near)
}

/// For an access to the host's own memory, the parameter that leads there. `None` where it was meant for a mirrored
/// allocation and missed.
fn host_pointer(run: &Run<'_>, addr: u64, bytes: u64) -> Option<Option<Buffer>> {
    if !run.memory.is_host(addr) {
        return None;
    }
    let argument = pointer_argument(run, addr, bytes);
    let missed = match &argument {
        Some(buffer) => run.memory.find(addr.wrapping_add_signed(-buffer.offset)).is_some(),
        None => buffer(run, Place::Global, addr, bytes).is_some(),
    };
    (!missed).then_some(argument)
}

/// An access to shared memory outside of the block's.
pub(crate) fn stray_shared(run: &Run<'_>, lanes: u32, addrs: &[u64; 32], bytes: u64, write: bool) -> Box<Trap> {
    let address = first(lanes, addrs);
    let kind = Memory::OutsideShared {
        access: Access { write, bytes, address },
        size: u64::from(run.shared_bytes),
        fixed: run.code.static_shared,
        dynamic: run.launch.dynamic_shared,
        declares: !run.code.shared.is_empty(),
    };
    // What lies before the start belongs to nothing.
    let about = if (address as u32 as i32) < 0 { None } else { buffer(run, Place::Shared, address, bytes) };
    Trap::new(kind, lanes).about(about)
}

/// A shared array, and where in it or beside it an access is.
pub(crate) fn within(variable: &SharedVariable, address: u64, bytes: u64) -> Buffer {
    Buffer {
        name: Name::Variable(demangled(&variable.name)),
        argument: None,
        size: u64::from(variable.size),
        offset: address as i64 - i64::from(variable.offset),
        bytes: bytes as u32,
    }
}

/// An access through a shared array that leads out of it, and stays in the block's shared memory.
pub(crate) fn outside_array(
    run: &Run<'_>,
    variable: &SharedVariable,
    lanes: u32,
    addrs: &[u64; 32],
    bytes: u64,
    write: bool,
) -> Box<Trap> {
    let address = first(lanes, addrs);
    let meant = within(variable, address, bytes);
    let there = buffer(run, Place::Shared, address, bytes);
    let hit = there.filter(|hit| hit.name != meant.name && hit.offset < hit.size as i64).map(|hit| hit.name);
    Trap::new(Memory::OutsideArray { access: Access { write, bytes, address }, hit }, lanes).about(Some(meant))
}

pub(crate) fn stray_local(lanes: u32, address: u64, bytes: u64, size: u64, write: bool) -> Box<Trap> {
    Trap::new(Memory::OutsideLocal { access: Access { write, bytes, address }, size }, lanes)
}

pub(crate) fn stray_param(lanes: u32, address: u64, bytes: u64, size: usize) -> Box<Trap> {
    let access = Access { write: false, bytes, address };
    Trap::new(Memory::OutsideParameters { access, size: size as u64 }, lanes)
}

pub(crate) fn readonly_param(lanes: u32) -> Box<Trap> {
    Trap::new(Memory::WriteParameter, lanes)
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
                    name: Name::DynamicShared,
                    argument: None,
                    size: u64::from(run.launch.dynamic_shared),
                    offset: (addr - dynamic) as i64,
                    bytes: bytes as u32,
                });
            }
            variable.map(|variable| within(variable, addr, bytes))
        }
        _ => None,
    }
}

/// An allocation under the name that the kernel knows it by: that of the parameter which points at it, or into it.
fn of_allocation(run: &Run<'_>, a: &Allocation, addr: u64, bytes: u64) -> Buffer {
    let pointing = |at: &dyn Fn(u64) -> bool| run.arguments.iter().position(|p| pointer(run, p).is_some_and(at));
    let argument = pointing(&|v| v == a.base).or_else(|| pointing(&|v| v > a.base && v <= a.end()));
    let variable = run.names.iter().find(|(base, _)| *base == a.base).map(|(_, name)| Name::Variable(demangled(name)));
    let name = variable.or_else(|| argument.map(|i| run.argument(i)));
    Buffer {
        name: name.unwrap_or(Name::Allocation(a.id)),
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
