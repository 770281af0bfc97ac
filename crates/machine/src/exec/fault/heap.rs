//! Accesses to the heap that no live block of it holds.

use crate::exec::state::run::Run;
use crate::memory::{Heap, HeapBlock};
use crate::report::kind::{Access, Memory};
use crate::report::{Buffer, Name};

/// What is wrong with an access to the heap that no live block holds, and the block that it is about.
pub(crate) fn stray(run: &Run<'_>, access: Access) -> Option<(Memory, Option<Buffer>)> {
    let Access { address, bytes, .. } = access;
    let buffer = |block: HeapBlock| Buffer {
        name: Name::HeapBlock,
        argument: None,
        size: block.size,
        offset: address.wrapping_sub(block.base) as i64,
        bytes: bytes as u32,
    };
    let find = |heap: &mut Heap| {
        if !heap.region().allocation.contains(address) {
            return None;
        }
        Some(match (heap.was_freed(address), heap.block(address)) {
            (Some(freed), _) => (Memory::FreedByKernel(access), Some(buffer(freed))),
            (None, Some(block)) => (Memory::OutOfBounds { access, constant: false }, Some(buffer(block))),
            (None, None) => (Memory::Unmapped(access), None),
        })
    };
    run.with_heap(find).flatten()
}
