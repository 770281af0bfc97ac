//! Advice on speed: what is said about a slow kernel, at which line, and that a near miss is left alone.

use fusion_diagnostic::say;
use fusion_machine::report::{Class, Code, Name};
use fusion_machine::{Fault, LaunchReport};

use crate::support::{ADVICE, Arg, Device, config};
use Arg::{I32, Pointer};

/// The line of `advice.cu` that holds a text.
fn line(text: &str) -> u32 {
    let source = include_str!("../ptx/advice.cu");
    source.lines().position(|l| l.contains(text)).unwrap() as u32 + 1
}

fn codes(report: &LaunchReport) -> Vec<&str> {
    report.findings.iter().map(|f| f.code()).filter(|code| code.class() == Class::Speed).map(Code::as_str).collect()
}

/// The one piece of advice with that code, which must be about the line.
#[track_caller]
fn advice<'r>(report: &'r LaunchReport, code: &str, at: &str) -> &'r Fault {
    let found: Vec<&Fault> = report.findings.iter().filter(|f| f.code().as_str() == code).collect();
    let [only] = found[..] else { panic!("{} of {code}: {:#?}", found.len(), report.findings) };
    assert_eq!(only.source.first().map(|p| p.line), Some(line(at)), "{only:#?}");
    assert_eq!(only.severity(), fusion_machine::report::Severity::Advice);
    let told = say(only);
    assert!(!told.help.is_empty() && !told.label.is_empty(), "{told:#?}");
    only
}

#[track_caller]
fn says(fault: &Fault, text: &str) {
    let told = say(fault);
    let mut all = [&told.title, &told.label].into_iter().chain(&told.notes).chain(&told.help);
    assert!(all.any(|n| n.contains(text)), "{fault:#?}");
}

#[test]
fn a_column_moves_eight_times_the_bytes() {
    let device = Device::new(ADVICE);
    let (x, out) = (device.floats(&[1.0; 1 << 14]), device.buffer(4 << 14));
    let report = device.launch("column", 64, 256, &[Pointer(x), Pointer(out), I32(128)]);
    let advice = advice(&report, "P-UNCOALESCED", "column by column");
    says(advice, "8 times");
    says(advice, "moves 512 KiB for 64 KiB asked for");
    says(advice, "512 bytes apart");
    assert_eq!(advice.buffer.as_ref().map(|b| b.name.clone()), Some(Name::Argument(0)));
    assert_eq!(advice.count, 1 << 14);
}

#[test]
fn a_gather_is_uncoalesced_and_says_so_without_a_stride() {
    let device = Device::new(ADVICE);
    let index: Vec<i32> = (0..4096).map(|i| (i * 2_654_435_u64 % 4096) as i32).collect();
    let (x, out) = (device.floats(&[1.0; 4096]), device.buffer(4 * 4096));
    let args = [Pointer(x), Pointer(device.ints(&index)), Pointer(out)];
    let report = device.launch("gather", 16, 256, &args);
    let advice = advice(&report, "P-UNCOALESCED", "x[index[i]]");
    assert!(!say(advice).notes.iter().any(|n| n.contains("apart")), "{advice:#?}");
}

#[test]
fn an_offset_and_a_broadcast_are_no_waste_to_speak_of() {
    let device = Device::new(ADVICE);
    let (x, out) = (device.floats(&[1.0; 4097]), device.buffer(4 * 4096));
    for kernel in ["shifted", "broadcast"] {
        let report = device.launch(kernel, 16, 256, &[Pointer(x), Pointer(out)]);
        assert!(!codes(&report).contains(&"P-UNCOALESCED"), "{kernel}: {:#?}", report.findings);
    }
}

fn square(kernel: &str) -> LaunchReport {
    let device = Device::new(ADVICE);
    let (a, out) = (device.floats(&[1.0; 1024]), device.buffer(4096));
    let mut launch = config(1, 1);
    launch.block = [32, 32, 1];
    device.try_launch(kernel, launch, &[Pointer(a), Pointer(out)]).unwrap()
}

#[test]
fn a_column_of_a_tile_is_padded() {
    let report = square("tile_column");
    let advice = advice(&report, "P-BANK-CONFLICT", "// a column");
    says(advice, "32 passes");
    says(advice, "992 clocks");
    says(advice, "pad the row by one");
    assert_eq!(advice.buffer.as_ref().map(|b| b.name.clone()), Some(Name::Variable("tile".into())));
    assert_eq!(codes(&square("tile_padded")), Vec::<&str>::new());
}

#[test]
fn every_second_word_is_a_conflict_of_two() {
    let device = Device::new(ADVICE);
    let (a, out) = (device.floats(&[1.0; 2048]), device.buffer(4096));
    let report = device.launch("pairs", 1, 1024, &[Pointer(a), Pointer(out)]);
    let conflicts: Vec<&Fault> = report.findings.iter().filter(|f| f.code().as_str() == "P-BANK-CONFLICT").collect();
    assert!(!conflicts.is_empty(), "{:#?}", report.findings);
    says(conflicts[0], "2 passes where 1 would do");
    says(conflicts[0], "float2");
    let report = device.launch("words_shared", 1, 256, &[Pointer(a), Pointer(out)]);
    assert_eq!(codes(&report), Vec::<&str>::new());
}

#[test]
fn an_intermediate_that_only_the_next_launch_reads() {
    let device = Device::new(ADVICE);
    let [x, y, tmp, out] = [(); 4].map(|()| device.floats(&[1.0; 4096]));
    let add = || device.launch("add", 16, 256, &[Pointer(x), Pointer(y), Pointer(tmp), I32(4096)]);
    let relu = |n: i32| device.launch("relu", 16, 256, &[Pointer(tmp), Pointer(out), I32(n)]);
    assert!(!codes(&add()).contains(&"P-ROUND-TRIP"));
    let report = relu(4096);
    let advice = advice(&report, "P-ROUND-TRIP", "// and back");
    says(advice, "`add` has written 16 KiB");
    says(advice, "32 KiB and a launch are saved");
    assert_eq!(advice.related[0].source[0].line, line("// out to memory"));
    assert_eq!(advice.buffer.as_ref().map(|b| b.name.clone()), Some(Name::Argument(0)));

    let told = |report: &LaunchReport| codes(report).contains(&"P-ROUND-TRIP");
    // Read in part, by the host in between, by the launch after the next, by the same kernel.
    add();
    assert!(!told(&relu(1024)));
    add();
    device.read_floats(tmp, 16);
    assert!(!told(&relu(4096)));
    add();
    device.launch("partial", 16, 32, &[Pointer(x), Pointer(out)]);
    assert!(!told(&relu(4096)));
    device.launch("relu", 16, 256, &[Pointer(x), Pointer(tmp), I32(4096)]);
    assert!(!told(&relu(4096)));
}

#[test]
fn partial_sums_are_worth_their_way() {
    let device = Device::new(ADVICE);
    let (x, sums, out) = (device.floats(&[1.0; 4096]), device.buffer(4 * 128), device.buffer(4 * 128));
    device.launch("partial", 128, 32, &[Pointer(x), Pointer(sums)]);
    let report = device.launch("relu", 1, 128, &[Pointer(sums), Pointer(out), I32(128)]);
    assert!(!codes(&report).contains(&"P-ROUND-TRIP"), "{:#?}", report.findings);
}

/// A wave of blocks and more, on 132 SMs.
const MANY: i32 = 132 * 2048 * 2;

#[test]
fn one_element_a_thread_leaves_memory_waiting() {
    let device = Device::new(ADVICE);
    let (x, out) = (device.floats(&vec![1.0; MANY as usize]), device.buffer(4 * MANY as u64));
    let args = [Pointer(x), Pointer(out), Arg::F32(2.0), I32(MANY)];
    let report = device.launch("scale", MANY as u32 / 256, 256, &args);
    let advice = advice(&report, "P-SCALAR-ACCESS", "// one element per thread");
    says(advice, "have 8 KiB under way, 4 bytes each");
    says(advice, "float4");
    assert_eq!(advice.related.len(), 1, "{advice:#?}");
    assert_eq!(codes(&report), ["P-SCALAR-ACCESS"]);

    // Vectors, a launch of less than a wave, an address that is no multiple of 16, and enough loads at once.
    let wide = [Pointer(x), Pointer(out), Arg::F32(2.0), I32(MANY / 4)];
    assert!(codes(&device.launch("scale4", MANY as u32 / 1024, 256, &wide)).is_empty());
    assert!(codes(&device.launch("scale", 64, 256, &args)).is_empty());
    let shifted = [Pointer(x + 4), Pointer(out + 4), Arg::F32(2.0), I32(MANY - 1)];
    assert!(codes(&device.launch("scale", MANY as u32 / 256, 256, &shifted)).is_empty());
    let streams = [Pointer(x), Pointer(out), I32(MANY / 8)];
    assert!(codes(&device.launch("eight_streams", MANY as u32 / 8 / 256, 256, &streams)).is_empty());
}

#[test]
fn neighbours_of_one_thread_are_a_vector() {
    let device = Device::new(ADVICE);
    let (x, out) = (device.floats(&[1.0; 4096]), device.buffer(4 * 4096));
    let args = [Pointer(x), Pointer(out), Arg::F32(2.0), I32(4096)];
    let report = device.launch("neighbours", 4, 256, &args);
    let advice = advice(&report, "P-SCALAR-ACCESS", "four loads of one thread");
    says(advice, "loads 4 neighbouring elements");
    says(advice, "`float4`; the addresses are aligned for it");
    assert_eq!(codes(&report), ["P-SCALAR-ACCESS"], "they are not called uncoalesced as well");
}

#[test]
fn an_array_that_is_indexed_at_run_time_is_local_memory() {
    let device = Device::new(ADVICE);
    let (x, out) = (device.ints(&(0..4096).collect::<Vec<_>>()), device.buffer(4096));
    let report = device.launch("histogram", 1, 256, &[Pointer(x), Pointer(out), I32(16)]);
    let advice = advice(&report, "P-LOCAL-MEMORY", "// indexed at run time");
    says(advice, "indexed at run time lies in memory");
    says(advice, "16 KiB read here");
    assert!(!codes(&device.launch("unrolled", 1, 256, &[Pointer(x), Pointer(out)])).contains(&"P-LOCAL-MEMORY"));
}

#[test]
fn every_second_lane_idles() {
    let device = Device::new(ADVICE);
    let out = device.buffer(4 * 1024);
    let args = [Pointer(out), I32(100)];
    let report = device.launch("odd_and_even", 4, 256, &args);
    let advice = advice(&report, "P-DIVERGENT", "// every second thread");
    says(advice, "warps parted here 32 times");
    assert!(!codes(&device.launch("by_warp", 4, 256, &args)).contains(&"P-DIVERGENT"));
    let tail = [Pointer(out), I32(100), I32(42)];
    assert!(!codes(&device.launch("tail", 1, 64, &tail)).contains(&"P-DIVERGENT"));
}

#[test]
fn a_loop_as_long_as_its_lane_says_waits_for_the_last() {
    let device = Device::new(ADVICE);
    let out = device.buffer(4 * 1024);
    let report = device.launch("triangle", 4, 256, &[Pointer(out)]);
    says(advice(&report, "P-DIVERGENT", "// as often as the lane says"), "wait for others");
}

#[test]
fn advice_does_not_depend_on_the_number_of_workers_and_changes_nothing() {
    let launch = |workers: usize, performance: bool| {
        let checks = fusion_machine::Checks { performance, ..fusion_machine::Checks::NONE };
        let device = Device::with(ADVICE, fusion_machine::Options { workers, checks, ..Default::default() });
        let (x, out) = (device.floats(&[1.0; 1 << 14]), device.buffer(4 << 14));
        let report = device.launch("column", 64, 256, &[Pointer(x), Pointer(out), I32(128)]);
        (report.findings, report.counters, device.read_floats(out, 1 << 14))
    };
    let one = launch(1, true);
    assert_eq!(one, launch(4, true));
    let quiet = launch(1, false);
    assert_eq!((quiet.0.len(), &quiet.1, &quiet.2), (0, &one.1, &one.2));
}
