//! Kernels: what is known of one, what may be set, and how many of its blocks fit.

use std::ffi::{c_char, c_int, c_uint};

use crate::boundary::{Handle, Ptr, driver, export, put};
use crate::error::Result;
use crate::registry::kernel;

/// `cudaFuncAttributes`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct FuncAttributes {
    /// Shared, constant and local memory in bytes.
    sizes: [usize; 3],
    /// From `maxThreadsPerBlock` to `nonPortableClusterSizeAllowed`.
    numbers: [c_int; 13],
    reserved: [c_int; 16],
}

/// Which attributes (`CUfunction_attribute`) these are, in the structure's order.
const SIZES: [c_int; 3] = [1, 2, 3];
const NUMBERS: [c_int; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];

driver! {
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: Handle);
    fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int);
    fn cuFuncSetCacheConfig(function: Handle, config: c_int);
    fn cuFuncSetSharedMemConfig(function: Handle, config: c_int);
    fn cuFuncGetName(name: *mut *const c_char, function: Handle);
    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, size: *mut usize);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: Handle, threads: c_int, shared: usize);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, function: Handle, threads: c_int, shared: usize, flags: c_uint,
    );
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: Handle, blocks: c_int, threads: c_int);
}

fn attribute(function: Handle, attribute: c_int) -> Result<c_int> {
    let mut value = 0;
    cuFuncGetAttribute(&raw mut value, attribute, function)?;
    Ok(value)
}

fn attributes(function: Handle) -> Result<FuncAttributes> {
    let mut all = FuncAttributes::default();
    for (size, which) in all.sizes.iter_mut().zip(SIZES) {
        *size = usize::try_from(attribute(function, which)?).unwrap_or(0);
    }
    for (number, which) in all.numbers.iter_mut().zip(NUMBERS) {
        *number = attribute(function, which)?;
    }
    Ok(all)
}

export! {
    fn cudaFuncGetAttributes(out: *mut FuncAttributes, function: Ptr) {
        put(out, attributes(kernel(function)?)?)
    }

    fn cudaFuncSetAttribute(function: Ptr, attribute: c_int, value: c_int) {
        cuFuncSetAttribute(kernel(function)?, attribute, value)
    }

    fn cudaFuncSetCacheConfig(function: Ptr, config: c_int) {
        cuFuncSetCacheConfig(kernel(function)?, config)
    }

    fn cudaFuncSetSharedMemConfig(function: Ptr, config: c_int) {
        cuFuncSetSharedMemConfig(kernel(function)?, config)
    }

    fn cudaFuncGetName(name: *mut *const c_char, function: Ptr) {
        cuFuncGetName(name, kernel(function)?)
    }

    fn cudaFuncGetParamInfo(function: Ptr, index: usize, offset: *mut usize, size: *mut usize) {
        cuFuncGetParamInfo(kernel(function)?, index, offset, size)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: Ptr, threads: c_int, shared: usize) {
        cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel(function)?, threads, shared)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        function: Ptr,
        threads: c_int,
        shared: usize,
        flags: c_uint,
    ) {
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel(function)?, threads, shared, flags)
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: Ptr, blocks: c_int, threads: c_int) {
        cuOccupancyAvailableDynamicSMemPerBlock(bytes, kernel(function)?, blocks, threads)
    }
}
