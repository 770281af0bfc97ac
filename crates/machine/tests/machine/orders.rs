//! Accesses that atomics, flags, fences, barriers of some warps and waits for copies order, or seem to.

use fusion_machine::report::SourcePosition;
use fusion_machine::{Fault, Launch};

use crate::support::{self, config, line_within};

const ORDERS: &str = include_str!("../ptx/orders.ptx");

fn findings(kernel: &str, launch: Launch) -> Vec<Fault> {
    support::races(ORDERS, kernel, launch)
}

#[track_caller]
fn clean(kernel: &str, launch: Launch) {
    let found = findings(kernel, launch);
    assert!(found.is_empty(), "{kernel}: {found:#?}");
}

fn line(kernel: &str, text: &str) -> u32 {
    line_within(include_str!("../ptx/orders.cu"), kernel, text)
}

/// One of the findings has this code, this line and this other line.
#[track_caller]
fn races(kernel: &str, launch: Launch, code: &str, at: &str, other: &str) -> Fault {
    let found = findings(kernel, launch);
    let (at, other) = (line(kernel, at), line(kernel, other));
    let on = |line: u32, source: &[SourcePosition]| source.iter().any(|p| p.file == "orders.cu" && p.line == line);
    let wanted = |f: &&Fault| f.code().as_str() == code && on(at, &f.source) && on(other, &f.related[0].source);
    found.iter().find(wanted).unwrap_or_else(|| panic!("{kernel} {at} {other}: {found:#?}")).clone()
}

#[test]
fn the_last_block_may_read_what_all_have_fenced() {
    clean("last_block", config(40, 64));
    clean("last_block_all", config(40, 64));
    clean("last_block_volatile", config(40, 64));
    let launch = config(40, 64);
    races("last_block_no_producer_fence", launch, "E-RACE-BLOCKS", "// read", "// written");
    races("last_block_no_consumer_fence", launch, "W-RACE-IDIOM", "// read", "// written");
    races("last_block_one_fences", launch, "E-RACE-BLOCKS", "// read", "// written");
}

#[test]
fn work_queues() {
    clean("queue", config(8, 64));
    races("queue_missing", config(8, 64), "E-RACE-SHARED", "// taken", "// looked at");
}

#[test]
fn locks() {
    clean("spin_lock", config(40, 32));
    races("spin_lock_missing", config(40, 32), "E-RACE-BLOCKS", "// unfenced", "// unfenced");
}

#[test]
fn flags() {
    clean("flag", config(2, 64));
    races("flag_missing", config(2, 64), "E-RACE-BLOCKS", "// taken", "// made");
    races("flag_narrow", config(2, 64), "E-RACE-BLOCKS", "// taken", "// made");
    clean("acquire_release", config(2, 64));
    clean("shared_flag", config(1, 64));
    races("shared_flag_missing", config(1, 64), "E-RACE-SHARED", "// taken", "// made");
}

#[test]
fn atomics_race_where_their_scopes_do_not_meet() {
    races("narrow_atomics", config(2, 64), "E-RACE-SCOPE", "atomicAdd_block", "atomicAdd_block");
    clean("narrow_atomics", config(1, 64));
    clean("own_atomics", config(8, 64));
    races("mixed", config(1, 64), "E-RACE-GLOBAL", "// plain", "atomicAdd");
    clean("histogram", config(8, 256));
    races("histogram_missing", config(1, 256), "E-RACE-SHARED", "// summed", "// counted");
}

#[test]
fn grid_barriers() {
    let cooperative = |blocks| Launch { cooperative: true, ..config(blocks, 64) };
    clean("grid_sync", cooperative(20));
    races("grid_sync_missing", cooperative(20), "E-RACE-BLOCKS", "// second", "// first");
}

#[test]
fn barriers_of_some_warps() {
    clean("named", config(1, 128));
    races("named_missing", config(1, 128), "E-RACE-SHARED", "// takes", "// makes");
    clean("half_block", config(1, 128));
    races("half_block_missing", config(1, 128), "E-RACE-SHARED", "// the other half", "s[t] = in[t];");
}

#[test]
fn copies_are_there_once_they_have_been_waited_for() {
    clean("copy_own", config(1, 64));
    clean("copy_shared", config(1, 64));
    clean("copy_pipeline", config(1, 64));
    races("copy_no_wait", config(1, 64), "E-RACE-ASYNC", "// used", "// copied");
    races("copy_no_barrier", config(1, 64), "E-RACE-SHARED", "// used", "// copied");
    let used = line("copy_pipeline_wrong_group", "// used");
    let found = findings("copy_pipeline_wrong_group", config(1, 64));
    assert!(found.iter().any(|f| f.code().as_str() == "E-RACE-ASYNC" && f.source[0].line == used), "{found:#?}");
    let found = findings("copy_pipeline_no_second_barrier", config(1, 64));
    assert!(found.iter().any(|f| f.code().as_str() == "E-RACE-SHARED"), "{found:#?}");
}
