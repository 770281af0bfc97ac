//! Host memory that kernels may touch: managed, pinned and registered.
//!
//! The memory itself is the host's. The machine, which is given no pointers, has an allocation at the
//! same address: before a launch the host's bytes are copied into it, and after the launch those that the
//! kernel changed are copied back. Between launches the host's memory is the truth.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_uint;

use fusion_machine::{AllocationKind, Memory};

use crate::boundary::{Out, Raw, export};
use crate::driver::{Driver, Session, State, driver};
use crate::error::{Error, Result};
use crate::ffi::{DevicePtr, Handle};
use crate::memory::out_of_memory;

/// Allocations begin at pages of their own.
const ALIGNMENT: usize = 4096;
const CHUNK: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostKind {
    Managed,
    Pinned,
    /// Pinned, but allocated by the program.
    Registered,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct HostBlock {
    pub(crate) base: usize,
    pub(crate) size: usize,
    pub(crate) kind: HostKind,
    pub(crate) context: Handle,
    flags: c_uint,
}

impl HostBlock {
    pub(crate) fn end(&self) -> usize {
        self.base + self.size
    }

    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.base..self.end()).contains(&address)
    }

    /// Gives the block back to the machine and to the host. It must be out of the table.
    pub(crate) fn release(self, driver: &Driver) {
        let _ = driver.machine.memory().free(self.base as u64);
        if let (HostKind::Managed | HostKind::Pinned, Ok(layout)) = (self.kind, layout(self.size)) {
            // SAFETY: `allocate` made the block with this layout, and it is out of the table, so this happens once.
            unsafe { dealloc(self.base as *mut u8, layout) };
        }
    }
}

fn layout(size: usize) -> Result<Layout> {
    Layout::from_size_align(size, ALIGNMENT).map_err(|_| Error::OUT_OF_MEMORY)
}

/// Allocates host memory with its mirror.
pub(crate) fn allocate(session: &mut Session, size: usize, kind: HostKind, flags: c_uint) -> Result<usize> {
    if size == 0 {
        return Err(Error::INVALID_VALUE);
    }
    // Kernels before and behind such an allocation do not run at once (CUDA C++ Programming Guide, implicit synchronization).
    session.state.host_behind_all();
    let layout = layout(size)?;
    // SAFETY: the size is not zero.
    let pointer = unsafe { alloc_zeroed(layout) };
    if pointer.is_null() {
        return Err(Error::OUT_OF_MEMORY);
    }
    let block = HostBlock { base: pointer as usize, size, kind, context: session.context, flags };
    if let Err(error) = insert(session, block) {
        // SAFETY: allocated above with the same layout, and nobody has seen it.
        unsafe { dealloc(pointer, layout) };
        return Err(error);
    }
    Ok(block.base)
}

fn insert(session: &mut Session, block: HostBlock) -> Result {
    let kind = if block.kind == HostKind::Managed { AllocationKind::Managed } else { AllocationKind::Pinned };
    let memory = session.driver.machine.memory();
    memory.alloc_at(block.base as u64, block.size as u64, kind).map_err(out_of_memory)?;
    session.state.host_blocks.insert(block.base, block);
    Ok(())
}

/// The host's memory as it was copied to the machine before a launch.
pub(crate) struct Mirrored(Vec<(HostBlock, Vec<u8>)>);

impl Mirrored {
    /// Copies all host blocks to the machine.
    pub(crate) fn to_machine(state: &State, memory: &Memory) -> Self {
        let copy = |block: &HostBlock| {
            let mut bytes = vec![0; block.size];
            // SAFETY: the block is allocated as long as it is in the table, which is locked; the program
            // promised CUDA not to write to it while a launch that uses it may be running.
            unsafe { std::ptr::copy_nonoverlapping(block.base as *const u8, bytes.as_mut_ptr(), block.size) };
            let _ = memory.write(block.base as u64, &bytes);
            (*block, bytes)
        };
        Self(state.host_blocks.values().map(copy).collect())
    }

    /// Copies what the launch changed back to the host, and nothing else: other threads may be
    /// filling other parts of the same memory meanwhile.
    pub(crate) fn into_host(self, state: &State, memory: &Memory) {
        let mut now = vec![0; CHUNK];
        for (block, before) in self.0 {
            if !state.host_blocks.contains_key(&block.base) {
                continue;
            }
            for (i, before) in before.chunks(CHUNK).enumerate() {
                let base = block.base + i * CHUNK;
                let now = &mut now[..before.len()];
                if memory.read(base as u64, now).is_err() || now == before {
                    continue;
                }
                for (j, (new, old)) in now.iter().zip(before).enumerate() {
                    if new != old {
                        // SAFETY: inside the block, which is still in the table, which is locked.
                        unsafe { ((base + j) as *mut u8).write(*new) };
                    }
                }
            }
        }
    }
}

fn pinned(state: &State, pointer: Raw) -> Result<HostBlock> {
    let block = state.host_blocks.range(..=pointer.0).next_back().map(|(_, block)| *block);
    block.filter(|b| b.contains(pointer.0) && b.kind != HostKind::Managed).ok_or(Error::INVALID_VALUE)
}

fn allocate_pinned(out: Out<Raw>, size: usize, flags: c_uint) -> Result {
    let mut session = Session::begin_uncaptured()?;
    out.required()?;
    // CU_MEMHOSTALLOC_PORTABLE, _DEVICEMAP and _WRITECOMBINED.
    if flags > 7 {
        return Err(Error::INVALID_VALUE);
    }
    out.set(Raw(allocate(&mut session, size, HostKind::Pinned, flags)?))
}

fn release(pointer: Raw, kind: HostKind, otherwise: Error) -> Result {
    // Taken first, and then the tables: whatever runs on the machine ends before its memory goes.
    let driver = driver()?;
    driver.settle();
    let _busy = driver.busy();
    let mut session = Session::begin_regardless()?;
    let block = session.state.host_blocks.get(&pointer.0).copied();
    let block = block.filter(|b| b.kind == kind).ok_or(otherwise)?;
    session.state.host_blocks.remove(&block.base);
    session.state.host_behind_all();
    block.release(session.driver);
    session.sticky()
}

export! {
    fn cuMemHostAlloc(pointer: Out<Raw>, size: usize, flags: c_uint) {
        allocate_pinned(pointer, size, flags)
    }

    fn cuMemAllocHost_v2(pointer: Out<Raw>, size: usize) {
        allocate_pinned(pointer, size, 0)
    }

    fn cuMemFreeHost(pointer: Raw) {
        if pointer.is_null() {
            return Ok(());
        }
        release(pointer, HostKind::Pinned, Error::INVALID_VALUE)
    }

    fn cuMemHostRegister_v2(pointer: Raw, size: usize, flags: c_uint) {
        let mut session = Session::begin_uncaptured()?;
        if pointer.is_null() || size == 0 || pointer.0.checked_add(size).is_none() || flags > 15 {
            return Err(Error::INVALID_VALUE);
        }
        let before = session.state.host_blocks.range(..pointer.0 + size).next_back();
        if before.is_some_and(|(_, block)| block.end() > pointer.0) {
            return Err(Error::HOST_MEMORY_ALREADY_REGISTERED);
        }
        let context = session.context;
        insert(&mut session, HostBlock { base: pointer.0, size, kind: HostKind::Registered, context, flags })
    }

    fn cuMemHostUnregister(pointer: Raw) {
        release(pointer, HostKind::Registered, Error::HOST_MEMORY_NOT_REGISTERED)
    }

    fn cuMemHostGetDevicePointer_v2(address: Out<DevicePtr>, pointer: Raw, flags: c_uint) {
        let session = Session::begin()?;
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        pinned(&session.state, pointer)?;
        address.set(pointer.0 as DevicePtr)
    }

    fn cuMemHostGetFlags(flags: Out<c_uint>, pointer: Raw) {
        let session = Session::begin()?;
        // Memory is mapped whether or not that was asked for, as under unified addressing.
        flags.set(pinned(&session.state, pointer)?.flags | 2)
    }
}
