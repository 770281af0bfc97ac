//! What the driver tells our own tools: a program of its own, for the report is one per process.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "api/support.rs"]
mod support;

use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, Mutex, Once};

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use fusion_machine::Report;
use fusion_machine::report::Blame;
use support::{WRONG, add_one, module, symbol};

static TURN: Mutex<()> = Mutex::new(());

fn take() -> Report {
    let take: unsafe extern "C" fn() -> *mut c_char = symbol("fusion_emulator_take_report");
    let free: unsafe extern "C" fn(*mut c_char) = symbol("fusion_emulator_free_string");
    // SAFETY: the string is freed once, after it was read.
    unsafe {
        let json = take();
        let report = serde_json::from_slice(CStr::from_ptr(json).to_bytes()).unwrap();
        free(json);
        report
    }
}

/// A context of a device on which kernels end soon.
fn own_context() -> Arc<CudaContext> {
    static OPTIONS: Once = Once::new();
    OPTIONS.call_once(|| assert_eq!(set_options(c"{\"instruction_budget\": 100000}"), 0));
    support::own_context()
}

fn set_options(json: &CStr) -> c_int {
    let set: unsafe extern "C" fn(*const c_char) -> c_int = symbol("fusion_emulator_set_options");
    // SAFETY: the string ends with a NUL.
    unsafe { set(json.as_ptr()) }
}

#[test]
fn launches_copies_and_faults_are_reported_once() {
    let _turn = TURN.lock();
    let context = own_context();
    let stream = context.default_stream();
    let kernel = add_one(&context);
    take();
    let x = stream.clone_htod(&[1.0f32; 64]).unwrap();
    let mut y = stream.alloc_zeros::<f32>(64).unwrap();
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&mut y).arg(&x).arg(&64u32);
    // SAFETY: the parameters are those of the kernel.
    unsafe { launch.launch(LaunchConfig::for_num_elems(64)) }.unwrap();
    stream.clone_dtoh(&y).unwrap();

    let report = take();
    assert_eq!(report.device, "Emulated H200");
    assert_eq!((report.allocations, report.allocated_bytes), (2, 512));
    assert_eq!((report.copies, report.copied_bytes), (3, 768));
    let launch = &report.launches[0];
    assert_eq!((launch.kernel.as_str(), launch.block), ("add_one", [1024, 1, 1]));
    assert_eq!(launch.counters.global_load.bytes, 256);
    assert!(report.faults.is_empty());
    assert!(take().launches.is_empty());

    assert_eq!(set_options(c"{\"record\": false}"), 0);
    let spin = module(&context, WRONG).load_function("spin").unwrap();
    // SAFETY: the kernel is stopped by its budget.
    unsafe { stream.launch_builder(&spin).launch(LaunchConfig::for_num_elems(1)) }.unwrap();
    assert_eq!(context.synchronize().unwrap_err().0, cudarc::driver::sys::CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
    let report = take();
    assert_eq!(report.faults.len(), 1);
    assert_eq!(report.faults[0].kernel, "spin");
}

/// The code that a refused call returns says little; the report says why.
#[test]
fn refused_calls_are_explained() {
    let _turn = TURN.lock();
    let context = own_context();
    let stream = context.default_stream();
    let kernel = add_one(&context);
    take();
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (2048, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&0u64).arg(&0u64).arg(&0u32);
    // SAFETY: the launch is refused.
    assert!(unsafe { launch.launch(config) }.is_err());
    let fault = &take().faults[0];
    assert_eq!((fault.code.as_str(), fault.kernel.as_str()), ("E-LAUNCH-BLOCK", "add_one"));
    assert_eq!(fault.title, "a block of 2048 threads is too large: the device allows 1024");
    assert!(context.load_module(cudarc::nvrtc::Ptx::from_src("nonsense")).is_err());
    assert_eq!(take().faults[0].blame, Blame::Environment);
}

#[test]
fn options_are_checked() {
    let _turn = TURN.lock();
    let _context = own_context();
    assert_eq!(set_options(c"nonsense"), 1);
    assert_eq!(set_options(c"{\"recrod\": true}"), 1);
    // Too late: the machine exists.
    assert_eq!(set_options(c"{\"instruction_budget\": 5}"), 2);
    assert_eq!(set_options(c"{\"record\": true}"), 0);
}
