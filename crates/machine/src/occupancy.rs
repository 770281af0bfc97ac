//! How many blocks of a kernel fit on one SM at once, and how many bytes they keep under way.
//!
//! The rules are those of NVIDIA's occupancy calculator: a block needs room for its warps, its
//! registers (given to each warp in units, within one of the SM's four partitions) and its shared
//! memory (in units, plus what the system reserves), and an SM holds a limited number of blocks.
//! The limits are those of the *CUDA Programming Guide*, "Technical Specifications per Compute
//! Capability"; the units are the calculator's.

use crate::profile::Profile;

/// What one SM has to give: of a profile, or of a real GPU by its driver's attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub threads: u32,
    pub blocks: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Shared memory in bytes: of the SM, and what one block may have after opting in.
    pub shared: u32,
    pub shared_per_block: u32,
    /// What the system takes of each block's, and the unit in which it is given.
    pub shared_reserved: u32,
    pub shared_granularity: u32,
}

/// What one block asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory in bytes, static and dynamic together.
    pub shared: u32,
}

/// What [`Limits::occupancy`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks on one SM at a time. Zero when not even one fits.
    pub blocks: u32,
    /// Their warps.
    pub warps: u32,
    /// Warps that the SM could hold.
    pub max_warps: u32,
    /// Warps of this kernel that the SM could hold: by its registers, too.
    pub warps_that_fit: u32,
    /// Blocks that each resource has room for; [`u32::MAX`] for one that the block does not use.
    pub room: [(Limiter, u32); 4],
    /// What the block really takes, rounded up to units: registers and bytes of shared memory.
    pub registers_taken: u32,
    pub shared_taken: u32,
}

/// A resource that runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Resident threads (warps) of the SM.
    Threads,
    Registers,
    SharedMemory,
    /// Resident blocks of the SM.
    Blocks,
}

impl Limits {
    pub fn of(profile: &Profile) -> Limits {
        Limits {
            threads: profile.max_threads_per_sm,
            blocks: profile.max_blocks_per_sm,
            registers: profile.registers_per_sm,
            shared: profile.shared_per_sm,
            shared_per_block: profile.shared_per_block_optin,
            shared_reserved: profile.shared_reserved,
            shared_granularity: profile.shared_granularity,
        }
    }

    /// The unit of shared memory by compute capability, in bytes; no driver has an attribute for it.
    pub fn shared_granularity(compute: (u32, u32)) -> u32 {
        if compute >= (8, 0) { 128 } else { 256 }
    }

    /// How many such blocks one SM holds, and why not one more.
    pub fn occupancy(&self, block: &Block) -> Occupancy {
        let warps = block.threads.div_ceil(Profile::WARP_SIZE).max(1);
        let registers_of_warp =
            block.registers.max(1).saturating_mul(Profile::WARP_SIZE).next_multiple_of(Profile::REGISTER_UNIT);
        let shared_taken =
            block.shared.saturating_add(self.shared_reserved).checked_next_multiple_of(self.shared_granularity.max(1));

        let by_threads = match block.threads <= Profile::MAX_THREADS_PER_BLOCK {
            true => self.threads / Profile::WARP_SIZE / warps,
            false => 0,
        };
        let warps_by_registers = match block.registers <= Profile::MAX_REGISTERS_PER_THREAD {
            true => self.registers / Profile::PARTITIONS_PER_SM / registers_of_warp * Profile::PARTITIONS_PER_SM,
            false => 0,
        };
        let by_shared = match shared_taken {
            Some(taken) if block.shared <= self.shared_per_block => self.shared.checked_div(taken).unwrap_or(u32::MAX),
            _ => 0,
        };
        let room = [
            (Limiter::Threads, by_threads),
            (Limiter::Registers, warps_by_registers / warps),
            (Limiter::SharedMemory, by_shared),
            (Limiter::Blocks, self.blocks),
        ];
        let blocks = room.iter().fold(u32::MAX, |least, (_, blocks)| least.min(*blocks));
        let max_warps = self.threads / Profile::WARP_SIZE;
        Occupancy {
            blocks,
            warps: blocks * warps,
            max_warps,
            warps_that_fit: max_warps.min(warps_by_registers),
            room,
            registers_taken: registers_of_warp.saturating_mul(warps),
            shared_taken: shared_taken.unwrap_or(u32::MAX),
        }
    }

    /// The most shared memory, static and dynamic, that each of `blocks` resident blocks can have, in bytes.
    /// A kernel that asks for this much has no more than `blocks` of them on an SM: a way to lower occupancy on purpose.
    pub fn shared_for(&self, blocks: u32) -> u32 {
        let unit = self.shared_granularity.max(1);
        let share = self.shared / blocks.max(1) / unit * unit;
        share.saturating_sub(self.shared_reserved).min(self.shared_per_block)
    }
}

impl Occupancy {
    /// The resources that prevent one more block: several when they run out together.
    pub fn limiters(&self) -> impl Iterator<Item = Limiter> + use<> {
        let Occupancy { room, blocks, .. } = *self;
        room.into_iter().filter(move |(_, room)| *room == blocks).map(|(limiter, _)| limiter)
    }

    /// Blocks on one SM at a time where warps have left, whose room and registers are free before their block ends: as
    /// many as have shared memory.
    pub fn blocks_whose_warps_left(&self) -> u32 {
        let of_blocks = |limiter| matches!(limiter, Limiter::SharedMemory | Limiter::Blocks);
        let room = self.room.iter().filter(|(limiter, _)| of_blocks(*limiter));
        room.map(|(_, blocks)| *blocks).min().unwrap_or(self.blocks).max(self.blocks)
    }

    /// Resident warps over those that the SM can hold, 0 to 1: what profilers call occupancy.
    pub fn share(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps.max(1))
    }

    /// Bytes that one SM has under way when each resident thread waits for so many at once.
    pub fn bytes_in_flight(&self, bytes_of_thread: u32) -> u64 {
        u64::from(self.warps) * u64::from(Profile::WARP_SIZE) * u64::from(bytes_of_thread)
    }
}

/// Bytes that each SM must have under way to keep memory busy, by Little's law: bandwidth (bytes per
/// second, of the whole device) times latency, over the SMs.
///
/// With the latency of an idle memory this is the least that could do: under load answers take longer.
pub fn bytes_needed(bandwidth: f64, latency_ns: f64, sms: u32) -> f64 {
    bandwidth * latency_ns * 1e-9 / f64::from(sms.max(1))
}

impl std::fmt::Display for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Limiter::Threads => "threads",
            Limiter::Registers => "registers",
            Limiter::SharedMemory => "shared memory",
            Limiter::Blocks => "blocks",
        })
    }
}

#[cfg(test)]
mod tests;
