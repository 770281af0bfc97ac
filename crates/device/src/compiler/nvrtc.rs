//! NVRTC's C interface, as far as it is used here.
//!
//! cudarc has bindings too, but they find the library by bare names (none of which is `libnvrtc.so.13`) and panic when
//! they find none; these take the library from its path.

#![allow(unsafe_code)] // Calls a C library.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr::{null, null_mut};

use libloading::Library;

use super::{CompileError, Source};
use crate::loader::reason;

/// `NVRTC_ERROR_COMPILATION`: the source is wrong, and the log says how.
pub(super) const COMPILATION: c_int = 6;

/// `nvrtcProgram`, an opaque pointer.
type Handle = *mut std::ffi::c_void;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

/// The library's functions that are used; see `nvrtc.h`.
#[derive(Debug)]
pub(super) struct Nvrtc {
    pub(super) version: (u32, u32),
    /// Ascending.
    pub(super) architectures: Vec<u32>,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    create: unsafe extern "C" fn(
        *mut Handle,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    destroy: unsafe extern "C" fn(*mut Handle) -> c_int,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int,
    ptx: (Size, Get),
    machine_code: (Size, Get),
    log: (Size, Get),
}

/// A source as C strings.
pub(super) struct Unit {
    name: CString,
    text: CString,
}

/// What a compilation gave.
pub(super) struct Made {
    pub(super) image: Result<Image, Failure>,
    /// Errors and warnings; empty when there are none.
    pub(super) log: String,
}

pub(super) struct Image {
    pub(super) ptx: String,
    /// When a real architecture (`sm_90`) was asked for.
    pub(super) machine_code: Option<Vec<u8>>,
}

pub(super) struct Failure {
    pub(super) doing: &'static str,
    pub(super) code: c_int,
    pub(super) text: String,
}

impl Unit {
    pub(super) fn new(source: Source) -> Result<Unit, CompileError> {
        let text = CString::new(source.text).map_err(|error| CompileError::NulByte {
            name: source.name.to_owned(),
            line: 1 + source.text.bytes().take(error.nul_position()).filter(|&byte| byte == b'\n').count(),
        })?;
        let name = CString::new(source.name)
            .map_err(|_| CompileError::NulByte { name: source.name.replace('\0', "?"), line: 1 })?;
        Ok(Unit { name, text })
    }
}

impl Nvrtc {
    /// Opens the builtins and then the library. `Err` says why not.
    pub(super) fn open(nvrtc: &Path, builtins: &Path) -> Result<Nvrtc, String> {
        // SAFETY: NVIDIA's libraries, whose initialisers have no preconditions.
        let (builtins, library) = unsafe {
            // While it compiles, NVRTC opens its builtins by bare name, which the loader resolves to a library that is
            // open already.
            let builtins = Library::new(builtins).map_err(|error| reason(&error))?;
            (builtins, Library::new(nvrtc).map_err(|error| reason(&error))?)
        };
        // Both stay for the life of the process: the functions below point into them.
        std::mem::forget(builtins);
        let library: &'static Library = Box::leak(Box::new(library));

        fn symbol<F: Copy>(library: &'static Library, name: &str) -> Result<F, String> {
            // SAFETY: the caller gives the signature that `nvrtc.h` has for this name, and the library is never closed.
            unsafe { library.get::<F>(name.as_bytes()) }.map(|symbol| *symbol).map_err(|error| reason(&error))
        }
        type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
        type Count = unsafe extern "C" fn(*mut c_int) -> c_int;
        let (version, count, list): (Version, Count, Count) = (
            symbol(library, "nvrtcVersion")?,
            symbol(library, "nvrtcGetNumSupportedArchs")?,
            symbol(library, "nvrtcGetSupportedArchs")?,
        );
        let (mut major, mut minor, mut architectures) = (0, 0, 0);
        // SAFETY: the pointers are to live integers, and `known` has as many as the library said that it writes.
        let known = unsafe {
            if version(&raw mut major, &raw mut minor) != 0 || count(&raw mut architectures) != 0 {
                return Err("it does not answer when asked for its version".to_owned());
            }
            let mut known: Vec<c_int> = vec![0; usize::try_from(architectures).unwrap_or(0)];
            if !known.is_empty() && list(known.as_mut_ptr()) != 0 {
                return Err("it does not answer when asked for its architectures".to_owned());
            }
            known
        };
        let mut architectures: Vec<u32> = known.into_iter().filter_map(|it| u32::try_from(it).ok()).collect();
        architectures.sort_unstable();
        Ok(Nvrtc {
            version: (u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0)),
            architectures,
            error_string: symbol(library, "nvrtcGetErrorString")?,
            create: symbol(library, "nvrtcCreateProgram")?,
            destroy: symbol(library, "nvrtcDestroyProgram")?,
            compile: symbol(library, "nvrtcCompileProgram")?,
            ptx: (symbol(library, "nvrtcGetPTXSize")?, symbol(library, "nvrtcGetPTX")?),
            machine_code: (symbol(library, "nvrtcGetCUBINSize")?, symbol(library, "nvrtcGetCUBIN")?),
            log: (symbol(library, "nvrtcGetProgramLogSize")?, symbol(library, "nvrtcGetProgramLog")?),
        })
    }

    pub(super) fn compile(&self, source: &Unit, headers: &[Unit], arguments: &[CString]) -> Made {
        let pointers = |strings: &mut dyn Iterator<Item = &CString>| -> Vec<*const c_char> {
            strings.map(|string| string.as_ptr()).collect()
        };
        let texts = pointers(&mut headers.iter().map(|header| &header.text));
        let names = pointers(&mut headers.iter().map(|header| &header.name));
        let arguments = pointers(&mut arguments.iter());
        let mut handle: Handle = null_mut();
        // SAFETY: all pointers are to C strings that outlive the program, which is destroyed below; the counts are those
        // of the arrays.
        let code = unsafe {
            let (count, texts, names) = match headers.len() {
                0 => (0, null(), null()),
                count => (length(count), texts.as_ptr(), names.as_ptr()),
            };
            (self.create)(&raw mut handle, source.text.as_ptr(), source.name.as_ptr(), count, texts, names)
        };
        if code != 0 {
            return Made { image: Err(self.failure("taking in the source", code)), log: String::new() };
        }
        // SAFETY: the program was made above, and the options are C strings.
        let code = unsafe { (self.compile)(handle, length(arguments.len()), arguments.as_ptr()) };
        let log = self.bytes(handle, self.log, "reading its log").map(|log| text(&log)).unwrap_or_default();
        let image = if code == 0 { self.image(handle) } else { Err(self.failure("compiling", code)) };
        // SAFETY: the program was made above and is not used again.
        unsafe { (self.destroy)(&raw mut handle) };
        Made { image, log }
    }

    fn image(&self, program: Handle) -> Result<Image, Failure> {
        let ptx = text(&self.bytes(program, self.ptx, "reading the PTX")?);
        let machine_code = self.bytes(program, self.machine_code, "reading the machine code")?;
        Ok(Image { ptx, machine_code: (!machine_code.is_empty()).then_some(machine_code) })
    }

    fn bytes(&self, program: Handle, (size, get): (Size, Get), doing: &'static str) -> Result<Vec<u8>, Failure> {
        let mut length = 0;
        // SAFETY: the program is alive in all callers, and the buffer is as long as the library said.
        unsafe {
            let code = size(program, &raw mut length);
            if code != 0 {
                return Err(self.failure(doing, code));
            }
            let mut bytes = vec![0_u8; length];
            match if length == 0 { 0 } else { get(program, bytes.as_mut_ptr().cast()) } {
                0 => Ok(bytes),
                code => Err(self.failure(doing, code)),
            }
        }
    }

    fn failure(&self, doing: &'static str, code: c_int) -> Failure {
        // SAFETY: any number may be asked for, and the answer is a constant string.
        let text = unsafe {
            let text = (self.error_string)(code);
            if text.is_null() { "unknown error".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        };
        Failure { doing, code, text }
    }
}

/// Up to the first NUL, which C strings end with.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}

/// Nobody passes two thousand million headers or options.
fn length(count: usize) -> c_int {
    c_int::try_from(count).unwrap_or(c_int::MAX)
}
