//! What the simulation goes by: rates and latencies of a GPU.
//!
//! An H200's were read off the kernels of `crates/timings/kernels/calibration`, timed on one (`crates/timings/measured/h200.csv`); its
//! profile names them (`profiles/h200.toml`). What the profile of another GPU does not know, it has from that one.

use crate::profile::{Profile, numbers};

numbers! {
    /// A GPU, timed. In clocks of its SMs, unless it says otherwise.
    pub struct Rates("rates") {
        sms: u32,
        clock_ghz: f64,
    }

    // A launch.
    /// nanoseconds of a launch, and of the events around it, beyond what its blocks do
    overhead_ns: f64 = 1.0 to 1e6,
    /// clocks that the first access to memory of a launch waits for addresses to be translated, and for its code and constants
    first_access: f64 = 0.0 to 1e5,
    /// clocks between two blocks that begin, on the whole device
    dispatch: f64 = 0.01 to 1e4,
    /// clocks from a free place on an SM to the first instruction of the block that takes it
    block_start: f64 = 0.0 to 1e5,
    /// clocks from the start of one warp of a block to that of the next
    warp_start: f64 = 0.0 to 1e4,
    /// clocks from a block's last instruction until its place is free
    block_end: f64 = 0.0 to 1e5,

    // An SM.
    /// clocks from a branch to the next instruction of its warp
    branch: f64 = 0.0 to 1e3,
    /// share of the latency of what has a branch inside, such as a division, in which its warp issues nothing else
    serial: f64 = 0.0 to 1.0,
    /// clocks from the last arrival at a barrier until warps go on
    barrier: f64 = 0.0 to 1e4,
    /// clocks more that warps wait at a barrier for each of them
    barrier_warp: f64 = 0.0 to 1e3,
    /// clocks until a shuffle's result is there
    shuffle: f64 = 1.0 to 1e3,
    /// clocks until what is loaded from shared memory is there
    shared_latency: f64 = 1.0 to 1e3,

    // Memory.
    /// clocks until what L1 has is there
    l1_latency: f64 = 1.0 to 1e4,
    /// clocks until what L2 has is there
    l2_latency: f64 = 1.0 to 1e4,
    /// clocks until what an idle DRAM has is there
    dram_latency: f64 = 1.0 to 1e5,
    /// clocks that DRAM answers later when all of it is used; less of it counts by its square
    loaded_latency: f64 = 0.0 to 1e5,
    /// clocks for which it is remembered how much of DRAM was used
    loaded_window: f64 = 1.0 to 1e6,
    /// how much of that use a byte is that is written, where one that is read is one
    written_load: f64 = 0.0 to 10.0,
    /// bytes of L1, those of shared memory among them
    l1_bytes: u64 = 1024.0 to 1e8,
    /// bytes that stay in L2 of what is read again: a part of it holds copies
    l2_bytes: f64 = 1e4 to 1e10,
    /// bytes per clock to an SM
    sm_bytes_per_clock: f64 = 1.0 to 1e4,
    /// bytes per clock from an SM
    sm_store_bytes_per_clock: f64 = 1.0 to 1e4,
    /// bytes per clock from L2 to all SMs
    l2_bytes_per_clock: f64 = 1.0 to 1e6,
    /// bytes per clock from all SMs to L2
    l2_store_bytes_per_clock: f64 = 1.0 to 1e6,
    /// bytes per clock from and to DRAM
    dram_bytes_per_clock: f64 = 1.0 to 1e6,
    /// bytes that are read in the time in which one is written to DRAM
    dram_write: f64 = 0.1 to 10.0,
    /// clocks by which an SM may be behind with its share of DRAM, and has it all the same: others were ahead
    dram_turns: f64 = 0.0 to 1e6,
    /// clocks for which a line takes the way to L2, however few sectors of it are asked for
    l2_request: f64 = 0.01 to 1e3,
    /// clocks for which stores and atomics may be behind before an SM has to wait
    store_backlog: f64 = 0.0 to 1e6,

    // Accesses that are not one after the other.
    /// times longer that DRAM takes to read what lies in many of its pages
    scattered: f64 = 0.1 to 100.0,
    /// times longer that L2 takes for parts of sectors that are written to many pages of DRAM
    scattered_store: f64 = 0.1 to 100.0,
    /// whole sectors that a sector counts as of which a part is written
    partial_store: f64 = 0.1 to 100.0,
    /// whole sectors that such a sector counts as when the other half of its 64 bytes is left out
    partial_store_alone: f64 = 0.1 to 100.0,
    /// whole sectors that each line counts as in addition of which parts of sectors are written
    partial_line: f64 = 0.0 to 100.0,
    /// passes of the unit for loads and stores within which a store to a line becomes one with the one before it
    merging_passes: f64 = 0.0 to 1e5,
    /// clocks between two atomics of integers at one address
    atomic: f64 = 0.01 to 1e4,
    /// clocks between two atomics of floats at one address
    float_atomic: f64 = 0.01 to 1e4,
    /// clocks between two sectors of a line with atomics, no two of them at one address
    atomic_round: f64 = 0.01 to 1e4,
    /// how much of the way to L2 an atomic's sector takes, where one that is read takes one
    atomic_sector: f64 = 0.01 to 1e3,
    /// clocks that a warp is once around the loop that an addition of floats in shared memory is
    shared_loop: f64 = 0.0 to 1e4,
    /// clocks of that for which others at the same address wait
    shared_loop_apart: f64 = 0.0 to 1e4,
    /// clocks of that for which all warps of the SM wait
    shared_round: f64 = 0.0 to 1e4,
}

impl Rates {
    /// Of a profile's GPU.
    pub(crate) fn of(profile: &Profile) -> &Self {
        &profile.rates
    }

    #[cfg(test)]
    pub(crate) fn h200() -> Self {
        Profile::default().rates
    }
}
