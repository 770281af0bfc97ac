//! What a launch takes of an SM: registers, shared memory, and so how many warps fit.

use cudarc::driver::{CudaFunction, DriverError};
use fusion_device::Device;
use fusion_machine::occupancy::{Block, Limiter};
use serde::{Deserialize, Serialize};

/// What a kernel takes of an SM.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Takes {
    /// Of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread: spilled registers, and arrays that are indexed at run time.
    pub local_bytes: u32,
    /// Bytes of a block, static and dynamic.
    pub shared_bytes: u32,
    /// On one SM at a time, and how many it can hold.
    pub warps: u32,
    pub most_warps: u32,
    /// What prevents one more block.
    pub limited_by: Vec<String>,
}

impl Takes {
    /// Of a launch with blocks of these dimensions and so much shared memory, static and dynamic.
    pub(crate) fn of(device: &Device, function: &CudaFunction, block: [u32; 3], shared_bytes: u32) -> Self {
        let [registers, local_bytes] = [function.num_regs(), function.local_size_bytes()].map(known);
        let threads = block.iter().fold(1_u32, |all, side| all.saturating_mul(*side));
        let occupancy = device.properties.limits.occupancy(&Block { threads, registers, shared: shared_bytes });
        let limited_by = occupancy.limiters().map(|limiter| limiter_text(limiter).to_owned()).collect();
        let (warps, most_warps) = (occupancy.warps, occupancy.max_warps);
        Self { registers, local_bytes, shared_bytes, warps, most_warps, limited_by }
    }
}

/// What the driver says, where it does.
pub(crate) fn known(said: Result<i32, DriverError>) -> u32 {
    said.ok().and_then(|known| u32::try_from(known).ok()).unwrap_or(0)
}

fn limiter_text(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::Threads => "threads",
        Limiter::Registers => "registers",
        Limiter::SharedMemory => "shared memory",
        Limiter::Blocks => "blocks",
    }
}
