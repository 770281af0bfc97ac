//! Launches: `<<<...>>>` as the compiler writes it, and the calls for the same.

use std::cell::RefCell;
use std::ffi::c_uint;

use crate::boundary::{Handle, Ptr, driver, export, get, put};
use crate::error::{Error, Result};
use crate::registry;

/// `dim3`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Dim3 {
    x: c_uint,
    y: c_uint,
    z: c_uint,
}

/// `cudaLaunchConfig_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    pub(crate) stream: Handle,
    attributes: Ptr,
    count: c_uint,
}

/// `CUlaunchConfig`, whose attributes are laid out as the runtime's.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct DriverConfig {
    grid: Dim3,
    block: Dim3,
    shared: c_uint,
    stream: Handle,
    attributes: Ptr,
    count: c_uint,
}

driver! {
    fn cuLaunchKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared: c_uint, stream: Handle, params: *mut Ptr, extra: *mut Ptr,
    );
    fn cuLaunchCooperativeKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared: c_uint, stream: Handle, params: *mut Ptr,
    );
    fn cuLaunchKernelEx(config: *const DriverConfig, function: Handle, params: *mut Ptr, extra: *mut Ptr);
}

/// What stands between `<<<` and `>>>`.
#[derive(Clone, Copy, Debug)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Handle,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

fn shared(bytes: usize) -> Result<c_uint> {
    c_uint::try_from(bytes).map_err(|_| Error::INVALID_VALUE)
}

/// The driver calls a shape that does not fit an invalid value, the runtime an invalid configuration.
fn launched(result: Result) -> Result {
    result.map_err(|error| if error == Error::INVALID_VALUE { Error::INVALID_CONFIGURATION } else { error })
}

fn launch(function: Ptr, grid: Dim3, block: Dim3, params: *mut Ptr, bytes: usize, stream: Handle) -> Result {
    let kernel = registry::kernel(function)?;
    let (bytes, none) = (shared(bytes)?, std::ptr::null_mut());
    launched(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes, stream, params, none))
}

pub(crate) fn extended(config: LaunchConfig, function: Ptr, params: *mut Ptr) -> Result {
    let LaunchConfig { grid, block, shared: bytes, stream, attributes, count } = config;
    let kernel = registry::kernel(function)?;
    let config = DriverConfig { grid, block, shared: shared(bytes)?, stream, attributes, count };
    launched(cuLaunchKernelEx(&raw const config, kernel, params, std::ptr::null_mut()))
}

export! {
    fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: Handle) {
        let configuration = Configuration { grid, block, shared, stream };
        CONFIGURATIONS.try_with(|stack| stack.borrow_mut().push(configuration)).map_err(|_| Error::UNKNOWN)
    }

    fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, stream: *mut Handle) {
        let last = CONFIGURATIONS.try_with(|stack| stack.borrow_mut().pop()).ok().flatten();
        let last = last.ok_or(Error::MISSING_CONFIGURATION)?;
        put(grid, last.grid)?;
        put(block, last.block)?;
        put(shared, last.shared)?;
        put(stream, last.stream)
    }

    fn cudaLaunchKernel(function: Ptr, grid: Dim3, block: Dim3, params: *mut Ptr, shared: usize, stream: Handle) {
        launch(function, grid, block, params, shared, stream)
    }

    fn __cudaLaunchKernel(kernel: Ptr, grid: Dim3, block: Dim3, params: *mut Ptr, shared: usize, stream: Handle) {
        launch(kernel, grid, block, params, shared, stream)
    }

    fn cudaLaunchCooperativeKernel(
        function: Ptr,
        grid: Dim3,
        block: Dim3,
        params: *mut Ptr,
        bytes: usize,
        stream: Handle,
    ) {
        let kernel = registry::kernel(function)?;
        let bytes = shared(bytes)?;
        launched(cuLaunchCooperativeKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes, stream, params,
        ))
    }

    fn cudaLaunchKernelExC(config: *const LaunchConfig, function: Ptr, params: *mut Ptr) {
        extended(get(config)?, function, params)
    }
}
