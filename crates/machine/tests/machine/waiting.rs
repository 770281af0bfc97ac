//! Threads that wait for one another, without anything being wrong with that.

use crate::support::{Arg::Pointer, Device, config};

/// A module with one kernel, `k`, whose parameter is in `%d0`.
fn module(functions: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{functions}\n\
         .visible .entry k(.param .u64 out) {{\n\
         .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<8>;\n.shared .align 4 .b8 tile[256];\n\
         ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n{body}\nret;\n}}\n"
    )
}

/// The first block waits, in a way of its own, for the last block to write 1 to the first word.
#[track_caller]
fn waits_for_the_last_block(way: &str) {
    let body = format!(
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra other;\n\
         again: {way} setp.eq.u32 %p2, %r2, 0; @%p2 bra again;\n\
         st.global.u32 [%d0+4], %r2; bra done;\n\
         other: setp.ne.u32 %p1, %r1, 2; @%p1 bra done; membar.gl; st.global.u32 [%d0], 1; done:"
    );
    let device = Device::new(&module("", &body));
    let out = device.ints(&[0, 0]);
    device.launch("k", 3, 32, &[Pointer(out)]);
    assert_eq!(device.read_ints(out, 2), [1, 1], "{way}");
}

#[test]
fn a_block_waits_for_another_in_any_way() {
    waits_for_the_last_block("ld.volatile.global.u32 %r2, [%d0];");
    waits_for_the_last_block("ld.acquire.gpu.global.u32 %r2, [%d0];");
    waits_for_the_last_block("atom.global.add.u32 %r2, [%d0], 0;");
    waits_for_the_last_block("atom.global.or.b32 %r2, [%d0], 0;");
    waits_for_the_last_block("atom.global.cas.b32 %r2, [%d0], 0, 0;");
    // Nothing says that these are more than loads.
    waits_for_the_last_block("ld.global.cv.u32 %r2, [%d0];");
    waits_for_the_last_block("ld.global.u32 %r2, [%d0];");
}

/// The address that a driver leaves in `%envreg1` and `%envreg2` is that of two zero words, the second of which the
/// blocks count themselves in.
#[test]
fn a_cooperative_grid_has_a_barrier() {
    let body = "mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; mov.b64 %d1, {%r3, %r2};\n\
                setp.ne.u64 %p1, %d1, 0; @!%p1 bra done; setp.ne.u32 %p1, %r0, 0; @%p1 bra done;\n\
                atom.add.release.gpu.u32 %r4, [%d1+4], 1;\n\
                again: ld.acquire.gpu.u32 %r5, [%d1+4]; setp.lt.u32 %p2, %r5, 200; @%p2 bra again;\n\
                atom.global.add.u32 %r6, [%d0], %r5; done:";
    let device = Device::new(&module("", body));
    let out = device.ints(&[0]);
    let used = device.machine.memory().used();
    for (cooperative, expected) in [(false, 0), (true, 40_000), (true, 80_000)] {
        let launch = fusion_machine::Launch { cooperative, ..config(200, 64) };
        device.try_launch("k", launch, &[Pointer(out)]).unwrap();
        assert_eq!(device.read_ints(out, 1), [expected]);
    }
    assert_eq!(device.machine.memory().used(), used);
}

#[test]
fn lanes_that_have_exited_are_not_waited_for() {
    let body = "setp.ge.u32 %p1, %r0, 20; @%p1 exit; bar.warp.sync 0xffffffff;\n\
                vote.sync.ballot.b32 %r2, %p1, 0xffffffff; activemask.b32 %r3;\n\
                shfl.sync.idx.b32 %r4, %r0, 19, 31, 0xffffffff;\n\
                vote.sync.all.pred %p2, !%p1, 0xffffffff; selp.u32 %r5, 1, 0, %p2;\n\
                mad.lo.u32 %r5, %r4, 100, %r5; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d1, %d0; st.global.u32 [%d1], %r5;";
    let device = Device::new(&module("", body));
    let out = device.ints(&[0; 32]);
    device.launch("k", 1, 32, &[Pointer(out)]);
    assert_eq!(device.read_ints(out, 32), [[1901; 20].as_slice(), &[0; 12]].concat());
}

/// Odd lanes hold a predicate in `waiter` while even ones go through `outer` and `inner`, whose frames begin elsewhere.
#[test]
fn frames_of_different_depth_do_not_touch_each_other() {
    let predicates = ".reg .pred %p<12>;";
    let set = |value: &str| (0..12).map(|p| format!("setp.ne.u32 %p{p}, {value}, 0;\n")).collect::<String>();
    let sum = (0..12).map(|p| format!("selp.u32 %r9, 1, 0, %p{p}; add.u32 %r8, %r8, %r9;\n")).collect::<String>();
    let functions = format!(
        ".func (.reg .u32 r) waiter(.reg .u64 at) {{ {predicates} .reg .pred %q; .reg .b32 %r<10>;\n\
         mov.u32 %r1, 0; {}\n\
         again: ld.volatile.global.u32 %r2, [at]; setp.eq.u32 %q, %r2, 0; @%q bra again;\n\
         mov.u32 %r8, 0; {sum} mov.u32 r, %r8; ret; }}\n\
         .func (.reg .u32 r) inner(.reg .u64 at) {{ {predicates} .reg .b32 %r<10>;\n\
         mov.u32 %r1, 1; {} st.volatile.global.u32 [at], 1; mov.u32 %r8, 0; {sum} mov.u32 r, %r8; ret; }}\n\
         .func (.reg .u32 r) outer(.reg .u64 at) {{ .reg .pred %p; setp.ne.u64 %p, at, 0;\n\
         @%p call (r), inner, (at); ret; }}\n",
        set("%r1"),
        set("%r1"),
    );
    let body = "and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 1; @!%p1 bra even;\n\
                call (%r3), waiter, (%d0); bra join; even: call (%r3), outer, (%d0); join:\n\
                mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d1, %d0; st.global.u32 [%d1+4], %r3;";
    let device = Device::new(&module(&functions, body));
    let out = device.ints(&[0; 33]);
    device.launch("k", 1, 32, &[Pointer(out)]);
    let expected: Vec<i32> = (0..32).map(|t| if t % 2 == 1 { 0 } else { 12 }).collect();
    assert_eq!(device.read_ints(out, 33)[1..], expected);
}
