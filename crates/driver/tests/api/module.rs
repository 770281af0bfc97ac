use std::ffi::{CString, c_void};

use cudarc::driver::LaunchConfig;
use cudarc::driver::sys::{self, CUresult::*};
use cudarc::nvrtc::Ptx;

use crate::support::{ADD_ONE, answers, context, fails, library};

fn load(ptx: &str) -> Result<(), cudarc::driver::DriverError> {
    context().load_module(Ptx::from_src(ptx)).map(|_| ())
}

#[test]
fn what_cannot_be_loaded() {
    for (ptx, expect) in [
        ("".to_owned(), CUDA_ERROR_INVALID_IMAGE),
        ("not PTX at all".to_owned(), CUDA_ERROR_INVALID_IMAGE),
        ("\x7fELF and more".to_owned(), CUDA_ERROR_NO_BINARY_FOR_GPU),
        (ADD_ONE.replace("7.0", "99.0"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
        (ADD_ONE.replace("sm_75", "sm_120"), CUDA_ERROR_NO_BINARY_FOR_GPU),
        (ADD_ONE.replace("sm_75", "sm_80a"), CUDA_ERROR_NO_BINARY_FOR_GPU),
        (ADD_ONE.replace("bra DONE", "bra NOWHERE"), CUDA_ERROR_INVALID_PTX),
        (format!("{}\n{}", ADD_ONE, shared(232_449)), CUDA_ERROR_INVALID_PTX),
        (ADD_ONE.replace("mad.lo.u32 %r4,", "mad.lo.u32 %q4,"), CUDA_ERROR_INVALID_PTX),
    ] {
        fails(load(&ptx), expect);
    }
    assert!(context().load_module(Ptx::from_file("/no/such/file.ptx")).is_err());
}

/// A kernel with so many bytes of static shared memory.
fn shared(bytes: u32) -> String {
    format!(".visible .entry big() {{ .shared .b8 a[{bytes}]; st.shared.u8 [a + {}], 1; ret; }}", bytes - 1)
}

/// As on an H200.
#[test]
fn static_shared_memory_may_use_all_that_a_block_can_opt_in_to() {
    let context = context();
    let stream = context.default_stream();
    for (bytes, dynamic) in [(49_152, 0), (100_000, 132_448), (232_448, 0)] {
        let ptx = format!("{}\n{}", ADD_ONE, shared(bytes));
        let kernel = context.load_module(Ptx::from_src(ptx)).unwrap().load_function("big").unwrap();
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        assert_eq!(kernel.get_attribute(attribute).unwrap(), dynamic, "{bytes}");
        for (asked, runs) in [(0, true), (dynamic as u32 + 1, false)] {
            let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: asked };
            // SAFETY: the kernel has no parameters.
            let launched = unsafe { stream.launch_builder(&kernel).launch(config) };
            assert_eq!(launched.is_ok(), runs, "{bytes} and {asked}");
        }
        stream.synchronize().unwrap();
    }
    let (code, log) = log_of(&format!("{}\n{}", ADD_ONE, shared(232_449)));
    answers(code, CUDA_ERROR_INVALID_PTX);
    assert_eq!(log, "ptxas error   : Entry function 'big' uses too much shared data (0x38c01 bytes, 0x38c00 max)\n");
}

#[test]
fn the_error_log_names_the_line() {
    let (code, log) = log_of(&ADD_ONE.replace("bra DONE", "bra NOWHERE"));
    answers(code, CUDA_ERROR_INVALID_PTX);
    assert!(log.starts_with("ptxas application ptx input, line 19; error   : "), "{log}");
    assert!(log.contains("NOWHERE"), "{log}");
}

/// What a load answers, and its error log.
fn log_of(ptx: &str) -> (sys::CUresult, String) {
    let _context = context();
    let ptx = CString::new(ptx).unwrap();
    let mut log = [0u8; 512];
    let mut options =
        [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: as many options as values, and a buffer of the size that is stated.
    let code = unsafe {
        sys::cuModuleLoadDataEx(&mut module, ptx.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())
    };
    (code, std::str::from_utf8(&log[..values[1] as usize]).unwrap().to_owned())
}

#[test]
fn kernels_and_variables_by_name() {
    let context = context();
    let stream = context.default_stream();
    let ptx = format!(
        "{ADD_ONE}\n.visible .global .align 4 .u32 table[3] = {{1, 2, 3}};\n.visible .const .align 4 .f32 factor;"
    );
    let module = context.load_module(Ptx::from_src(ptx)).unwrap();
    fails(module.load_function("add_two"), CUDA_ERROR_NOT_FOUND);
    fails(module.get_global("chair", &stream), CUDA_ERROR_NOT_FOUND);
    let table = module.get_global("table", &stream).unwrap();
    assert_eq!(stream.clone_dtoh(&table).unwrap(), [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    let mut factor = module.get_global("factor", &stream).unwrap();
    stream.memcpy_htod(&2.5f32.to_le_bytes(), &mut factor).unwrap();
    assert_eq!(stream.clone_dtoh(&factor).unwrap(), 2.5f32.to_le_bytes());
}

#[test]
fn a_library_is_a_module() {
    let _context = context();
    let ptx = CString::new(ADD_ONE).unwrap();
    let (mut module, mut function, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
    // SAFETY: the image ends with a NUL; handles are those that the driver gave.
    unsafe {
        answers(sys::cuModuleLoadData(&mut module, ptx.as_ptr().cast()), CUDA_SUCCESS);
        type Count = unsafe extern "C" fn(*mut u32, sys::CUmodule) -> sys::CUresult;
        let get_count = library().get::<Count>(b"cuModuleGetFunctionCount").unwrap();
        answers(get_count(&mut count, module), CUDA_SUCCESS);
        answers(sys::cuModuleGetFunction(&mut function, module, c"add_one".as_ptr()), CUDA_SUCCESS);
        answers(sys::cuModuleUnload(module), CUDA_SUCCESS);
        let mut value = 0;
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
        answers(sys::cuFuncGetAttribute(&mut value, attribute, function), CUDA_ERROR_INVALID_HANDLE);
    }
    assert_eq!(count, 1);
}
