//! Device memory: allocating and freeing it.

use std::ffi::c_uint;

use fusion_machine::report::kind::Call;
use fusion_machine::{AllocationKind, OutOfMemory};

use crate::boundary::{Out, Raw, export};
use crate::driver::{Driver, Session, State};
use crate::error::{Error, Result};
use crate::ffi::{DevicePtr, Handle, MemLocation};
use crate::host::{self, HostBlock, HostKind};
use crate::operation::{Marker, Operation};
use crate::report;

/// Rows of a pitched allocation begin at multiples of this.
const PITCH: usize = 512;

/// Device memory that belongs to a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owned {
    pub(crate) context: Handle,
    pub(crate) size: u64,
    /// The pool that it came from, when it was allocated in stream order.
    pub(crate) pool: Option<Handle>,
}

pub(crate) fn out_of_memory(error: OutOfMemory) -> Error {
    report::refused(Call::from(error))
}

impl Session {
    /// Allocates device memory for the context.
    pub(crate) fn allocate(&mut self, size: usize, pool: Option<Handle>) -> Result<DevicePtr> {
        let size = size as u64;
        let memory = self.driver.machine.memory();
        let address = match report::dry().period {
            0 => memory.alloc(size, AllocationKind::Device),
            period => memory.alloc_repeating(size, period),
        }
        .map_err(out_of_memory)?;
        report::allocated(size);
        if let Some(pool) = pool {
            self.state.pools.get_mut(pool)?.take(size);
        }
        let context = self.context;
        self.state.owned.insert(address, Owned { context, size, pool });
        self.state.sites.remember(address, size);
        Ok(address)
    }

    /// Allocates in a stream's order. Everything before has run already, so it is an allocation like any other.
    pub(crate) fn allocate_in_order(
        mut self,
        out: Out<DevicePtr>,
        size: usize,
        pool: Handle,
        stream: Handle,
    ) -> Result {
        out.required()?;
        let stream = self.stream(stream)?;
        self.state.pools.get(pool)?;
        if size == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let address = self.allocate(size, Some(pool))?;
        out.set(address)?;
        match self.state.streams.get(stream)?.capturing.clone() {
            Some(capturing) => {
                let allocation = Operation::Nothing(Marker::Allocation(address));
                self.capture(stream, capturing, allocation).map(|_| ())
            }
            None => self.refuse_implicit(stream),
        }
    }
}

impl State {
    /// Frees device memory. The address must be one that an allocation gave.
    pub(crate) fn free(&mut self, driver: &Driver, address: DevicePtr) -> Result {
        let owned = self.owned.remove(&address).ok_or(Error::INVALID_VALUE)?;
        if let Some(pool) = owned.pool
            && let Ok(pool) = self.pools.get_mut(pool)
        {
            pool.give_back(owned.size);
        }
        driver.machine.memory().free(address).map(|_| ()).map_err(|_| Error::INVALID_VALUE)
    }

    /// Frees everything that a context has, on the device and on the host.
    pub(crate) fn release_memory_of(&mut self, driver: &Driver, context: Handle) {
        let addresses: Vec<u64> =
            self.owned.iter().filter(|(_, owned)| owned.context == context).map(|(address, _)| *address).collect();
        for address in addresses {
            let _ = self.free(driver, address);
        }
        let blocks: Vec<HostBlock> =
            self.host_blocks.values().filter(|block| block.context == context).copied().collect();
        for block in blocks {
            self.host_blocks.remove(&block.base);
            block.release(driver);
        }
    }
}

fn refuse_unknown(address: DevicePtr) -> Error {
    report::refused(Call::Free { address })
}

fn free(address: DevicePtr) -> Result {
    if address == 0 {
        return Ok(());
    }
    // Taken first, and then the tables: whatever runs on the machine ends before its memory goes.
    let driver = crate::driver::driver()?;
    driver.settle();
    let _busy = driver.busy();
    let mut session = Session::begin_regardless()?;
    session.refuse_during_capture()?;
    // A GPU frees when nothing runs that may use it.
    session.state.host_behind_all();
    let driver = session.driver;
    let block = session.state.host_blocks.get(&(address as usize)).copied();
    match block {
        Some(block) if block.kind == HostKind::Managed => {
            session.state.host_blocks.remove(&block.base);
            block.release(driver);
        }
        _ => session.state.free(driver, address).map_err(|_| refuse_unknown(address))?,
    }
    session.sticky()
}

fn free_in_order(address: DevicePtr, stream: Handle) -> Result {
    if address == 0 {
        return Ok(());
    }
    let session = Session::begin_regardless()?;
    let stream = session.stream(stream)?;
    if !session.state.owned.contains_key(&address) {
        return Err(refuse_unknown(address));
    }
    let sticky = session.sticky();
    // What a captured allocation gave lives as long as its context: every launch of the graph uses it again.
    let of_graph =
        session.state.nodes.iter().any(
            |(_, node)| matches!(node.operation, Operation::Nothing(Marker::Allocation(given)) if given == address),
        );
    session.submit(stream, if of_graph { Operation::Nothing(Marker::Empty) } else { Operation::Free(address) })?;
    sticky
}

/// Advice has no effect, but is checked as if it had.
fn advise(address: DevicePtr, count: usize) -> Result {
    let session = Session::begin()?;
    let end = (address as usize).checked_add(count).ok_or(Error::INVALID_VALUE)?;
    let block = session.state.host_blocks.range(..=address as usize).next_back();
    let managed =
        block.is_some_and(|(_, b)| b.kind == HostKind::Managed && b.contains(address as usize) && end <= b.end());
    if managed && count > 0 { Ok(()) } else { Err(Error::INVALID_VALUE) }
}

export! {
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let session = Session::begin()?;
        let memory = session.driver.machine.memory();
        // Pinned memory is the host's.
        let pinned: usize =
            session.state.host_blocks.values().filter(|b| b.kind != HostKind::Managed).map(|b| b.size).sum();
        let used = (memory.used() as usize).saturating_sub(pinned);
        free.set_if_wanted((memory.total() as usize).saturating_sub(used));
        total.set_if_wanted(memory.total() as usize);
        Ok(())
    }

    fn cuMemAlloc_v2(address: Out<DevicePtr>, size: usize) {
        let mut session = Session::begin_uncaptured()?;
        address.required()?;
        if size == 0 {
            return Err(Error::INVALID_VALUE);
        }
        session.state.host_behind_all();
        address.set(session.allocate(size, None)?)
    }

    fn cuMemAllocPitch_v2(
        address: Out<DevicePtr>,
        pitch: Out<usize>,
        width: usize,
        height: usize,
        element_size: c_uint,
    ) {
        let mut session = Session::begin_uncaptured()?;
        address.required()?;
        pitch.required()?;
        let row = width.checked_next_multiple_of(PITCH).ok_or(Error::OUT_OF_MEMORY)?;
        let size = row.checked_mul(height).ok_or(Error::OUT_OF_MEMORY)?;
        if size == 0 || !matches!(element_size, 4 | 8 | 16) {
            return Err(Error::INVALID_VALUE);
        }
        session.state.host_behind_all();
        address.set(session.allocate(size, None)?)?;
        pitch.set(row)
    }

    fn cuMemAllocManaged(address: Out<DevicePtr>, size: usize, flags: c_uint) {
        let mut session = Session::begin_uncaptured()?;
        address.required()?;
        // CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST.
        if size == 0 || !matches!(flags, 1 | 2) {
            return Err(Error::INVALID_VALUE);
        }
        report::allocated(size as u64);
        let base = host::allocate(&mut session, size, HostKind::Managed, 0)?;
        address.set(base as DevicePtr)
    }

    fn cuMemFree_v2(address: DevicePtr) {
        free(address)
    }

    fn cuMemAllocAsync(address: Out<DevicePtr>, size: usize, stream: Handle) {
        let session = Session::begin()?;
        let pool = session.state.current_pool;
        session.allocate_in_order(address, size, pool, stream)
    }

    fn cuMemFreeAsync(address: DevicePtr, stream: Handle) {
        free_in_order(address, stream)
    }

    fn cuMemAdvise(address: DevicePtr, count: usize, _advice: c_uint, _device: i32) {
        advise(address, count)
    }

    fn cuMemAdvise_v2(address: DevicePtr, count: usize, _advice: c_uint, _location: MemLocation) {
        advise(address, count)
    }

    fn cuMemPrefetchAsync(address: DevicePtr, count: usize, _device: i32, stream: Handle) {
        Session::begin()?.stream(stream)?;
        advise(address, count)
    }

    fn cuMemPrefetchAsync_v2(
        address: DevicePtr,
        count: usize,
        _location: MemLocation,
        _flags: c_uint,
        stream: Handle,
    ) {
        Session::begin()?.stream(stream)?;
        advise(address, count)
    }

    fn cuMemGetAddressRange_v2(base: Out<DevicePtr>, size: Out<usize>, address: DevicePtr) {
        let session = Session::begin()?;
        let allocation = session.driver.machine.memory().find(address).ok_or(Error::NOT_FOUND)?;
        base.set_if_wanted(allocation.base);
        size.set_if_wanted(allocation.size as usize);
        Ok(())
    }

    fn cuMemRangeGetAttribute(_data: Raw, _size: usize, _attribute: c_uint, address: DevicePtr, count: usize) {
        advise(address, count)?;
        Err(Error::NOT_SUPPORTED)
    }
}
