//! Rows of shared memory: what one warp does to a row, and another to a part of it, is found word by word.

use fusion_machine::report::Code;

use crate::support::{self, config};

/// Warp 0 executes one access of each lane, warp 1 then another; a barrier may stand between.
fn kernel(first: &str, between: &str, second: &str) -> String {
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .u64 q, .param .u64 r) {{\n\
         .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b16 %h<2>;\n\
         .shared .align 128 .b8 s[512];\n\
         mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shl.b32 %r2, %r1, 2;\n\
         mov.u32 %r3, s; add.u32 %r4, %r3, %r2; add.u32 %r5, %r3, %r1;\n\
         setp.lt.u32 %p1, %r0, 32; setp.ge.u32 %p2, %r0, 32;\n\
         @!%p1 bra other;\n{first}\nother:\n{between}\n@!%p2 bra done;\n{second}\ndone:\nret;\n}}\n"
    )
}

/// Threads of the second access that race with the first.
fn racing(first: &str, between: &str, second: &str) -> u64 {
    let ptx = kernel(first, between, second);
    let found = support::races(&ptx, "k", config(2, 64));
    assert!(found.iter().all(|fault| fault.code() == Code::RaceShared), "{ptx}\n{found:#?}");
    // Two blocks, alike.
    found.iter().map(|fault| fault.count).sum::<u64>() / 2
}

const WRITE: &str = "st.shared.u32 [%r4+128], %r1;";

#[test]
fn a_row_beside_or_over_another() {
    for words in 0..=64u32 {
        let read = format!("ld.shared.u32 %r6, [%r4+{}];", 4 * words);
        let write = format!("st.shared.u32 [%r4+{}], %r0;", 4 * words);
        let shared = u64::from(32 - words.abs_diff(32).min(32));
        assert_eq!(racing(WRITE, "", &read), shared, "read {words} words from the start");
        assert_eq!(racing(WRITE, "", &write), shared, "write {words} words from the start");
        assert_eq!(racing(WRITE, "bar.sync 0;", &read), 0);
    }
}

#[test]
fn another_shape_over_a_row() {
    for (second, threads) in [
        // All lanes at one word; each at a byte of eight words; each at two words; half of the lanes.
        ("ld.shared.u32 %r6, [s+132];", 32),
        ("ld.shared.u8 %h1, [%r5+128];", 32),
        ("atom.shared.add.u32 %r6, [s+128], 1;", 32),
        ("ld.volatile.shared.u32 %r6, [%r4+128];", 32),
        ("ld.shared.u32 %r6, [s+124];", 0),
        ("ld.shared.u8 %h1, [%r5+256];", 0),
    ] {
        assert_eq!(racing(WRITE, "", second), threads, "{second}");
        assert_eq!(racing(WRITE, "bar.sync 0;", second), 0, "{second}");
    }
}

#[test]
fn a_row_again_says_what_it_said() {
    // The same warp at the same row: reads behind writes and writes behind reads, and only then the other warp.
    let read = "ld.shared.u32 %r6, [%r4+128];";
    let own = format!("{WRITE}\n{read}\n{WRITE}\n{read}");
    assert_eq!(racing(&own, "", read), 32);
    assert_eq!(racing(&format!("{WRITE}\nbar.warp.sync -1;\n{read}"), "", WRITE), 32);
    assert_eq!(racing(read, "", read), 0);
    // A shifted row of the same warp: lane by lane another thread.
    assert_eq!(racing(&format!("{WRITE}\nld.shared.u32 %r6, [%r4+132];"), "", "mov.u32 %r6, 0;"), 31);
    assert_eq!(racing(&format!("{WRITE}\nbar.warp.sync -1;\nld.shared.u32 %r6, [%r4+132];"), "", "mov.u32 %r6, 0;"), 0);
}
