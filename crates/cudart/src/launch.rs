//! Launches: `<<<...>>>` as the compiler writes it, and the calls for the same.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint};

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
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
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

/// The driver calls a shape that no block or grid has an invalid value, the runtime an invalid configuration.
fn launched(result: Result, grid: Dim3, block: Dim3) -> Result {
    let shape = |error| error == Error::INVALID_VALUE && !exists(grid, block);
    result.map_err(|error| if shape(error) { Error::INVALID_CONFIGURATION } else { error })
}

/// Whether the device launches grids and blocks of this shape.
fn exists(grid: Dim3, block: Dim3) -> bool {
    let most = |attribute: c_int| {
        let mut value = 0;
        let _ = cuDeviceGetAttribute(&raw mut value, attribute, 0);
        u64::try_from(value).unwrap_or(0)
    };
    // `CUdevice_attribute`: threads of a block, then its dimensions and those of a grid.
    let dims = [block.x, block.y, block.z, grid.x, grid.y, grid.z].map(u64::from);
    let threads = dims[..3].iter().fold(1u64, |threads, &n| threads.saturating_mul(n));
    threads <= most(1) && dims.iter().zip(2..).all(|(&n, attribute)| n > 0 && n <= most(attribute))
}

fn launch(function: Ptr, grid: Dim3, block: Dim3, params: *mut Ptr, bytes: usize, stream: Handle) -> Result {
    let kernel = registry::kernel(function)?;
    let (bytes, none) = (shared(bytes)?, std::ptr::null_mut());
    launched(
        cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes, stream, params, none),
        grid,
        block,
    )
}

pub(crate) fn extended(config: LaunchConfig, function: Ptr, params: *mut Ptr) -> Result {
    let LaunchConfig { grid, block, shared: bytes, stream, attributes, count } = config;
    let kernel = registry::kernel(function)?;
    let config = DriverConfig { grid, block, shared: shared(bytes)?, stream, attributes, count };
    launched(cuLaunchKernelEx(&raw const config, kernel, params, std::ptr::null_mut()), grid, block)
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
        let result = cuLaunchCooperativeKernel(
            kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes, stream, params,
        );
        launched(result, grid, block)
    }

    fn cudaLaunchKernelExC(config: *const LaunchConfig, function: Ptr, params: *mut Ptr) {
        extended(get(config)?, function, params)
    }
}
