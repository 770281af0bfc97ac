use std::ffi::{CString, c_void};

use cudarc::driver::sys::{self, CUjit_option, CUjitInputType, CUresult, CUresult::*};
use cudarc::driver::{LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

use crate::support::{ADD_ONE, answers, context};

const HEADER: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";
/// Stores what `answer` returns plus the unit's own constant.
const KERNEL: &str = ".extern .func (.param .b32 r) answer();
.extern .const .align 4 .u32 more;
.visible .entry store(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd;
    .param .b32 result;
    ld.param.u64 %rd, [out];
    call (result), answer;
    ld.param.u32 %r0, [result];
    ld.const.u32 %r1, [more];
    add.u32 %r2, %r0, %r1;
    st.global.u32 [%rd], %r2;
    ret;
}";
const ANSWER: &str = ".visible .const .align 4 .u32 more = 2;
.visible .func (.param .b32 r) answer()
{
    st.param.b32 [r], 40;
    ret;
}";

/// What became of a link: its image, or the code and the error log.
fn link(units: &[(CUjitInputType, &[u8])]) -> Result<Vec<u8>, (CUresult, String)> {
    let _context = context();
    let mut log = [0u8; 512];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_WALL_TIME,
    ];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void, std::ptr::null_mut()];
    let (mut state, mut image, mut size) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
    // SAFETY: as many options as values, which live until the link is destroyed; sizes are those of the data.
    let code = unsafe {
        answers(sys::cuLinkCreate_v2(3, options.as_mut_ptr(), values.as_mut_ptr(), &mut state), CUDA_SUCCESS);
        let added = units.iter().enumerate().map(|(i, (kind, bytes))| {
            let name = CString::new(format!("unit{i}")).unwrap();
            let (none, no_values) = (std::ptr::null_mut(), std::ptr::null_mut());
            sys::cuLinkAddData_v2(
                state,
                *kind,
                bytes.as_ptr() as *mut _,
                bytes.len(),
                name.as_ptr(),
                0,
                none,
                no_values,
            )
        });
        let refused = added.into_iter().find(|code| *code != CUDA_SUCCESS);
        refused.unwrap_or_else(|| sys::cuLinkComplete(state, &mut image, &mut size))
    };
    let result = match code {
        // SAFETY: the image is of that size, and the link's until it is destroyed.
        CUDA_SUCCESS => Ok(unsafe { std::slice::from_raw_parts(image.cast::<u8>(), size) }.to_vec()),
        code => Err((code, String::from_utf8_lossy(&log[..values[1] as usize]).into_owned())),
    };
    // SAFETY: the link was made above.
    unsafe {
        answers(sys::cuLinkDestroy(state), CUDA_SUCCESS);
        answers(sys::cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
    }
    result
}

fn unit(text: &str) -> Vec<u8> {
    format!("{HEADER}{text}\0").into_bytes()
}

const PTX: CUjitInputType = CUjitInputType::CU_JIT_INPUT_PTX;
const CUBIN: CUjitInputType = CUjitInputType::CU_JIT_INPUT_CUBIN;

#[test]
fn units_are_linked_loaded_and_run() {
    let image = link(&[(PTX, &unit(KERNEL)), (PTX, &unit(ANSWER))]).unwrap();
    // What came out may be linked again, and is loaded from memory and from a file.
    let again = link(&[(CUBIN, &image)]).unwrap();
    let file = std::env::temp_dir().join(format!("fusion-linked-{}", std::process::id()));
    std::fs::write(&file, &again).unwrap();
    let context = context();
    let stream = context.default_stream();
    let mut out = stream.alloc_zeros::<u32>(1).unwrap();
    let function = context.load_module(Ptx::from_file(&file)).unwrap().load_function("store").unwrap();
    std::fs::remove_file(&file).unwrap();
    // SAFETY: the parameter is that of the kernel.
    unsafe { stream.launch_builder(&function).arg(&mut out).launch(LaunchConfig::for_num_elems(1)) }.unwrap();
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [42]);

    let mut module = std::ptr::null_mut();
    // SAFETY: the image is whole.
    unsafe {
        answers(sys::cuModuleLoadData(&mut module, image.as_ptr().cast()), CUDA_SUCCESS);
        answers(sys::cuModuleUnload(module), CUDA_SUCCESS);
    }
}

#[test]
fn what_cannot_be_linked_is_in_the_log() {
    let unresolved = "unresolved extern function `answer`";
    for (units, code, expect) in [
        (vec![(PTX, unit(ANSWER)), (PTX, unit(ANSWER))], CUDA_ERROR_INVALID_PTX, "Multiple definition of 'answer'"),
        (
            vec![(PTX, unit(&KERNEL.replace("ld.const.u32 %r1, [more]", "mov.u32 %r1, 1")))],
            CUDA_ERROR_INVALID_PTX,
            unresolved,
        ),
        (vec![(PTX, ADD_ONE.replace("bra DONE", "bra NOWHERE").into_bytes())], CUDA_ERROR_INVALID_PTX, "NOWHERE"),
        (vec![(CUBIN, b"\x7fELF and more".to_vec())], CUDA_ERROR_NO_BINARY_FOR_GPU, "unit0: the image is a cubin"),
        (vec![], CUDA_ERROR_INVALID_VALUE, ""),
    ] {
        let units: Vec<(CUjitInputType, &[u8])> = units.iter().map(|(kind, unit)| (*kind, unit.as_slice())).collect();
        let (refused, log) = link(&units).unwrap_err();
        assert_eq!(refused, code, "{log}");
        assert!(log.contains(expect), "{log}");
    }
}
