//! A launch, as every worker of it sees it.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use fusion_ptx::ast::{Location, Module};

use crate::code::Code;
use crate::machine::{Checks, Launch, ParamInfo};
use crate::memory::{Heap, Memory, Region};
use crate::report::Name;

/// What every worker of a launch shares.
pub(crate) struct Run<'a> {
    pub(crate) code: &'a Code,
    pub(crate) module: &'a Module,
    pub(crate) launch: &'a Launch,
    pub(crate) params: &'a [u8],
    pub(crate) memory: &'a Memory,
    pub(crate) regions: &'a [Arc<Region>],
    /// The kernel's parameters.
    pub(crate) arguments: &'a [ParamInfo],
    /// Base addresses and names of the module's variables, for messages.
    pub(crate) names: &'a [(u64, String)],
    /// Threads and warps of a block, blocks of the grid.
    pub(crate) threads: u32,
    pub(crate) warps: u32,
    pub(crate) blocks: u64,
    /// Blocks of a cluster: x, y, z.
    pub(crate) cluster: [u32; 3],
    /// The launch or the kernel says so.
    pub(crate) explicit_cluster: bool,
    pub(crate) shared_bytes: u32,
    /// What the hardware gives for it: whole units, without and with what the system reserves.
    pub(crate) shared_given: (u32, u32),
    pub(crate) sms: u32,
    /// Compute capability.
    pub(crate) compute: (u32, u32),
    pub(crate) clock_khz: u32,
    pub(crate) grid_id: u64,
    /// What kernels have taken with `malloc`, once one that does was launched.
    pub(crate) heap: Option<&'a Mutex<Heap>>,
    /// Address of a cooperative launch's barrier; 0 for other launches.
    pub(crate) workspace: u64,
    /// The only block that is executed, if not all are.
    pub(crate) alone: Option<u64>,
    /// Warp instructions of one block, and of all.
    pub(crate) block_budget: u64,
    pub(crate) budget: u64,
    pub(crate) workers: usize,
    /// Blocks that may be under way at once when they wait for each other.
    pub(crate) resident: usize,
    pub(crate) spent: AtomicU64,
    pub(crate) checks: Checks,
    /// Whether the bytes that are accessed are noted.
    pub(crate) traced: bool,
    /// The blocks of which all that their warps do is recorded.
    pub(crate) recorded: &'a [u64],
}

impl Run<'_> {
    /// Does something with the heap, if there is one.
    pub(crate) fn with_heap<T>(&self, f: impl FnOnce(&mut Heap) -> T) -> Option<T> {
        self.heap.map(|heap| f(&mut heap.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Whether a live block of the heap holds these bytes.
    pub(crate) fn heap_holds(&self, addr: u64, len: u64) -> bool {
        self.with_heap(|heap| heap.holds(addr, len)).unwrap_or(false)
    }

    /// The index of a block in the grid's order.
    pub(crate) fn linear(&self, block: [u32; 3]) -> u64 {
        let [x, y, _] = self.launch.grid.map(u64::from);
        u64::from(block[0]) + x * (u64::from(block[1]) + y * u64::from(block[2]))
    }

    pub(crate) fn block(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(|n| u64::from(n).max(1));
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }

    /// Blocks of a cluster.
    pub(crate) fn cluster_size(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// A block's rank in its cluster.
    pub(crate) fn rank(&self, block: [u32; 3]) -> u32 {
        let [x, y, z] = std::array::from_fn(|axis| block[axis] % self.cluster[axis].max(1));
        x + self.cluster[0] * (y + self.cluster[1] * z)
    }

    /// The index in the grid of the block of a rank, in the cluster of that number.
    pub(crate) fn member(&self, cluster: u64, rank: u32) -> u64 {
        let clusters: [u64; 3] =
            std::array::from_fn(|axis| u64::from(self.launch.grid[axis] / self.cluster[axis].max(1)).max(1));
        let first = [cluster % clusters[0], cluster / clusters[0] % clusters[1], cluster / clusters[0] / clusters[1]];
        let [x, y, _] = self.cluster.map(|n| n.max(1));
        let within = [rank % x, rank / x % y, rank / x / y];
        self.linear(std::array::from_fn(|axis| first[axis] as u32 * self.cluster[axis] + within[axis]))
    }

    /// The number of the cluster that a block of the grid is in.
    pub(crate) fn cluster_of(&self, block: u64) -> u64 {
        let at = self.block(block);
        let place: [u64; 3] = std::array::from_fn(|axis| u64::from(at[axis] / self.cluster[axis].max(1)));
        let clusters: [u64; 3] =
            std::array::from_fn(|axis| u64::from(self.launch.grid[axis] / self.cluster[axis].max(1)).max(1));
        place[0] + clusters[0] * (place[1] + clusters[1] * place[2])
    }

    /// A thread of the block by its place in the block's order.
    pub(crate) fn thread(&self, linear: u32) -> [u32; 3] {
        let [x, y, _] = self.launch.block.map(|n| n.max(1));
        [linear % x, linear / x % y, linear / x / y]
    }

    /// What a parameter is called, by its index.
    pub(crate) fn argument(&self, index: usize) -> Name {
        let name = self.arguments.get(index).and_then(|p| p.argument.clone());
        name.map_or(Name::Argument(index as u32), Name::Parameter)
    }

    /// Whether an instruction belongs to what cooperative groups do in a launch that is not cooperative: a trap there
    /// is a barrier of the grid, which has none.
    pub(crate) fn is_grid_barrier(&self, pc: u32) -> bool {
        let loc = self.code.origins.get(pc as usize).and_then(|o| o.loc);
        let location = loc.and_then(|l| self.module.locations.get(l.index()));
        let file = location.and_then(|l| self.module.files.get(l.file.index()));
        !self.launch.cooperative && file.is_some_and(|file| file.path.contains("cooperative_groups"))
    }

    /// Whether two instructions are of one line of the source.
    pub(crate) fn same_line(&self, one: u32, other: u32) -> bool {
        let line = |pc: u32| self.location(pc).map(|at| (at.file, at.line));
        one == other || line(one).is_some_and(|line_of_one| line(other) == Some(line_of_one))
    }

    /// Where in the source an instruction is.
    pub(crate) fn location(&self, pc: u32) -> Option<&Location> {
        let loc = self.code.origins.get(pc as usize)?.loc?;
        self.module.locations.get(loc.index())
    }
}
