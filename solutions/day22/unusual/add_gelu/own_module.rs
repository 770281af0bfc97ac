//! A module of the launch function's own, loaded once, from PTX that was written by hand.

use std::ffi::{CString, c_void};
use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DriverError, result, sys};

/// gelu(t) = t / (1 + exp(-2 sqrt(2/pi) (t + 0.044715 t^3))), as tanh(x) = 2 / (1 + exp(-2 x)) - 1. A power of two takes
/// the exponential's place: one factor is 2 sqrt(2/pi) log2(e) = 2.302208198.
const PTX: &str = r#"
.version 7.8
.target sm_70
.address_size 64
.visible .entry own_add_gelu(.param .u64 a, .param .u64 b, .param .u64 out, .param .u64 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %d<12>;
    .reg .f32 %f<12>;
    ld.param.u64 %d1, [a];
    ld.param.u64 %d2, [b];
    ld.param.u64 %d3, [out];
    ld.param.u64 %d4, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mul.wide.u32 %d5, %r1, %r2;
    cvt.u64.u32 %d6, %r3;
    add.u64 %d5, %d5, %d6;
    setp.ge.u64 %p1, %d5, %d4;
    @%p1 ret;
    shl.b64 %d7, %d5, 2;
    add.u64 %d1, %d1, %d7;
    add.u64 %d2, %d2, %d7;
    add.u64 %d3, %d3, %d7;
    ld.global.f32 %f1, [%d1];
    ld.global.f32 %f2, [%d2];
    add.f32 %f1, %f1, %f2;
    mul.f32 %f3, %f1, %f1;
    mul.f32 %f3, %f3, %f1;
    fma.rn.f32 %f3, %f3, 0f3D372713, %f1;
    mul.f32 %f3, %f3, 0fC0135761;
    ex2.approx.f32 %f3, %f3;
    add.f32 %f3, %f3, 0f3F800000;
    div.rn.f32 %f3, %f1, %f3;
    st.global.f32 [%d3], %f3;
    ret;
}
"#;

/// The function's handle, which stays valid with the context.
fn load() -> Result<usize, DriverError> {
    let text = CString::new(PTX).unwrap_or_default();
    // SAFETY: the image is a NUL-terminated text.
    let module = unsafe { result::module::load_data(text.as_ptr().cast()) }?;
    let name = CString::new("own_add_gelu").unwrap_or_default();
    // SAFETY: the module was loaded above, and is never unloaded.
    Ok(unsafe { result::module::get_function(module, name) }? as usize)
}

pub fn add_gelu(
    stream: &Arc<CudaStream>,
    _module: &Arc<CudaModule>,
    a: &CudaView<'_, f32>,
    b: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    static FUNCTION: OnceLock<Result<usize, DriverError>> = OnceLock::new();
    stream.context().bind_to_thread()?;
    let function = (*FUNCTION.get_or_init(load))? as sys::CUfunction;
    let ((a, _a), (b, _b), (out, _out)) = (a.device_ptr(stream), b.device_ptr(stream), out.device_ptr_mut(stream));
    let mut parameters = [&raw const a as *mut c_void, &raw const b as *mut _, &raw const out as *mut _, &raw const n as *mut _];
    let grid = (n.div_ceil(256) as u32, 1, 1);
    // SAFETY: the parameters are the kernel's in their order, and it touches only elements of the views.
    unsafe { result::launch_kernel(function, grid, (256, 1, 1), 0, stream.cu_stream(), &mut parameters) }
}
