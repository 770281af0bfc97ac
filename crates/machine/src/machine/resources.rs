//! What a thread of a kernel takes of a multiprocessor. PTX does not say: the assembler (ptxas) gives out registers. Where one
//! is at hand it is asked; else the machine estimates, and an estimate refuses nothing.

use std::collections::HashMap;

use fusion_ptx::ast::Directives;

use crate::code::Code;
use crate::occupancy::{Block, Limits, Occupancy};
use crate::profile::Profile;

/// Registers of an SM, and of a block.
const REGISTERS: u32 = 65536;
/// The fewest that ptxas lets `.maxnreg` ask for.
const FEWEST: u32 = 16;

/// What a thread of a kernel takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers.
    pub registers: u32,
    /// Bytes of local memory: arrays, and registers that were spilled.
    pub local_bytes: u32,
    /// Bytes that spilling stores and loads; 0 where the numbers are an estimate.
    pub spill_stores: u32,
    pub spill_loads: u32,
    /// Whether the assembler says so. An estimate comes from the PTX: from what is live at once.
    pub exact: bool,
}

/// What the assembler made of a module's kernels, by name.
pub type Assembled = HashMap<String, Resources>;

/// Assembles PTX for a compute capability; `None` where that cannot be done. The machine itself does no I/O.
pub type Assemble = fn(ptx: &str, compute: (u32, u32)) -> Option<Assembled>;

impl Resources {
    /// How many blocks of a kernel an SM holds at once. An estimate never says that not even one fits.
    pub fn occupancy(&self, profile: &Profile, threads: u32, shared: u32) -> Occupancy {
        let limits = Limits::of(profile);
        let registers = if self.exact { self.registers } else { self.registers.min(registers_for(threads)) };
        limits.occupancy(&Block { threads, registers, shared })
    }

    /// As [`Resources::occupancy`], with as few registers as can be where their number is not known: more blocks than these are
    /// certainly too many.
    pub fn most_occupancy(&self, profile: &Profile, threads: u32, shared: u32) -> Occupancy {
        let registers = if self.exact { self.registers } else { 1 };
        Resources { registers, ..*self }.occupancy(profile, threads, shared)
    }

    /// Threads that a block may have for its registers to fit. Registers are given out by warp, in units.
    pub fn max_threads(&self) -> u32 {
        if self.exact { threads_for(self.registers) } else { Profile::MAX_THREADS_PER_BLOCK }
    }
}

/// Threads of a block whose registers fit: so many warps in each partition of the SM.
pub(super) fn threads_for(registers: u32) -> u32 {
    let per_warp = (registers.max(1) * Profile::WARP_SIZE).next_multiple_of(Profile::REGISTER_UNIT);
    let warps = REGISTERS / Profile::PARTITIONS_PER_SM / per_warp * Profile::PARTITIONS_PER_SM;
    (warps * Profile::WARP_SIZE).min(Profile::MAX_THREADS_PER_BLOCK)
}

/// Registers of a thread that let a block of so many threads fit: what ptxas leaves to a kernel whose launch bounds name that block.
/// Warps are dealt to the partitions of the SM, so that they count in whole rounds.
fn registers_for(threads: u32) -> u32 {
    let warps = threads.div_ceil(Profile::WARP_SIZE).max(1).next_multiple_of(Profile::PARTITIONS_PER_SM);
    (REGISTERS / warps / Profile::REGISTER_UNIT * Profile::REGISTER_UNIT / Profile::WARP_SIZE).max(FEWEST)
}

/// The most registers that the assembler may give a kernel's thread: `.maxnreg`, and what lets the largest block fit that its
/// launch bounds name, as often as they say where an SM has so many threads.
pub(super) fn bound(profile: &Profile, directives: &Directives) -> u32 {
    let mut most = Profile::MAX_REGISTERS_PER_THREAD;
    if let Some(registers) = directives.max_registers {
        most = most.min(registers.max(FEWEST));
    }
    if let Some(block) = directives.max_threads.or(directives.required_threads) {
        let threads = block.iter().fold(1u32, |n, &t| n.saturating_mul(t.max(1)));
        let resident = threads.saturating_mul(directives.min_blocks_per_sm.unwrap_or(1).max(1));
        most = most.min(registers_for(if resident <= profile.max_threads_per_sm { resident } else { threads }));
    }
    most
}

/// What the PTX lets one guess.
pub(super) fn estimate(profile: &Profile, code: &Code, directives: &Directives) -> Resources {
    let live = code.functions.iter().flatten().map(|f| f.live).max().unwrap_or(0);
    // Addresses, the stack pointer and what the hardware keeps for itself come on top of what is live.
    let registers = live.saturating_add(8).max(FEWEST).min(bound(profile, directives));
    let local_bytes = code.function(code.entry).map_or(0, |f| f.frame_bytes);
    Resources { registers, local_bytes, ..Resources::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_limit_threads() {
        let known = [32, 64, 65, 128, 255].map(threads_for);
        assert_eq!(known, [1024, 1024, 896, 512, 256]);
        for threads in [1, 32, 96, 256, 257, 640, 1024] {
            assert!(threads_for(registers_for(threads)) >= threads, "{threads}");
        }
    }

    /// 79 registers are too many for a block of 1024 threads: when the assembler says so, and not when it is a guess.
    #[test]
    fn only_what_is_exact_refuses() {
        let profile = Profile::named("h200").unwrap();
        let guessed = Resources { registers: 79, ..Resources::default() };
        let known = Resources { exact: true, ..guessed };
        assert_eq!((guessed.max_threads(), known.max_threads()), (1024, 768));
        assert_eq!(guessed.occupancy(profile, 1024, 0).blocks, 1);
        assert_eq!(known.occupancy(profile, 1024, 0).blocks, 0);
        assert_eq!(guessed.most_occupancy(profile, 1024, 0).blocks, 2);
        assert_eq!(known.most_occupancy(profile, 512, 0).blocks, 1);
    }
}
