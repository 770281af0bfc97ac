//! Values that depend on what was never written: which kernels are reported, at which line, and which are not.
//!
//! Kernels named `bad_*` must be reported, kernels named `ok_*` must not.

use fusion_diagnostic::say;
use fusion_machine::report::{Name, Severity};
use fusion_machine::{Checks, Fault, LaunchReport, Options};

use crate::support::{Arg, Device, config};
use Arg::{I32, Pointer};

const PTX: &str = include_str!("../ptx/init.ptx");
const SOURCE: &str = include_str!("../ptx/init.cu");

fn line(text: &str) -> u32 {
    let mut found = SOURCE.lines().enumerate().filter(|(_, l)| l.contains(text));
    let (at, _) = found.next().unwrap_or_else(|| panic!("no line {text}"));
    assert!(found.next().is_none(), "{text} is in several lines");
    at as u32 + 1
}

fn device() -> Device {
    let checks = Checks { init: true, ..Checks::NONE };
    Device::with(PTX, Options { checks, ..Options::default() })
}

impl Device {
    /// A buffer of which the first bytes are filled with ones, as ints.
    fn partly(&self, bytes: u64, filled: u64) -> u64 {
        let base = self.buffer(bytes);
        self.machine.memory().fill(base, &1i32.to_le_bytes(), filled / 4).unwrap();
        base
    }
}

fn run(device: &Device, kernel: &str, block: u32, args: &[Arg]) -> LaunchReport {
    device.try_launch(kernel, config(1, block), args).unwrap_or_else(|fault| panic!("{fault:#?}"))
}

#[track_caller]
fn clean(report: &LaunchReport) {
    assert!(report.findings.is_empty(), "{}: {:#?}", report.kernel, report.findings);
}

/// The only finding: its code, and a text of its line.
#[track_caller]
fn only<'r>(report: &'r LaunchReport, code: &str, at: &str) -> &'r Fault {
    let [fault] = report.findings.as_slice() else { panic!("{}: {:#?}", report.kernel, report.findings) };
    assert_eq!(fault.code().as_str(), code, "{fault:#?}");
    assert_eq!(fault.source.first().map(|p| p.line), Some(line(at)), "{fault:#?}");
    assert_eq!(fault.severity(), Severity::Error);
    let told = say(fault);
    assert!(!told.label.is_empty() && !told.help.is_empty() && fault.ptx.is_some(), "{fault:#?}");
    fault
}

#[test]
fn the_tail_of_a_tile() {
    let device = device();
    let x = device.partly(256, 256);
    let out = device.buffer(256);
    let args = [Pointer(x), Pointer(out), I32(40)];
    let report = run(&device, "bad_tail", 64, &args);
    let fault = only(&report, "E-UNINIT-SHARED", "// derived from shared");
    assert_eq!((fault.thread, fault.count), (Some([40, 0, 0]), 24));
    assert!(say(fault).title.contains("shared memory that was never written"), "{fault:#?}");
    assert!(say(fault).related[0].label.contains("`tile[40]`"), "{fault:#?}");
    assert_eq!(fault.related[0].source[0].line, line("// derived from shared"));
    assert_eq!(fault.buffer.as_ref().map(|b| (b.name.clone(), b.offset)), Some((Name::Variable("tile".into()), 160)));
    clean(&run(&device, "bad_tail", 64, &[args[0], args[1], I32(64)]));
    clean(&run(&device, "ok_tail", 64, &args));
    let fault = run(&device, "bad_through_shared", 64, &args);
    let fault = only(&fault, "E-UNINIT-SHARED", "// stored here");
    assert_eq!(fault.related[0].source[0].line, line("// computed here"), "{fault:#?}");
    only(&run(&device, "bad_copied_tile", 64, &args), "E-UNINIT-SHARED", "// a tile's hole is copied out");
}

#[test]
fn sums_over_what_was_not_filled() {
    let device = device();
    let x = device.partly(4 * 32, 4 * 20);
    let out = device.buffer(4);
    let report = run(&device, "bad_reduction", 32, &[Pointer(x), Pointer(out), I32(20)]);
    let fault = only(&report, "E-UNINIT-GLOBAL", "= v;  // the sum");
    assert_eq!(fault.related[0].source[0].line, line("// past what was filled"));
    assert_eq!((fault.thread, fault.lanes), (Some([0, 0, 0]), 1));
    clean(&run(&device, "ok_reduction", 32, &[Pointer(x), Pointer(out), I32(20)]));
    let all = device.buffer(4 * 32);
    clean(&run(&device, "ok_select", 32, &[Pointer(x), Pointer(all), I32(20)]));
}

#[test]
fn decisions_and_addresses() {
    let device = device();
    let (flags, out) = (device.partly(4 * 32, 4 * 31), device.partly(256, 256));
    let report = run(&device, "bad_branch", 32, &[Pointer(flags), Pointer(out)]);
    let fault = only(&report, "E-UNINIT-GLOBAL", "// decided by what was never written");
    assert_eq!(fault.thread, Some([31, 0, 0]));
    assert!(say(fault).title.starts_with("a branch depends"));
    let x = device.partly(4 * 32, 4 * 32);
    let report = run(&device, "bad_address", 32, &[Pointer(flags), Pointer(x), Pointer(out)]);
    assert!(
        say(only(&report, "E-UNINIT-GLOBAL", "// where to read is unknown")).title.starts_with("an address depends")
    );
}

#[test]
fn copies_carry_on_what_is_missing() {
    let device = device();
    let (x, out) = (device.partly(16 * 32, 16 * 32 - 20), device.buffer(16 * 32));
    clean(&run(&device, "ok_copy", 32, &[Pointer(x), Pointer(out)]));
    assert_eq!(device.machine.memory().unwritten(out, 16 * 32), Some((16 * 32 - 20, 20)));
    // A buffer that was complete has holes now; what is written again is whole again.
    let full = device.partly(16 * 32, 16 * 32);
    clean(&run(&device, "ok_copy", 32, &[Pointer(x), Pointer(full)]));
    assert_eq!(device.machine.memory().unwritten(full, 16 * 32), Some((16 * 32 - 20, 20)));
    clean(&run(&device, "set_all", 128, &[Pointer(full), I32(128)]));
    assert_eq!(device.machine.memory().unwritten(full, 16 * 32), None);
}

#[test]
fn atomics_read_what_they_change() {
    let device = device();
    let x = device.partly(4 * 32, 4 * 32);
    let sum = device.buffer(4);
    let report = run(&device, "bad_accumulate", 32, &[Pointer(x), Pointer(sum)]);
    let fault = only(&report, "E-UNINIT-GLOBAL", "// sum was never set");
    assert!(say(fault).title.starts_with("an atomic changes"), "{fault:#?}");
    clean(&run(&device, "bad_accumulate", 32, &[Pointer(x), Pointer(sum)]));
    let [lock, out] = [(); 2].map(|()| device.buffer(128));
    clean(&run(&device, "ok_exchange", 1, &[Pointer(lock), Pointer(out)]));
    let report = run(&device, "bad_histogram", 32, &[Pointer(x), Pointer(out)]);
    let fault = report.findings.iter().find(|f| say(f).title.starts_with("an atomic changes")).unwrap();
    assert_eq!(
        (fault.code().as_str(), fault.buffer.as_ref().unwrap().name.identifier()),
        ("E-UNINIT-SHARED", Some("counts"))
    );
}

#[test]
fn registers_that_nobody_sets() {
    let device = device();
    let x = device.partly(4 * 32, 4 * 32);
    let out = device.buffer(4 * 32);
    clean(&run(&device, "ok_phi", 32, &[Pointer(x), Pointer(out), I32(20)]));
}

#[test]
fn local_arrays() {
    let device = device();
    let x = device.partly(4 * 32, 4 * 32);
    let out = device.buffer(4 * 32);
    let report = run(&device, "bad_local", 32, &[Pointer(x), Pointer(out), I32(5), I32(7)]);
    let fault = only(&report, "E-UNINIT-LOCAL", "// m elements of n");
    assert_eq!(fault.related[0].source[0].line, line("s += a[i];"));
    clean(&run(&device, "ok_local", 32, &[Pointer(x), Pointer(out), I32(5)]));
}

#[test]
fn parts_of_words_and_structs() {
    let device = device();
    let x = device.partly(4 * 128, 4 * 128);
    let [out, other] = [(); 2].map(|()| device.buffer(8 * 32));
    clean(&run(&device, "ok_padding", 32, &[Pointer(x), Pointer(out), Pointer(other)]));
    clean(&run(&device, "ok_halves", 32, &[Pointer(x), Pointer(out)]));
    only(&run(&device, "bad_halves", 32, &[Pointer(x), Pointer(out)]), "E-UNINIT-SHARED", "// the other half");
    let vectors = device.partly(16 * 32, 16 * 32);
    for i in 0..32 {
        device.machine.memory().forget(vectors + 16 * i + 12, 4).unwrap();
    }
    clean(&run(&device, "ok_vector", 32, &[Pointer(vectors), Pointer(out)]));
    let nothing = device.buffer(4 * 32);
    clean(&run(&device, "ok_masked", 32, &[Pointer(nothing), Pointer(out)]));
}

#[test]
fn what_is_printed() {
    let device = device();
    let x = device.buffer(4);
    let report = run(&device, "bad_print", 32, &[Pointer(x)]);
    only(&report, "E-UNINIT-GLOBAL", "// prints it");
    assert_eq!(report.output, "7 0\n");
}

#[test]
fn votes_and_stages() {
    let device = device();
    let x = device.partly(4 * 32 * 4, 4 * 32 * 4);
    let part = device.partly(4 * 32, 4 * 20);
    let out = device.buffer(4 * 32);
    clean(&run(&device, "ok_double_buffer", 32, &[Pointer(x), Pointer(out), I32(4)]));
    let report = run(&device, "bad_double_buffer", 32, &[Pointer(x), Pointer(out), I32(1)]);
    only(&report, "E-UNINIT-SHARED", "// the sum of it");
    clean(&run(&device, "ok_vote", 32, &[Pointer(part), Pointer(out), I32(20)]));
    device.machine.memory().fill(part, &[0], 80).unwrap();
    let report = run(&device, "bad_vote", 32, &[Pointer(part), Pointer(out)]);
    assert_eq!(only(&report, "E-UNINIT-GLOBAL", "// any of them").thread, Some([0, 0, 0]));
}

#[test]
fn variables_of_a_module_are_zero() {
    let device = device();
    let out = device.buffer(4 * 32);
    clean(&run(&device, "ok_variables", 32, &[Pointer(out)]));
}

#[test]
fn a_buffer_is_forgotten_and_filled_again() {
    let device = device();
    let (x, out) = (device.partly(4 * 1000, 4 * 1000), device.buffer(4 * 1000));
    let report = device.launch("add_one", 8, 128, &[Pointer(x), Pointer(out), I32(1000)]);
    clean(&report);
    assert_eq!(device.machine.memory().unwritten(out, 4 * 1000), None);
    device.machine.memory().forget(x, 4 * 1000).unwrap();
    let report = device.launch("add_one", 8, 128, &[Pointer(x), Pointer(out), I32(1000)]);
    let fault = only(&report, "E-UNINIT-GLOBAL", "// x plus one");
    assert_eq!((fault.count, fault.block, fault.thread), (1000, Some([0; 3]), Some([0; 3])));
    clean(&device.launch("set_all", 8, 128, &[Pointer(x), I32(1000)]));
    clean(&device.launch("add_one", 8, 128, &[Pointer(x), Pointer(out), I32(1000)]));
    let nothing = Device::with(PTX, Options { checks: Checks::NONE, ..Options::default() });
    let (x, out) = (nothing.buffer(4 * 32), nothing.buffer(4 * 32));
    clean(&nothing.launch("add_one", 1, 32, &[Pointer(x), Pointer(out), I32(32)]));
}

/// What one body of PTX is told: `%r0` to `%r9` are never set, `%r10` is the thread, `tile` is shared, `stack` local, both empty.
fn told(body: &str) -> Vec<String> {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out) {{\n\
         .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<8>; .reg .b16 %h<8>; .reg .f32 %f<8>;\n\
         .shared .align 8 .b8 tile[256];\n.local .align 8 .b8 stack[64];\n\
         mov.u32 %r10, %tid.x;\nld.param.u64 %d19, [out];\nmul.wide.u32 %d18, %r10, 8;\nadd.u64 %d19, %d19, %d18;\n\
         {body}\nret;\n}}\n"
    );
    let checks = Checks { init: true, ..Checks::NONE };
    let device = Device::with(&ptx, Options { checks, ..Options::default() });
    let out = device.buffer(8 * 32);
    let report = device.launch("k", 1, 32, &[Pointer(out)]);
    report.findings.into_iter().map(|f| f.code().as_str().trim_start_matches("E-UNINIT-").to_lowercase()).collect()
}

#[test]
fn instructions_that_use_a_register_which_was_never_set() {
    let table = [
        // Where it matters.
        ("add.u32 %r11, %r1, 1; st.global.u32 [%d19], %r11;", "register"),
        ("setp.eq.u32 %p1, %r1, 1; @%p1 st.global.u32 [%d19], %r10;", "register"),
        ("setp.eq.u32 %p1, %r1, 1; @%p1 bra L; st.global.u32 [%d19], %r10; L:", "register"),
        ("cvt.u64.u32 %d1, %r1; add.u64 %d1, %d19, %d1; st.global.u32 [%d1], %r10;", "register"),
        ("red.shared.add.u32 [tile], %r1;", "register shared"),
        ("st.shared.u32 [tile], 0; red.shared.add.u32 [tile], %r1;", "register"),
        ("barrier.sync %r1;", "register"),
        ("not.b32 %r11, %r1; st.global.u32 [%d19], %r11;", "register"),
        ("mov.b64 %d1, {%r10, %r1}; shr.u64 %d1, %d1, 32; add.u64 %d1, %d1, 1; st.global.u64 [%d19], %d1;", "register"),
        ("add.f16x2 %r11, %r1, %r10; st.global.u32 [%d19], %r11;", "register"),
        ("shfl.sync.down.b32 %r1, %r1, 1, 31, -1; add.u32 %r1, %r1, 1; st.global.u32 [%d19], %r1;", "register"),
        ("redux.sync.add.u32 %r11, %r1, -1; st.global.u32 [%d19], %r11;", "register"),
        ("selp.u32 %r11, 1, 2, %p1; st.global.u32 [%d19], %r11;", "register"),
        (
            "st.local.u32 [stack], %r1; ld.local.u32 %r11, [stack]; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;",
            "register",
        ),
        ("ld.local.u32 %r11, [stack]; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;", "local"),
        ("ld.shared.s8 %r11, [tile+3]; add.s32 %r11, %r11, 1; st.global.u32 [%d19], %r11;", "shared"),
        ("atom.shared.exch.b32 %r11, [tile], 1; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;", "shared"),
        ("ld.global.u32 %r11, [%d19]; atom.global.add.u32 %r12, [%d19], %r11;", "global global"),
        // Where it does not.
        ("st.global.u32 [%d19], %r1;", ""),
        ("and.b32 %r11, %r1, 0; st.global.u32 [%d19], %r11;", ""),
        ("or.b32 %r11, %r1, -1; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;", ""),
        ("mul.lo.u32 %r11, %r1, 0; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;", ""),
        ("mov.b64 %d1, {%r10, %r1}; cvt.u32.u64 %r11, %d1; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;", ""),
        (
            "mov.b32 {%h1, %h2}, %r1; mov.b32 %r11, {%h3, 7}; shr.u32 %r11, %r11, 16; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        (
            "shl.b32 %r11, %r1, 16; or.b32 %r11, %r11, 5; and.b32 %r11, %r11, 0xffff; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        (
            "prmt.b32 %r11, %r1, %r10, 0x5410; bfe.u32 %r11, %r11, 16, 8; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        (
            "bfi.b32 %r11, %r10, %r1, 0, 16; bfe.s32 %r11, %r11, 0, 16; add.s32 %r11, %r11, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        (
            "mov.b32 %r11, {%h1, 0}; add.f16x2 %r11, %r11, %r10; shr.u32 %r11, %r11, 16; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        (
            "setp.ne.u32 %p1, %r10, -1; selp.u32 %r11, %r10, %r1, %p1; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        ("or.b32 %r11, %r1, 1; setp.ne.u32 %p1, %r11, 0; @%p1 st.global.u32 [%d19], 1;", ""),
        ("setp.eq.u32 %p1, %r1, 0; setp.ne.or.u32 %p2, %r10, -1, %p1; @%p2 st.global.u32 [%d19], 1;", ""),
        (
            "setp.eq.u32 %p1, %r1, 0; and.pred %p2, %p1, %p1; mov.u32 %r1, 3; add.u32 %r11, %r1, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        // A shuffle from a lane that takes no part.
        (
            "setp.gt.u32 %p1, %r10, 15; @%p1 bra L; shfl.sync.bfly.b32 %r1, %r10, 16, 31, 0xffff; add.u32 %r11, %r1, 1; \
             st.global.u32 [%d19], %r11; L:",
            "e-sync-mask",
        ),
        (
            "setp.gt.u32 %p1, %r10, 15; @%p1 exit; shfl.sync.bfly.b32 %r1, %r10, 16, 31, -1; st.global.u32 [%d19], %r1;",
            "e-sync-mask",
        ),
        (
            "setp.gt.u32 %p1, %r10, 15; @%p1 exit; shfl.sync.bfly.b32 %r1, %r10, 16, 31, -1; and.b32 %r11, %r1, 0; \
             st.global.u32 [%d19], %r11;",
            "",
        ),
        (
            "setp.gt.u32 %p1, %r10, 15; @%p1 exit; shfl.sync.down.b32 %r1|%p2, %r10, 8, 31, -1; \
             selp.u32 %r1, %r1, 0, %p2; add.u32 %r11, %r1, 1; st.global.u32 [%d19], %r11;",
            "e-sync-mask",
        ),
        (
            "setp.gt.u32 %p1, %r10, 15; @%p1 exit; shfl.sync.down.b32 %r1|%p2, %r10, 8, 0x100f, -1; \
             selp.u32 %r1, %r1, 0, %p2; add.u32 %r11, %r1, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        ("shfl.sync.idx.b32 %r1, %r10, 0, 31, -1; add.u32 %r1, %r1, 1; st.global.u32 [%d19], %r1;", ""),
        (
            "cvt.rn.bf16x2.f32 %r11, %f1, 0f3f800000; cvt.u16.u32 %h1, %r11; shr.u32 %r11, %r11, 16; st.global.u16 [%d19], %h1;",
            "",
        ),
        (
            "st.shared.v2.u32 [tile], {%r10, %r1}; ld.shared.v2.u32 {%r11, %r12}, [tile]; add.u32 %r11, %r11, 1; st.global.u32 [%d19], %r11;",
            "",
        ),
        (
            "atom.shared.exch.b32 %r11, [tile], 1; ld.shared.u32 %r12, [tile]; add.u32 %r12, %r12, 1; st.global.u32 [%d19], %r12;",
            "",
        ),
    ];
    for (body, expected) in table {
        assert_eq!(told(body).join(" "), expected, "{body}");
    }
}
