//! What the clock takes the assembler to make of PTX.

use fusion_machine::{Launch, Machine, Options, Profile};

/// Each lane reads a row of 32 words, four at a time behind one address, with loads that have this in their names.
fn reads_of_rows(volatile: &str) -> f64 {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k() {{\n\
         .reg .b32 %r<12>; .reg .pred %p<2>;\n.shared .align 16 .b8 tile[4096];\n\
         mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 31; mov.u32 %r2, tile; mad.lo.s32 %r2, %r1, 128, %r2; mov.u32 %r3, 1000;\n\
         LOOP:\n\
         ld{volatile}.shared.u32 %r4, [%r2]; ld{volatile}.shared.u32 %r5, [%r2+4];\n\
         ld{volatile}.shared.u32 %r6, [%r2+8]; ld{volatile}.shared.u32 %r7, [%r2+12];\n\
         bar.sync 0; add.s32 %r3, %r3, -1; setp.ne.s32 %p1, %r3, 0; @%p1 bra LOOP;\nret;\n}}\n"
    );
    let machine = Machine::new(Profile::default(), Options::default());
    let loaded = machine.load(fusion_ptx::parse(&ptx).module, &ptx).unwrap();
    let launch = Launch { grid: [1, 1, 1], block: [256, 1, 1], dynamic_shared: 0, cooperative: false, cluster: None };
    machine.estimate(&loaded, loaded.kernel("k").unwrap(), &launch, &[]).unwrap().unwrap().ns
}

#[test]
fn volatile_words_are_not_loaded_together() {
    // All lanes need one bank. Four words together take as many passes as one word of each lane.
    let times = reads_of_rows(".volatile") / reads_of_rows("");
    assert!((3.5..4.1).contains(&times), "{times}");
}
