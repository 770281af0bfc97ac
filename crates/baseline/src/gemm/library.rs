//! NVIDIA's cuBLAS, found and opened at run time.
//!
//! Six of its functions, by name. cudarc's own binding looks for the file names of one release of CUDA and panics where
//! there is none of them; this one takes any release from 12 on, from wherever a toolkit or a Python package has put it,
//! and says why where it cannot be used.

#![allow(unsafe_code)] // Opens a shared library and calls its functions.

use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cudarc::driver::sys::{CUresult, CUstream};
use cudarc::driver::{CudaContext, CudaStream, DriverError};
use fusion_course::{Gemm, GemmSizes};
use fusion_toolchain::Places;
use libloading::Library;

type Handle = *mut c_void;
type Status = c_int;
type Create = unsafe extern "C" fn(*mut Handle) -> Status;
type Destroy = unsafe extern "C" fn(Handle) -> Status;
type GetVersion = unsafe extern "C" fn(Handle, *mut c_int) -> Status;
type SetStream = unsafe extern "C" fn(Handle, CUstream) -> Status;
type SetMathMode = unsafe extern "C" fn(Handle, c_int) -> Status;
/// `cublasGemmEx`: handle, two transpositions, m, n, k, alpha, (a, type, stride), (b, type, stride), beta,
/// (c, type, stride), compute type, algorithm. Source: the cuBLAS documentation, "cublasGemmEx()".
type GemmEx = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    u64,
    c_int,
    c_int,
    u64,
    c_int,
    c_int,
    *const f32,
    u64,
    c_int,
    c_int,
    c_int,
    c_int,
) -> Status;

/// The values of cuBLAS's enumerations (`cublas_api.h`, `library_types.h`).
const SUCCESS: Status = 0;
const NOT_TRANSPOSED: c_int = 0;
const R_16F: c_int = 2;
const COMPUTE_32F: c_int = 68;
const GEMM_DEFAULT: c_int = -1;
/// Sums that are split among blocks stay in f32 until the end.
const NO_REDUCED_PRECISION_REDUCTION: c_int = 16;

/// The releases that are looked for, the newest first. Their functions above are alike.
const RELEASES: [u32; 2] = [13, 12];

/// An opened cuBLAS.
#[derive(Debug)]
pub struct LibraryGemm {
    handle: Handle,
    version: c_int,
    set_stream: SetStream,
    gemm_ex: GemmEx,
    destroy: Destroy,
    /// The handle belongs to it.
    context: Arc<CudaContext>,
}

impl LibraryGemm {
    /// Looks for cuBLAS and opens it: the file or directory that `FUSION_CUBLAS` names, else what the loader finds, else
    /// the places where toolkits and Python packages put it.
    ///
    /// # Errors
    /// In words, why it cannot be used: there is none, or it does not work with this device.
    pub fn open(stream: &Arc<CudaStream>) -> Result<Self, String> {
        let context = stream.context().clone();
        context.bind_to_thread().map_err(|error| error.to_string())?;
        let mut why = "no cuBLAS was found; FUSION_CUBLAS may name its file or directory".to_owned();
        for path in candidates() {
            match load(&path).and_then(|library| Self::with(library, context.clone())) {
                Ok(gemm) => return Ok(gemm),
                // A name that the loader does not know is no reason worth telling.
                Err(refused) if path.is_absolute() => why = format!("{} cannot be used: {refused}", path.display()),
                Err(_) => {}
            }
        }
        Err(why)
    }

    fn with(library: &'static Library, context: Arc<CudaContext>) -> Result<Self, String> {
        // SAFETY: these are the functions' types.
        let (create, destroy, get_version, set_stream, set_math_mode, gemm_ex) = unsafe {
            (
                symbol::<Create>(library, "cublasCreate_v2")?,
                symbol::<Destroy>(library, "cublasDestroy_v2")?,
                symbol::<GetVersion>(library, "cublasGetVersion_v2")?,
                symbol::<SetStream>(library, "cublasSetStream_v2")?,
                symbol::<SetMathMode>(library, "cublasSetMathMode")?,
                symbol::<GemmEx>(library, "cublasGemmEx")?,
            )
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the context is current, and the pointer is to a live variable.
        succeeded("cublasCreate", unsafe { create(&raw mut handle) })?;
        let mut gemm = Self { handle, version: 0, set_stream, gemm_ex, destroy, context };
        // SAFETY: the handle was just made, and the pointer is to a live variable.
        succeeded("cublasGetVersion", unsafe { get_version(gemm.handle, &raw mut gemm.version) })?;
        // SAFETY: the handle was just made.
        let mode = unsafe { set_math_mode(gemm.handle, NO_REDUCED_PRECISION_REDUCTION) };
        succeeded("cublasSetMathMode", mode)?;
        Ok(gemm)
    }

    /// The release, as cuBLAS writes it: `13.1.0`.
    pub fn version(&self) -> String {
        release(self.version)
    }
}

impl Drop for LibraryGemm {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the handle was made when this was, and nobody else has it. What is queued was given its stream.
            unsafe { (self.destroy)(self.handle) };
        }
    }
}

impl Gemm for LibraryGemm {
    unsafe fn queue(
        &self,
        stream: &Arc<CudaStream>,
        [a, b, c]: [u64; 3],
        GemmSizes { m, n, k }: GemmSizes,
    ) -> Result<(), DriverError> {
        if m * n == 0 {
            return Ok(());
        }
        let invalid = DriverError(CUresult::CUDA_ERROR_INVALID_VALUE);
        let (Ok(m), Ok(n), Ok(k)) = (c_int::try_from(m), c_int::try_from(n), c_int::try_from(k)) else {
            return Err(invalid);
        };
        self.context.bind_to_thread()?;
        let (one, zero) = (1.0_f32, 0.0_f32);
        // cuBLAS counts matrices by columns. A matrix by rows is its transpose by columns, and the transpose of a b is
        // that of b times that of a: so the two change places, and m and n do.
        //
        // SAFETY: the handle is alive and the stream is of its context; the caller answers for the addresses, which
        // hold as many elements as the sizes and strides say; the factors are read before the call returns.
        let status = unsafe {
            match (self.set_stream)(self.handle, stream.cu_stream()) {
                SUCCESS => (self.gemm_ex)(
                    self.handle,
                    NOT_TRANSPOSED,
                    NOT_TRANSPOSED,
                    n,
                    m,
                    k,
                    &raw const one,
                    b,
                    R_16F,
                    n,
                    a,
                    R_16F,
                    k.max(1),
                    &raw const zero,
                    c,
                    R_16F,
                    n,
                    COMPUTE_32F,
                    GEMM_DEFAULT,
                ),
                status => status,
            }
        };
        succeeded("cublasGemmEx", status).map_err(|_| DriverError(CUresult::CUDA_ERROR_EXTERNAL_DEVICE))
    }
}

/// Where it may be, the best first. Names without a directory are the loader's to find.
fn candidates() -> Vec<PathBuf> {
    let names = RELEASES.map(|release| file("cublas", release));
    let within =
        |directory: &Path| names.iter().map(|name| directory.join(name)).filter(|path| path.is_file()).collect();
    if let Some(explicit) = std::env::var_os("FUSION_CUBLAS").filter(|path| !path.is_empty()) {
        return match std::path::absolute(&explicit) {
            Ok(directory) if directory.is_dir() => [directory.clone(), directory.join("lib64"), directory.join("lib")]
                .iter()
                .flat_map(|at| -> Vec<PathBuf> { within(at) })
                .collect(),
            Ok(path) => vec![path],
            Err(_) => Vec::new(),
        };
    }
    let mut found: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
    for group in Places::from_env().system {
        found.extend(group.directories.iter().flat_map(|at| -> Vec<PathBuf> { within(at) }));
    }
    found
}

/// The file name of a release of a library.
fn file(name: &str, release: u32) -> String {
    if cfg!(windows) { format!("{name}64_{release}.dll") } else { format!("lib{name}.so.{release}") }
}

/// Opens the library for the life of the process: it starts threads and registers what runs at the process's end.
fn load(path: &Path) -> Result<&'static Library, String> {
    // cuBLAS needs cublasLt, which lies beside it, and asks the loader for it by its bare name. Opened first, it is found.
    let release = RELEASES.iter().find(|release| path.ends_with(file("cublas", **release)));
    if let (true, Some(release)) = (path.is_absolute(), release) {
        // SAFETY: opening it runs its initialisers, as opening cuBLAS itself would.
        if let Ok(companion) = unsafe { Library::new(path.with_file_name(file("cublasLt", *release))) } {
            std::mem::forget(companion);
        }
    }
    // SAFETY: opening the library runs its initialisers, as in every program that is linked with it.
    let library = unsafe { Library::new(path) }.map_err(|error| match std::error::Error::source(&error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    })?;
    Ok(Box::leak(Box::new(library)))
}

/// # Safety
/// `T` is the type of the function of that name.
unsafe fn symbol<T: Copy>(library: &'static Library, name: &str) -> Result<T, String> {
    // SAFETY: the caller knows the type.
    let symbol = unsafe { library.get::<T>(name.as_bytes()) };
    symbol.map(|symbol| *symbol).map_err(|_| format!("it has no function {name}"))
}

fn succeeded(function: &str, status: Status) -> Result<(), String> {
    if status == SUCCESS { Ok(()) } else { Err(format!("{function} answers with status {status}")) }
}

/// 130100 is 13.1.0.
fn release(version: c_int) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_named_as_their_files_are() {
        assert_eq!(release(130_100), "13.1.0");
        assert_eq!(release(120_605), "12.6.5");
        if cfg!(target_os = "linux") {
            assert_eq!(file("cublas", 13), "libcublas.so.13");
        }
    }

    #[test]
    fn what_is_no_library_is_refused_in_words() {
        let refused = load(Path::new("/nonexistent/libcublas.so.13"));
        assert!(refused.is_err_and(|why| why.contains("libcublas")));
    }
}
