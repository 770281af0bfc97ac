//! Races: what nothing orders is found, with both parties; what is ordered is left alone.

use fusion_diagnostic::say;
use fusion_machine::report::Code;
use fusion_machine::{Checks, Fault, Launch, Options};

use crate::support::{self, Arg, Device, config, line_within};
use Arg::Pointer;

const RACES: &str = include_str!("../ptx/races.ptx");

/// A device that looks for races and for nothing else.
fn device() -> Device {
    let checks = Checks { races: true, ..Checks::NONE };
    Device::with(RACES, Options { checks, ..Options::default() })
}

fn findings(kernel: &str, launch: Launch) -> Vec<Fault> {
    support::races(RACES, kernel, launch)
}

#[track_caller]
fn clean(kernel: &str, launch: Launch) {
    let found = findings(kernel, launch);
    assert!(found.is_empty(), "{kernel}: {found:#?}");
}

fn line(kernel: &str, text: &str) -> u32 {
    line_within(include_str!("../ptx/races.cu"), kernel, text)
}

/// The first finding has this code, this line and this other line.
#[track_caller]
fn races(kernel: &str, launch: Launch, code: &str, at: &str, other: &str) -> Fault {
    let mut found = findings(kernel, launch);
    assert!(!found.is_empty(), "{kernel} is found to be clean");
    let fault = found.remove(0);
    assert_eq!(fault.code().as_str(), code, "{fault:#?}");
    assert_eq!(fault.source[0].line, line(kernel, at), "{fault:#?}");
    assert_eq!(fault.related[0].source[0].line, line(kernel, other), "{fault:#?}");
    assert!(fault.block.is_some() && fault.thread.is_some() && fault.related[0].thread.is_some());
    fault
}

fn square(x: u32, y: u32) -> Launch {
    Launch { grid: [1; 3], block: [x, y, 1], dynamic_shared: 0, cooperative: false, cluster: None }
}

#[test]
fn a_missing_barrier_is_found_in_shared_memory() {
    let fault = races("shared_missing", config(1, 256), "E-RACE-SHARED", "// reads", "tile[t] =");
    let told = say(&fault);
    assert_eq!(told.title, "thread 0 reads what thread 32 writes, and nothing orders the two");
    assert_eq!(told.label, "thread 0 of block 0 reads `tile[32]` here");
    assert_eq!(told.related[0].label, "thread 32 of block 0 writes it here");
    assert_eq!(fault.count, 256);
    clean("shared_clean", config(1, 256));
}

#[test]
fn what_a_missing_barrier_brings_about_is_no_finding_of_its_own() {
    let stripped: String = RACES
        .lines()
        .filter(|line| !line.trim_start().starts_with(".loc"))
        .fold(String::new(), |text, line| text + line + "\n");
    for ptx in [RACES, &stripped] {
        let checks = Checks { races: true, init: true, ..Checks::NONE };
        let device = Device::with(ptx, Options { checks, ..Options::default() });
        let report = device.launch("shared_missing", 1, 256, &[Pointer(device.floats(&[1.0; 256]))]);
        let codes: Vec<&str> = report.findings.iter().map(|fault| fault.code().as_str()).collect();
        assert_eq!(codes, ["E-RACE-SHARED"]);
    }
}

#[test]
fn a_loop_needs_a_barrier_at_its_end_too() {
    races("loop_missing", config(1, 256), "E-RACE-SHARED", "// overwrites", "sum += ");
    clean("loop_clean", config(1, 256));
}

#[test]
fn lanes_of_a_warp_are_threads_too() {
    races("warp_missing", config(1, 32), "E-RACE-SHARED", "// same warp", "tile[t] =");
    clean("warp_clean", config(1, 32));
    clean("half_clean", config(1, 32));
    assert_eq!(findings("half_missing", config(1, 32))[0].code().as_str(), "E-RACE-SHARED");
}

#[test]
fn reductions_and_transposes() {
    races("reduce_missing", config(2, 256), "E-RACE-SHARED", "// no barrier", "// no barrier");
    clean("reduce_clean", config(8, 256));
    races("transpose_missing", square(32, 8), "E-RACE-SHARED", "// column", "tile[i][x] =");
    clean("transpose_clean", square(32, 8));
}

#[test]
fn global_memory_within_a_block() {
    races("global_missing", config(1, 256), "E-RACE-GLOBAL", "// neighbour", "x[t] = t");
    clean("global_clean", config(1, 256));
}

#[test]
fn nothing_orders_blocks() {
    races("blocks_missing", config(4, 256), "E-RACE-BLOCKS", "// another", "x[i] = i");
    clean("neighbours_clean", config(100, 32));
    clean("weights_clean", config(64, 128));
}

#[test]
fn everyone_writes_the_same_place() {
    races("last_one_wins", config(1, 64), "E-RACE-GLOBAL", "*out =", "*out =");
    races("sum_missing", config(1, 64), "E-RACE-GLOBAL", "// lost", "// lost");
    clean("sum_clean", config(4, 64));
}

#[test]
fn writes_of_the_same_value_are_told_apart() {
    let (flag, x) = ([0; 1].to_vec(), (0..256).map(|i| i % 3 - 1).collect::<Vec<i32>>());
    // The second is large enough for several workers.
    for blocks in [1, 2, 1024] {
        let device = device();
        let x: Vec<i32> = x.iter().copied().cycle().take(256 * blocks as usize).collect();
        let args = [Pointer(device.ints(&flag)), Pointer(device.ints(&x))];
        let report = device.launch("benign", blocks, 256, &args);
        let codes: Vec<&str> = report.findings.iter().map(|f| f.code().as_str()).collect();
        assert_eq!(codes, ["W-RACE-BENIGN"], "{:#?}", report.findings);
        assert_eq!(report.findings[0].severity(), fusion_machine::Severity::Warning);
        assert_eq!(report.findings[0].source[0].line, line("benign", "// the same value"));
    }
}

#[test]
fn of_accesses_that_overlap_only_what_both_write_counts() {
    // Thread t writes x[129 + t] = 129 + t, more by one from x[132] on if told to, and then x[i] = i for four i from 4t.
    let codes = |off_by_one: i32| {
        let ptx = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x) {{\n\
             .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>;\n\
             mov.u32 %r0, %tid.x; ld.param.u64 %d0, [x];\n\
             add.u32 %r1, %r0, 129; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d0;\n\
             setp.ge.u32 %p0, %r1, 132; @%p0 add.u32 %r1, %r1, {off_by_one}; st.global.u32 [%d1], %r1;\n\
             shl.b32 %r1, %r0, 2; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d0;\n\
             add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; add.u32 %r4, %r1, 3;\n\
             st.global.v4.u32 [%d1], {{%r1, %r2, %r3, %r4}};\nret;\n}}\n"
        );
        let checks = Checks { races: true, ..Checks::NONE };
        let device = Device::with(&ptx, Options { checks, ..Options::default() });
        let report = device.launch("k", 1, 64, &[Pointer(device.buffer(1 << 12))]);
        report.findings.iter().map(Fault::code).collect::<Vec<_>>()
    };
    assert!(!codes(0).is_empty() && codes(0).iter().all(|code| *code == Code::RaceBenign), "{:?}", codes(0));
    // Whether the first of the threads changes nothing says nothing about the others.
    assert!(codes(1).contains(&Code::RaceGlobal), "{:?}", codes(1));
}

#[test]
fn reports_do_not_depend_on_chance() {
    for (kernel, launch) in [("blocks_missing", config(4, 256)), ("loop_missing", config(1, 256))] {
        let first = findings(kernel, launch);
        for _ in 0..5 {
            assert_eq!(findings(kernel, launch), first);
        }
    }
}

#[test]
fn every_race_says_what_to_do() {
    let says = |kernel: &str, launch: Launch, text: &str| {
        let found = findings(kernel, launch);
        assert!(say(&found[0]).help.iter().any(|h| h.contains(text)), "{kernel}: {found:#?}");
    };
    says("shared_missing", config(1, 256), "`__syncthreads()` between the write and the read");
    says("loop_missing", config(1, 256), "at the end of the loop's body");
    says("warp_missing", config(1, 32), "`__syncwarp()`");
    says("blocks_missing", config(4, 256), "two launches");
    says("sum_missing", config(1, 64), "atomic");
    says("last_one_wins", config(1, 64), "an element of its own");
}

#[test]
fn barriers_that_do_not_match() {
    let device = Device::with(RACES, Options { checks: Checks::NONE, ..Options::default() });
    let out = Pointer(device.buffer(1 << 12));
    let report = device.launch("two_barriers", 1, 64, &[out]);
    let [fault] = report.findings.as_slice() else { panic!("{report:#?}") };
    assert_eq!((fault.code().as_str(), fault.thread), ("E-BARRIER-MISMATCH", Some([32, 0, 0])));
    assert_eq!(fault.source[0].line, line("two_barriers", "// the other"));
    assert_eq!(fault.related[0].source[0].line, line("two_barriers", "// one"));
    assert!(device.launch("exited_clean", 1, 64, &[out]).findings.is_empty());
}

#[test]
fn who_waits_where() {
    let device = Device::with(RACES, Options { checks: Checks::NONE, ..Options::default() });
    let out = Pointer(device.buffer(1 << 12));
    let fault = device.fault("warp_before_barrier", 1, 32, &[out]);
    assert_eq!(fault.code().as_str(), "E-SYNC-MASK", "{fault:#?}");
    assert_eq!(fault.source[0].line, line("warp_before_barrier", "// half of the warp"));
    assert_eq!(fault.related[0].source[0].line, line("warp_before_barrier", "// the other half"));
    let fault = device.fault("whole_warps_missing", 1, 96, &[out]);
    assert_eq!(fault.code().as_str(), "E-DEADLOCK", "{fault:#?}");
    assert_eq!(fault.source[0].line, line("whole_warps_missing", "// two warps of three"));
    assert_eq!(fault.related.len(), 1, "{fault:#?}");
    let told = say(&fault).notes.join("\n");
    assert!(told.contains("64 of the 96") && told.contains("32 threads of the block have exited"), "{told}");
}
