#![allow(unsafe_code)] // cudarc's safe loading of modules has no log, so a refused image is loaded once more below it.

use std::ffi::{CString, c_uint, c_void};
use std::fmt;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUjit_option, CUresult};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError};
use cudarc::nvrtc::Ptx;

use crate::Compiled;

/// Compiled code on the device.
#[derive(Clone, Debug)]
pub struct Program {
    /// A plain cudarc module.
    pub module: Arc<CudaModule>,
    pub compiled: Arc<Compiled>,
}

/// Why the driver refused an image.
#[derive(Debug)]
pub struct LoadError {
    /// The source's name.
    pub name: String,
    pub error: DriverError,
    /// What the driver's translator said; often empty for machine code.
    pub log: String,
    /// The CUDA release that the driver supports, and NVRTC's.
    pub driver: (u32, u32),
    pub compiler: (u32, u32),
}

/// Why a kernel could not be had.
#[derive(Debug)]
pub enum KernelError {
    Missing(MissingKernel),
    /// The driver refused for another reason, such as an earlier fault.
    Driver {
        kernel: String,
        error: DriverError,
    },
}

/// A kernel that was asked for by name is not in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKernel {
    pub kernel: String,
    /// The source's name.
    pub name: String,
    /// The kernels that are there.
    pub there: Vec<String>,
}

impl Program {
    pub(crate) fn load(
        context: &Arc<CudaContext>,
        driver: (u32, u32),
        compiled: Compiled,
    ) -> Result<Program, LoadError> {
        let ptx = match &compiled.machine_code {
            Some(code) => Ptx::from_binary(code.clone()),
            None => Ptx::from_src(compiled.ptx.as_str()),
        };
        match context.load_module(ptx) {
            Ok(module) => Ok(Program { module, compiled: Arc::new(compiled) }),
            Err(error) => Err(LoadError {
                log: log_of(context, &compiled).unwrap_or_default(),
                name: compiled.name,
                error,
                driver,
                compiler: compiled.version,
            }),
        }
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// [`KernelError::Missing`] names the kernels that are there.
    pub fn kernel(&self, name: &str) -> Result<CudaFunction, KernelError> {
        // cudarc panics on a name with a NUL byte, and no kernel has one.
        let found = match name.contains('\0') {
            true => Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)),
            false => self.module.load_function(name),
        };
        found.map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_NOT_FOUND => KernelError::Missing(MissingKernel {
                kernel: name.to_owned(),
                name: self.compiled.name.clone(),
                there: self.compiled.kernels().into_iter().map(str::to_owned).collect(),
            }),
            _ => KernelError::Driver { kernel: name.to_owned(), error },
        })
    }
}

/// A driver's error in words and by name; cudarc's own text for it is meant for debugging.
pub fn describe(error: &DriverError) -> String {
    match error.error_string() {
        Ok(text) => format!("{} ({:?})", text.to_string_lossy(), error.0),
        Err(_) => format!("{:?}", error.0),
    }
}

/// Loads the image once more, this time with a buffer for the driver's messages.
fn log_of(context: &Arc<CudaContext>, compiled: &Compiled) -> Option<String> {
    context.bind_to_thread().ok()?;
    let ptx = CString::new(compiled.ptx.as_str()).ok()?;
    let image: *const c_void = match &compiled.machine_code {
        Some(code) => code.as_ptr().cast(),
        None => ptx.as_ptr().cast(),
    };
    let mut log = vec![0_u8; 16 << 10];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The API passes numbers in the pointers' own bits.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
    let mut module = std::ptr::null_mut();
    // SAFETY: the image is NUL-terminated PTX or a whole ELF file, both alive; there are two options with two values,
    // the first of which is a buffer of the size that the second gives; a module that does load is unloaded again.
    unsafe {
        let count = c_uint::try_from(options.len()).ok()?;
        let result = sys::cuModuleLoadDataEx(&raw mut module, image, count, options.as_mut_ptr(), values.as_mut_ptr());
        if result == CUresult::CUDA_SUCCESS {
            sys::cuModuleUnload(module);
        }
    }
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]).trim().to_owned();
    Some(text)
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The driver refused the compiled {}: {}", self.name, describe(&self.error))?;
        if !self.log.is_empty() {
            write!(f, "\n{}", self.log)?;
        }
        // Only whole releases matter: within one, older drivers run newer machine code.
        if self.compiler.0 > self.driver.0 {
            write!(
                f,
                "\nThe driver supports CUDA {}.{} and the compiler is NVRTC {}.{}: update the driver, or set FUSION_NVRTC \
                 to an NVRTC of CUDA {}.",
                self.driver.0, self.driver.1, self.compiler.0, self.compiler.1, self.driver.0
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelError::Missing(missing) => missing.fmt(f),
            KernelError::Driver { kernel, error } => {
                write!(f, "The driver does not give the kernel `{kernel}`: {}.", describe(error))
            }
        }
    }
}

impl std::error::Error for KernelError {}

impl fmt::Display for MissingKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingKernel { kernel, name, there } = self;
        match there.as_slice() {
            [] => write!(f, "There is no kernel `{kernel}` in {name}: it has no kernel at all.")?,
            there => write!(f, "There is no kernel `{kernel}` in {name}; it has: {}.", there.join(", "))?,
        }
        // The mangled name begins with `_Z`, the name's length and the name.
        if there.iter().any(|it| it.starts_with("_Z") && it.contains(&format!("{}{kernel}", kernel.len()))) {
            write!(f, " Declare it `extern \"C\" __global__` so that it keeps its name.")?;
        }
        Ok(())
    }
}

impl std::error::Error for MissingKernel {}
