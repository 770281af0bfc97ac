//! What the clock takes the assembler to make of PTX.

use fusion_machine::{Launch, Machine, Options, Profile};

/// What the clock predicts for so many blocks of 256 threads of a kernel, with so many bytes of global memory in `%rd1`, as PTX.
fn predicted(body: &str, blocks: u32) -> f64 {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory) {{\n\
         .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .pred %p<8>;\n\
         ld.param.u64 %rd1, [memory]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n{body}\nret;\n}}\n"
    );
    let machine = Machine::new(Profile::default(), Options::default());
    let memory = machine.memory().alloc_repeating(1 << 26, 1 << 20).unwrap();
    machine.memory().write(memory, &vec![0; 1 << 20]).unwrap();
    let loaded = machine.load(fusion_ptx::parse(&ptx).module, &ptx).unwrap();
    let launch =
        Launch { grid: [blocks, 1, 1], block: [256, 1, 1], dynamic_shared: 0, cooperative: false, cluster: None };
    let estimate = machine.estimate(&loaded, loaded.kernel("k").unwrap(), &launch, &memory.to_le_bytes());
    estimate.unwrap().unwrap().ns
}

/// Each lane reads a row of 32 words, four at a time behind one address that `and` changes, with loads that have `volatile` in their names.
fn reads_of_rows(volatile: &str, and: &str) -> f64 {
    let body = format!(
        ".shared .align 16 .b8 tile[4096];\n\
         and.b32 %r1, %r1, 31; mov.u32 %r3, tile; mad.lo.s32 %r3, %r1, 128, %r3; {and} mov.u32 %r4, 1000;\n\
         LOOP:\n\
         ld{volatile}.shared.u32 %r5, [%r3]; ld{volatile}.shared.u32 %r6, [%r3+4];\n\
         ld{volatile}.shared.u32 %r7, [%r3+8]; ld{volatile}.shared.u32 %r8, [%r3+12];\n\
         bar.sync 0; add.s32 %r4, %r4, -1; setp.ne.s32 %p1, %r4, 0; @%p1 bra LOOP;"
    );
    predicted(&body, 1)
}

#[test]
fn volatile_words_are_not_loaded_together() {
    // All lanes need one bank. Four words together take as many passes as one word of each lane.
    let times = reads_of_rows(".volatile", "") / reads_of_rows("", "");
    assert!((3.5..4.1).contains(&times), "{times}");
}

#[test]
fn words_are_loaded_together_as_far_as_their_address_is_known_to_be_aligned() {
    // The number of the only block is 0, which the assembler does not know.
    let [four, two, one] = [16, 8, 4].map(|bytes| reads_of_rows("", &format!("mad.lo.s32 %r3, %r2, {bytes}, %r3;")));
    let times = [two / four, one / four];
    assert!((1.8..2.1).contains(&times[0]) && (3.5..4.1).contains(&times[1]), "{times:?}");
}

/// Four loads of sixteen bytes per step, or zeros where there is nothing to load; `chosen`: each of them behind an `if` of its own that
/// leads to something else.
fn loads(chosen: bool) -> f64 {
    let load = |at: u32| {
        let load = format!(
            "setp.ge.u32 %p2, %r1, %r20; mov.u32 %r4, 0; mov.u32 %r5, %r4; mov.u32 %r6, %r4; mov.u32 %r7, %r4;\n\
             @%p2 bra JOIN{at};\n\
             ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd2+{}];\n\
             JOIN{at}: mov.b64 %rd1{at}, {{%r4, %r5}}; mov.b64 %rd2{at}, {{%r6, %r7}};\n",
            4096 * at
        );
        let load = load.replace("%r4", &format!("%r2{at}")).replace("%r5", &format!("%r3{at}"));
        let load = load.replace("%r6", &format!("%r1{at}")).replace("%r7", &format!("%r{}", 34 + at));
        match chosen {
            true => format!(
                "@%p1 bra ONE{at};\nadd.s64 %rd1{at}, %rd3, %rd4; add.s64 %rd2{at}, %rd3, %rd5; mul.lo.s64 %rd1{at}, %rd1{at}, %rd4;\n\
                 mul.lo.s64 %rd2{at}, %rd2{at}, %rd4; mul.lo.s64 %rd1{at}, %rd1{at}, %rd2{at}; bra.uni END{at};\n\
                 ONE{at}: {load} END{at}:\n"
            ),
            false => load,
        }
    };
    let all: String = (1..5).map(load).collect();
    let body = format!(
        "mul.wide.u32 %rd2, %r1, 16; add.s64 %rd2, %rd1, %rd2; mov.u32 %r20, 1000; setp.lt.u32 %p1, %r1, %r20;\n\
         mov.u64 %rd3, 0; mov.u64 %rd4, 3; mov.u64 %rd5, 5; mov.u32 %r3, 100;\n\
         LOOP:\n{all}\
         xor.b64 %rd6, %rd11, %rd12; xor.b64 %rd6, %rd6, %rd13; xor.b64 %rd6, %rd6, %rd14; add.s64 %rd3, %rd3, %rd6;\n\
         add.s64 %rd2, %rd2, 65536; bar.sync 0; sub.u32 %r3, %r3, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra LOOP;\n\
         st.global.u64 [%rd1], %rd3;"
    );
    predicted(&body, 1)
}

#[test]
fn what_was_loaded_in_one_way_of_two_is_moved_and_so_waited_for() {
    let times = loads(true) / loads(false);
    assert!((2.0..6.0).contains(&times), "{times}");
}

/// Blocks that read and write sixteen words of each thread, with these steps between.
fn through(steps: &str) -> f64 {
    let all = |what: &dyn Fn(u32) -> String| (0..16).map(what).collect::<String>();
    let loads = all(&|at| format!("ld.global.u32 %r{}, [%rd2+{}];\n", 10 + at, 1024 * at));
    let stores = all(&|at| format!("st.global.u32 [%rd3+{}], %r{};\n", 1024 * at, 10 + at));
    let body = format!(
        ".local .align 16 .b8 array[64];\n\
         mul.wide.u32 %rd2, %r2, 16384; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3; add.s64 %rd2, %rd1, %rd2;\n\
         add.s64 %rd3, %rd2, 33554432; mov.u64 %rd4, array;\n{loads}{steps}{stores}"
    );
    predicted(&body, 2048)
}

#[test]
fn local_memory_is_written_through_to_l2() {
    let array: String = (0..16)
        .map(|at| format!("st.local.u32 [%rd4+{}], %r{};\n", 4 * at, 10 + at))
        .chain((0..16).map(|at| format!("ld.local.u32 %r{}, [%rd4+{}];\n", 10 + at, 4 * at)))
        .collect();
    let times = through(&array) / through("");
    assert!((1.1..2.0).contains(&times), "{times}");
}

/// A loop in which all lanes skip so many instructions.
fn skipped(instruction: &str, times: usize) -> f64 {
    let arm: String = (0..times).map(|at| instruction.replace('#', &(10 + at).to_string())).collect();
    predicted(
        &format!(
            "mov.u64 %rd3, 3; mov.u32 %r3, 1000; setp.lt.u32 %p1, %r1, %r3;\n\
             LOOP: @%p1 bra OVER;\n{arm}\nOVER:\n\
             bar.sync 0; sub.u32 %r3, %r3, 1; setp.ne.u32 %p3, %r3, 0; @%p3 bra LOOP;"
        ),
        1,
    )
}

#[test]
fn few_instructions_in_a_loop_are_predicated_and_more_are_jumped_over() {
    // One of 64 bits is two. With a load among them, there may be more.
    let cases =
        [("add.s32 %r#, %r#, %r1;\n", 8), ("add.s64 %rd#, %rd#, %rd3;\n", 4), ("ld.global.u32 %r#, [%rd1];\n", 20)];
    for (instruction, most) in cases {
        let [few, many, jumped] = [most / 2, most, most + 1].map(|times| skipped(instruction, times));
        assert!(many > 1.02 * few && many > 1.02 * jumped, "{instruction} {few} {many} {jumped}");
    }
}

/// A walk over a row, 256 words a step, with what is done with each word; `address` computes where it is from `%rd3`,
/// which counts bytes.
fn walk(address: &str, done: &str) -> f64 {
    let body = format!(
        "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; mov.u32 %r4, 400; mov.u32 %r6, 0; mov.u32 %r7, 0;\n\
         mov.u64 %rd3, 0;\n\
         LOOP:\n{address} ld.global.u32 %r5, [%rd2]; {done}\n\
         add.s64 %rd2, %rd2, 1024; add.s64 %rd3, %rd3, 1024; add.s32 %r4, %r4, -1; setp.ne.s32 %p1, %r4, 0;\n\
         @%p1 bra LOOP;\nst.global.u32 [%rd1], %r6;"
    );
    predicted(&body, 1)
}

/// An `if` that stays a branch, of which no lane enters the arm.
fn branch(name: &str, arm: &str) -> String {
    let sums = "mad.lo.s32 %r6, %r6, %r5, 3;\n".repeat(12);
    format!("setp.le.s32 %p2, %r5, %r7; @%p2 bra {name};\n{sums}{arm}\n{name}: add.s32 %r7, %r7, %r5;")
}

#[test]
fn a_loop_with_one_if_loads_ahead_of_it() {
    let one = walk("", &branch("A", ""));
    // Two stay as they are, and so does one that stores.
    let two = walk("", &(branch("A", "") + &branch("B", "")));
    let stores = walk("", &branch("A", "st.global.u32 [%rd1+4], %r6;"));
    assert!(2.5 * one < two && 2.5 * one < stores, "{one} {two} {stores}");
    // Where an address takes instructions of its own, a load passes one `if` only.
    let address = "xor.b64 %rd4, %rd3, 512; mul.lo.s64 %rd4, %rd4, 1; add.s64 %rd2, %rd1, %rd4;";
    let apart = walk(address, &branch("A", ""));
    assert!(1.2 * one < apart && 1.2 * apart < two, "{one} {apart} {two}");
}
