//! What the simulation goes by: rates and latencies of a GPU, in clocks of its SMs unless it says otherwise.
//!
//! An H200's were read off the kernels of `crates/timings/kernels/calibration`, timed on one (`crates/timings/measured/h200.csv`); where
//! a figure stands for an effect, its kernels are named.

use crate::profile::Profile;

/// A GPU, timed.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    pub(crate) sms: u32,
    pub(crate) clock_ghz: f64,

    // A launch: `launch.cu`.
    /// Nanoseconds of a launch, and of the events around it, beyond what its blocks do.
    pub(crate) overhead_ns: f64,
    /// The first access to memory of a launch waits for addresses to be translated, and for its code and constants.
    pub(crate) first_access: f64,
    /// Between two blocks that begin, on the whole device.
    pub(crate) dispatch: f64,
    /// From a free place on an SM to the first instruction of the block that takes it, and from one warp of the block to the next.
    pub(crate) block_start: f64,
    pub(crate) warp_start: f64,
    /// From a block's last instruction until its place is free.
    pub(crate) block_end: f64,

    // An SM: `latency.cu`, `arithmetic.cu`.
    pub(crate) branch: f64,
    /// Of the latency of what has a branch inside, such as a division, the share in which its warp issues nothing else.
    pub(crate) serial: f64,
    /// From the last arrival at a barrier until warps go on, and how much longer for each warp.
    pub(crate) barrier: f64,
    pub(crate) barrier_warp: f64,
    pub(crate) shuffle: f64,
    pub(crate) shared_latency: f64,

    // Memory: `latency.cu` (`chase_global`), `streams.cu`.
    pub(crate) l1_latency: f64,
    pub(crate) l2_latency: f64,
    pub(crate) dram_latency: f64,
    /// How much later DRAM answers when all of it is used; less of it counts by its square.
    pub(crate) loaded_latency: f64,
    /// For how long it is remembered what was used.
    pub(crate) loaded_window: f64,
    /// How much of that a byte counts that is written, where one that is read counts one.
    pub(crate) written_load: f64,
    pub(crate) l1_bytes: u64,
    /// What stays in L2 of what is read again: a part of it holds copies.
    pub(crate) l2_bytes: f64,
    /// Bytes per clock to and from an SM; and of L2 and DRAM for all of them together.
    pub(crate) sm_bytes_per_clock: f64,
    pub(crate) sm_store_bytes_per_clock: f64,
    pub(crate) l2_bytes_per_clock: f64,
    pub(crate) l2_store_bytes_per_clock: f64,
    pub(crate) dram_bytes_per_clock: f64,
    /// The way to L2 is taken for so long by a line, however few sectors of it are asked for.
    pub(crate) l2_request: f64,
    /// For so long stores and atomics may be behind before an SM has to wait.
    pub(crate) store_backlog: f64,

    // Accesses that are not one after the other: `accesses.cu`.
    /// How much longer DRAM takes to read what lies in many of its pages (`read_random`).
    pub(crate) astray: f64,
    pub(crate) astray_store: f64,
    /// How many whole sectors a sector counts as of which a part is written; when the other half of its 64 bytes is left out; and when it
    /// was written so recently that both stores are one (`write_apart`, `write_turns`).
    pub(crate) partial_store: f64,
    pub(crate) partial_store_alone: f64,
    pub(crate) merged_store: f64,
    pub(crate) merge_clocks: f64,
    /// Between two atomics at one address, of integers and of floats; between two sectors of a line at which nobody meets; and how much of
    /// the way to L2 a sector takes, against one that is read (`add_int_global`, `add_float_global`, `add_int_lanes`).
    pub(crate) atomic: f64,
    pub(crate) float_atomic: f64,
    pub(crate) atomic_round: f64,
    pub(crate) atomic_sector: f64,
    /// Additions of floats in shared memory are loops: once around for its warp, for others at the same address, and for what the SM's
    /// warps share (`add_float_shared`, `two_walks_shared_sum`).
    pub(crate) shared_loop: f64,
    pub(crate) shared_loop_apart: f64,
    pub(crate) shared_round: f64,
}

impl Rates {
    /// Of a profile's GPU, if it was timed.
    pub(crate) fn of(profile: &Profile) -> Option<Self> {
        (profile.id == "h200").then(Self::h200)
    }

    /// NVIDIA H200 SXM at 1980 MHz.
    pub(crate) fn h200() -> Self {
        let clock_ghz = 1.98;
        let per_clock = |bytes_per_ns: f64| bytes_per_ns / clock_ghz;
        Self {
            sms: 132,
            clock_ghz,
            overhead_ns: 2750.0,
            first_access: 900.0,
            dispatch: 0.604 * clock_ghz,
            block_start: 250.0,
            warp_start: 4.0,
            block_end: 100.0,
            branch: 6.0,
            serial: 0.7,
            barrier: 12.0,
            barrier_warp: 2.0,
            shuffle: 24.0,
            shared_latency: 24.0,
            l1_latency: 36.0,
            l2_latency: 275.0,
            dram_latency: 680.0,
            loaded_latency: 870.0,
            loaded_window: 1500.0,
            written_load: 0.6,
            l1_bytes: 256 << 10,
            l2_bytes: 50e6,
            sm_bytes_per_clock: 64.0,
            sm_store_bytes_per_clock: 32.0,
            l2_bytes_per_clock: per_clock(8100.0),
            l2_store_bytes_per_clock: per_clock(4600.0),
            dram_bytes_per_clock: per_clock(4400.0),
            l2_request: 1.8,
            store_backlog: 3000.0,
            astray: 1.65,
            astray_store: 1.5,
            partial_store: 2.0,
            partial_store_alone: 5.4,
            merged_store: 0.3,
            merge_clocks: 150.0,
            atomic: 1.4,
            float_atomic: 3.5,
            atomic_round: 1.2,
            atomic_sector: 1.5,
            shared_loop: 97.0,
            shared_loop_apart: 50.0,
            shared_round: 8.0,
        }
    }
}
