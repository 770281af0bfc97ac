//! GPU profiles: what a device calls itself, its limits, and the rates of both clocks.
//!
//! A profile is a file, in which each number names its source: `profiles/h200.toml`. Limits are those of the compute capability
//! (*CUDA Programming Guide*, appendix "Compute Capabilities") and of the product's datasheet.

mod file;
pub(crate) mod numbers;
mod sources;
mod text;

use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

pub use self::file::{ProfileError, Wrong};
pub(crate) use self::numbers::numbers;
pub use self::sources::Sources;
use crate::timing::Rates;

/// That a GPU was timed for its profile, and under which circumstances.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    pub driver: String,
    /// What its SMs ran at.
    pub clock_mhz: u32,
    pub date: String,
}

numbers! {
    /// One GPU.
    pub struct Profile("device") {
        /// Which GPU it is, in a sentence.
        about: String,
        /// What `FUSION_EMULATED_GPU` calls it: `h200`.
        id: String,
        /// What the device calls itself: `Emulated H200`.
        name: String,
        /// Compute capability, major and minor.
        compute: (u32, u32),
        /// None where nobody has timed one: then the rates are from what was published.
        calibrated: Option<Calibration>,
        /// The profile that has the rates which its file leaves out.
        like: Option<String>,
        sources: Sources,
        units: Units,
        rates: Rates,
    }
    /// multiprocessors
    sms: u32 = 1.0 to 1024.0,
    /// threads that a multiprocessor holds
    max_threads_per_sm: u32 = 1024.0 to 4096.0,
    /// blocks that a multiprocessor holds
    max_blocks_per_sm: u32 = 1.0 to 64.0,
    /// 32-bit registers of a multiprocessor
    registers_per_sm: u32 = 32768.0 to 262144.0,
    /// bytes of shared memory of a multiprocessor
    shared_per_sm: u32 = 49152.0 to 1048576.0,
    /// bytes of shared memory that a block may have
    shared_per_block: u32 = 49152.0 to 49152.0,
    /// bytes of shared memory that a block may have where the kernel asks for more
    shared_per_block_optin: u32 = 49152.0 to 1048576.0,
    /// bytes of shared memory that the system takes for each block
    shared_reserved: u32 = 0.0 to 4096.0,
    /// bytes of which shared memory is handed out in multiples
    shared_granularity: u32 = 1.0 to 4096.0,
    /// bytes of L2
    l2_bytes: u64 = 1e5 to 1e10,
    /// bytes of memory
    memory_bytes: u64 = 1e8 to 1e13,
    /// bits of the bus to memory
    memory_bus_bits: u32 = 32.0 to 65536.0,
    /// kHz of the memory, with two transfers a clock
    memory_clock_khz: u32 = 1e5 to 1e8,
    /// kHz of the SMs
    sm_clock_khz: u32 = 1e5 to 1e7,
    /// engines that copy beside a kernel, as `deviceQuery` prints them
    copy_engines: u32 = 1.0 to 64.0,
    /// bytes per second that a large copy within the device's memory reads and writes
    dram_bandwidth: f64 = 1e9 to 1e15,
    /// bytes per second, for the clock that counts bytes
    l2_bandwidth: f64 = 1e9 to 1e15,
    /// bytes per second over the bus to the host
    host_bandwidth: f64 = 1e8 to 1e14,
    /// lanes for f32 of a multiprocessor
    lanes_per_sm: u32 = 32.0 to 1024.0,
    /// dense operations per second of the tensor cores, on 16-bit inputs with sums in f32
    tensor_flops: f64 = 1e9 to 1e17,
    /// nanoseconds until the first sector arrives from an idle DRAM
    dram_latency_ns: f64 = 1.0 to 1e5,
    /// multiprocessors where clusters of more than two blocks find places, if measured
    cluster_sms: Option<u32> = 1.0 to 1024.0,
    /// bytes under way in a multiprocessor with which a copy was found to reach the bandwidth, where somebody measured it
    in_flight_measured: Option<u32> = 1.0 to 1e7,
    /// nanoseconds that a launch costs beyond its work, and one kernel takes at least
    launch_overhead_ns: f64 = 1.0 to 1e6,
}

numbers! {
    /// Results of instructions per clock and multiprocessor.
    pub struct Units("units") {}
    /// additions and products of f32
    fp32: f64 = 1.0 to 4096.0,
    /// additions and products of f16, two by an instruction
    fp16: f64 = 1.0 to 4096.0,
    /// additions and products of f64
    fp64: f64 = 0.25 to 4096.0,
    /// additions of 32-bit integers
    int32: f64 = 1.0 to 4096.0,
    /// products of 32-bit integers
    int32_mul: f64 = 1.0 to 4096.0,
    /// shifts, logic and comparisons of 32-bit integers
    logic: f64 = 1.0 to 4096.0,
    /// reciprocals, roots, powers of two, logarithms, sines
    special: f64 = 1.0 to 4096.0,
    /// conversions from and to 64-bit types
    convert64: f64 = 0.25 to 4096.0,
    /// multiply-adds of tensor cores by `mma` on f16 and bf16, with sums in f32
    tensor: f64 = 1.0 to 65536.0,
    /// the same on f16 with sums in f16
    tensor_half: f64 = 1.0 to 65536.0,
    /// the same on tf32
    tensor_tf32: f64 = 1.0 to 65536.0,
    /// the same on 8-bit floats
    tensor_fp8: f64 = 1.0 to 65536.0,
    /// the same on 8-bit integers
    tensor_int8: f64 = 1.0 to 65536.0,
    /// the same on f64
    tensor_fp64: f64 = 0.25 to 65536.0,
    /// clocks until the product m16n8k16 of f16, with sums in f32, is there
    tensor_latency: f64 = 1.0 to 1000.0,
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
    /// `cuOccupancyMaxActiveClusters` of an H200 has 1,056 clusters of one block of 32 threads: 8 per SM, which holds 32
    /// other blocks.
    pub const MAX_CLUSTER_BLOCKS_PER_SM: u32 = 8;
    pub const CONSTANT_BYTES: u32 = 65536;
    /// A warp's registers are handed out in multiples of this many.
    pub const REGISTER_UNIT: u32 = 256;
    /// Each SM has this many partitions with registers and a scheduler of their own.
    pub const PARTITIONS_PER_SM: u32 = 4;

    /// All profiles that are built in, the default first.
    pub fn all() -> &'static [Profile] {
        static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| (0..FILES.len()).map(built_in).cloned().collect());
        &ALL
    }

    /// What they are called.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(id, _)| *id)
    }

    /// The profile of that id, in any case of letters.
    pub fn named(id: &str) -> Option<&'static Profile> {
        Self::ids().position(|known| known.eq_ignore_ascii_case(id)).map(built_in)
    }

    /// `H200` of `Emulated H200`: what the real product's name ends with.
    pub fn product(&self) -> &str {
        self.name.trim_start_matches("Emulated ")
    }

    /// The peak in f32 without tensor cores: a fused multiply-add, two operations, a lane and clock.
    pub fn flops(&self) -> f64 {
        2.0 * f64::from(self.sms * self.lanes_per_sm) * f64::from(self.sm_clock_khz) * 1e3
    }

    /// Thread blocks may form clusters (compute capability 9.0 and up).
    pub fn has_clusters(&self) -> bool {
        self.compute >= (9, 0)
    }

    /// Blocks that a cluster has at most: without the kernel's asking for more, and with it. Eight are portable (Programming Guide,
    /// "Thread Block Clusters"); 16 are what GPUs of compute capability 9.0 and 10.x hold besides.
    pub fn cluster_sizes(&self) -> (u32, u32) {
        match self.compute {
            (9 | 10, _) => (8, 16),
            _ if self.has_clusters() => (8, 8),
            _ => (1, 1),
        }
    }

    /// Multiprocessors on which clusters of so many blocks find places. A cluster's blocks run on those of one group, a
    /// GPC: a group with fewer left than a cluster has blocks takes none.
    pub fn sms_for_clusters(&self, blocks: u32) -> u32 {
        let whole = if blocks > 2 { self.cluster_sms.map_or(self.sms, |few| few.min(self.sms)) } else { self.sms };
        whole / blocks.max(1) * blocks
    }

    /// The peak of the datasheet: two transfers a memory clock, in bytes per second.
    pub fn peak_bandwidth(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_khz) * 1e3 * f64::from(self.memory_bus_bits) / 8.0
    }

    /// Whether the numbers agree with each other.
    fn consistent(&self) -> Result<(), ProfileError> {
        let pairs = [
            (
                self.shared_per_block_optin + self.shared_reserved <= self.shared_per_sm,
                "shared_per_block_optin",
                "shared_per_sm",
            ),
            (self.dram_bandwidth <= self.peak_bandwidth(), "dram_bandwidth", "memory_clock_khz"),
        ];
        let larger = pairs.into_iter().find(|(holds, ..)| !holds);
        larger.map_or(Ok(()), |(_, field, than)| Err(ProfileError::new(None, Wrong::Larger { field, than })))
    }
}

impl Default for Profile {
    fn default() -> Self {
        built_in(0).clone()
    }
}

/// The profiles of the folder: a new one is a file there, and its name here.
macro_rules! files {
    ($($id:ident),+) => {
        [$((stringify!($id), include_str!(concat!("../profiles/", stringify!($id), ".toml")))),+]
    };
}

const FILES: [(&str, &str); 8] = files![h200, h100, t4, rtx3070, rtxpro6000, a100, rtx4090, l4];

static PROFILES: [OnceLock<Profile>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

fn built_in(index: usize) -> &'static Profile {
    PROFILES[index].get_or_init(|| match Profile::parse(FILES[index].1) {
        Ok(profile) => profile,
        Err(_) => unreachable!(), // A test reads each of them.
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::Limits;

    #[test]
    fn profiles_are_found_by_id() {
        for (profile, (id, text)) in Profile::all().iter().zip(FILES) {
            assert_eq!(Profile::parse(text).as_ref(), Ok(profile));
            assert_eq!(profile.id, id);
            assert_eq!(Profile::named(&profile.id), Some(profile));
            assert!(profile.name.starts_with("Emulated "), "{}", profile.name);
        }
        assert_eq!(Profile::named("H200"), Some(&Profile::default()));
        assert_eq!(Profile::named("h300"), None);
    }

    #[test]
    fn reached_bandwidth_is_a_likely_share_of_the_peak() {
        for profile in Profile::all() {
            let share = profile.dram_bandwidth / profile.peak_bandwidth();
            assert!((0.85..0.93).contains(&share), "{}: {share}", profile.name);
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

    #[test]
    fn clusters_find_places_where_an_h200_has_them() {
        let clusters = [1, 2, 4, 8, 16].map(|blocks| Profile::default().sms_for_clusters(blocks) / blocks);
        assert_eq!(clusters, [132, 66, 30, 15, 7]);
    }

    #[test]
    fn what_is_published_of_a_gpu_is_not_another_ones() {
        let known = ["l1_latency", "l2_latency", "dram_latency", "shared_latency", "l1_bytes", "l2_bytes"];
        let more = ["l2_bytes_per_clock", "l2_store_bytes_per_clock", "dram_bytes_per_clock"];
        for (id, text) in FILES {
            let rates = &text[text.find("[rates]").unwrap()..];
            let all = Rates::FIELDS
                .iter()
                .map(|(name, _)| *name)
                .filter(|_| Profile::named(id).unwrap().calibrated.is_some());
            for name in known.into_iter().chain(more).chain(all) {
                assert!(rates.contains(&format!("\n{name} = ")), "{id} has no {name}");
            }
        }
    }

    /// `BLESS=1` writes them so.
    #[test]
    fn files_are_written_as_a_calibration_writes_them() {
        for (profile, (id, text)) in Profile::all().iter().zip(FILES) {
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(format!("{}/profiles/{id}.toml", env!("CARGO_MANIFEST_DIR")), profile.text()).unwrap();
            } else {
                assert_eq!(profile.text(), text, "BLESS=1 writes it");
            }
        }
    }

    #[test]
    fn a_profile_can_stand_alone() {
        let mut l4 = Profile::named("l4").unwrap().clone();
        l4.stand_alone();
        let text = l4.text();
        assert!(
            text.contains("\nfirst_access = { is = 900, source = \"h200\" }") && !text.contains("\nlike = "),
            "{text}"
        );
        assert_eq!(Profile::parse(&text), Ok(l4));
    }
}
