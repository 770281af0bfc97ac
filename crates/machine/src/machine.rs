//! The machine: load a module, launch a kernel.

use std::fmt;

use fusion_ptx::ast::Module;

use crate::memory::Memory;
use crate::profile::Profile;
use crate::report::{Blame, Fault, LaunchReport};

/// How a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Warp instructions that one launch may execute.
    pub instruction_budget: u64,
    /// Threads to run blocks on; 0 for as many as there are cores.
    pub workers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { instruction_budget: 1 << 33, workers: 0 }
    }
}

/// An emulated GPU.
#[derive(Debug)]
pub struct Machine {
    profile: Profile,
    options: Options,
    memory: Memory,
}

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    pub message: String,
    /// One-based line of the PTX; 0 when no line is to blame.
    pub line: u32,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for LoadError {}

/// A kernel of a loaded module: the index of an entry in the module's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(pub u32);

/// A module that is ready to run.
#[derive(Debug)]
pub struct Loaded {
    module: Module,
}

/// A kernel's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    pub name: String,
    /// In bytes, from the start of the parameter buffer.
    pub offset: u32,
    pub size: u32,
}

/// What is known of a kernel before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    pub name: String,
    pub params: Vec<ParamInfo>,
    /// Size of the parameter buffer.
    pub param_bytes: u32,
    pub static_shared: u32,
    /// Constant memory of the module.
    pub constant_bytes: u64,
    /// Local memory of a thread.
    pub local_bytes: u32,
    /// Registers of a thread: an estimate from liveness, 255 at most.
    pub registers: u32,
    pub max_threads: u32,
    pub ptx_version: (u32, u32),
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
}

/// A launch's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// In bytes, beyond the static shared memory.
    pub dynamic_shared: u32,
    pub cooperative: bool,
}

impl Machine {
    pub fn new(profile: Profile, options: Options) -> Self {
        let memory = Memory::new(profile.memory_bytes);
        Self { profile, options, memory }
    }

    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Lays out and initialises the module's variables, which become allocations of [`Machine::memory`], and lowers its functions.
    ///
    /// `source` is the PTX text, quoted by faults.
    pub fn load(&self, module: Module, source: &str) -> Result<Loaded, LoadError> {
        let _ = source;
        Ok(Loaded { module })
    }

    /// Frees the module's variables.
    pub fn unload(&self, loaded: &Loaded) {
        let _ = loaded;
    }

    /// Runs a kernel to its end. `params` is the parameter buffer, laid out as [`KernelInfo::params`] says.
    pub fn launch(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
    ) -> Result<LaunchReport, Box<Fault>> {
        let _ = (launch, params, self.options);
        Err(Box::new(Fault {
            code: "E-UNSUPPORTED-INSTRUCTION".into(),
            blame: Blame::Unsupported,
            title: "the emulator cannot run kernels yet".into(),
            notes: Vec::new(),
            kernel: loaded.info(kernel).name,
            source: Vec::new(),
            ptx: None,
            block: None,
            thread: None,
            lanes: 0,
        }))
    }

    /// Modelled nanoseconds of a copy or memset.
    pub fn copy_time_ns(&self, bytes: u64, over_the_bus: bool) -> f64 {
        let bandwidth = if over_the_bus { 50e9 } else { self.profile.dram_bandwidth / 2.0 };
        self.profile.launch_overhead_ns + bytes as f64 / bandwidth * 1e9
    }
}

impl Loaded {
    pub fn kernel(&self, name: &str) -> Option<Kernel> {
        self.module.functions.iter().position(|f| f.is_entry && f.name == name).map(|i| Kernel(i as u32))
    }

    pub fn kernel_names(&self) -> Vec<&str> {
        self.module.functions.iter().filter(|f| f.is_entry).map(|f| f.name.as_str()).collect()
    }

    pub fn info(&self, kernel: Kernel) -> KernelInfo {
        let f = &self.module.functions[kernel.0 as usize];
        KernelInfo {
            name: f.name.clone(),
            params: f
                .params
                .iter()
                .map(|p| ParamInfo { name: p.name.clone(), offset: p.offset, size: p.size })
                .collect(),
            param_bytes: f.params.last().map_or(0, |p| p.offset + p.size),
            static_shared: 0,
            constant_bytes: 0,
            local_bytes: 0,
            registers: 32,
            max_threads: 1024,
            ptx_version: self.module.version,
            required_threads: f.directives.required_threads,
        }
    }

    /// Address and size of a `.global` or `.const` variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        let _ = name;
        None
    }
}
