//! What a kernel gets from the system: memory from the heap, groups, and memory of its own.

use fusion_machine::report::Code;
use fusion_machine::report::kind::{Access, Kind, Memory};
use fusion_machine::{Checks, Fault, LaunchReport, Options};

use crate::support::{Arg::Pointer, Device};

const DECLARED: &str = "
.extern .func (.param .b64 base) malloc(.param .b64 size);
.extern .func free(.param .b64 base);
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.local .align 8 .u32 own[4];
.local .u32 another;
.func (.param .b64 base) take(.param .b64 size) {
    .param .b64 s, b; .reg .b64 x;
    ld.param.b64 x, [size]; st.param.b64 [s], x; call.uni (b), malloc, (s); ld.param.b64 x, [b]; st.param.b64 [base], x; ret;
}
.func give(.param .b64 base) {
    .param .b64 b; .reg .b64 x;
    ld.param.b64 x, [base]; st.param.b64 [b], x; call.uni free, (b); ret;
}
.func (.reg .b32 v) from_own() { .reg .b64 a; mov.u64 a, own; ld.local.u32 v, [a+4]; ret; }
";

/// A kernel around a body that leaves its result in `%r0`. `take d, n` and `give d` call the runtime.
fn device(body: &str, checks: Checks) -> Device {
    let mut calls = 0;
    let mut expand = |line: &str| {
        calls += 1;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let call = match (word, rest.split_once(", ")) {
            ("take", Some((d, size))) => format!(
                "{{ .param .b64 s{calls}, b{calls}; st.param.b64 [s{calls}], {size}; call.uni (b{calls}), take, (s{calls}); ld.param.b64 {d}, [b{calls}]; }}"
            ),
            ("give", None) => {
                format!("{{ .param .b64 b{calls}; st.param.b64 [b{calls}], {rest}; call.uni give, (b{calls}); }}")
            }
            _ => format!("{line};"),
        };
        call + "\n"
    };
    let body: String = body.split(';').map(|line| expand(line.trim())).collect();
    Device::with(
        &format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n{DECLARED}\
             .visible .entry k(.param .u64 out) {{\n\
             .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<8>; .local .align 8 .b8 stack[8];\n\
             mov.u32 %r1, %tid.x; ld.param.u64 %d17, [out];\n{body}\n\
             mul.wide.u32 %d18, %r1, 4;\nadd.u64 %d19, %d17, %d18;\nst.global.u32 [%d19], %r0;\nret;\n}}\n"
        ),
        Options { checks, ..Options::default() },
    )
}

fn launch(body: &str, threads: u32) -> Result<(Vec<i32>, LaunchReport), Box<Fault>> {
    let device = device(body, Checks { performance: false, ..Checks::default() });
    let out = device.buffer(4 * u64::from(threads));
    let report = device.try_launch("k", crate::support::config(1, threads), &[Pointer(out)])?;
    Ok((device.read_ints(out, threads as usize), report))
}

#[track_caller]
fn check(body: &str, threads: u32, expect: impl Fn(i32) -> i32) {
    let (got, report) = launch(body, threads).unwrap_or_else(|fault| panic!("{fault:#?}"));
    assert_eq!(got, (0..threads as i32).map(expect).collect::<Vec<_>>());
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}

/// What stops a kernel of one thread, with the size and the offset of the memory that it is about.
fn stopped(body: &str) -> (Memory, Option<(u64, i64)>) {
    let fault = *launch(body, 1).expect_err("the kernel ran to its end");
    let Kind::Memory(kind) = fault.kind else { panic!("{fault:#?}") };
    (kind, fault.buffer.map(|buffer| (buffer.size, buffer.offset)))
}

#[test]
fn every_thread_has_a_block_of_its_own() {
    check("take %d1, 40; st.global.u32 [%d1+36], %r1; ld.global.u32 %r0, [%d1+36]; give %d1", 256, |t| t);
    check("take %d1, 40; and.b64 %d2, %d1, 15; cvt.u32.u64 %r0, %d2", 64, |_| 0);
    // Through generic addresses and atomics as well.
    check("take %d1, 4; st.u32 [%d1], %r1; atom.add.u32 %r2, [%d1], 1; ld.u32 %r0, [%d1]; give %d1", 64, |t| t + 1);
}

#[test]
fn the_heap_is_used_up_and_says_so_with_a_null_pointer() {
    let null = "setp.eq.u64 %p1, %d1, 0; selp.u32 %r0, 1, 0, %p1";
    check(&format!("take %d1, 8388608; {null}"), 1, |_| 0);
    check(&format!("take %d1, 8388609; {null}"), 1, |_| 1);
    check(&format!("take %d1, 0; {null}"), 1, |_| 1);
    // 5 MiB, 5 MiB, and again when the first has been given back; a null pointer may be given back, too.
    check(&format!("take %d2, 5242880; take %d1, 5242880; {null}"), 1, |_| 1);
    check(&format!("take %d2, 5242880; give %d2; take %d1, 5242880; {null}; mov.b64 %d3, 0; give %d3"), 1, |_| 0);
}

#[test]
fn what_is_taken_again_does_not_race_with_who_had_it() {
    // More than the heap holds, in rounds of 64 threads.
    let body = "mov.u32 %r2, 0; again:; take %d1, 4096; st.global.u32 [%d1], %r1; ld.global.u32 %r0, [%d1]; give %d1;
                add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100; @%p1 bra again";
    check(&body.replace("again:;", "again: mov.u32 %r3, 0;"), 64, |t| t);
}

#[test]
fn wrong_uses_of_the_heap_are_found() {
    let (past, about) = stopped("take %d1, 40; ld.global.u32 %r0, [%d1+40]");
    assert!(matches!(past, Memory::OutOfBounds { access: Access { write: false, bytes: 4, .. }, constant: false }));
    assert_eq!(about, Some((40, 40)));
    let (across, about) = stopped("take %d1, 40; st.global.v2.u64 [%d1+32], {%d1, %d1}");
    assert!(matches!(across, Memory::OutOfBounds { access: Access { write: true, bytes: 16, .. }, .. }));
    assert_eq!(about, Some((40, 32)));
    let (freed, about) = stopped("take %d1, 40; give %d1; ld.global.u32 %r0, [%d1]");
    assert!(matches!(freed, Memory::FreedByKernel(_)) && about == Some((40, 0)), "{freed:?}");
    assert_eq!(stopped("take %d1, 40; give %d1; give %d1").0, Memory::FreedTwice { size: 40 });
    let inside = stopped("take %d1, 40; add.u64 %d1, %d1, 8; give %d1").0;
    assert_eq!(inside, Memory::FreedInside { offset: 8, size: 40 });
    assert!(matches!(stopped("give %d17").0, Memory::FreedForeign { .. }));
}

#[test]
fn a_block_is_as_good_as_never_written() {
    let (_, report) = launch("take %d1, 40; ld.global.u32 %r0, [%d1]; add.u32 %r0, %r0, 1", 1).unwrap();
    assert_eq!(report.findings.iter().map(|finding| finding.code()).collect::<Vec<_>>(), [Code::UninitGlobal]);
}

#[test]
fn the_heap_outlives_a_launch_and_its_size_is_settled_by_the_first() {
    let device = device("take %d1, 4096; st.global.u64 [%d17], %d1; ld.u32 %r0, [%d17]", Checks::NONE);
    assert!(device.machine.set_heap_bytes(8192));
    let out = device.buffer(64);
    let taken = || {
        device.launch("k", 1, 1, &[Pointer(out)]);
        device.read_ints(out, 1)[0]
    };
    assert!(taken() != 0 && taken() == 0, "two blocks of 4096 bytes and what lies between them are more than 8192");
    assert!(!device.machine.set_heap_bytes(1 << 20));
    device.machine.drop_heap();
    assert!(taken() != 0 && taken() != 0);
}

#[test]
fn local_variables_of_the_module_are_each_threads_own() {
    check(
        "st.local.u32 [own+4], %r1; st.local.u32 [another], 7; st.local.u32 [stack], 9; call (%r0), from_own",
        64,
        |t| t,
    );
    check(
        "mov.u64 %d1, another; cvta.local.u64 %d2, %d1; st.u32 [%d2], %r1; bar.sync 0; ld.local.u32 %r0, [another]",
        64,
        |t| t,
    );
}

#[test]
fn groups_ask_for_their_handles() {
    let body = |scope| {
        format!(
            "{{ .param .b32 s; .param .b64 h; st.param.b32 [s], {scope}; call.uni (h), cudaCGGetIntrinsicHandle, (s); \
             ld.param.b64 %d1, [h]; }} setp.ne.u64 %p1, %d1, 0; selp.u32 %r0, 1, 0, %p1"
        )
    };
    for (scope, cooperative, expected) in [(1, true, 1), (1, false, 0), (2, true, 0)] {
        let device = device(&body(scope), Checks::default());
        let out = device.buffer(4);
        let config = fusion_machine::Launch { cooperative, ..crate::support::config(1, 1) };
        device.try_launch("k", config, &[Pointer(out)]).unwrap_or_else(|fault| panic!("{fault:#?}"));
        assert_eq!(device.read_ints(out, 1), [expected]);
    }
}
