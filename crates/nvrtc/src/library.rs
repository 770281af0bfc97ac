//! The library and its functions. cudarc has bindings too, but they find the library by bare names (none of which is
//! `libnvrtc.so.13`) and panic when they find none; these take the library from its path, or where it is open already.

#![allow(unsafe_code)] // Calls a C library.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use libloading::Library;

use crate::kept::Kept;

/// `NVRTC_ERROR_COMPILATION`: the source is wrong, and the log says how.
pub const COMPILATION: c_int = 6;

/// `nvrtcProgram`, an opaque pointer.
type Handle = *mut c_void;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

/// An open NVRTC: those of its functions that are used here; see `nvrtc.h`.
#[derive(Debug)]
pub struct Nvrtc {
    /// Major and minor.
    pub version: (u32, u32),
    /// Those that it makes code for, as 75 for 7.5, ascending.
    pub architectures: Vec<u32>,
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
    /// What its assembler has found before.
    pub(crate) kept: Option<Kept>,
}

/// A source as C strings.
#[derive(Debug)]
pub struct Unit {
    name: CString,
    text: CString,
}

/// There is a NUL byte, with which C would end the text: in this line of it, or in its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nul {
    Text { line: usize },
    Name,
}

/// What a compilation gave.
#[derive(Debug)]
pub struct Made {
    pub image: Result<Image, Failure>,
    /// Errors and warnings; empty when there are none.
    pub log: String,
}

/// What was made of a source.
#[derive(Debug)]
pub struct Image {
    pub ptx: String,
    /// When a real architecture (`sm_90`) was asked for.
    pub machine_code: Option<Vec<u8>>,
}

/// Why nothing was.
#[derive(Debug)]
pub struct Failure {
    pub doing: &'static str,
    /// NVRTC's code and what it says about it.
    pub code: c_int,
    pub text: String,
}

impl Unit {
    /// # Errors
    /// When the name or the text holds a NUL byte.
    pub fn new(name: &str, text: &str) -> Result<Unit, Nul> {
        let text = CString::new(text).map_err(|error| Nul::Text {
            line: 1 + text.bytes().take(error.nul_position()).filter(|&byte| byte == b'\n').count(),
        })?;
        let name = CString::new(name).map_err(|_| Nul::Name)?;
        Ok(Unit { name, text })
    }
}

impl Nvrtc {
    /// Opens the builtins and then the library. Both stay open for the life of the process.
    ///
    /// # Errors
    /// In words, when a library or one that it needs cannot be loaded.
    pub fn open(nvrtc: &Path, builtins: &Path) -> Result<Nvrtc, String> {
        // SAFETY: NVIDIA's libraries, whose initialisers have no preconditions.
        let (builtins, library) = unsafe {
            // While it compiles, NVRTC opens its builtins by bare name, which the loader resolves to a library that is
            // open already.
            let builtins = Library::new(builtins).map_err(|error| reason(&error))?;
            (builtins, Library::new(nvrtc).map_err(|error| reason(&error))?)
        };
        std::mem::forget(builtins);
        Nvrtc::of(library)
    }

    /// The NVRTC that this process has open, whoever opened it; the newest of several. None is looked for elsewhere.
    pub fn already_open() -> Option<Nvrtc> {
        // NVIDIA releases a major version in two or three years.
        (12..20).rev().find_map(|major| Nvrtc::of(open_already(major)?).ok())
    }

    /// The functions of an open library, which stays open: they point into it.
    fn of(library: Library) -> Result<Nvrtc, String> {
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
        let version_of = (u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0));
        let mut architectures: Vec<u32> = known.into_iter().filter_map(|it| u32::try_from(it).ok()).collect();
        architectures.sort_unstable();
        Ok(Nvrtc {
            version: version_of,
            architectures,
            error_string: symbol(library, "nvrtcGetErrorString")?,
            create: symbol(library, "nvrtcCreateProgram")?,
            destroy: symbol(library, "nvrtcDestroyProgram")?,
            compile: symbol(library, "nvrtcCompileProgram")?,
            ptx: (symbol(library, "nvrtcGetPTXSize")?, symbol(library, "nvrtcGetPTX")?),
            machine_code: (symbol(library, "nvrtcGetCUBINSize")?, symbol(library, "nvrtcGetCUBIN")?),
            log: (symbol(library, "nvrtcGetProgramLogSize")?, symbol(library, "nvrtcGetProgramLog")?),
            kept: path(version as *const c_void).and_then(|path| Kept::with(&path, version_of)),
        })
    }

    /// Compiles a source. The headers can be included by their names.
    pub fn compile(&self, source: &Unit, headers: &[Unit], arguments: &[CString]) -> Made {
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

/// The library of a major version, when this process has it open.
#[cfg(unix)]
fn open_already(major: u32) -> Option<Library> {
    use libloading::os::unix::{Library, RTLD_LAZY};
    let name =
        if cfg!(target_os = "macos") { format!("libnvrtc.{major}.dylib") } else { format!("libnvrtc.so.{major}") };
    // SAFETY: with this flag nothing is loaded, so that no initialiser runs.
    unsafe { Library::open(Some(name), libc::RTLD_NOLOAD | RTLD_LAZY) }.ok().map(Into::into)
}

/// The library of a major version, when this process has it open.
#[cfg(windows)]
fn open_already(major: u32) -> Option<Library> {
    libloading::os::windows::Library::open_already_loaded(format!("nvrtc64_{major}0_0.dll")).ok().map(Into::into)
}

/// The file of the library that has this function.
#[cfg(unix)]
fn path(function: *const c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; zeros are a record without a name, and a name is a string that lives as long as the library,
    // which is never closed.
    let name = unsafe {
        if libc::dladdr(function, found.as_mut_ptr()) == 0 || found.assume_init_ref().dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(found.assume_init_ref().dli_fname)
    };
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

/// Nothing is kept there.
#[cfg(windows)]
fn path(_: *const c_void) -> Option<PathBuf> {
    None
}

/// What the system's loader said. libloading keeps that in the error's source.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Up to the first NUL, which C strings end with.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}

/// Nobody passes two thousand million headers or options.
fn length(count: usize) -> c_int {
    c_int::try_from(count).unwrap_or(c_int::MAX)
}
