//! Device attributes (`CUdevice_attribute`), answered from the profile.
//!
//! What no profile holds is the same for every GPU that is emulated; those values are of the CUDA
//! programming guide's table of technical specifications per compute capability.

use std::ffi::{c_int, c_uint};

use fusion_machine::Profile;

use crate::error::{Error, Result};
use crate::report;

/// Registers that the threads of a block share.
pub(crate) const REGISTERS_PER_BLOCK: u32 = 65536;

/// The first number that no version of CUDA so far gives a meaning.
const UNKNOWN: c_uint = 163;

/// Multiprocessors that programs find: those of the profile, unless our own tools have said fewer.
pub(crate) fn multiprocessors(profile: &Profile) -> u32 {
    report::multiprocessors().map_or(profile.sms, |few| few.min(profile.sms))
}

pub(crate) fn device_attribute(profile: &Profile, attribute: c_uint) -> Result<c_int> {
    let value: u64 = match attribute {
        0 | UNKNOWN.. => return Err(Error::INVALID_VALUE),
        1 => Profile::MAX_THREADS_PER_BLOCK.into(),
        2..=4 => Profile::MAX_BLOCK[attribute as usize - 2].into(),
        5..=7 => Profile::MAX_GRID[attribute as usize - 5].into(),
        8 => profile.shared_per_block.into(),
        // TOTAL_CONSTANT_MEMORY, WARP_SIZE, MAX_PITCH
        9 => Profile::CONSTANT_BYTES.into(),
        10 => Profile::WARP_SIZE.into(),
        11 => i32::MAX as u64,
        12 => REGISTERS_PER_BLOCK.into(),
        13 => profile.sm_clock_khz.into(),
        // TEXTURE_ALIGNMENT, GPU_OVERLAP
        14 => 512,
        15 => 1,
        16 => multiprocessors(profile).into(),
        // KERNEL_EXEC_TIMEOUT: the instruction budget is one. INTEGRATED: no. CAN_MAP_HOST_MEMORY: yes. COMPUTE_MODE: default.
        17 => 1,
        18 => 0,
        19 => 1,
        20 => 0,
        // SURFACE_ALIGNMENT, CONCURRENT_KERNELS, ECC_ENABLED, PCI_BUS_ID, PCI_DEVICE_ID, TCC_DRIVER
        30 => 512,
        31 => 1,
        32..=35 => 0,
        36 => profile.memory_clock_khz.into(),
        37 => profile.memory_bus_bits.into(),
        38 => profile.l2_bytes,
        39 => profile.max_threads_per_sm.into(),
        // ASYNC_ENGINE_COUNT, UNIFIED_ADDRESSING
        40 => profile.copy_engines.into(),
        41 => 1,
        // TEXTURE_PITCH_ALIGNMENT
        51 => 32,
        75 => profile.compute.0.into(),
        76 => profile.compute.1.into(),
        // STREAM_PRIORITIES_SUPPORTED, GLOBAL_L1_CACHE_SUPPORTED, LOCAL_L1_CACHE_SUPPORTED
        78..=80 => 1,
        81 => profile.shared_per_sm.into(),
        82 => profile.registers_per_sm.into(),
        // MANAGED_MEMORY
        83 => 1,
        // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: 2 on the large chips of a generation, 32 or 64 on the others.
        87 => match profile.compute {
            (6..=10, 0) => 2,
            (7, 5) => 32,
            _ => 64,
        },
        // CONCURRENT_MANAGED_ACCESS, COMPUTE_PREEMPTION_SUPPORTED, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
        89..=91 => 1,
        // COOPERATIVE_LAUNCH
        95 => 1,
        97 => profile.shared_per_block_optin.into(),
        // HOST_REGISTER_SUPPORTED
        99 => 1,
        106 => profile.max_blocks_per_sm.into(),
        111 => profile.shared_reserved.into(),
        // MEMORY_POOLS_SUPPORTED
        115 => 1,
        // CLUSTER_LAUNCH
        120 => profile.has_clusters().into(),
        // NUMA_ID, HOST_NUMA_ID: there is none.
        131 | 134 => return Ok(-1),
        // Textures, surfaces, virtual memory management, interprocess handles and the like: not offered.
        _ => 0,
    };
    Ok(c_int::try_from(value).unwrap_or(c_int::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_from_the_profile() {
        let h200 = Profile::named("h200").unwrap();
        assert_eq!(device_attribute(h200, 75), Ok(9));
        assert_eq!(device_attribute(h200, 16), Ok(132));
        assert_eq!(device_attribute(h200, 97), Ok(227 << 10));
        assert_eq!(device_attribute(h200, 9999), Err(Error::INVALID_VALUE));
    }
}
