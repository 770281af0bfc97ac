//! How many blocks of a kernel fit on one SM at once.
//!
//! The rules are those of NVIDIA's occupancy calculator: a block needs room for its warps, its
//! registers (given to each warp in units, within one of the SM's four partitions) and its shared
//! memory (in units, plus what the system reserves), and an SM holds a limited number of blocks.

use crate::profile::Profile;

/// What [`blocks_per_sm`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Zero when not even one block fits.
    pub blocks: u32,
    /// What prevents one more.
    pub limiter: Limiter,
}

/// The resource that runs out first; of several, the first in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Resident threads (warps) of the SM.
    Threads,
    Registers,
    SharedMemory,
    /// Resident blocks of the SM.
    Blocks,
}

/// Blocks of `threads` threads, with `registers` a thread and `shared` bytes a block (static and
/// dynamic together), that one SM holds at a time.
pub fn blocks_per_sm(profile: &Profile, threads: u32, registers: u32, shared: u32) -> Occupancy {
    let warps = threads.div_ceil(Profile::WARP_SIZE).max(1);
    let limits = [
        (Limiter::Threads, by_threads(profile, threads, warps)),
        (Limiter::Registers, by_registers(profile, registers, warps)),
        (Limiter::SharedMemory, by_shared(profile, shared)),
        (Limiter::Blocks, profile.max_blocks_per_sm),
    ];
    let mut best = limits[0];
    for limit in limits {
        if limit.1 < best.1 {
            best = limit;
        }
    }
    Occupancy { blocks: best.1, limiter: best.0 }
}

/// Resident threads over those that the SM can hold, 0 to 1.
pub fn share(profile: &Profile, threads: u32, blocks: u32) -> f64 {
    let warps = threads.div_ceil(Profile::WARP_SIZE) * blocks;
    f64::from(warps * Profile::WARP_SIZE) / f64::from(profile.max_threads_per_sm)
}

fn by_threads(profile: &Profile, threads: u32, warps: u32) -> u32 {
    if threads > Profile::MAX_THREADS_PER_BLOCK {
        return 0;
    }
    profile.max_threads_per_sm / Profile::WARP_SIZE / warps
}

fn by_registers(profile: &Profile, registers: u32, warps: u32) -> u32 {
    if registers > Profile::MAX_REGISTERS_PER_THREAD {
        return 0;
    }
    let per_warp = (registers.max(1) * Profile::WARP_SIZE).next_multiple_of(Profile::REGISTER_UNIT);
    let per_partition = profile.registers_per_sm / Profile::PARTITIONS_PER_SM / per_warp;
    per_partition * Profile::PARTITIONS_PER_SM / warps
}

fn by_shared(profile: &Profile, shared: u32) -> u32 {
    if shared > profile.shared_per_block_optin {
        return 0;
    }
    let block = (shared + profile.shared_reserved).next_multiple_of(profile.shared_granularity);
    profile.shared_per_sm.checked_div(block).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, (threads, registers, shared): (u32, u32, u32), blocks: u32, limiter: Limiter) {
        let profile = Profile::named(id).unwrap();
        assert_eq!(blocks_per_sm(profile, threads, registers, shared), Occupancy { blocks, limiter });
    }

    /// The example of the *CUDA C++ Best Practices Guide*, 11.1.1, whose SM has the same limits as an
    /// H200's: 12 blocks, 75%; 4 blocks, 63%.
    #[test]
    fn best_practices_example() {
        check("h200", (128, 37, 0), 12, Limiter::Registers);
        check("h200", (320, 37, 0), 4, Limiter::Registers);
        let h200 = Profile::default();
        assert_eq!(share(&h200, 128, 12), 0.75);
        assert_eq!(share(&h200, 320, 4), 0.625);
    }

    #[test]
    fn threads_limit_plain_kernels() {
        check("h200", (256, 32, 0), 8, Limiter::Threads);
        check("h200", (1024, 32, 0), 2, Limiter::Threads);
        check("rtx3070", (1024, 32, 0), 1, Limiter::Threads);
        check("t4", (256, 64, 0), 4, Limiter::Threads);
        // Half a warp takes a whole one.
        check("rtx3070", (100, 32, 0), 12, Limiter::Threads);
    }

    #[test]
    fn small_blocks_are_limited_in_number() {
        check("h200", (32, 16, 0), 32, Limiter::Blocks);
        check("t4", (32, 16, 0), 16, Limiter::Blocks);
        check("rtxpro6000", (32, 16, 0), 24, Limiter::Blocks);
    }

    #[test]
    fn shared_memory_counts_what_the_system_reserves() {
        check("h200", (128, 32, 227 << 10), 1, Limiter::SharedMemory);
        check("h200", (128, 32, 113 << 10), 2, Limiter::SharedMemory);
        check("h200", (128, 32, (113 << 10) + 1), 1, Limiter::SharedMemory);
        check("t4", (128, 32, 32 << 10), 2, Limiter::SharedMemory);
    }

    #[test]
    fn what_does_not_fit_gives_zero() {
        check("h200", (1025, 32, 0), 0, Limiter::Threads);
        check("h200", (1024, 128, 0), 0, Limiter::Registers);
        check("h200", (32, 32, (227 << 10) + 1), 0, Limiter::SharedMemory);
    }
}
