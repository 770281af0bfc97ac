//! Keeps the GPU from beginning before all that is to be timed is queued.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule, CudaStream, DriverError, LaunchConfig, PushKernelArg};

/// Clock cycles: half a millisecond at first. What is not queued after 30 ms waits for the device itself.
const LEAST: i64 = 1 << 20;
const MOST: i64 = 1 << 26;

/// A kernel that only waits, queued before a batch of timed launches.
///
/// Where the GPU reaches an event before the host has queued the launch after it, the time between two events has a part
/// of the host's in it; of a kernel of five microseconds that is soon a tenth.
#[derive(Debug)]
pub struct Hold {
    kernel: CudaFunction,
    cycles: i64,
}

impl Hold {
    /// `module` is made of [`crate::timing`].
    ///
    /// # Errors
    /// The driver's.
    pub fn new(module: &Arc<CudaModule>) -> Result<Hold, DriverError> {
        Ok(Hold { kernel: module.load_function("hold")?, cycles: LEAST })
    }

    /// Queues the wait.
    ///
    /// # Errors
    /// The driver's.
    pub fn run(&self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
        let mut launch = stream.launch_builder(&self.kernel);
        launch.arg(&self.cycles);
        // SAFETY: the argument is the kernel's parameter; it touches no memory.
        unsafe { launch.launch(config) }?;
        Ok(())
    }

    /// Makes the next wait as short as the first was.
    pub fn shorten(&mut self) {
        self.cycles = LEAST;
    }

    /// Makes the next wait twice as long; false where it is as long as it may be.
    pub fn lengthen(&mut self) -> bool {
        let longer = self.cycles < MOST;
        self.cycles = (2 * self.cycles).min(MOST);
        longer
    }
}
