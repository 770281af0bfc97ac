//! The rates of a GPU, in clocks of its SMs.

/// What a profile says, and what was calibrated.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    pub(crate) sms: u32,
    pub(crate) clock_ghz: f64,
    /// What a launch and the events around it take beyond its work, in nanoseconds.
    pub(crate) overhead_ns: f64,
    /// Between two blocks that begin, on the whole device.
    pub(crate) dispatch_clocks: f64,
    /// From a free place on an SM to the first instruction of the block that takes it.
    pub(crate) block_start: f64,
    /// Between two warps of a block.
    pub(crate) warp_start: f64,
    /// After a block's last instruction, until its place is free.
    pub(crate) block_end: f64,
    pub(crate) cold_start: f64,
    pub(crate) branch: f64,
    /// Of the latency of what has a branch inside, the share in which its warp issues nothing else.
    pub(crate) serial: f64,
    pub(crate) barrier: f64,
    pub(crate) barrier_warp: f64,
    pub(crate) shuffle: f64,
    pub(crate) shared_latency: f64,
    pub(crate) l1_latency: f64,
    pub(crate) l2_latency: f64,
    pub(crate) dram_latency: f64,
    /// How much later DRAM answers when all of it is used.
    pub(crate) loaded_clocks: f64,
    pub(crate) loaded_window: f64,
    /// How much of that what is written counts.
    pub(crate) written_load: f64,
    pub(crate) l1_bytes: u64,
    pub(crate) l2_bytes: u64,
    pub(crate) sm_bytes_per_clock: f64,
    pub(crate) l2_bytes_per_clock: f64,
    /// Of stores.
    pub(crate) sm_store_bytes_per_clock: f64,
    pub(crate) l2_store_bytes_per_clock: f64,
    /// How many whole sectors a sector counts as of which a block writes a part; and one whose neighbour in the same 64 bytes it leaves
    /// out; and one that it has written before.
    pub(crate) partial_store: f64,
    pub(crate) partial_store_alone: f64,
    pub(crate) merged_store: f64,
    /// For so long after a store, another one to the same sectors finds it on its way.
    pub(crate) merge_clocks: f64,
    pub(crate) astray_store: f64,
    /// Clocks that the way to L2 is taken for a line, however few sectors of it.
    pub(crate) l2_request: f64,
    /// How much longer DRAM takes for what lies in many of its pages.
    pub(crate) astray: f64,
    pub(crate) dram_bytes_per_clock: f64,
    pub(crate) dirty_bytes: f64,
    pub(crate) store_backlog: f64,
    /// Between two atomics at one sector, of integers and of floats.
    pub(crate) atomic_clocks: f64,
    pub(crate) float_atomic_clocks: f64,
    /// For a sector of a line at which lanes do not meet.
    pub(crate) atomic_round: f64,
    /// How much of the way to L2 a sector takes, against one that is read.
    pub(crate) atomic_sector: f64,
    /// Of atomics on shared memory that are loops: one way through, for its warp, and for others at the same address.
    pub(crate) shared_loop: f64,
    pub(crate) shared_loop_apart: f64,
    /// For what the whole SM shares.
    pub(crate) shared_round: f64,
}

impl Rates {
    pub(crate) fn h200() -> Self {
        let clock_ghz = 1.98;
        Self {
            sms: 132,
            clock_ghz,
            overhead_ns: 2750.0,
            dispatch_clocks: 0.604 * clock_ghz,
            block_start: 250.0,
            warp_start: 4.0,
            block_end: 100.0,
            cold_start: 900.0,
            branch: 6.0,
            serial: 0.7,
            barrier: 12.0,
            barrier_warp: 2.0,
            shuffle: 24.0,
            shared_latency: 24.0,
            l1_latency: 36.0,
            l2_latency: 275.0,
            dram_latency: 680.0,
            loaded_clocks: 870.0,
            loaded_window: 1500.0,
            written_load: 0.6,
            l1_bytes: 256 << 10,
            l2_bytes: 50 << 20,
            sm_bytes_per_clock: 64.0,
            l2_bytes_per_clock: 8.1e3 / clock_ghz,
            sm_store_bytes_per_clock: 32.0,
            l2_store_bytes_per_clock: 4.6e3 / clock_ghz,
            partial_store: 2.0,
            partial_store_alone: 5.4,
            merged_store: 0.3,
            merge_clocks: 150.0,
            astray_store: 1.5,
            l2_request: 1.8,
            astray: 1.65,
            dram_bytes_per_clock: 4.4e3 / clock_ghz,
            dirty_bytes: 0.0,
            store_backlog: 3000.0,
            atomic_clocks: 1.4,
            float_atomic_clocks: 3.5,
            atomic_round: 1.2,
            atomic_sector: 1.5,
            shared_loop: 97.0,
            shared_loop_apart: 50.0,
            shared_round: 8.0,
        }
    }
}
