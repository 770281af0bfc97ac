//! The launches, in plain cudarc: none of them knows whether the GPU is a real one.

// A launch is unsafe: see `scale`.
#![allow(unsafe_code)]

use std::error::Error;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream};
use cudarc::driver::{CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

// ANCHOR: scale
/// Queues one launch of a kernel that computes y = a * x.
pub(crate) fn scale(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    name: &str,
    x: &CudaView<'_, f32>,
    y: &mut CudaViewMut<'_, f32>,
    a: f32,
) -> Result<(), DriverError> {
    const THREADS: u32 = 256;

    let n = y.len();
    assert_eq!(x.len(), n, "x and y must have the same length");
    if n == 0 {
        return Ok(());
    }
    let kernel = module.load_function(name)?;
    let blocks = n.div_ceil(THREADS as usize) as u32;
    let config = LaunchConfig {
        grid_dim: (blocks, 1, 1),   // how many blocks, in x, y and z
        block_dim: (THREADS, 1, 1), // how many threads each block has
        shared_mem_bytes: 0,        // dynamic shared memory per block: none
    };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(x).arg(y).arg(&a).arg(&n);
    // SAFETY: the arguments are the kernel's parameters in their order and of their types,
    // and the kernel touches only the first n elements, which both views have.
    unsafe { launch.launch(config) }?;
    Ok(())
}
// ANCHOR_END: scale

// ANCHOR: around
/// Multiplies numbers of the host on the GPU: copy in, launch, copy out.
pub(crate) fn scale_on_gpu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    name: &str,
    numbers: &[f32],
    a: f32,
) -> Result<Vec<f32>, DriverError> {
    let x = stream.clone_htod(numbers)?; // allocates on the GPU, and copies from the host
    let mut y = stream.alloc_zeros::<f32>(numbers.len())?; // allocates, and fills with 0
    scale(stream, module, name, &x.as_view(), &mut y.as_view_mut(), a)?;
    stream.clone_dtoh(&y) // waits for the kernel, and copies back
}
// ANCHOR_END: around

// ANCHOR: hello
/// Lets each thread of a small grid print what it knows.
pub(crate) fn hello(
    stream: &Arc<CudaStream>, // the queue that the launch goes into
    module: &Arc<CudaModule>, // the compiled kernels
) -> Result<(), DriverError> {
    let kernel = module.load_function("hello")?;
    let config = LaunchConfig {
        grid_dim: (2, 1, 1),  // 2 blocks
        block_dim: (4, 1, 1), // of 4 threads each
        shared_mem_bytes: 0,
    };
    // SAFETY: the kernel has no parameters.
    unsafe { stream.launch_builder(&kernel).launch(config) }?;
    stream.synchronize() // waits until the kernel has ended
}
// ANCHOR_END: hello

/// What the lesson leaves to [`fusion_device`], which finds NVRTC where cudarc does not look for it.
#[expect(dead_code, reason = "the book shows it")]
// ANCHOR: module
pub(crate) fn find_scale(context: &Arc<CudaContext>) -> Result<CudaFunction, Box<dyn Error>> {
    let ptx = cudarc::nvrtc::compile_ptx(include_str!("kernels.cu"))?; // CUDA C++ to PTX
    let module = context.load_module(ptx)?; // the driver loads the PTX
    let kernel = module.load_function("scale")?; // one kernel, by its name
    Ok(kernel)
}
// ANCHOR_END: module

/// Reverses the order within each group of 64 numbers, by a kernel with that contract. All groups are whole.
pub(crate) fn reverse_on_gpu(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    name: &str,
    numbers: &[f32],
) -> Result<Vec<f32>, DriverError> {
    let x = stream.clone_htod(numbers)?;
    let mut y = stream.alloc_zeros::<f32>(numbers.len())?;
    let kernel = module.load_function(name)?;
    let blocks = (numbers.len() / 64) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: two buffers, of which each thread touches one element: there are as many threads as elements.
    unsafe { stream.launch_builder(&kernel).arg(&x).arg(&mut y).launch(config) }?;
    stream.clone_dtoh(&y)
}
