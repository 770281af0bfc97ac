//! The three things that are judged: right, lean, fast.

use fusion_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use super::{Failure, Verdict};

/// Does it compute the right thing, and touch nothing else?
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Right {
    pub verdict: Verdict,
    /// The devices it was judged on.
    pub devices: Vec<String>,
    /// Shapes and launches checked, over all devices.
    pub shapes: u32,
    pub launches: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What the emulated device found that is no error, or not necessarily: `L-` and `W-` codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Diagnostic>,
    /// Why it is ungraded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Does it move no more than it must? Exact counts of the emulated device at one shape: of several, at the worst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lean {
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Kernel launches, copies and memsets. `needed` is what the exercise allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<Beside>,
    /// Bytes that must reach DRAM: distinct sectors read and written, summed over launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram_bytes: Option<Beside>,
    /// Bytes that the threads asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_bytes: Option<Beside>,
    /// Sectors for each warp request: 4 is ideal for 4-byte accesses, 16 for 16-byte ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sectors_per_request: Option<Sectors>,
    /// Bytes of a thread's access to global memory, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_access: Option<Sectors>,
    /// Device allocations that the launch function made, and their bytes.
    pub allocations: u64,
    pub allocated_bytes: u64,
    /// `3.0 N moved, 2.0 N needed`, in units of one element of the largest buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What the emulated device has to say on speed: `P-` codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Diagnostic>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The same at the other shapes, which are no worse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Lean>,
}

/// A count beside what is needed and what the unfused chain has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    pub yours: u64,
    pub needed: u64,
    pub unfused: u64,
}

/// Sectors for each warp request on global memory, or bytes for each access; `None` where there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sectors {
    pub load: Option<f64>,
    pub store: Option<f64>,
}

/// Is it as much faster than the unfused chain as the bytes say? At one shape: of several, at the worst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fast {
    pub verdict: Verdict,
    /// `true`: measured on a GPU; `false`: predicted by the emulated device's model.
    pub measured: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The CUDA version of the driver: `13.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Unfused time over the submission's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Interval>,
    /// The ratio that passes, and the ratio of the bytes; none where speed was not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ideal: Option<f64>,
    /// Median times, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfused_time_ns: Option<f64>,
    /// Compulsory bytes over the submission's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gb_per_s: Option<f64>,
    /// What a plain kernel with the same mix of reads and writes reaches on this device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_gb_per_s: Option<f64>,
    /// `gb_per_s` over `ceiling_gb_per_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Whether the L2 was flushed before each launch.
    pub cold: bool,
    /// Pairs of launches that count, and those dropped because the clock sagged.
    pub pairs: u32,
    pub dropped: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<Clocks>,
    /// The unfused chain against itself: 1.00 on a quiet machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_test: Option<Interval>,
    /// The same beside a kernel that is already fused, where the exercise names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Contest>,
    /// Who multiplied matrices, where the exercise leaves that to a library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub products: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The same at the other shapes, which are no worse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Fast>,
}

/// The submission beside one fused kernel of the course.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// `the scalar fused kernel`.
    pub name: String,
    /// Its time over the submission's time; none where it was not measured, and `note` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Interval>,
    /// The ratio that passes.
    pub bar: f64,
    /// Its median time, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
    pub pairs: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A median and its 95% interval. On a prediction all three are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// The multiprocessors' clock during the measurement, in MHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    pub min: u32,
    pub median: u32,
    pub max: u32,
}
