//! What the machine has to say about a run: counters, faults and modelled times.
//!
//! Everything here serialises, because the driver hands it to our own tools as JSON across the C
//! boundary.

pub mod account;
mod buffer;
mod code;
mod dry;
mod fault;
mod journal;
pub mod kind;
pub mod trace;
mod when;

use serde::{Deserialize, Serialize};

pub use account::{Account, Busy, State};
pub use buffer::{Buffer, Name};
pub use code::{Class, Code, Status, UnknownCode};
pub use dry::{Dry, DryBlock};
pub use fault::{Blame, Fault, PtxPosition, Related, Severity, SourcePosition};
pub use journal::Event;
pub use kind::{Kind, Role};
pub use trace::{Task, Trace, Work};
pub use when::{Move, Moved, When};

/// Everything that happened on the device since the last report was taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The device's name, for example `Emulated H200`.
    pub device: String,
    pub launches: Vec<LaunchReport>,
    /// The last launch that was stopped or refused: what was asked for, with nothing counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<LaunchReport>,
    /// The last kernel that was asked for by a name which its module does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_kernel: Option<String>,
    /// Errors, in the order in which they were found.
    pub faults: Vec<Fault>,
    /// Warnings and advice: what is no error, or not necessarily.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Fault>,
    /// Device allocations made, and their bytes.
    pub allocations: u64,
    pub allocated_bytes: u64,
    /// Bytes moved by host-device and device-device copies and by memsets.
    pub copied_bytes: u64,
    /// How many copies and memsets.
    pub copies: u64,
    /// How many of these are memsets.
    #[serde(default)]
    pub memsets: u64,
    /// Each of them, as far as they are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Move>,
}

/// One launch that ran to its end, whether or not the checks found something.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LaunchReport {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Static and dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The dynamic part of it.
    #[serde(default)]
    pub dynamic_shared: u32,
    /// The bytes of the dynamic part up to the last that any block has touched.
    #[serde(default)]
    pub touched_shared: u32,
    /// What was passed for each of the kernel's parameters; empty where they could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    pub counters: Counters,
    /// Time by the machine's model (never measured), in nanoseconds, from an event before the launch to one behind it. 0 where it is not
    /// known.
    pub predicted_ns: f64,
    /// When that was, without what an event takes.
    #[serde(default)]
    pub when: When,
    /// Where that time goes, where it is from a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Box<Account>>,
    /// What the kernel printed with `printf`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// What the checks found that did not stop it: races, reads of what was never written, advice. One a site.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Fault>,
    /// Of a dry launch: what its blocks did. Nothing is counted then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dry: Vec<DryBlock>,
}

/// What a launch passed for one parameter of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// What the kernel's source calls the parameter, where the PTX tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// As many as the parameter has.
    pub bytes: Vec<u8>,
    /// Whether the kernel takes a floating-point number.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub float: bool,
    /// Whether the launch had fewer bytes there than the parameter has, as far as the place tells: numbers of so many bytes never lie
    /// there, or another argument lies across it. The rest is whatever came after.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short: bool,
}

impl Argument {
    /// Its bytes as an unsigned number, where they are no more than one has.
    pub fn unsigned(&self) -> Option<u64> {
        let mut bytes = [0; 8];
        bytes.get_mut(..self.bytes.len())?.copy_from_slice(&self.bytes);
        Some(u64::from_le_bytes(bytes))
    }
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
    /// Operations of tensor cores: a product and an addition are two.
    #[serde(default)]
    pub tensor_operations: u64,
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
        self.tensor_operations += other.tensor_operations;
    }
}

/// A C++ name for people; as it is where it is not mangled.
pub fn demangle(name: &str) -> String {
    let symbol = name.starts_with("_Z").then(|| cpp_demangle::Symbol::new(name).ok()).flatten();
    symbol.and_then(|s| s.demangle().ok()).unwrap_or_else(|| name.to_string())
}
