//! What the driver knows about an address (`CUpointer_attribute`).

use std::ffi::{c_int, c_uint};

use fusion_machine::{Allocation, AllocationKind};

use crate::boundary::{In, Raw, export};
use crate::driver::Session;
use crate::error::{Error, Result};
use crate::ffi::{DevicePtr, Handle, MEMORYTYPE_DEVICE, MEMORYTYPE_HOST};

const CONTEXT: c_uint = 1;
const MEMORY_TYPE: c_uint = 2;
const DEVICE_POINTER: c_uint = 3;
const HOST_POINTER: c_uint = 4;
const SYNC_MEMOPS: c_uint = 6;
const BUFFER_ID: c_uint = 7;
const IS_MANAGED: c_uint = 8;
const DEVICE_ORDINAL: c_uint = 9;
const IS_LEGACY_IPC_CAPABLE: c_uint = 10;
const RANGE_START: c_uint = 11;
const RANGE_SIZE: c_uint = 12;
const MAPPED: c_uint = 13;
const ALLOWED_HANDLE_TYPES: c_uint = 14;
const IS_RDMA_CAPABLE: c_uint = 15;
const ACCESS_FLAGS: c_uint = 16;
const MEMPOOL: c_uint = 17;

/// A value with the width in which it is returned.
enum Value {
    Int(c_int),
    Flag(bool),
    Long(u64),
}

impl Value {
    fn store(self, data: Raw) -> Result {
        match self {
            Self::Int(value) => data.as_out().set(value),
            Self::Flag(value) => data.as_out().set(u8::from(value)),
            Self::Long(value) => data.as_out().set(value),
        }
    }
}

fn attribute(session: &Session, allocation: &Allocation, attribute: c_uint, address: DevicePtr) -> Result<Value> {
    use AllocationKind::{Managed, Pinned};
    let owned = session.state.owned.get(&allocation.base);
    let block = session.state.host_blocks.get(&(allocation.base as usize));
    Ok(match attribute {
        CONTEXT => {
            let context: Option<Handle> = owned.map(|o| o.context).or(block.map(|b| b.context));
            Value::Long(context.unwrap_or(session.context) as u64)
        }
        MEMORY_TYPE => Value::Int(if allocation.kind == Pinned { MEMORYTYPE_HOST } else { MEMORYTYPE_DEVICE }),
        DEVICE_POINTER => Value::Long(address),
        HOST_POINTER if matches!(allocation.kind, Managed | Pinned) => Value::Long(address),
        SYNC_MEMOPS => Value::Flag(false),
        BUFFER_ID => Value::Long(allocation.id),
        IS_MANAGED => Value::Flag(allocation.kind == Managed),
        DEVICE_ORDINAL => Value::Int(0),
        IS_LEGACY_IPC_CAPABLE | IS_RDMA_CAPABLE => Value::Flag(false),
        RANGE_START => Value::Long(allocation.base),
        RANGE_SIZE => Value::Long(allocation.size),
        MAPPED => Value::Flag(true),
        ALLOWED_HANDLE_TYPES => Value::Long(0),
        ACCESS_FLAGS => Value::Int(3),
        MEMPOOL => Value::Long(owned.and_then(|o| o.pool).unwrap_or(0) as u64),
        _ => return Err(Error::INVALID_VALUE),
    })
}

/// What is returned for an address that the driver does not know.
fn unknown(attribute: c_uint) -> Value {
    match attribute {
        MEMORY_TYPE | ACCESS_FLAGS => Value::Int(0),
        DEVICE_ORDINAL => Value::Int(-2),
        SYNC_MEMOPS | IS_MANAGED | IS_LEGACY_IPC_CAPABLE | MAPPED | IS_RDMA_CAPABLE => Value::Flag(false),
        _ => Value::Long(0),
    }
}

export! {
    fn cuPointerGetAttribute(data: Raw, which: c_uint, address: DevicePtr) {
        let session = Session::begin()?;
        let allocation = session.driver.machine.memory().find(address).ok_or(Error::INVALID_VALUE)?;
        attribute(&session, &allocation, which, address)?.store(data)
    }

    fn cuPointerGetAttributes(count: c_uint, which: In<c_uint>, data: In<Raw>, address: DevicePtr) {
        let session = Session::begin()?;
        let allocation = session.driver.machine.memory().find(address);
        let count = count as usize;
        for (which, data) in which.get_all(count)?.into_iter().zip(data.get_all(count)?) {
            let value = allocation.as_ref().map(|a| attribute(&session, a, which, address));
            value.and_then(Result::ok).unwrap_or_else(|| unknown(which)).store(data)?;
        }
        Ok(())
    }

    fn cuPointerSetAttribute(value: Raw, which: c_uint, address: DevicePtr) {
        let session = Session::begin()?;
        session.driver.machine.memory().find(address).ok_or(Error::INVALID_VALUE)?;
        value.as_in::<c_int>().get()?;
        if which == SYNC_MEMOPS { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }
}
