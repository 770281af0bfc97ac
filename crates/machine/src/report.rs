//! What the machine has to say about a run: counters, faults and modelled times.
//!
//! Everything here serialises, because the driver hands it to our own tools as JSON across the C
//! boundary.

use serde::{Deserialize, Serialize};

/// Everything that happened on the device since the last report was taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The device's name, for example `Emulated H200`.
    pub device: String,
    pub launches: Vec<LaunchReport>,
    pub faults: Vec<Fault>,
    /// Device allocations made, and their bytes.
    pub allocations: u64,
    pub allocated_bytes: u64,
    /// Bytes moved by host-device and device-device copies and by memsets.
    pub copied_bytes: u64,
    /// How many copies and memsets.
    pub copies: u64,
}

/// One launch that ran to its end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LaunchReport {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Static and dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    pub counters: Counters,
    /// Time by the machine's model (never measured), in nanoseconds, launch overhead included.
    pub predicted_ns: f64,
    /// What the kernel printed with `printf`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// Exact counts of one launch, named as Nsight Compute's metrics are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Instructions times active lanes, and warp instructions.
    pub thread_instructions: u64,
    pub warp_instructions: u64,
    pub global_load: Traffic,
    pub global_store: Traffic,
    /// `atom` and `red` on global memory.
    pub global_atomic: Traffic,
    /// Local memory: spills and arrays that are indexed at run time.
    pub local_load: Traffic,
    pub local_store: Traffic,
    /// Shared memory, where `sectors` counts wavefronts: 1 a request without bank conflicts.
    pub shared_load: Traffic,
    pub shared_store: Traffic,
    /// Distinct 32-byte sectors of global memory read, times 32: what a cold cache of unlimited size reads from DRAM.
    pub dram_read_bytes: u64,
    /// Distinct 32-byte sectors written, times 32.
    pub dram_write_bytes: u64,
    /// Conditional branches executed by warps, and those on which lanes disagreed.
    pub branches: u64,
    pub divergent_branches: u64,
    /// Barrier arrivals by warps.
    pub barriers: u64,
}

/// Traffic of one kind of access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Warp-level requests (`l1tex__t_requests_*`).
    pub requests: u64,
    /// 32-byte sectors summed over requests (`l1tex__t_sectors_*`).
    pub sectors: u64,
    /// Bytes that lanes asked for.
    pub bytes: u64,
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.bytes += other.bytes;
    }
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.thread_instructions += other.thread_instructions;
        self.warp_instructions += other.warp_instructions;
        self.global_load += other.global_load;
        self.global_store += other.global_store;
        self.global_atomic += other.global_atomic;
        self.local_load += other.local_load;
        self.local_store += other.local_store;
        self.shared_load += other.shared_load;
        self.shared_store += other.shared_store;
        self.dram_read_bytes += other.dram_read_bytes;
        self.dram_write_bytes += other.dram_write_bytes;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
    }
}

/// Whose mistake a fault is. The three are never mixed in one title.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The kernel or its launch is wrong.
    Kernel,
    /// The emulator does not support something that a real GPU does.
    Unsupported,
    /// The machine or its input is at fault: out of memory, a module that is not PTX.
    Environment,
}

/// A structured fault; text is made from it only at the edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Stable: `E-OOB-GLOBAL`, `E-MISALIGNED`, `E-BARRIER-DIVERGENT`, ...
    pub code: String,
    pub blame: Blame,
    /// One line: what happened. No location in it.
    pub title: String,
    /// More sentences: by how much, which allocation, what a likely mend is.
    pub notes: Vec<String>,
    pub kernel: String,
    /// Where: the innermost source position first, then the calls that it was inlined into.
    /// Empty when the PTX carries no line table.
    pub source: Vec<SourcePosition>,
    /// The offending PTX instruction's text and its one-based line in the PTX.
    pub ptx: Option<PtxPosition>,
    /// The first thread that did it (lowest block, then lowest thread).
    pub block: Option<[u32; 3]>,
    pub thread: Option<[u32; 3]>,
    /// How many lanes of that warp did it at once.
    pub lanes: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePosition {
    pub file: String,
    /// One-based.
    pub line: u32,
    pub column: u32,
    /// The inlined function that this position lies in, demangled where possible.
    pub function: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PtxPosition {
    pub line: u32,
    pub text: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.title)
    }
}

impl std::error::Error for Fault {}
