//! What the emulated device's clock says of a point, on memory that is reserved and mostly not there.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

use fusion_baseline::includes;
use fusion_device::{CompileError, Compiler, Options, Source};
use fusion_machine::report::account::Bound;
use fusion_machine::timing::{Effect, Estimate};
use fusion_machine::{
    AllocationKind, Assembled, Checks, Fault, Launch, LoadError, Machine, OutOfMemory, Profile, Resources,
};
use fusion_nvrtc::Nvrtc;
use fusion_suite::Argument;

use crate::case::{Case, Point};
use crate::contents::{PERIOD, contents};
use crate::record::Cache;

/// Predicts the points of one case.
#[derive(Debug)]
pub struct Predictor {
    ptx: String,
    without: Option<Effect>,
}

/// Why there is no prediction.
#[derive(Debug)]
pub enum Unpredicted {
    Compile(CompileError),
    Load(LoadError),
    NoKernel(String),
    Memory(OutOfMemory),
    Fault(Box<Fault>),
    /// A point asks for what cannot be predicted.
    Point(String),
}

impl Predictor {
    /// Compiles a case for a compute capability. `without`: what the clock leaves out.
    ///
    /// # Errors
    /// When it does not compile.
    pub fn new(
        compiler: &Compiler,
        case: &Case,
        (major, minor): (u32, u32),
        without: Option<Effect>,
    ) -> Result<Self, Unpredicted> {
        let file = format!("{}.cu", case.name);
        let source = Source { name: &file, text: &case.source };
        let compiled = compiler.ptx(&source, &includes(), major * 10 + minor, &Options::default());
        Ok(Self { ptx: compiled.map_err(Unpredicted::Compile)?.ptx, without })
    }

    /// Nanoseconds of a point on the GPU of a profile, and what bounds it.
    ///
    /// # Errors
    /// What went wrong in the blocks that are executed, or before.
    pub fn predict(&self, profile: &Profile, point: &Point) -> Result<(f64, Option<Bound>), Unpredicted> {
        let wrong = |why: &str| Unpredicted::Point(why.to_owned());
        // Checks never change a time.
        let options = fusion_machine::Options {
            without: self.without,
            checks: Checks::NONE,
            ..fusion_machine::Options::default()
        };
        let machine = Machine::new(profile.clone(), options);
        machine.assemble_with(assemble);
        let parsed = fusion_ptx::parse(&self.ptx);
        let loaded = machine.load(parsed.module, &self.ptx).map_err(Unpredicted::Load)?;
        let kernel = &point.launch.kernel;
        let kernel = loaded.kernel(kernel).ok_or_else(|| Unpredicted::NoKernel(kernel.clone()))?;
        let info = loaded.info(kernel);
        let mut params = vec![0; info.param_bytes as usize];
        for (parameter, given) in info.params.iter().zip(&point.launch.parameters) {
            let bytes = argument(&machine, &given.argument)?;
            let place = params.get_mut(parameter.offset as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
            place.ok_or_else(|| wrong("an argument is longer than its parameter"))?.copy_from_slice(&bytes);
        }
        let crate::Launch { grid, block, shared, cooperative, .. } = point.launch;
        let launch =
            Launch { grid: grid.into(), block: block.into(), dynamic_shared: shared, cooperative, cluster: None };
        // A kernel whose blocks go on by what others do is executed whole.
        machine.set_times(true);
        let whole = || {
            let report = machine.launch(&loaded, kernel, &launch, &params)?;
            Ok((report.predicted_ns, report.account.map(|account| account.bound())))
        };
        let estimate = || -> Result<_, Unpredicted> {
            let estimate = machine.estimate(&loaded, kernel, &launch, &params).map_err(Unpredicted::Fault)?;
            let known = |estimate: Estimate| Ok((estimate.ns, Some(estimate.account.bound())));
            estimate.map_or_else(whole, known).map_err(Unpredicted::Fault)
        };
        if point.cache == Cache::Warm {
            estimate()?;
        }
        estimate()
    }
}

/// Registers as the driver finds them: the compiler that made the PTX has the assembler, too. A case has many points, and is assembled
/// once.
fn assemble(ptx: &str, compute: (u32, u32)) -> Option<Assembled> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Option<Assembled>>>> = LazyLock::new(Mutex::default);
    let resources = || {
        let usage = fusion_nvrtc::assemble(&Nvrtc::already_open()?, ptx, compute)?;
        let resources = usage.into_iter().map(|(name, usage)| {
            let fusion_nvrtc::Usage { registers, local_bytes, spill_stores, spill_loads } = usage;
            (name, Resources { registers, local_bytes, spill_stores, spill_loads, exact: true })
        });
        Some(resources.collect())
    };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(ptx.to_owned()).or_insert_with(resources).clone()
}

/// The bytes of an argument. Large buffers repeat what they hold.
fn argument(machine: &Machine, argument: &Argument) -> Result<Vec<u8>, Unpredicted> {
    match argument {
        Argument::Buffer { ty, len, fill } => {
            let (size, period) = ((len * ty.size()) as u64, (PERIOD * ty.size()) as u64);
            let memory = machine.memory();
            let made = match size > period {
                true => memory.alloc_repeating(size, period),
                false => memory.alloc(size, AllocationKind::Global),
            };
            let address = made.map_err(Unpredicted::Memory)?;
            if let Some(contents) = contents(*ty, (*len).min(PERIOD), *fill) {
                // It was allocated for as much.
                let _ = memory.write(address, &contents);
            }
            Ok(address.to_le_bytes().to_vec())
        }
        Argument::Null => Ok(vec![0; 8]),
        Argument::Number(bytes) | Argument::Value(bytes) => Ok(bytes.clone()),
        _ => Err(Unpredicted::Point("an argument is none that can be timed".to_owned())),
    }
}

impl fmt::Display for Unpredicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compile(error) => error.fmt(f),
            Self::Load(error) => error.fmt(f),
            Self::NoKernel(name) => write!(f, "there is no kernel `{name}`"),
            Self::Memory(error) => write!(f, "{error:?}"),
            Self::Fault(fault) => write!(f, "{} in `{}`", fault.code().as_str(), fault.kernel),
            Self::Point(why) => f.write_str(why),
        }
    }
}

impl Error for Unpredicted {}
