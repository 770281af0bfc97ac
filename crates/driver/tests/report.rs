//! What the driver tells our own tools: a program of its own, for the report is one per process.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "api/support.rs"]
mod support;

use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, Mutex, Once};

use cudarc::driver::{CudaContext, DevicePtr, LaunchConfig, PushKernelArg};
use fusion_diagnostic::{say, say_all};
use fusion_machine::report::Blame;
use fusion_machine::report::{Code, Name, Role};
use fusion_machine::{Fault, Report};
use support::{ADD_ONE, WRONG, add_one, module, symbol};

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

/// What a launch of `add_one` on these three parameters does wrong.
fn fault_of(context: &Arc<CudaContext>, ptx: &str, out: u64, x: u64, n: u32) -> Fault {
    let stream = context.default_stream();
    let kernel = module(context, ptx).load_function("add_one").unwrap();
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&out).arg(&x).arg(&n);
    // SAFETY: the kernel goes wrong, which on the emulated device is a fault and nothing more.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }.unwrap();
    context.synchronize().unwrap_err();
    take().faults.remove(0)
}

#[test]
fn buffers_have_the_names_of_arguments() {
    let _turn = TURN.lock();
    let named = format!("{ADD_ONE}\n// parameters add_one: result, _, n\n");
    let names = [("argument 0", Name::Argument(0)), ("`result`", Name::Parameter("result".into()))];
    for (ptx, (shown, name)) in [ADD_ONE, named.as_str()].into_iter().zip(names) {
        let context = own_context();
        let stream = context.default_stream();
        let (x, y) = (stream.alloc_zeros::<f32>(64).unwrap(), stream.alloc_zeros::<f32>(32).unwrap());
        take();
        let fault = fault_of(&context, ptx, y.device_ptr(&stream).0, x.device_ptr(&stream).0, 64);
        let buffer = fault.buffer.as_ref().unwrap();
        assert_eq!((&buffer.name, buffer.argument, buffer.size, buffer.offset), (&name, Some(0), 128, 128));
        assert_eq!(say(&fault).title, format!("write past the end of {shown}"));
        // Where the program, which is this one, asked cudarc for it.
        let line =
            include_str!("report.rs").lines().position(|line| line.contains("let (x, y) = (stream.alloc")).unwrap();
        let allocated = &fault.related[0];
        assert_eq!((&allocated.role, allocated.source[0].line), (&Role::Allocation, line as u32 + 1), "{fault:#?}");
        assert!(allocated.source[0].file.ends_with("tests/report.rs"), "{allocated:?}");
    }
}

#[test]
fn launches_tell_what_was_passed_to_them_and_names_what_was_not_there() {
    let _turn = TURN.lock();
    let context = own_context();
    assert_eq!(set_options(c"{\"record\": true}"), 0);
    let stream = context.default_stream();
    let module = module(&context, &format!("{ADD_ONE}\n// parameters add_one: out, x, n\n"));
    let x = stream.clone_htod(&[1.0f32; 64]).unwrap();
    let mut y = stream.alloc_zeros::<f32>(64).unwrap();
    let addresses = [y.device_ptr(&stream).0, x.device_ptr(&stream).0];
    take();
    let kernel = module.load_function("add_one").unwrap();
    module.load_function("add_two").unwrap_err();
    // One that runs, and one whose grid is refused.
    for (blocks, ran) in [(1, true), (0, false)] {
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&mut y).arg(&x).arg(&64u32);
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the parameters are those of the kernel.
        assert_eq!(unsafe { launch.launch(config) }.is_ok(), ran);
        let report = take();
        let launch = report.launches.first().or(report.stopped.as_ref()).unwrap();
        assert_eq!((report.stopped.is_none(), launch.grid, launch.block), (ran, [blocks, 1, 1], [64, 1, 1]));
        let passed = launch.arguments.iter().map(|it| (it.name.as_deref(), it.unsigned(), it.float));
        let [out, x] = addresses.map(Some);
        let expected = [(Some("out"), out, false), (Some("x"), x, false), (Some("n"), Some(64), false)];
        assert!(passed.eq(expected), "{:?}", launch.arguments);
        // Looking for a name is no fault.
        assert_eq!((report.no_kernel.as_deref(), report.faults.len()), (ran.then_some("add_two"), usize::from(!ran)));
    }
}

#[test]
fn copies_of_what_was_never_written_are_advised_upon() {
    let _turn = TURN.lock();
    let context = own_context();
    let stream = context.default_stream();
    let kernel = add_one(&context);
    let x = stream.clone_htod(&[1.0f32; 64]).unwrap();
    // SAFETY: read below, where it is not written, which is what this is about.
    let mut y = unsafe { stream.alloc::<f32>(64) }.unwrap();
    for (n, missing) in [(48u32, Some("a copy to the host reads 64 bytes that were never written")), (64, None)] {
        take();
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&mut y).arg(&x).arg(&n);
        // SAFETY: the parameters are those of the kernel.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }.unwrap();
        stream.clone_dtoh(&y).unwrap();
        let report = take();
        assert!(report.faults.is_empty(), "{:#?}", report.faults);
        let advice = report.advice.iter().filter(|advice| advice.code() == Code::CopyUninit);
        let advice = say_all(advice);
        assert_eq!(advice.first().map(|advice| advice.title.as_str()), missing);
        assert!(advice.iter().all(|advice| advice.notes[0].contains("index 48 of")), "{advice:#?}");
    }
}

#[test]
fn pointers_to_host_memory_are_recognised() {
    let _turn = TURN.lock();
    let context = own_context();
    let host = vec![1.0f32; 64];
    take();
    let fault = fault_of(&context, ADD_ONE, 0, host.as_ptr() as u64, 64);
    assert_eq!((fault.code().as_str(), fault.buffer.as_ref().unwrap().argument), ("E-HOST-POINTER", Some(1)));
    assert!(say(&fault).help[0].contains("CudaSlice"), "{fault:?}");
    // Past the end of pinned memory lies the host's too, and yet it is out of bounds.
    let context = own_context();
    // SAFETY: only the device reads it, in a launch that goes wrong.
    let pinned = unsafe { context.alloc_pinned::<f32>(1024) }.unwrap();
    let stream = context.default_stream();
    let out = stream.alloc_zeros::<f32>(2048).unwrap();
    take();
    let fault = fault_of(&context, ADD_ONE, out.device_ptr(&stream).0, pinned.as_ptr().unwrap() as u64, 2048);
    assert_eq!((fault.code().as_str(), fault.buffer.as_ref().unwrap().argument), ("E-OOB-GLOBAL", Some(1)));
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
    assert_eq!((fault.code().as_str(), fault.kernel.as_str()), ("E-LAUNCH-BLOCK", "add_one"));
    assert_eq!(say(fault).title, "a block of 2048 threads is too large: the device allows 1024");
    assert!(context.load_module(cudarc::nvrtc::Ptx::from_src("nonsense")).is_err());
    assert_eq!(take().faults[0].blame(), Blame::Environment);
}

#[test]
fn options_are_checked() {
    let _turn = TURN.lock();
    let _context = own_context();
    assert_eq!(set_options(c"nonsense"), 1);
    assert_eq!(set_options(c"{\"recrod\": true}"), 1);
    // Too late: the machine exists.
    assert_eq!(set_options(c"{\"instruction_budget\": 5}"), 2);
    assert_eq!(set_options(c"{\"checks\": {\"races\": true}}"), 0);
    assert_eq!(set_options(c"{\"checks\": {\"bounds\": false}}"), 1);
    assert_eq!(set_options(c"{\"record\": true}"), 0);
}
