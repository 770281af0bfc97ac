//! How much of the dynamic shared memory the blocks of a launch touch.

use fusion_machine::report::Kind;
use fusion_machine::report::kind::Speed;
use fusion_machine::{Checks, LaunchReport, Options};

use crate::support::{Device, config};

/// Threads of a block.
const THREADS: u32 = 64;

/// Runs a body in many blocks with 4,096 bytes of dynamic shared memory behind 100 static ones. `%r1` is the thread's index, `%r2`
/// where the dynamic part begins.
fn run(body: &str, checks: Checks, blocks: u32, dynamic_shared: u32) -> LaunchReport {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 row[];\n\
         .visible .entry k() {{\n.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<8>;\n\
         .shared .align 4 .b8 fixed[100];\n\
         mov.u32 %r0, fixed; st.shared.u32 [%r0+96], 1;\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, row; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2;\n{body}\nret;\n}}\n"
    );
    let device = Device::with(&ptx, Options { checks, ..Options::default() });
    let launch = fusion_machine::Launch { dynamic_shared, ..config(blocks, THREADS) };
    device.try_launch("k", launch, &[]).unwrap_or_else(|fault| panic!("{fault:#?}"))
}

#[test]
fn what_is_touched_ends_at_the_last_byte_of_any_access() {
    for (body, touched) in [
        ("", 0),
        ("st.shared.u32 [%r3], %r1;", 256),
        ("st.shared.u32 [%r3+1000], %r1;", 1256),
        ("st.shared.u32 [%r2+80], 5; bar.sync 0; ld.shared.u32 %r4, [%r2+80];", 84),
        ("ld.shared.u32 %r4, [%r2+124];", 128),
        ("st.shared.v4.u32 [%r2+2048], {%r1, %r1, %r1, %r1};", 2064),
        ("setp.eq.u32 %p1, %r1, 5; @%p1 st.shared.u8 [%r3], 1;", 21),
        ("atom.shared.add.u32 %r4, [%r2+4], 1;", 8),
        ("cvta.shared.u64 %d1, row; st.u32 [%d1+4092], %r1;", 4096),
        ("mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r5, 2; @%p1 st.shared.u32 [%r3+512], %r1;", 768),
    ] {
        for checks in [Checks::ALL, Checks::NONE] {
            let report = run(body, checks, 3, 4096);
            assert_eq!((report.dynamic_shared, report.touched_shared), (4096, touched), "{body}");
        }
    }
}

#[test]
fn memory_that_nobody_touches_is_told_where_it_keeps_blocks_away() {
    // With 64 threads, 32 blocks fit on an SM, and 228 KiB hold 6 of 32 KiB and one reserved.
    for (dynamic, blocks, expected) in [
        (32 << 10, 32 * 132, Some((32 << 10, 256, 6, 32))),
        // The grid has no more blocks for an SM.
        (32 << 10, 6 * 132, None),
        (32 << 10, 7 * 132, Some((32 << 10, 256, 6, 7))),
        // As many fit all the same.
        (4 << 10, 32 * 132, None),
        (256, 32 * 132, None),
    ] {
        let report = run("st.shared.u32 [%r3], %r1;", Checks::ALL, blocks, dynamic);
        let told = report.findings.iter().find_map(|fault| match fault.kind {
            Kind::Speed(Speed::UnusedShared { asked, touched, held, possible, .. }) => {
                Some((asked, touched, held, possible))
            }
            _ => None,
        });
        assert_eq!(told, expected, "{dynamic} bytes, {blocks} blocks");
    }
}
