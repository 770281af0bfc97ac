//! GPU profiles: what a device calls itself, its limits, and the rates of the time model.

/// One GPU. Every figure's source stands beside its profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What `FUSION_EMULATED_GPU` calls it: `h200`.
    pub id: &'static str,
    /// What the device calls itself: `Emulated H200`.
    pub name: &'static str,
    /// Compute capability, major and minor.
    pub compute: (u32, u32),
    pub sms: u32,
    pub max_threads_per_sm: u32,
    pub max_blocks_per_sm: u32,
    pub registers_per_sm: u32,
    /// Shared memory in bytes: per SM, per block without and with opt-in, and what the system reserves of each block.
    pub shared_per_sm: u32,
    pub shared_per_block: u32,
    pub shared_per_block_optin: u32,
    pub shared_reserved: u32,
    pub l2_bytes: u64,
    pub memory_bytes: u64,
    pub memory_bus_bits: u32,
    pub memory_clock_khz: u32,
    pub sm_clock_khz: u32,
    /// Rates of the time model: bytes per second from DRAM that a copy reaches, and from L2; FP32 lanes per SM.
    pub dram_bandwidth: f64,
    pub l2_bandwidth: f64,
    pub lanes_per_sm: u32,
    /// Nanoseconds that a launch costs beyond its work, and that one kernel takes at least.
    pub launch_overhead_ns: f64,
}

// The tables go here.
