//! The machine: load a module, launch a kernel.

mod advice;
mod blame;
mod checks;
mod clock;
mod footprint;
mod limits;
mod loaded;
mod residency;
mod resources;
pub mod thresholds;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fusion_ptx::ast::Module;

pub use checks::{Checks, UnknownCheck};
pub use footprint::{Footprint, Span, Tracing};
pub use limits::Limits;
pub use loaded::{Kernel, KernelInfo, LoadError, Loaded, ParamInfo};
pub use resources::{Assemble, Assembled, Resources};

use advice::round_trip::{self, Left, Used};
use advice::unused_shared;
use clock::Timed;
use residency::Residency;

use crate::exec::{self, Outcome, Run};
use crate::memory::{AllocationKind, DEFAULT_HEAP_BYTES, Heap, Memory, OutOfMemory, Region};
use crate::profile::Profile;
use crate::report::kind::{Parameters, Refusal};
use crate::report::{Fault, LaunchReport, When};
use crate::timing;

/// How a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Warp instructions that one launch may execute.
    pub instruction_budget: u64,
    /// Warp instructions that one block may execute, so that a loop without an end is found sooner.
    pub block_budget: u64,
    /// Threads to run blocks on; 0 for as many as there are cores.
    pub workers: usize,
    pub checks: Checks,
    /// What the clock by simulation leaves out, for those who want to know how much it matters.
    pub without: Option<timing::Effect>,
    /// Whether launches are timed by a simulation of what some of their blocks do. If not, their times go by bytes and instructions
    /// alone, which costs nothing and knows nothing of waiting.
    pub times: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            instruction_budget: 1 << 33,
            block_budget: 1 << 30,
            workers: 0,
            checks: Checks::default(),
            without: None,
            times: false,
        }
    }
}

/// What a cooperative launch's blocks share: two words, the size and the barrier (`grid_workspace` of
/// `cooperative_groups.h`).
const WORKSPACE_BYTES: u64 = 8;

/// What the shared and local memory of all blocks that are under way may take of the host's memory.
const HOST_BYTES: u64 = 4 << 30;

/// An emulated GPU.
#[derive(Debug)]
pub struct Machine {
    profile: Profile,
    options: Options,
    memory: Memory,
    /// Those of the options to begin with; they may change between launches.
    checks: Mutex<Checks>,
    /// The device heap, made for the first kernel that calls `malloc`, and how large it will be.
    heap: Mutex<Option<Arc<Mutex<Heap>>>>,
    heap_bytes: AtomicU64,
    /// Held during a launch: kernels run one at a time, as the counts of touched sectors are the memory's.
    launches: Mutex<Launches>,
    /// Whether launches that are executed are timed by what their blocks do.
    times: AtomicBool,
    /// Whether it is kept what their warps do, and when.
    traces: AtomicBool,
    /// Launches that were timed.
    timed: Mutex<Timed>,
    assemble: OnceLock<Assemble>,
}

/// The launches so far.
#[derive(Debug, Default)]
struct Launches {
    count: u64,
    /// What the last one left, for the advice that needs two.
    left: Left,
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
    /// Blocks of a cluster, where the launch says how many: x, y, z.
    pub cluster: Option<[u32; 3]>,
}

impl Launch {
    /// Threads of a block.
    pub fn threads(&self) -> u64 {
        self.block.iter().fold(1, |product, &n| product.saturating_mul(u64::from(n)))
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(1, |product, &n| product.saturating_mul(u64::from(n)))
    }
}

impl Machine {
    pub fn new(profile: Profile, options: Options) -> Self {
        let memory = Memory::new(profile.memory_bytes);
        Self {
            profile,
            options,
            memory,
            checks: Mutex::new(options.checks),
            heap: Mutex::default(),
            heap_bytes: AtomicU64::new(DEFAULT_HEAP_BYTES),
            launches: Mutex::default(),
            times: AtomicBool::new(options.times),
            traces: AtomicBool::new(false),
            timed: Mutex::default(),
            assemble: OnceLock::new(),
        }
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What is looked for.
    pub fn checks(&self) -> Checks {
        *self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for something else, from the next launch on.
    pub fn set_checks(&self, checks: Checks) {
        let mut current = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        if checks.init && !current.init {
            // Launches have not noted what they wrote: all that is there counts as written.
            self.memory.assume_written();
        }
        *current = checks;
    }

    /// Sets the size of the device heap, out of which kernels take memory with `malloc`: 8 MiB to begin with. False if
    /// a kernel that does was launched, since when its size stays as it is.
    pub fn set_heap_bytes(&self, bytes: u64) -> bool {
        let heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        if heap.is_none() {
            self.heap_bytes.store(bytes, Relaxed);
        }
        heap.is_none()
    }

    /// Forgets what kernels have taken from the heap, and its size: their context has ended.
    pub fn drop_heap(&self) {
        let heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.heap_bytes.store(DEFAULT_HEAP_BYTES, Relaxed);
        if let Some(heap) = heap {
            // Nobody but the heap knows of this allocation.
            let _ = self.memory.free(heap.lock().unwrap_or_else(PoisonError::into_inner).base());
        }
    }

    /// The heap for a launch: made now, if the kernel takes memory and none did before.
    fn heap(&self, needed: bool) -> Result<Option<Arc<Mutex<Heap>>>, OutOfMemory> {
        let mut heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        if heap.is_none() && needed {
            let made = Heap::new(&self.memory, self.heap_bytes.load(Relaxed))?;
            *heap = Some(Arc::new(Mutex::new(made)));
        }
        Ok(heap.clone())
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Gives the machine, which does no I/O, the means to learn what an assembler makes of the modules that are loaded from now on. It is
    /// asked when somebody wants to know; the first one that is given stays.
    pub fn assemble_with(&self, assemble: Assemble) {
        let _ = self.assemble.set(assemble);
    }

    /// Lays out and initialises the module's variables, which become allocations of [`Machine::memory`], and lowers its kernels.
    ///
    /// `source` is the PTX text, quoted by faults.
    pub fn load(&self, module: Module, source: &str) -> Result<Loaded, LoadError> {
        Loaded::new(module, source, &self.memory, &self.profile, self.assemble.get().copied())
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
        self.launch_traced(loaded, kernel, launch, params, Tracing::Off).map(|(report, _)| report)
    }

    /// As [`Machine::launch`], and tells what was accessed in global memory.
    ///
    /// # Errors
    /// As [`Machine::launch`]'s.
    pub fn launch_traced(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
        tracing: Tracing,
    ) -> Result<(LaunchReport, Footprint), Box<Fault>> {
        let (checks, mut timing) = (self.checks(), self.timing(loaded, kernel, launch, params));
        let how = How { tracing, checks, alone: None, recorded: timing.blocks() };
        let Executed { mut report, footprint, recordings } = self.execute(loaded, kernel, launch, params, how)?;
        if let Some(estimate) = timing.end(recordings, report.counters.warp_instructions) {
            (report.predicted_ns, report.account) = (estimate.ns, Some(estimate.account));
        }
        Ok((report, footprint))
    }

    /// Executes one block of a launch, within so many warp instructions, as if the others had not begun yet. Nothing is looked for
    /// but what stops a kernel. The footprint is to the byte. A kernel whose blocks communicate is not for this, see
    /// [`Loaded::communicates`].
    ///
    /// # Errors
    /// As [`Machine::launch`]'s, and that the block took too long.
    pub fn launch_block(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
        (block, budget): (u64, u64),
    ) -> Result<Footprint, Box<Fault>> {
        let how = How { tracing: Tracing::Bytes, checks: Checks::NONE, alone: Some((block, budget)), recorded: &[] };
        self.execute(loaded, kernel, launch, params, how).map(|executed| executed.footprint)
    }

    fn execute(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
        How { tracing, checks, alone, recorded }: How<'_>,
    ) -> Result<Executed, Box<Fault>> {
        let info = loaded.info(kernel);
        let code = if checks.arithmetic { loaded.checked(kernel) } else { loaded.code(kernel) };
        let Some(code) = code else {
            return Err(blame::refused(&info.name, Refusal::NoKernel));
        };
        let refuse = |refusal: Refusal| blame::refused(&info.name, refusal);
        Limits::of(&self.profile, &info).check(&self.profile, &info, launch).map_err(refuse)?;
        if params.len() < info.param_bytes as usize {
            let problem = Parameters::Short { bytes: params.len() as u64, expected: u64::from(info.param_bytes) };
            return Err(refuse(Refusal::Parameters { problem, expected: info.params.len() as u64 }));
        }
        let threads = launch.threads() as u32;
        let blocks = launch.blocks();
        let shared_bytes = code.dynamic_shared_offset + launch.dynamic_shared;
        let asked = shared_bytes - code.reserved_shared;
        let unit = self.profile.shared_granularity.max(1);
        let shared_given = (asked.next_multiple_of(unit), asked + self.profile.shared_reserved);
        let residency = Residency { profile: &self.profile, loaded, kernel, blocks, threads, shared: asked };
        // It matters where blocks wait for one another.
        let fits = match launch.cooperative || code.communicates {
            true if blocks > u64::from(residency.least_per_sm() * self.profile.sms) => match launch.cooperative {
                true => residency.most_per_sm(),
                false => residency.per_sm(),
            },
            _ => residency.least_per_sm(),
        };
        // Blocks that the host has room for at once.
        let room =
            (HOST_BYTES / (u64::from(shared_bytes) + u64::from(threads) * u64::from(info.local_bytes) + 1)).max(1);
        let resident = u64::from(fits * self.profile.sms).min(room);
        if launch.cooperative && blocks > resident {
            // The blocks of a cooperative launch wait for one another, so that all of them must be there at once.
            return Err(refuse(match resident == room {
                true => Refusal::TooManyForHost { blocks, resident },
                false => Refusal::TooManyBlocks { blocks, resident },
            }));
        }

        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        // A block alone is no launch: it leaves nothing but what it writes.
        let grid_id = launches.count + 1;
        let mut before = Left::default();
        if alone.is_none() {
            launches.count = grid_id;
            before = std::mem::take(&mut launches.left);
        }
        let workspace = match launch.cooperative {
            true => self
                .memory
                .alloc(WORKSPACE_BYTES, AllocationKind::Global)
                .map_err(|OutOfMemory { requested, free, .. }| refuse(Refusal::NoBarrier { requested, free }))?,
            false => 0,
        };
        let heap = self
            .heap(code.uses_heap)
            .map_err(|OutOfMemory { requested, free, .. }| refuse(Refusal::NoHeap { requested, free }))?;
        let regions = self.memory.snapshot();
        let run = Run {
            code,
            module: loaded.module(),
            launch,
            params,
            memory: &self.memory,
            regions: &regions,
            arguments: &info.params,
            names: loaded.names(),
            threads,
            warps: threads.div_ceil(32),
            blocks,
            cluster: limits::cluster(&info, launch),
            explicit_cluster: launch.cluster.or(info.required_cluster).is_some(),
            shared_bytes,
            shared_given,
            heap: heap.as_deref(),
            sms: self.profile.sms,
            compute: self.profile.compute,
            clock_khz: self.profile.sm_clock_khz,
            grid_id,
            workspace,
            alone: alone.map(|(block, _)| block),
            block_budget: alone
                .map_or(self.options.block_budget.min(self.options.instruction_budget), |(_, budget)| budget),
            budget: self.options.instruction_budget,
            workers: self.workers().min(room as usize),
            resident: resident as usize,
            spent: AtomicU64::new(0),
            checks,
            traced: tracing == Tracing::Bytes,
            recorded,
        };
        let Outcome { mut counters, output, stopped, touched, mut findings, trace, tally, shared_end, recordings } =
            exec::run(&run);
        let touched_shared = shared_end.saturating_sub(code.dynamic_shared_offset.into()) as u32;
        if launch.cooperative {
            // It was allocated above, and nobody else knows it.
            let _ = self.memory.free(workspace);
        }
        let mut footprint = Footprint {
            exact: tracing == Tracing::Bytes,
            complete: trace.complete(),
            communicates: code.communicates,
            read: trace.read.sorted(),
            written: trace.written.sorted(),
        };
        let mut used = Vec::new();
        for (at, region) in regions.iter().enumerate().filter(|(at, _)| touched.get(*at) == Some(&true)) {
            if tracing == Tracing::Sectors {
                footprint.add_sectors(region);
            }
            let (read, written) = sectors(region);
            counters.dram_read_bytes += 32 * read;
            counters.dram_write_bytes += 32 * written;
            used.push(Used { region: at, read, written });
        }
        if let Some(heap) = regions.iter().map(|region| &region.allocation).find(|a| a.kind == AllocationKind::Heap) {
            footprint.leave_out(heap);
        }
        let ended = advice::Ended::new(&run, &residency, counters, &tally);
        if stopped.is_none() {
            advice::advise(&ended, &mut findings);
        }
        // Blocks behind the one that stopped may or may not have run: what they did is not told.
        let last = stopped.as_ref().map_or(u64::MAX, |stopped| stopped.block);
        let findings = findings.sorted().filter(|finding| finding.block <= last);
        let findings = findings.map(|finding| blame::finding(&run, loaded.source(), &info.name, finding));
        let mut findings = blame::by_source(findings);
        blame::without_consequences(&mut findings);
        if let Some(stopped) = stopped {
            let mut fault = blame::fault(&run, loaded.source(), &info.name, stopped);
            fault.earlier = findings;
            return Err(fault);
        }
        if checks.performance {
            findings.extend(unused_shared::advise(&ended, &info.name, touched_shared));
            findings.extend(round_trip::advise(&ended, loaded.source(), &info.name, &used, &before));
            launches.left = round_trip::leave(&ended, loaded.source(), &info.name, &used);
        }
        let report = LaunchReport {
            kernel: info.name,
            grid: launch.grid,
            block: launch.block,
            shared_bytes: asked,
            dynamic_shared: launch.dynamic_shared,
            touched_shared,
            arguments: Vec::new(),
            counters,
            predicted_ns: residency.predict_ns(&counters),
            when: When::default(),
            account: None,
            output,
            findings,
            dry: Vec::new(),
        };
        Ok(Executed { report, footprint, recordings })
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

/// How a launch is executed.
struct How<'a> {
    tracing: Tracing,
    checks: Checks,
    /// The only block, and its budget.
    alone: Option<(u64, u64)>,
    /// Blocks that are recorded.
    recorded: &'a [u64],
}

/// What is known of a launch that has ended.
struct Executed {
    report: LaunchReport,
    footprint: Footprint,
    recordings: Vec<(u64, Box<exec::Recording>)>,
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
