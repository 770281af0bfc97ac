//! Wrong kernels: the code, the line, the thread, and what the notes say.

use fusion_diagnostic::say;
use fusion_machine::report::Code;
use fusion_machine::{Fault, Options};

use crate::support::{Arg, Device, FAULTS, KERNELS, config};
use Arg::{I32, Pointer};

/// The line of `faults.cu` that holds a text.
fn line(text: &str) -> u32 {
    let source = include_str!("../ptx/faults.cu");
    source.lines().position(|l| l.contains(text)).unwrap() as u32 + 1
}

#[track_caller]
fn check(fault: &Fault, code: &str, at: &str, thread: u32) {
    assert_eq!(fault.code().as_str(), code, "{fault:#?}");
    assert_eq!(fault.thread, Some([thread, 0, 0]), "{fault:#?}");
    let position = fault.source.first().unwrap_or_else(|| panic!("no position: {fault:#?}"));
    assert_eq!((position.file.as_str(), position.line), ("faults.cu", line(at)), "{fault:#?}");
    assert!(fault.ptx.is_some());
}

#[track_caller]
fn says(fault: &Fault, text: &str) {
    let told = say(fault);
    assert!(told.notes.iter().chain([&told.label, &told.title]).any(|n| n.contains(text)), "{told:#?}");
}

#[test]
fn reading_past_the_end() {
    let device = Device::new(FAULTS);
    let (x, out) = (device.buffer(4 * 300), device.buffer(4 * 512));
    let fault = device.fault("past_end", 2, 256, &[Pointer(x), Pointer(out)]);
    check(&fault, "E-OOB-GLOBAL", "out[i] = x[i];", 44);
    assert_eq!((fault.block, fault.lanes), (Some([1, 0, 0]), 20));
    says(&fault, "right behind the last one of argument 0");
    says(&fault, "300 of them, and this is index 300");
}

#[test]
fn the_lowest_block_is_the_one_reported() {
    let device = Device::new(FAULTS);
    let (x, out) = (device.buffer(4 * 256 * 50), device.buffer(4 * 256 * 200));
    for _ in 0..3 {
        let fault = device.fault("past_end", 200, 256, &[Pointer(x), Pointer(out)]);
        assert_eq!((fault.block, fault.thread), (Some([50, 0, 0]), Some([0, 0, 0])));
    }
}

#[test]
fn an_inlined_function_shows_its_caller() {
    let device = Device::new(FAULTS);
    let (x, out) = (device.buffer(128), device.buffer(128));
    let fault = device.fault("inlined", 1, 32, &[Pointer(x), Pointer(out), I32(32)]);
    check(&fault, "E-OOB-GLOBAL", "return x[i + 1];", 31);
    assert_eq!(fault.source[0].function.as_deref(), Some("fetch(float const*, int)"));
    assert_eq!(fault.source[1].line, line("fetch(x, i);"));
}

#[test]
fn reading_before_the_start() {
    let device = Device::new(FAULTS);
    let (x, out) = (device.buffer(128), device.buffer(128));
    let fault = device.fault("before_start", 1, 32, &[Pointer(x), Pointer(out)]);
    check(&fault, "E-OOB-GLOBAL", "before_start", 0);
    says(&fault, "4 bytes before argument 0");
}

#[test]
fn null_freed_host_and_number() {
    let device = Device::new(FAULTS);
    let out = device.buffer(128);
    let code = |x: u64| device.fault("past_end", 1, 32, &[Pointer(x), Pointer(out)]).code().as_str();
    assert_eq!(code(0), "E-NULL");
    assert_eq!(code(0x7ffd_1234_5678_9ab0 >> 16), "E-UNMAPPED");
    assert_eq!(code(1_000_000), "E-UNMAPPED");
    let x = device.buffer(128);
    device.machine.memory().free(x).unwrap();
    assert_eq!(code(x), "E-USE-AFTER-FREE");
}

#[test]
fn constant_memory_is_not_written() {
    let device = Device::new(KERNELS);
    let (scale, _) = device.loaded.global("scale").unwrap();
    let x = device.buffer(16);
    let fault = device.fault("vectors", 1, 1, &[Pointer(x), Pointer(scale)]);
    assert_eq!(fault.code().as_str(), "E-WRITE-READONLY");
}

#[test]
fn a_vector_must_be_aligned() {
    let device = Device::new(FAULTS);
    let (x, out) = (device.buffer(1024), device.buffer(512));
    let fault = device.fault("misaligned", 1, 32, &[Pointer(x), Pointer(out)]);
    check(&fault, "E-MISALIGNED", "misaligned", 0);
    says(&fault, "4 past a multiple of 16");
}

#[test]
fn shared_memory_ends() {
    let device = Device::new(FAULTS);
    let out = device.buffer(256);
    let fault = device.fault("shared_past", 1, 64, &[Pointer(out), I32(10)]);
    check(&fault, "E-OOB-SHARED", "tile[threadIdx.x + n]", 54);
    says(&fault, "tile");
    let fault = device.fault("shared_past", 1, 64, &[Pointer(out), I32(-3)]);
    says(&fault, "offset -12: before the start");
}

#[test]
fn a_barrier_in_divergent_code() {
    let device = Device::new(FAULTS);
    let out = device.buffer(128);
    let fault = device.fault("divergent_barrier", 1, 32, &[Pointer(out)]);
    assert_eq!(fault.code().as_str(), "E-BARRIER-DIVERGENT", "{fault:#?}");
    says(&fault, "lanes 0-15");
}

#[test]
fn masks_must_name_those_who_are_there() {
    let device = Device::new(FAULTS);
    let out = device.buffer(128);
    let fault = device.fault("wrong_mask", 1, 32, &[Pointer(out)]);
    check(&fault, "E-SYNC-MASK", "if (t >= 16) out[t]", 16);
}

/// As on hardware, the launch goes on.
#[test]
fn a_shuffle_from_a_thread_that_has_exited() {
    let device = Device::new(FAULTS);
    let out = device.buffer(128);
    let report = device.launch("gone", 1, 32, &[Pointer(out), I32(20)]);
    let [fault] = report.findings.as_slice() else { panic!("{:#?}", report.findings) };
    check(fault, "E-SYNC-MASK", "__shfl_down_sync(0xffffffffu, t, 1)", 19);
    says(fault, "the thread of lane 20 has exited");
    assert_eq!(device.read_ints(out, 20)[18..], [19, 19]);
}

#[test]
fn past_the_end_of_a_constant() {
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .b32 c[4];\n\
               .visible .entry k() { .reg .b32 %r; ld.const.u32 %r, [c+16]; ret; }\n";
    let fault = Device::new(ptx).fault("k", 1, 32, &[]);
    assert_eq!((fault.code().as_str(), fault.lanes), ("E-OOB-CONST", 32));
    says(&fault, "past the end of `c`");
}

#[test]
fn more_local_memory_than_a_thread_can_have() {
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n\
               .visible .entry k() { .local .align 4 .b8 a[524304]; st.local.u32 [a], 1; ret; }\n";
    assert_eq!(Device::new(ptx).fault("k", 1, 32, &[]).code().as_str(), "E-LAUNCH-LOCAL");
}

#[test]
fn lanes_that_wait_for_each_other() {
    let device = Device::new(FAULTS);
    let out = device.buffer(128);
    let fault = device.fault("never_meets", 1, 32, &[Pointer(out)]);
    assert_eq!(fault.code().as_str(), "E-DEADLOCK", "{fault:#?}");
    assert!(say(&fault).label.contains("lanes 0-15"), "{fault:#?}");
    assert_eq!(fault.related[0].source[0].line, line("out[t] = __shfl_sync(0xffffffffu, t, 0);"));
    assert!(say(&fault).related[0].label.contains("lanes 16-31"), "{fault:#?}");
}

#[test]
fn a_kernel_that_does_not_end() {
    let options = Options { instruction_budget: 1 << 22, ..Options::default() };
    let device = Device::with(FAULTS, options);
    let out = device.ints(&[0, 0]);
    let fault = device.fault("forever", 1, 64, &[Pointer(out)]);
    check(&fault, "E-BUDGET", "while (out[i & 1]", 0);
    let fault = device.fault("spins", 4, 64, &[Pointer(out)]);
    assert_eq!(fault.code().as_str(), "E-BUDGET");
}

/// Each block ends soon, and all of them together are too much: also those that end count.
#[test]
fn a_launch_that_is_too_long() {
    let options = Options { instruction_budget: 1 << 10, ..Options::default() };
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    let device = Device::with(ptx, options);
    let fault = device.fault("k", 1 << 12, 32, &[]);
    assert_eq!(fault.code().as_str(), "E-BUDGET");
    assert!(say(&fault).title.contains("the launch"), "{fault:#?}");
}

#[test]
fn a_failed_assertion_has_its_message() {
    let device = Device::new(FAULTS);
    let x = device.ints(&(0..32).collect::<Vec<_>>());
    let fault = device.fault("asserts", 1, 32, &[Pointer(x)]);
    check(&fault, "E-ASSERT", "asserts", 5);
    assert!(say(&fault).title.contains("x[threadIdx.x] < 5"), "{fault:#?}");
    assert_eq!(fault.lanes, 27);
}

#[test]
fn a_trap_names_its_thread() {
    let device = Device::new(FAULTS);
    check(&device.fault("traps", 1, 64, &[]), "E-TRAP", "traps()", 37);
}

/// What NVRTC makes of `this_grid().sync()` begins with a trap for launches that are not cooperative.
#[test]
fn a_grid_barrier_needs_a_cooperative_launch() {
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.loc 1 5 5\n\
               .loc 2 180 13, function_name $L__info_string0, inlined_at 1 5 5\ntrap;\nret;\n}\n\
               .file 1 \"k.cu\"\n.file 2 \"include/cooperative_groups.h\"\n\
               .section .debug_str\n{\n$L__info_string0:\n.b8 95\n.b8 90\n.b8 0\n}\n";
    let fault = Device::new(ptx).fault("k", 1, 32, &[]);
    assert_eq!(fault.code().as_str(), "E-COOPERATIVE", "{fault:#?}");
    assert_eq!(fault.source.last().map(|s| (s.file.as_str(), s.line)), Some(("k.cu", 5)), "{fault:#?}");
}

#[test]
fn recursion_without_end() {
    let device = Device::new(KERNELS);
    let out = device.ints(&[0]);
    assert_eq!(device.fault("overflow", 1, 1, &[Pointer(out)]).code().as_str(), "E-STACK");
}

#[test]
fn launches_that_no_gpu_would_make() {
    let device = Device::new(FAULTS);
    let out = device.buffer(8192);
    let code = |kernel: &str, grid: u32, block: u32, shared: u32| {
        let launch = fusion_machine::Launch { dynamic_shared: shared, ..config(grid, block) };
        device.try_launch(kernel, launch, &[Pointer(out)]).err().map(|f| f.code())
    };
    assert_eq!(code("spins", 0, 32, 0).map(Code::as_str), Some("E-LAUNCH-GRID"));
    assert_eq!(code("spins", 1, 2048, 0).map(Code::as_str), Some("E-LAUNCH-BLOCK"));
    assert_eq!(code("spins", 1, 0, 0).map(Code::as_str), Some("E-LAUNCH-BLOCK"));
    assert_eq!(code("bounded", 1, 256, 0).map(Code::as_str), Some("E-LAUNCH-BLOCK"));
    assert_eq!(code("bounded", 1, 128, 300 << 10).map(Code::as_str), Some("E-LAUNCH-SHARED"));
    assert_eq!(code("bounded", 1, 128, 0), None);
}
