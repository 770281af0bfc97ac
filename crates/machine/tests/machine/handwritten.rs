//! PTX that no compiler writes: instructions and forms one at a time.

use crate::support::{Arg::Pointer, Device};

/// Runs a body that leaves its result in `%r0`, in 64 threads, and returns what each one got.
fn run(body: &str) -> Vec<i32> {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out) {{\n\
         .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<8>; .reg .b16 %h<8>; .reg .f32 %f<8>;\n\
         .local .align 8 .b8 stack[64];\n.shared .align 4 .b8 tile[256];\n\
         mov.u32 %r1, %tid.x;\n{body}\n\
         ld.param.u64 %d19, [out];\nmul.wide.u32 %d18, %r1, 4;\nadd.u64 %d19, %d19, %d18;\n\
         st.global.u32 [%d19], %r0;\nret;\n}}\n"
    );
    let device = Device::new(&ptx);
    let out = device.buffer(256);
    device.launch("k", 1, 64, &[Pointer(out)]);
    device.read_ints(out, 64)
}

#[track_caller]
fn check(body: &str, expect: impl Fn(i32) -> i32) {
    assert_eq!(run(body), (0..64).map(expect).collect::<Vec<_>>(), "{body}");
}

#[test]
fn guards_leave_other_lanes_alone() {
    check("mov.u32 %r0, 7; setp.lt.u32 %p1, %r1, 40; @%p1 mov.u32 %r0, 9; @!%p1 add.u32 %r0, %r0, 1;", |t| {
        if t < 40 { 9 } else { 8 }
    });
}

#[test]
fn carries_go_from_word_to_word() {
    check("sub.u32 %r2, 0, %r1; mov.u32 %r3, 5; add.cc.u32 %r4, %r2, %r1; addc.u32 %r0, %r3, 0;", |t| {
        if t == 0 { 5 } else { 6 }
    });
}

#[test]
fn a_wide_register_is_packed_and_taken_apart() {
    check("mov.b64 %d1, {%r1, 77}; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r0, %d1;", |_| 77);
    check(
        "mov.u32 %r2, 0x00050003; mov.b32 {%h1, %h2}, %r2; mul.wide.u16 %r3, %h1, %h2; add.u32 %r0, %r3, %r1;",
        |t| 15 + t,
    );
}

#[test]
fn narrow_values_extend_as_their_type_says() {
    check("cvt.s8.s32 %h1, -3; cvt.s32.s8 %r0, %h1;", |_| -3);
    check("st.local.u32 [stack], 0xfff0; ld.local.s8 %r0, [stack];", |_| -16);
    check("st.local.u32 [stack+4], 0xfff0; ld.local.u16 %r0, [stack+4];", |_| 0xfff0);
}

#[test]
fn shared_memory_is_exchanged_across_a_barrier() {
    check(
        "mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1; bar.sync 0;\n\
         sub.u32 %r4, 63, %r1; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; ld.shared.u32 %r0, [%r4];",
        |t| 63 - t,
    );
}

#[test]
fn barriers_reduce() {
    check("setp.lt.u32 %p1, %r1, 21; bar.red.popc.u32 %r0, 0, %p1;", |_| 21);
    check("setp.lt.u32 %p1, %r1, 63; bar.red.and.pred %p2, 0, %p1; selp.u32 %r0, 1, 0, %p2;", |_| 0);
    check("setp.lt.u32 %p1, %r1, 1; bar.red.or.pred %p2, 0, %p1; selp.u32 %r0, 1, 0, %p2;", |_| 1);
}

#[test]
fn one_warp_announces_and_the_other_waits() {
    check(
        "mov.u32 %r2, tile; setp.ge.u32 %p1, %r1, 32; @%p1 bra WAIT;\n\
         st.shared.u32 [%r2], 42; bar.arrive 1, 64; mov.u32 %r0, 1; bra DONE;\n\
         WAIT: bar.sync 1, 64; ld.shared.u32 %r0, [%r2];\nDONE:",
        |t| if t < 32 { 1 } else { 42 },
    );
}

#[test]
fn special_registers_tell_who_runs() {
    check("mov.u32 %r2, %laneid; mov.u32 %r3, %warpid; mad.lo.u32 %r0, %r3, 32, %r2;", |t| t);
    check("mov.u32 %r2, %lanemask_lt; popc.b32 %r0, %r2;", |t| t % 32);
    check("mov.u32 %r2, %ntid.x; mov.u32 %r3, %nctaid.y; add.u32 %r0, %r2, %r3;", |_| 65);
}

#[test]
fn an_instruction_that_is_not_known_faults_only_when_executed() {
    check("mov.u32 %r0, 3; bra OVER; frobnicate.u32 %r0, %r1; OVER:", |_| 3);
}

#[test]
fn atomics_on_shared_memory_see_one_another() {
    check(
        "mov.u32 %r2, tile; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r2], 0; bar.sync 0;\n\
         atom.shared.add.u32 %r3, [%r2], 1; bar.sync 0; ld.shared.u32 %r0, [%r2];",
        |_| 64,
    );
}

#[test]
fn a_shuffle_of_a_whole_warp_is_what_it_is_lane_by_lane() {
    // Lane 31 stays away in one of the two, which is not the quick way. What lane 31 gives or gets is left out.
    let mut compared = 0;
    for mode in ["up", "down", "bfly", "idx"] {
        for b in [0, 1, 3, 16, 31, 33] {
            for c in [0x1f, 0x0, 0x1c03, 0x1800, 0x101f, 0xf0f, 0x7] {
                let shuffled = |member: &str, guard: &str| {
                    run(&format!(
                        "and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, 31; mul.lo.u32 %r3, %r2, 7; mov.u32 %r4, {b};\n\
                         mov.u32 %r5, {c}; mov.u32 %r0, 999; setp.eq.u32 %p2, %r2, 99;\n\
                         {guard} shfl.sync.{mode}.b32 %r0|%p2, %r3, %r4, %r5, {member};\n\
                         @%p2 add.u32 %r0, %r0, 1000;"
                    ))
                };
                let (quick, slow) = (shuffled("-1", ""), shuffled("0x7fffffff", "@%p1"));
                let kept: Vec<usize> = (0..64).filter(|&i| i % 32 != 31 && ![217, 1217].contains(&quick[i])).collect();
                let both = |values: &[i32]| kept.iter().map(|&i| values[i]).collect::<Vec<_>>();
                assert_eq!(both(&quick), both(&slow), "{mode} {b} {c:#x}");
                compared += kept.len();
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}
