//! Memory pools, from which stream-ordered allocations come.

use std::ffi::{c_int, c_uint};

use crate::boundary::{In, Out, Raw, export};
use crate::driver::{Session, driver};
use crate::error::{Error, Result};
use crate::ffi::{Device, DevicePtr, Handle, MemAccessDesc, MemLocation, MemPoolProps};

/// `CU_MEM_LOCATION_TYPE_DEVICE`, `CU_MEM_ALLOCATION_TYPE_PINNED`, `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const LOCATION_DEVICE: c_int = 1;
const TYPE_PINNED: c_int = 1;
const READ_WRITE: c_int = 3;

/// A pool. Its memory goes back to the device when it is freed, so that what it reserves is what is used.
#[derive(Debug)]
pub(crate) struct Pool {
    used: u64,
    high: u64,
    release_threshold: u64,
    /// Whether memory may be reused after events, opportunistically, with internal dependencies: without effect here.
    reuse: [c_int; 3],
}

impl Default for Pool {
    fn default() -> Self {
        Self { used: 0, high: 0, release_threshold: 0, reuse: [1; 3] }
    }
}

impl Pool {
    pub(crate) fn take(&mut self, size: u64) {
        self.used += size;
        self.high = self.high.max(self.used);
    }

    pub(crate) fn give_back(&mut self, size: u64) {
        self.used = self.used.saturating_sub(size);
    }
}

fn check(device: Device) -> Result {
    if device == 0 { Ok(()) } else { Err(Error::INVALID_DEVICE) }
}

export! {
    fn cuDeviceGetDefaultMemPool(pool: Out<Handle>, device: Device) {
        let driver = driver()?;
        check(device)?;
        pool.set(driver.state().default_pool)
    }

    fn cuDeviceGetMemPool(pool: Out<Handle>, device: Device) {
        let driver = driver()?;
        check(device)?;
        pool.set(driver.state().current_pool)
    }

    fn cuDeviceSetMemPool(device: Device, pool: Handle) {
        let driver = driver()?;
        check(device)?;
        let mut state = driver.state();
        state.pools.get(pool).map_err(|_| Error::INVALID_VALUE)?;
        state.current_pool = pool;
        Ok(())
    }

    fn cuMemPoolCreate(pool: Out<Handle>, properties: In<MemPoolProps>) {
        let driver = driver()?;
        pool.required()?;
        let properties = properties.get()?;
        if properties.alloc_type != TYPE_PINNED || properties.location.kind != LOCATION_DEVICE {
            return Err(Error::INVALID_VALUE);
        }
        if properties.handle_types != 0 {
            return Err(Error::NOT_SUPPORTED);
        }
        check(properties.location.id)?;
        pool.set(driver.state().pools.insert(Pool::default()))
    }

    fn cuMemPoolDestroy(pool: Handle) {
        let mut state = driver()?.state();
        if pool == state.default_pool {
            return Err(Error::INVALID_VALUE);
        }
        state.pools.remove(pool).map_err(|_| Error::INVALID_VALUE)?;
        if state.current_pool == pool {
            state.current_pool = state.default_pool;
        }
        Ok(())
    }

    fn cuMemPoolTrimTo(pool: Handle, _keep: usize) {
        driver()?.state().pools.get(pool).map(|_| ()).map_err(|_| Error::INVALID_VALUE)
    }

    fn cuMemPoolGetAttribute(pool: Handle, attribute: c_uint, value: Raw) {
        let state = driver()?.state();
        let pool = state.pools.get(pool).map_err(|_| Error::INVALID_VALUE)?;
        match attribute {
            1..=3 => value.as_out::<c_int>().set(pool.reuse[attribute as usize - 1]),
            4 => value.as_out::<u64>().set(pool.release_threshold),
            5 | 7 => value.as_out::<u64>().set(pool.used),
            6 | 8 => value.as_out::<u64>().set(pool.high),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cuMemPoolSetAttribute(pool: Handle, attribute: c_uint, value: Raw) {
        let mut state = driver()?.state();
        let pool = state.pools.get_mut(pool).map_err(|_| Error::INVALID_VALUE)?;
        match attribute {
            1..=3 => pool.reuse[attribute as usize - 1] = value.as_in::<c_int>().get()?,
            4 => pool.release_threshold = value.as_in::<u64>().get()?,
            // A high-water mark may only be reset.
            6 | 8 if value.as_in::<u64>().get()? == 0 => pool.high = pool.used,
            _ => return Err(Error::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuMemPoolGetAccess(flags: Out<c_int>, pool: Handle, location: In<MemLocation>) {
        driver()?.state().pools.get(pool).map_err(|_| Error::INVALID_VALUE)?;
        check(location.get()?.id)?;
        flags.set(READ_WRITE)
    }

    fn cuMemPoolSetAccess(pool: Handle, access: In<MemAccessDesc>, count: usize) {
        driver()?.state().pools.get(pool).map_err(|_| Error::INVALID_VALUE)?;
        // The only device there is may always read and write its own pools.
        let allowed = access.get_all(count)?.iter().all(|a| a.location.id == 0 && a.flags == READ_WRITE);
        if allowed { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    fn cuMemAllocFromPoolAsync(address: Out<DevicePtr>, size: usize, pool: Handle, stream: Handle) {
        Session::begin()?.allocate_in_order(address, size, pool, stream)
    }
}
