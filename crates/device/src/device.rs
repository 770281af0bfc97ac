use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, CudaStream, DriverError};
use fusion_machine::occupancy::Limits;
use fusion_toolchain::Toolchain;

use crate::loader::{self, Driver};
use crate::{
    CompileError, Compiled, Compiler, Emulator, EmulatorError, EmulatorOptions, LoadError, Options, Program, Source,
    describe,
};

/// Which device to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// A real GPU when there is one that works, else the emulated one.
    #[default]
    Auto,
    Gpu,
    Emulated,
}

/// Which device was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Gpu,
    Emulated,
}

/// An open GPU: device 0 of its driver, with one stream for all work.
#[derive(Debug)]
pub struct Device {
    pub context: Arc<CudaContext>,
    /// The one stream that everything should run on. It is not the default stream, so that it can be captured into a
    /// graph. cudarc's event tracking is off: it would add waits to what is timed, and one stream needs none.
    pub stream: Arc<CudaStream>,
    pub kind: Kind,
    pub properties: Properties,
    emulator: Option<Emulator>,
    no_gpu: Option<OpenError>,
    compiler: OnceLock<Compiler>,
}

/// What the device says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// For example `NVIDIA H200` or `Emulated H200`.
    pub name: String,
    /// Major and minor: (9, 0) for Hopper.
    pub compute_capability: (u32, u32),
    pub multiprocessors: u32,
    /// What each of them has to give.
    pub limits: Limits,
    pub l2_bytes: u64,
    pub memory_bytes: u64,
    /// The CUDA release that the driver supports, major and minor: (12, 4).
    pub driver: (u32, u32),
}

/// Why no device could be opened.
#[derive(Debug)]
pub enum OpenError {
    /// There is no NVIDIA driver library.
    NoDriver { detail: String },
    /// The driver is there and refuses to start or has no device; its error's number and text.
    NoDevice { code: i32, text: String },
    /// The driver is older than the API that this program is built for.
    OldDriver { driver: (u32, u32), needed: (u32, u32) },
    /// The emulated driver's shared library is not where it should be; the places that were tried.
    NoEmulator { tried: Vec<PathBuf> },
    /// It is there and cannot be used.
    BadEmulator { path: PathBuf, why: String },
    /// It refused its settings.
    Emulator(EmulatorError),
    /// This process has opened the other kind of device before.
    OtherKind { open: Kind },
    /// The driver failed later on.
    Driver { doing: &'static str, error: DriverError },
}

impl Device {
    /// Opens device 0. May be called again: the driver stays, and the context is the same primary context.
    ///
    /// # Errors
    /// See [`OpenError`]. [`Choice::Auto`] fails only when there is neither a GPU nor an emulator.
    pub fn open(choice: Choice) -> Result<Device, OpenError> {
        Device::open_driver(loader::open(choice)?)
    }

    /// As [`Device::open`], with settings for the emulated device; a real one has none of them.
    ///
    /// # Errors
    /// As [`Device::open`]'s, and [`OpenError::Emulator`] when a setting comes too late because the device was opened
    /// before.
    pub fn open_with(choice: Choice, options: &EmulatorOptions) -> Result<Device, OpenError> {
        let driver = loader::open(choice)?;
        if let Driver::Emulated(emulator, _) = &driver {
            emulator.set(options).map_err(OpenError::Emulator)?;
        }
        Device::open_driver(driver)
    }

    fn open_driver(driver: Driver) -> Result<Device, OpenError> {
        let failed = |doing| move |error| OpenError::Driver { doing, error };
        if let Driver::Emulated(emulator, _) = &driver {
            emulator.check_profile().map_err(OpenError::Emulator)?;
        }
        let context = CudaContext::new(0).map_err(failed("opening a context on device 0"))?;
        // SAFETY: tracking orders work between streams, and this crate's contract is one stream.
        #[expect(unsafe_code, reason = "cudarc leaves the ordering of streams to whoever turns its tracking off")]
        unsafe {
            context.disable_event_tracking();
        }
        let stream = context.new_stream().map_err(failed("making a stream"))?;
        let properties = Properties::of(&context).map_err(failed("asking for the device's attributes"))?;
        let (kind, emulator, no_gpu) = match driver {
            Driver::Gpu => (Kind::Gpu, None, None),
            Driver::Emulated(emulator, no_gpu) => (Kind::Emulated, Some(emulator), no_gpu),
        };
        Ok(Device { context, stream, kind, properties, emulator, no_gpu, compiler: OnceLock::new() })
    }

    pub fn is_emulated(&self) -> bool {
        self.kind == Kind::Emulated
    }

    /// The emulator's own interface, when the device is emulated.
    pub fn emulator(&self) -> Option<&Emulator> {
        self.emulator.as_ref()
    }

    /// Why [`Choice::Auto`] settled on the emulated device; worth telling on a machine that has a GPU.
    pub fn why_not_gpu(&self) -> Option<&OpenError> {
        self.no_gpu.as_ref()
    }

    /// Takes NVRTC from here instead of searching for it at the first compilation.
    ///
    /// # Errors
    /// When the library cannot be opened.
    pub fn use_toolchain(&self, toolchain: &Toolchain) -> Result<(), CompileError> {
        let compiler = Compiler::open(toolchain)?;
        // A second call changes nothing: programs compiled already were compiled by the first.
        let _ = self.compiler.set(compiler);
        Ok(())
    }

    /// The compiler that [`Device::compile`] uses; found, but never fetched, when it is first needed.
    ///
    /// # Errors
    /// When there is none or it cannot be opened.
    pub fn compiler(&self) -> Result<&Compiler, CompileError> {
        if self.compiler.get().is_none() {
            let toolchain = fusion_toolchain::find().map_err(CompileError::NoCompiler)?;
            self.use_toolchain(&toolchain)?;
        }
        Ok(self.compiler.get_or_init(|| unreachable!("set above and never taken out")))
    }

    /// Compiles CUDA C++ and loads it. `headers` can be included by their names.
    ///
    /// The emulated device gets PTX with line information, a real one machine code of its own architecture.
    ///
    /// # Errors
    /// [`CompileError::Rejected`] when the source is wrong, with NVRTC's log; see [`CompileError`] for the rest.
    pub fn compile(&self, source: &Source, headers: &[Source], options: &Options) -> Result<Program, CompileError> {
        let (major, minor) = self.properties.compute_capability;
        let capability = major * 10 + minor;
        let compiler = self.compiler()?;
        let compiled = match self.kind {
            Kind::Emulated => compiler.ptx(source, headers, capability, options)?,
            Kind::Gpu => compiler.machine_code(source, headers, capability, options)?,
        };
        self.load_compiled(compiled)
    }

    /// Loads what the compiler made for this device, and refuses what the assembler for a real one would.
    ///
    /// # Errors
    /// As [`Device::compile`]'s.
    fn load_compiled(&self, compiled: Compiled) -> Result<Program, CompileError> {
        let program = self.load(compiled).map_err(CompileError::Load)?;
        match self.kind {
            Kind::Emulated => within_static_shared(program),
            Kind::Gpu => Ok(program),
        }
    }

    /// Loads what was compiled before.
    ///
    /// # Errors
    /// With the driver's own log.
    pub fn load(&self, compiled: Compiled) -> Result<Program, LoadError> {
        Program::load(&self.context, self.properties.driver, compiled)
    }
}

/// Refuses what NVRTC's assembler refuses on the way to machine code: more static shared memory than any GPU gives to a kernel that
/// does not ask for more. PTX passes the assembler of the driver instead, which lets more through.
fn within_static_shared(program: Program) -> Result<Program, CompileError> {
    const MOST: i32 = 48 << 10;
    for name in program.compiled.kernels() {
        // Of a kernel that cannot be found, its caller is told.
        let bytes = program.kernel(name).ok().and_then(|kernel| kernel.shared_size_bytes().ok()).unwrap_or(0);
        if bytes > MOST {
            let log = format!(
                "ptxas error   : Entry function '{name}' uses too much shared data ({bytes:#x} bytes, {MOST:#x} max)\n"
            );
            return Err(CompileError::rejected(&program.compiled.name, log));
        }
    }
    Ok(program)
}

impl Properties {
    fn of(context: &CudaContext) -> Result<Properties, DriverError> {
        // Every attribute asked for is a count, so a negative one would be a driver's mistake and reads as none.
        let attribute = |which| Ok(u32::try_from(context.attribute(which)?).unwrap_or(0));
        let compute_capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let limits = Limits {
            threads: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            blocks: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            registers: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            shared: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            shared_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            shared_reserved: attribute(Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)?,
            shared_granularity: Limits::shared_granularity(compute_capability),
        };
        Ok(Properties {
            name: context.name()?,
            compute_capability,
            limits,
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            l2_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
            memory_bytes: context.total_mem()? as u64,
            driver: loader::driver_version()?,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Gpu => "gpu",
            Kind::Emulated => "emulated",
        })
    }
}

impl FromStr for Choice {
    type Err = String;

    /// `auto`, `gpu` or `emulated`.
    fn from_str(name: &str) -> Result<Choice, String> {
        match name {
            "auto" => Ok(Choice::Auto),
            "gpu" => Ok(Choice::Gpu),
            "emulated" => Ok(Choice::Emulated),
            _ => Err(format!("`{name}` is no device: choose auto, gpu or emulated")),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const OR_EMULATE: &str = "The emulated device needs none: choose `emulated`.";
        match self {
            OpenError::NoDriver { detail } => {
                write!(f, "There is no NVIDIA driver on this machine ({detail}). {OR_EMULATE}")
            }
            OpenError::NoDevice { code, text } => {
                write!(f, "The NVIDIA driver has no usable GPU: {text} (error {code}). {OR_EMULATE}")
            }
            OpenError::OldDriver { driver, needed } => write!(
                f,
                "The NVIDIA driver supports CUDA {}.{}, and {}.{} is needed: install a newer driver. {OR_EMULATE}",
                driver.0, driver.1, needed.0, needed.1
            ),
            OpenError::NoEmulator { tried } => {
                writeln!(f, "The emulated GPU's library was not found. Tried:")?;
                for path in tried {
                    writeln!(f, "  {}", path.display())?;
                }
                write!(
                    f,
                    "Put it beside the program, or set FUSION_EMULATOR to it; `cargo build -p fusion-driver` makes it."
                )
            }
            OpenError::BadEmulator { path, why } => write!(
                f,
                "The emulated GPU's library {} cannot be used: {why}.\n\
                 Build it anew with `cargo build -p fusion-driver`, and unset FUSION_EMULATOR unless it should be another.",
                path.display()
            ),
            OpenError::Emulator(error) => error.fmt(f),
            OpenError::OtherKind { open } => write!(
                f,
                "This process has opened the {open} device, and a process keeps its first device: use another process."
            ),
            OpenError::Driver { doing, error } => {
                write!(f, "The CUDA driver failed while {doing}: {}", describe(error))
            }
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpenError::Driver { error, .. } => Some(error),
            OpenError::Emulator(error) => Some(error),
            _ => None,
        }
    }
}
