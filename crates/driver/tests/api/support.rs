//! Opening the built library as the CUDA driver, and a few kernels.
#![allow(dead_code, reason = "each test program uses a part")]

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::{self, CUfunction, CUresult, cudaError_enum};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError};
use cudarc::nvrtc::Ptx;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// Element `i` of `out` becomes that of `x` plus one, for `i < n`.
pub(crate) const ADD_ONE: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 out, .param .u64 x, .param .u32 n)
{
    .reg .pred %p;
    .reg .f32 %f<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd0, [out];
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p, %r4, %r0;
    @%p bra DONE;
    cvta.to.global.u64 %rd0, %rd0;
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.f32 %f0, [%rd3];
    add.f32 %f1, %f0, 0f3F800000;
    add.u64 %rd4, %rd0, %rd2;
    st.global.f32 [%rd4], %f1;
DONE:
    ret;
}";

/// Kernels that do wrong things: `stray` writes through a null pointer, `odd` loads from an odd address, `spin` never ends.
pub(crate) const WRONG: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry stray()
{
    .reg .b64 %rd<1>;
    mov.u64 %rd0, 0;
    st.global.u32 [%rd0], 1;
    ret;
}
.visible .entry odd(.param .u64 x)
{
    .reg .b32 %r<1>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [x];
    add.u64 %rd1, %rd0, 1;
    ld.global.u32 %r0, [%rd1];
    st.global.u32 [%rd0], %r0;
    ret;
}
.visible .entry spin()
{
AGAIN:
    bra AGAIN;
}";

pub(crate) fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let program = std::env::current_exe().unwrap();
        let path: PathBuf = program.with_file_name("libfusion_driver.so");
        // SAFETY: the library has no initialisers.
        unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) }.unwrap()
    })
}

/// The primary context, which all tests share.
pub(crate) fn context() -> Arc<CudaContext> {
    library();
    CudaContext::new(0).unwrap()
}

/// A context of the test's own, for what must not disturb others: faults and captures.
pub(crate) fn own_context() -> Arc<CudaContext> {
    library();
    CudaContext::new_non_primary(0, 0).unwrap()
}

pub(crate) fn module(context: &Arc<CudaContext>, ptx: &str) -> Arc<CudaModule> {
    context.load_module(Ptx::from_src(ptx)).unwrap()
}

pub(crate) fn add_one(context: &Arc<CudaContext>) -> CudaFunction {
    module(context, ADD_ONE).load_function("add_one").unwrap()
}

/// The handle of `add_one`, which cudarc keeps to itself. Its module stays loaded.
pub(crate) fn raw_add_one() -> CUfunction {
    let ptx = CString::new(ADD_ONE).unwrap();
    let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the image ends with a NUL.
    unsafe {
        sys::cuModuleLoadData(&mut module, ptx.as_ptr().cast()).result().unwrap();
        sys::cuModuleGetFunction(&mut function, module, c"add_one".as_ptr()).result().unwrap();
    }
    function
}

/// A function of the driver API that cudarc's safe part does not wrap.
pub(crate) fn symbol<T: Copy>(name: &str) -> T {
    // SAFETY: the caller states the function's type.
    unsafe { *library().get::<T>(name.as_bytes()).unwrap() }
}

#[track_caller]
pub(crate) fn fails<T>(result: Result<T, DriverError>, expect: cudaError_enum) {
    assert_eq!(result.err().map(|error| error.0), Some(expect));
}

#[track_caller]
pub(crate) fn answers(code: CUresult, expect: cudaError_enum) {
    assert_eq!(code, expect);
}
