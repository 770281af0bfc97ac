//! GPU profiles: what a device calls itself, its limits, and the rates of the time model.
//!
//! Limits are those of the compute capability (*CUDA Programming Guide*, appendix "Compute
//! Capabilities") and of the product's datasheet; what neither says is marked as measured or assumed
//! where it stands.

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
    /// Shared memory is handed out in multiples of this many bytes.
    pub shared_granularity: u32,
    pub l2_bytes: u64,
    pub memory_bytes: u64,
    pub memory_bus_bits: u32,
    pub memory_clock_khz: u32,
    pub sm_clock_khz: u32,
    /// Engines that copy beside a kernel, as `deviceQuery` prints them (RTX PRO 6000: assumed).
    pub copy_engines: u32,
    /// Rates of the time model: bytes per second from DRAM that a copy reaches, from L2, and over the
    /// bus to the host; FP32 lanes per SM.
    pub dram_bandwidth: f64,
    pub l2_bandwidth: f64,
    pub host_bandwidth: f64,
    pub lanes_per_sm: u32,
    /// Dense operations a second of the tensor cores on 16-bit inputs with sums in f32, by the datasheet.
    pub tensor_flops: f64,
    /// Nanoseconds until the first sector arrives from an idle DRAM. Assumed: measurements of GPUs of
    /// these generations lie between 500 and 800.
    pub dram_latency_ns: f64,
    /// Bytes under way that an SM was found to need before a copy reached the bandwidth, where somebody measured it.
    /// It is more than bandwidth times latency: a memory that is busy answers later.
    pub in_flight_measured: Option<u32>,
    /// Nanoseconds that a launch costs beyond its work, and that one kernel takes at least. Assumed:
    /// launches that follow one another in a stream are 2 to 3 microseconds apart.
    pub launch_overhead_ns: f64,
}

/// Limits that every GPU since compute capability 7.5 has (Programming Guide, "Technical
/// Specifications per Compute Capability"; allocation units as in the occupancy calculator).
impl Profile {
    pub const WARP_SIZE: u32 = 32;
    pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
    pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
    pub const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
    pub const MAX_REGISTERS_PER_THREAD: u32 = 255;
    /// In bytes (CUDA C++ Programming Guide, technical specifications per compute capability).
    pub const MAX_LOCAL_PER_THREAD: u32 = 512 << 10;
    pub const CONSTANT_BYTES: u32 = 65536;
    /// A warp's registers are handed out in multiples of this many.
    pub const REGISTER_UNIT: u32 = 256;
    /// Each SM has this many partitions with registers and a scheduler of their own.
    pub const PARTITIONS_PER_SM: u32 = 4;

    /// All profiles, the default first.
    pub fn all() -> &'static [Profile] {
        &[H200, T4, RTX_3070, RTX_PRO_6000]
    }

    /// The profile of that id, in any case of letters.
    pub fn named(id: &str) -> Option<&'static Profile> {
        Self::all().iter().find(|profile| profile.id.eq_ignore_ascii_case(id))
    }

    /// The peak in f32 without tensor cores: a fused multiply-add, two operations, a lane and clock.
    pub fn flops(&self) -> f64 {
        2.0 * f64::from(self.sms * self.lanes_per_sm) * f64::from(self.sm_clock_khz) * 1e3
    }

    /// Thread blocks may form clusters (compute capability 9.0 and up).
    pub fn has_clusters(&self) -> bool {
        self.compute >= (9, 0)
    }

    /// The peak of the datasheet: two transfers a memory clock, in bytes per second.
    pub fn peak_bandwidth(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_khz) * 1e3 * f64::from(self.memory_bus_bits) / 8.0
    }
}

impl Default for Profile {
    fn default() -> Self {
        H200
    }
}

/// H200 SXM. NVIDIA H200 datasheet: 141 GB HBM3e, 4.8 TB/s, PCIe 5 x16. NVIDIA H100 architecture
/// whitepaper: 132 SMs of 128 FP32 lanes, 6144-bit bus (with six stacks), 1980 MHz boost, 989 TFLOP/s of f16. Programming
/// Guide, 9.0: 2048 threads, 32 blocks, 228 KiB shared memory per SM, 227 KiB per block.
/// Read from one: 143771 MiB of memory at 3201 MHz, 60 MiB of L2, a 2 GiB copy at 4250 to 4268 GB/s, which
/// elementwise kernels reach with about 48 KiB under way in each SM.
/// Assumed: 6 TB/s from L2, 55 GB/s of PCIe's 64.
const H200: Profile = Profile {
    id: "h200",
    name: "Emulated H200",
    compute: (9, 0),
    sms: 132,
    max_threads_per_sm: 2048,
    max_blocks_per_sm: 32,
    registers_per_sm: 65536,
    shared_per_sm: 228 << 10,
    shared_per_block: 48 << 10,
    shared_per_block_optin: 227 << 10,
    shared_reserved: 1 << 10,
    shared_granularity: 128,
    l2_bytes: 60 << 20,
    memory_bytes: 143_771 << 20,
    memory_bus_bits: 6144,
    memory_clock_khz: 3_201_000,
    sm_clock_khz: 1_980_000,
    copy_engines: 3,
    dram_bandwidth: 4.25e12,
    l2_bandwidth: 6.0e12,
    host_bandwidth: 55e9,
    lanes_per_sm: 128,
    tensor_flops: 989e12,
    dram_latency_ns: 600.0,
    in_flight_measured: Some(48 << 10),
    launch_overhead_ns: 2300.0,
};

/// T4. NVIDIA T4 datasheet: 16 GB GDDR6, 320 GB/s, 2560 CUDA cores, PCIe 3 x16. NVIDIA Turing
/// architecture whitepaper: 40 SMs of 64 FP32 lanes, 4 MiB of L2, 256-bit bus, 1590 MHz boost.
/// Programming Guide, 7.5: 1024 threads, 16 blocks, 64 KiB shared memory per SM and block. 65 TFLOP/s of f16.
/// L2: 1.27 TB/s (Jia et al., "Dissecting the NVidia Turing T4 GPU via Microbenchmarking", 2019).
/// Assumed: 0.87 of the DRAM's peak, 12 GB/s of PCIe's 16.
const T4: Profile = Profile {
    id: "t4",
    name: "Emulated T4",
    compute: (7, 5),
    sms: 40,
    max_threads_per_sm: 1024,
    max_blocks_per_sm: 16,
    registers_per_sm: 65536,
    shared_per_sm: 64 << 10,
    shared_per_block: 48 << 10,
    shared_per_block_optin: 64 << 10,
    shared_reserved: 0,
    shared_granularity: 256,
    l2_bytes: 4 << 20,
    memory_bytes: 15_843_721_216,
    memory_bus_bits: 256,
    memory_clock_khz: 5_001_000,
    sm_clock_khz: 1_590_000,
    copy_engines: 3,
    dram_bandwidth: 0.87 * 320e9,
    l2_bandwidth: 1.27e12,
    host_bandwidth: 12e9,
    lanes_per_sm: 64,
    tensor_flops: 65e12,
    dram_latency_ns: 600.0,
    in_flight_measured: None,
    launch_overhead_ns: 3000.0,
};

/// GeForce RTX 3070. NVIDIA's product page: 8 GB GDDR6 on 256 bits, 5888 CUDA cores, 1.73 GHz boost.
/// NVIDIA Ampere GA102 architecture whitepaper: 46 SMs of 128 FP32 lanes, 4 MiB of L2, 448 GB/s, 40.6 TFLOP/s of f16
/// with sums in f32.
/// Programming Guide, 8.6: 1536 threads, 16 blocks, 100 KiB shared memory per SM, 99 KiB per block.
/// Assumed: 0.88 of the DRAM's peak, four times that peak from L2, 25 GB/s of PCIe 4's 32.
const RTX_3070: Profile = Profile {
    id: "rtx3070",
    name: "Emulated RTX 3070",
    compute: (8, 6),
    sms: 46,
    max_threads_per_sm: 1536,
    max_blocks_per_sm: 16,
    registers_per_sm: 65536,
    shared_per_sm: 100 << 10,
    shared_per_block: 48 << 10,
    shared_per_block_optin: 99 << 10,
    shared_reserved: 1 << 10,
    shared_granularity: 128,
    l2_bytes: 4 << 20,
    memory_bytes: 8 << 30,
    memory_bus_bits: 256,
    memory_clock_khz: 7_001_000,
    sm_clock_khz: 1_725_000,
    copy_engines: 2,
    dram_bandwidth: 0.88 * 448e9,
    l2_bandwidth: 4.0 * 448e9,
    host_bandwidth: 25e9,
    lanes_per_sm: 128,
    tensor_flops: 40.6e12,
    dram_latency_ns: 600.0,
    in_flight_measured: None,
    launch_overhead_ns: 2500.0,
};

/// RTX PRO 6000 Blackwell Workstation Edition. NVIDIA's datasheet: 96 GB GDDR7 on 512 bits,
/// 1792 GB/s, 24,064 CUDA cores, PCIe 5 x16. NVIDIA RTX Blackwell PRO architecture whitepaper: 188 SMs
/// of 128 FP32 lanes, 128 MiB of L2, 2617 MHz boost, 503.8 TFLOP/s of f16. Programming Guide, 12.0: 1536 threads, 24 blocks,
/// 100 KiB shared memory per SM, 99 KiB per block. Assumed: 0.9 of the DRAM's peak, four times that
/// peak from L2, 55 GB/s of PCIe's 64.
const RTX_PRO_6000: Profile = Profile {
    id: "rtxpro6000",
    name: "Emulated RTX PRO 6000 Blackwell",
    compute: (12, 0),
    sms: 188,
    max_threads_per_sm: 1536,
    max_blocks_per_sm: 24,
    registers_per_sm: 65536,
    shared_per_sm: 100 << 10,
    shared_per_block: 48 << 10,
    shared_per_block_optin: 99 << 10,
    shared_reserved: 1 << 10,
    shared_granularity: 128,
    l2_bytes: 128 << 20,
    memory_bytes: 96 << 30,
    memory_bus_bits: 512,
    memory_clock_khz: 14_001_000,
    sm_clock_khz: 2_617_000,
    copy_engines: 2,
    dram_bandwidth: 0.9 * 1792e9,
    l2_bandwidth: 4.0 * 1792e9,
    host_bandwidth: 55e9,
    lanes_per_sm: 128,
    tensor_flops: 503.8e12,
    dram_latency_ns: 600.0,
    in_flight_measured: None,
    launch_overhead_ns: 2300.0,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::Limits;

    #[test]
    fn profiles_are_found_by_id() {
        for profile in Profile::all() {
            assert_eq!(Profile::named(profile.id), Some(profile));
            assert!(profile.name.starts_with("Emulated "), "{}", profile.name);
        }
        assert_eq!(Profile::named("H200"), Some(&Profile::default()));
        assert_eq!(Profile::named("h300"), None);
    }

    #[test]
    fn reached_bandwidth_is_a_likely_share_of_the_peak() {
        for profile in Profile::all() {
            let share = profile.dram_bandwidth / profile.peak_bandwidth();
            assert!((0.85..0.91).contains(&share), "{}: {share}", profile.name);
        }
    }

    #[test]
    fn limits_agree_with_each_other() {
        for profile in Profile::all() {
            assert!(profile.shared_per_block_optin + profile.shared_reserved <= profile.shared_per_sm);
            assert_eq!(profile.max_threads_per_sm % Profile::WARP_SIZE, 0);
            assert_eq!(profile.shared_granularity, Limits::shared_granularity(profile.compute));
        }
    }
}
