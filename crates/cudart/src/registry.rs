//! What a program registers before `main`: its fat binaries, and which of its functions and variables are kernels and variables of the
//! device. A binary is loaded when something of it is first needed.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_uint};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::boundary::{Handle, Ptr, driver, export, put, say, text};
use crate::device;
use crate::error::{Error, Result};

driver! {
    fn cuModuleLoadData(module: *mut Handle, image: Ptr);
    fn cuModuleUnload(module: Handle);
    fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint);
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char);
    fn cuModuleGetGlobal_v2(address: *mut Ptr, size: *mut usize, module: Handle, name: *const c_char);
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());

#[derive(Debug)]
struct Registry {
    binaries: Vec<Binary>,
    /// By the address of what stands for it in the program: the binary's index, and the name in the PTX.
    functions: BTreeMap<usize, Named>,
    variables: BTreeMap<usize, Named>,
}

#[derive(Debug)]
struct Binary {
    /// The address of the fat binary's wrapper.
    image: usize,
    module: Option<usize>,
}

#[derive(Clone, Debug)]
struct Named {
    binary: usize,
    name: CString,
}

impl Registry {
    const fn new() -> Self {
        Self { binaries: Vec::new(), functions: BTreeMap::new(), variables: BTreeMap::new() }
    }

    fn module(&mut self, binary: usize) -> Result<Handle> {
        let binary = self.binaries.get_mut(binary).ok_or(Error::INVALID_VALUE)?;
        if binary.module.is_none() {
            binary.module = Some(load(binary.image as Ptr)? as usize);
        }
        binary.module.map(|module| module as Handle).ok_or(Error::UNKNOWN)
    }
}

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: c_uint = 2;

/// Loads a binary. The program has not asked for that, and may be in the middle of a capture, in which no thread may
/// load: the runtime takes upon itself that it is safe.
fn load(image: Ptr) -> Result<Handle> {
    let (mut mode, mut module) = (RELAXED, std::ptr::null_mut());
    cuThreadExchangeStreamCaptureMode(&raw mut mode)?;
    let loaded = cuModuleLoadData(&raw mut module, image);
    cuThreadExchangeStreamCaptureMode(&raw mut mode)?;
    loaded.map(|()| module)
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kernel that a function of the program stands for. What is none may be a kernel's handle.
pub(crate) fn kernel(function: Ptr) -> Result<Handle> {
    device::begin()?;
    let mut registry = registry();
    let Some(named) = registry.functions.get(&(function as usize)).cloned() else {
        return if function.is_null() { Err(Error::INVALID_DEVICE_FUNCTION) } else { Ok(function) };
    };
    let module = registry.module(named.binary)?;
    let mut kernel = std::ptr::null_mut();
    cuModuleGetFunction(&raw mut kernel, module, named.name.as_ptr()).map_err(|_| Error::INVALID_DEVICE_FUNCTION)?;
    Ok(kernel)
}

/// Whether a function of the program stands for a kernel.
pub(crate) fn is_kernel(function: Ptr) -> bool {
    registry().functions.contains_key(&(function as usize))
}

/// Address and size of the variable that one of the program stands for.
pub(crate) fn variable(symbol: Ptr) -> Result<(Ptr, usize)> {
    device::begin()?;
    let mut registry = registry();
    let named = registry.variables.get(&(symbol as usize)).cloned().ok_or(Error::INVALID_SYMBOL)?;
    let module = registry.module(named.binary)?;
    let (mut address, mut size) = (std::ptr::null_mut(), 0);
    cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module, named.name.as_ptr())
        .map_err(|_| Error::INVALID_SYMBOL)?;
    Ok((address, size))
}

/// Forgets what was loaded, when the device is reset.
pub(crate) fn forget_modules() {
    registry().binaries.iter_mut().for_each(|binary| binary.module = None);
}

/// A binary's handle is its index, counted from 1.
fn binary(handle: *mut Ptr) -> Option<usize> {
    (handle as usize).checked_sub(1)
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(image: Ptr) -> *mut Ptr {
    let mut registry = registry();
    registry.binaries.push(Binary { image: image as usize, module: None });
    registry.binaries.len() as *mut Ptr
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut Ptr) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(handle: *mut Ptr) {
    let mut registry = registry();
    let Some(index) = binary(handle) else { return };
    registry.functions.retain(|_, named| named.binary != index);
    registry.variables.retain(|_, named| named.binary != index);
    let module = registry.binaries.get_mut(index).and_then(|binary| binary.module.take());
    drop(registry);
    if let Some(module) = module {
        // At a program's end the device may be gone, and with it the module.
        let _ = cuModuleUnload(module as Handle);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(_handle: *mut Ptr) -> c_char {
    1
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the compiler's call has that many")]
extern "C" fn __cudaRegisterFunction(
    handle: *mut Ptr,
    function: Ptr,
    _device_function: Ptr,
    name: *const c_char,
    _thread_limit: c_int,
    _thread: Ptr,
    _block: Ptr,
    _block_shape: Ptr,
    _grid_shape: Ptr,
    _warp_size: Ptr,
) {
    if let (Some(binary), Some(name)) = (binary(handle), text(name)) {
        registry().functions.insert(function as usize, Named { binary, name });
    }
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "the compiler's call has that many")]
extern "C" fn __cudaRegisterVar(
    handle: *mut Ptr,
    variable: Ptr,
    _device_address: Ptr,
    name: *const c_char,
    _external: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
    if let (Some(binary), Some(name)) = (binary(handle), text(name)) {
        registry().variables.insert(variable as usize, Named { binary, name });
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterManagedVar(
    _handle: *mut Ptr,
    _address: *mut Ptr,
    _device_address: Ptr,
    name: *const c_char,
) {
    let name = text(name).unwrap_or_default();
    say(&format!("__managed__ variables are not supported: {} stays null on the host", name.to_string_lossy()));
}

export! {
    fn cudaGetSymbolAddress(address: *mut Ptr, symbol: Ptr) {
        put(address, variable(symbol)?.0)
    }

    fn cudaGetSymbolSize(size: *mut usize, symbol: Ptr) {
        put(size, variable(symbol)?.1)
    }

    fn cudaGetFuncBySymbol(function: *mut Handle, symbol: Ptr) {
        put(function, kernel(symbol)?)
    }

    fn cudaGetKernel(out: *mut Handle, function: Ptr) {
        put(out, kernel(function)?)
    }

    /// What the compiler's stubs ask once and launch ever after: the function itself, so that a reset changes nothing.
    fn __cudaGetKernel(out: *mut Handle, function: Ptr) {
        if !is_kernel(function) {
            return Err(Error::INVALID_DEVICE_FUNCTION);
        }
        put(out, function)
    }
}
