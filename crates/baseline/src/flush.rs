//! Empties the L2 cache between timed runs.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};

/// A buffer of twice the L2, and the kernel that reads it.
#[derive(Debug)]
pub struct Flush {
    kernel: CudaFunction,
    buffer: CudaSlice<u8>,
    sink: CudaSlice<u32>,
}

impl Flush {
    /// `module` is made of [`crate::timing`]; `l2_bytes` is the device's cache.
    ///
    /// # Errors
    /// The driver's, when the buffer cannot be allocated.
    pub fn new(stream: &Arc<CudaStream>, module: &Arc<CudaModule>, l2_bytes: u64) -> Result<Flush, DriverError> {
        let mut buffer = stream.alloc_zeros(Self::bytes(l2_bytes))?;
        // Bytes that are not all alike, should a device compress what is.
        let pattern: Vec<u8> = (0..buffer.len()).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        stream.memcpy_htod(&pattern, &mut buffer)?;
        Ok(Flush { kernel: module.load_function("flush_l2")?, buffer, sink: stream.alloc_zeros(1)? })
    }

    /// Bytes of the buffer: twice the L2, so that whatever way lines are replaced, none stays.
    pub fn bytes(l2_bytes: u64) -> usize {
        (2 * l2_bytes as usize).next_multiple_of(16).max(32 << 20)
    }

    /// Queues the flush.
    ///
    /// # Errors
    /// The driver's.
    pub fn run(&mut self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        let vectors = self.buffer.len() / 16;
        let config = LaunchConfig { grid_dim: (2048, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&self.kernel);
        launch.arg(&self.buffer).arg(&mut self.sink).arg(&vectors);
        // SAFETY: the kernel reads `vectors` 16-byte elements of the buffer, which it has, and may write the one
        // element of the sink.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}
