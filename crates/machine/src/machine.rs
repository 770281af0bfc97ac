//! The machine: load a module, launch a kernel.

mod blame;
mod loaded;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use fusion_ptx::ast::Module;

pub use loaded::{Kernel, KernelInfo, LoadError, Loaded, ParamInfo};

use crate::exec::{self, Outcome, Run};
use crate::memory::{AllocationKind, Memory, Region};
use crate::occupancy;
use crate::profile::Profile;
use crate::report::{Fault, LaunchReport};
use crate::timing;

/// How a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Warp instructions that one launch may execute. One block may execute a 128th of it, so that
    /// a loop without an end is found in seconds.
    pub instruction_budget: u64,
    /// Threads to run blocks on; 0 for as many as there are cores.
    pub workers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { instruction_budget: 1 << 33, workers: 0 }
    }
}

/// What a cooperative launch's blocks share: two words, the size and the barrier (`grid_workspace` of
/// `cooperative_groups.h`).
const WORKSPACE_BYTES: u64 = 8;

/// An emulated GPU.
#[derive(Debug)]
pub struct Machine {
    profile: Profile,
    options: Options,
    memory: Memory,
    /// Launches so far. Held during a launch: kernels run one at a time, as the counts of touched sectors are the memory's.
    launches: Mutex<u64>,
}

/// A launch's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks of the grid, threads of a block: x, y, z.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// In bytes, beyond the static shared memory.
    pub dynamic_shared: u32,
    pub cooperative: bool,
}

impl Machine {
    pub fn new(profile: Profile, options: Options) -> Self {
        let memory = Memory::new(profile.memory_bytes);
        Self { profile, options, memory, launches: Mutex::new(0) }
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Lays out and initialises the module's variables, which become allocations of [`Machine::memory`], and lowers its kernels.
    ///
    /// `source` is the PTX text, quoted by faults.
    pub fn load(&self, module: Module, source: &str) -> Result<Loaded, LoadError> {
        Loaded::new(module, source, &self.memory)
    }

    /// Frees the module's variables.
    pub fn unload(&self, loaded: &Loaded) {
        loaded.unload(&self.memory);
    }

    /// Runs a kernel to its end. `params` is the parameter buffer, laid out as [`KernelInfo::params`] says.
    ///
    /// # Errors
    /// The first fault: of the lowest block, there of the lowest warp that the schedule came to. What
    /// other blocks have written by then stays written.
    pub fn launch(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
    ) -> Result<LaunchReport, Box<Fault>> {
        let info = loaded.info(kernel);
        let Some(code) = loaded.code(kernel) else {
            return Err(blame::launch(&info.name, "E-LAUNCH-KERNEL", "this module has no such kernel", Vec::new()));
        };
        blame::check_launch(&self.profile, &info, launch, params)?;

        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        *launches += 1;
        let workspace = match launch.cooperative {
            true => self.memory.alloc(WORKSPACE_BYTES, AllocationKind::Global).map_err(|error| {
                blame::launch(
                    &info.name,
                    "E-LAUNCH-MEMORY",
                    "no memory for the grid's barrier",
                    vec![error.to_string()],
                )
            })?,
            false => 0,
        };
        let regions = self.memory.snapshot();
        let threads: u32 = launch.block.iter().product();
        let blocks = launch.grid.iter().map(|&n| u64::from(n)).product();
        let shared_bytes = code.dynamic_shared_offset.max(code.static_shared) + launch.dynamic_shared;
        let fits = occupancy::blocks_per_sm(&self.profile, threads, info.registers, shared_bytes).blocks.max(1);
        let run = Run {
            code,
            module: loaded.module(),
            launch,
            params,
            memory: &self.memory,
            regions: &regions,
            names: loaded.names(),
            threads,
            warps: threads.div_ceil(32),
            blocks,
            shared_bytes,
            sms: self.profile.sms,
            clock_khz: self.profile.sm_clock_khz,
            grid_id: *launches,
            workspace,
            block_budget: self.options.instruction_budget / 128,
            budget: self.options.instruction_budget,
            workers: self.workers(),
            resident: (fits * self.profile.sms) as usize,
            spent: AtomicU64::new(0),
        };
        let Outcome { mut counters, output, stopped, touched } = exec::run(&run);
        if launch.cooperative {
            // It was allocated above, and nobody else knows it.
            let _ = self.memory.free(workspace);
        }
        for (region, _) in regions.iter().zip(touched).filter(|(_, touched)| *touched) {
            let (read, written) = sectors(region);
            counters.dram_read_bytes += 32 * read;
            counters.dram_write_bytes += 32 * written;
        }
        if let Some(stopped) = stopped {
            return Err(blame::fault(&run, loaded.source(), &info.name, stopped));
        }
        let shape = timing::Shape { blocks, threads_per_block: threads, blocks_per_sm: fits };
        Ok(LaunchReport {
            kernel: info.name,
            grid: launch.grid,
            block: launch.block,
            shared_bytes,
            counters,
            predicted_ns: timing::predict_ns(&self.profile, &shape, &counters),
            output,
        })
    }

    /// Modelled nanoseconds of a copy or memset.
    pub fn copy_time_ns(&self, bytes: u64, over_the_bus: bool) -> f64 {
        timing::copy_time_ns(&self.profile, bytes, over_the_bus)
    }

    fn workers(&self) -> usize {
        match self.options.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        }
    }
}

/// Counts the sectors that were read and written, and forgets them.
fn sectors(region: &Arc<Region>) -> (u64, u64) {
    let take = |bitmap: &[AtomicU64]| {
        let mut count = 0;
        for word in bitmap {
            let bits = word.load(Relaxed);
            if bits != 0 {
                count += u64::from(bits.count_ones());
                word.store(0, Relaxed);
            }
        }
        count
    };
    (take(&region.sectors_read), take(&region.sectors_written))
}
