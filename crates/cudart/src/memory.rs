//! Memory: allocations, fills, and what a pointer is. What the driver has under the same arguments is in `forward.rs`.

use std::ffi::{c_int, c_uint, c_void};

use crate::boundary::{Handle, Ptr, driver, export, put};
use crate::device;
use crate::error::{Error, Result};

/// `CUpointer_attribute`.
const MEMORY_TYPE: c_int = 2;
const DEVICE_POINTER: c_int = 3;
const HOST_POINTER: c_int = 4;
const IS_MANAGED: c_int = 8;
/// `cudaMemoryType`; the first three are also `CUmemorytype`.
const UNREGISTERED: c_int = 0;
const HOST: c_int = 1;
const DEVICE: c_int = 2;
const MANAGED: c_int = 3;
/// `cudaInvalidDeviceId`.
const NO_DEVICE: c_int = -2;
/// What rows of a pitched allocation are made of, at most.
const ELEMENT: c_uint = 16;

/// `cudaPointerAttributes`, as far as it means something.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct PointerAttributes {
    kind: c_int,
    device: c_int,
    device_pointer: Ptr,
    host_pointer: Ptr,
}

driver! {
    fn cuMemAlloc_v2(out: *mut Ptr, size: usize);
    fn cuMemAllocPitch_v2(out: *mut Ptr, pitch: *mut usize, width: usize, height: usize, element: c_uint);
    fn cuMemFree_v2(address: Ptr);
    fn cuMemFreeHost(address: Ptr);
    fn cuMemsetD8_v2(address: Ptr, value: u8, count: usize);
    fn cuMemsetD8Async(address: Ptr, value: u8, count: usize, stream: Handle);
    fn cuMemsetD2D8_v2(address: Ptr, pitch: usize, value: u8, width: usize, height: usize);
    fn cuMemsetD2D8Async(address: Ptr, pitch: usize, value: u8, width: usize, height: usize, stream: Handle);
    fn cuPointerGetAttribute(value: *mut c_void, attribute: c_int, address: Ptr);
}

fn attribute<T>(attribute: c_int, address: Ptr, mut value: T) -> Option<T> {
    cuPointerGetAttribute((&raw mut value).cast(), attribute, address).is_ok().then_some(value)
}

fn attributes(address: Ptr) -> PointerAttributes {
    let null = std::ptr::null_mut();
    let pointer = |which| attribute::<Ptr>(which, address, null).unwrap_or(null);
    let managed = attribute::<c_uint>(IS_MANAGED, address, 0) == Some(1);
    let kind = attribute::<c_uint>(MEMORY_TYPE, address, 0).map_or(UNREGISTERED, |kind| kind as c_int);
    match kind {
        _ if managed => PointerAttributes { kind: MANAGED, device: 0, device_pointer: address, host_pointer: address },
        DEVICE => PointerAttributes { kind, device: 0, device_pointer: address, host_pointer: null },
        HOST => PointerAttributes {
            kind,
            device: 0,
            device_pointer: pointer(DEVICE_POINTER),
            host_pointer: pointer(HOST_POINTER),
        },
        _ => PointerAttributes { kind: UNREGISTERED, device: NO_DEVICE, device_pointer: null, host_pointer: address },
    }
}

/// A fill of bytes: on a stream, or on the legacy one.
pub(crate) fn fill(address: Ptr, value: c_int, count: usize, stream: Option<Handle>) -> Result {
    device::begin()?;
    match (count, stream) {
        (0, _) => Ok(()),
        (_, None) => cuMemsetD8_v2(address, value as u8, count),
        (_, Some(stream)) => cuMemsetD8Async(address, value as u8, count, stream),
    }
}

pub(crate) fn fill_rows(
    address: Ptr,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    stream: Option<Handle>,
) -> Result {
    device::begin()?;
    match stream {
        None => cuMemsetD2D8_v2(address, pitch, value as u8, width, height),
        Some(stream) => cuMemsetD2D8Async(address, pitch, value as u8, width, height, stream),
    }
}

/// Frees what may be null.
fn free(address: Ptr, free: impl FnOnce(Ptr) -> Result) -> Result {
    device::begin()?;
    if address.is_null() { Ok(()) } else { free(address) }
}

export! {
    fn cudaMalloc(out: *mut Ptr, size: usize) {
        device::begin()?;
        if size == 0 { put(out, std::ptr::null_mut()) } else { cuMemAlloc_v2(out, size) }
    }

    fn cudaMallocPitch(out: *mut Ptr, pitch: *mut usize, width: usize, height: usize) {
        device::begin()?;
        cuMemAllocPitch_v2(out, pitch, width, height, ELEMENT)
    }

    fn cudaFree(address: Ptr) {
        free(address, cuMemFree_v2)
    }

    fn cudaFreeHost(address: Ptr) {
        free(address, cuMemFreeHost)
    }

    fn cudaMemset(address: Ptr, value: c_int, count: usize) {
        fill(address, value, count, None)
    }

    fn cudaMemsetAsync(address: Ptr, value: c_int, count: usize, stream: Handle) {
        fill(address, value, count, Some(stream))
    }

    fn cudaMemset2D(address: Ptr, pitch: usize, value: c_int, width: usize, height: usize) {
        fill_rows(address, pitch, value, width, height, None)
    }

    fn cudaMemset2DAsync(address: Ptr, pitch: usize, value: c_int, width: usize, height: usize, stream: Handle) {
        fill_rows(address, pitch, value, width, height, Some(stream))
    }

    fn cudaPointerGetAttributes(out: *mut PointerAttributes, address: Ptr) {
        device::begin()?;
        put(out, attributes(address))
    }

    /// Where managed memory lies is no question here: a program's hints are taken note of and nothing more.
    fn cudaMemPrefetchAsync() {
        device::begin()
    }

    fn cudaMemAdvise() {
        device::begin()
    }

    fn cudaMemcpyPeer(dst: Ptr, dst_device: c_int, src: Ptr, src_device: c_int, count: usize) {
        if (dst_device, src_device) != (0, 0) {
            return Err(Error::INVALID_DEVICE);
        }
        crate::copy::linear(dst, src, count, crate::copy::DEFAULT, None)
    }
}
