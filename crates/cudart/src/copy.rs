//! Copies, whose direction the caller states.

use std::ffi::{c_int, c_uint};

use crate::boundary::{Handle, Ptr, driver, export};
use crate::error::{Error, Result};
use crate::{device, registry};

/// `cudaMemcpyKind`.
const HOST_TO_HOST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
pub(crate) const DEFAULT: c_int = 4;
/// `CUmemorytype`.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const UNIFIED: c_uint = 4;

/// `CUDA_MEMCPY2D`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Copy2D {
    src: Side,
    dst: Side,
    width: usize,
    height: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Side {
    x: usize,
    y: usize,
    kind: c_uint,
    host: Ptr,
    device: Ptr,
    array: Handle,
    pitch: usize,
}

driver! {
    fn cuMemcpy(dst: Ptr, src: Ptr, count: usize);
    fn cuMemcpyAsync(dst: Ptr, src: Ptr, count: usize, stream: Handle);
    fn cuMemcpyHtoD_v2(dst: Ptr, src: Ptr, count: usize);
    fn cuMemcpyHtoDAsync_v2(dst: Ptr, src: Ptr, count: usize, stream: Handle);
    fn cuMemcpyDtoH_v2(dst: Ptr, src: Ptr, count: usize);
    fn cuMemcpyDtoHAsync_v2(dst: Ptr, src: Ptr, count: usize, stream: Handle);
    fn cuMemcpyDtoD_v2(dst: Ptr, src: Ptr, count: usize);
    fn cuMemcpyDtoDAsync_v2(dst: Ptr, src: Ptr, count: usize, stream: Handle);
    fn cuMemcpy2DUnaligned_v2(copy: *const Copy2D);
    fn cuMemcpy2DAsync_v2(copy: *const Copy2D, stream: Handle);
}

/// A copy of bytes in a row: on a stream, or at once.
pub(crate) fn linear(dst: Ptr, src: Ptr, count: usize, kind: c_int, stream: Option<Handle>) -> Result {
    device::begin()?;
    if count == 0 {
        return Ok(());
    }
    match (kind, stream) {
        (HOST_TO_DEVICE, None) => cuMemcpyHtoD_v2(dst, src, count),
        (HOST_TO_DEVICE, Some(stream)) => cuMemcpyHtoDAsync_v2(dst, src, count, stream),
        (DEVICE_TO_HOST, None) => cuMemcpyDtoH_v2(dst, src, count),
        (DEVICE_TO_HOST, Some(stream)) => cuMemcpyDtoHAsync_v2(dst, src, count, stream),
        (DEVICE_TO_DEVICE, None) => cuMemcpyDtoD_v2(dst, src, count),
        (DEVICE_TO_DEVICE, Some(stream)) => cuMemcpyDtoDAsync_v2(dst, src, count, stream),
        // What the pointers are the driver sees.
        (HOST_TO_HOST | DEFAULT, None) => cuMemcpy(dst, src, count),
        (HOST_TO_HOST | DEFAULT, Some(stream)) => cuMemcpyAsync(dst, src, count, stream),
        _ => Err(Error::INVALID_MEMCPY_DIRECTION),
    }
}

/// Address and pitch of one side of a copy of rows.
pub(crate) type Rows = (Ptr, usize);

pub(crate) fn rows(dst: Rows, src: Rows, width: usize, height: usize, kind: c_int, stream: Option<Handle>) -> Result {
    device::begin()?;
    let (to, from) = match kind {
        HOST_TO_HOST => (HOST, HOST),
        HOST_TO_DEVICE => (DEVICE, HOST),
        DEVICE_TO_HOST => (HOST, DEVICE),
        DEVICE_TO_DEVICE => (DEVICE, DEVICE),
        DEFAULT => (UNIFIED, UNIFIED),
        _ => return Err(Error::INVALID_MEMCPY_DIRECTION),
    };
    if width == 0 || height == 0 {
        return Ok(());
    }
    // Each kind of memory looks at the address that is its own.
    let side = |(address, pitch): Rows, kind| Side {
        x: 0,
        y: 0,
        kind,
        host: address,
        device: address,
        array: std::ptr::null_mut(),
        pitch,
    };
    let copy = Copy2D { src: side(src, from), dst: side(dst, to), width, height };
    match stream {
        None => cuMemcpy2DUnaligned_v2(&raw const copy),
        Some(stream) => cuMemcpy2DAsync_v2(&raw const copy, stream),
    }
}

/// The place in a variable of the device, with room for so many bytes.
pub(crate) fn place(symbol: Ptr, offset: usize, count: usize) -> Result<Ptr> {
    let (address, size) = registry::variable(symbol)?;
    let fits = offset.checked_add(count).is_some_and(|end| end <= size);
    if fits { Ok(address.wrapping_byte_add(offset)) } else { Err(Error::INVALID_VALUE) }
}

export! {
    fn cudaMemcpy(dst: Ptr, src: Ptr, count: usize, kind: c_int) {
        linear(dst, src, count, kind, None)
    }

    fn cudaMemcpyAsync(dst: Ptr, src: Ptr, count: usize, kind: c_int, stream: Handle) {
        linear(dst, src, count, kind, Some(stream))
    }

    fn cudaMemcpy2D(dst: Ptr, dst_pitch: usize, src: Ptr, src_pitch: usize, width: usize, height: usize, kind: c_int) {
        rows((dst, dst_pitch), (src, src_pitch), width, height, kind, None)
    }

    fn cudaMemcpy2DAsync(
        dst: Ptr,
        dst_pitch: usize,
        src: Ptr,
        src_pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
        stream: Handle,
    ) {
        rows((dst, dst_pitch), (src, src_pitch), width, height, kind, Some(stream))
    }

    fn cudaMemcpyToSymbol(symbol: Ptr, src: Ptr, count: usize, offset: usize, kind: c_int) {
        linear(place(symbol, offset, count)?, src, count, kind, None)
    }

    fn cudaMemcpyToSymbolAsync(symbol: Ptr, src: Ptr, count: usize, offset: usize, kind: c_int, stream: Handle) {
        linear(place(symbol, offset, count)?, src, count, kind, Some(stream))
    }

    fn cudaMemcpyFromSymbol(dst: Ptr, symbol: Ptr, count: usize, offset: usize, kind: c_int) {
        linear(dst, place(symbol, offset, count)?, count, kind, None)
    }

    fn cudaMemcpyFromSymbolAsync(dst: Ptr, symbol: Ptr, count: usize, offset: usize, kind: c_int, stream: Handle) {
        linear(dst, place(symbol, offset, count)?, count, kind, Some(stream))
    }
}
