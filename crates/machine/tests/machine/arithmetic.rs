//! The arithmetic lints: what they find, and what they leave alone.

use fusion_diagnostic::say;
use fusion_machine::report::Class;
use fusion_machine::{Checks, Fault, LaunchReport, Options};

use crate::support::{ARITHMETIC, Arg, Device, config};
use Arg::{I32, Pointer};

fn line(text: &str) -> u32 {
    let source = include_str!("../ptx/arithmetic.cu");
    source.lines().position(|l| l.contains(text)).unwrap() as u32 + 1
}

fn device() -> Device {
    let checks = Checks { arithmetic: true, performance: false, ..Checks::default() };
    Device::with(ARITHMETIC, Options { checks, ..Options::default() })
}

fn lints(findings: &[Fault]) -> Vec<(&str, u32, u64)> {
    let lints = findings.iter().filter(|f| f.code().class() == Class::Arithmetic);
    lints.map(|f| (f.code().as_str(), f.source.first().map_or(0, |p| p.line), f.count)).collect()
}

#[track_caller]
fn says(fault: &Fault, text: &str) {
    let told = say(fault);
    let mut all = [&told.title, &told.label].into_iter().chain(&told.notes).chain(&told.help);
    assert!(all.any(|n| n.contains(text)), "{fault:#?}");
}

#[track_caller]
fn clean(report: &LaunchReport) {
    assert_eq!(lints(&report.findings), [], "{:#?}", report.findings);
}

#[test]
fn a_product_past_32_bits_is_found_before_any_access() {
    let device = device();
    let out = device.buffer(1024);
    let args = [Pointer(out), I32(65536), I32(65536), I32(256)];
    let report = device.launch("rows_and_columns", 1, 32, &args);
    assert_eq!(lints(&report.findings), [("L-INDEX-OVERFLOW", line("a product past 2^31"), 32)]);
    let lint = &report.findings[0];
    says(lint, "65536 * 65536 + 0 is 4294967296");
    says(lint, "(long long)a * b");
    assert_eq!(lint.related[0].source[0].line, line("if (at >= 0 && at < size) out[at] = 1;"));
    assert_eq!(lint.severity(), fusion_machine::report::Severity::Warning);
    let report = device.launch("wide_rows", 1, 32, &args);
    clean(&report);
    clean(&device.launch("rows_and_columns", 1, 32, &[Pointer(out), I32(4), I32(32), I32(256)]));
}

#[test]
fn a_grid_past_2_to_the_31_overflows_in_its_last_blocks() {
    let device = device();
    let out = device.buffer(1024);
    let report = device.launch("grid_index", 5, 32, &[Pointer(out), I32(1 << 29), I32(256)]);
    assert_eq!(lints(&report.findings), [("L-INDEX-OVERFLOW", line("// overflows"), 32)]);
    assert_eq!(report.findings[0].block, Some([4, 0, 0]));
    clean(&device.launch("grid_index", 4, 32, &[Pointer(out), I32(1 << 29), I32(256)]));
}

#[test]
fn an_unsigned_index_wraps_at_2_to_the_32_only() {
    let device = device();
    let out = device.buffer(1024);
    let launch = |row: u32| {
        let args = [Pointer(out), I32(row as i32), I32(1 << 16), I32(256)];
        device.launch("unsigned_rows", 1, 32, &args)
    };
    assert_eq!(lints(&launch(1 << 16).findings), [("L-INDEX-OVERFLOW", line("a product past 2^32"), 32)]);
    clean(&launch((1 << 16) - 1));
}

#[test]
fn an_overflow_explains_the_fault_that_follows() {
    let device = device();
    let out = device.buffer(1024);
    let fault = device.fault("faulting", 1, 32, &[Pointer(out), I32(40_000), I32(60_000)]);
    assert_eq!(lints(&fault.earlier), [("L-INDEX-OVERFLOW", line("lands before the buffer"), 32)]);
}

#[test]
fn negative_indices_and_hashes_are_meant() {
    let device = device();
    let (x, out) = (device.floats(&[1.0; 64]), device.buffer(256));
    clean(&device.launch("negative", 1, 32, &[Pointer(x), Pointer(out), I32(3)]));
    clean(&device.launch("before", 1, 32, &[Pointer(x), Pointer(out), I32(32)]));
    clean(&device.launch("hashed", 1, 32, &[Pointer(out), I32(64)]));
}

#[test]
fn shifts_end_below_the_width() {
    let device = device();
    let by: Vec<i32> = (0..64).collect();
    let (by, out) = (device.ints(&by), device.buffer(512));
    let report = device.launch("shifts", 1, 64, &[Pointer(by), Pointer(out)]);
    assert_eq!(lints(&report.findings), [("L-SHIFT", line("may be 32"), 32)]);
    says(&report.findings[0], "shifts by 32");
    assert_eq!(report.findings[0].thread, Some([32, 0, 0]));
    clean(&device.launch("wide_shifts", 1, 64, &[Pointer(by), Pointer(out)]));
    clean(&device.launch("guarded_shifts", 1, 64, &[Pointer(by), Pointer(out)]));
}

#[test]
fn conversions_must_fit() {
    let device = device();
    let mut values = vec![-2147483648.0, 2147483520.0, -0.5, 2147483648.0, f32::NAN, f32::NEG_INFINITY, 1e10];
    values.resize(32, 1.0);
    let (x, out) = (device.floats(&values), device.buffer(128));
    let report = device.launch("to_int", 1, 32, &[Pointer(x), Pointer(out)]);
    assert_eq!(lints(&report.findings), [("L-FLOAT-TO-INT", line("may not fit"), 4)]);
    says(&report.findings[0], "the value is 2147483648");
    clean(&device.launch("to_int_clamped", 1, 32, &[Pointer(x), Pointer(out)]));
}

#[test]
fn divisors_are_not_zero() {
    let device = device();
    let (by, out) = (device.ints(&(0..64).map(|i| i % 4).collect::<Vec<_>>()), device.buffer(256));
    let report = device.launch("divides", 1, 32, &[Pointer(by), Pointer(out)]);
    assert_eq!(lints(&report.findings), [("L-DIVIDE-BY-ZERO", line("1000 / by[t];"), 8)]);
    clean(&device.launch("guarded_division", 1, 32, &[Pointer(by), Pointer(out)]));
    let zeros = device.ints(&[0; 64]);
    let report = device.launch("remainders", 1, 32, &[Pointer(zeros), Pointer(out)]);
    assert_eq!(lints(&report.findings), [("L-DIVIDE-BY-ZERO", line("1000000007ull % by[t];"), 32)]);
}

#[test]
fn lints_are_quiet_unless_asked_and_change_nothing() {
    let device = device();
    let by: Vec<i32> = (0..64).collect();
    let (by, out) = (device.ints(&by), device.buffer(256));
    let mut results = Vec::new();
    for arithmetic in [true, false, true] {
        device.machine.set_checks(Checks { arithmetic, ..device.machine.checks() });
        let report = device.try_launch("shifts", config(1, 64), &[Pointer(by), Pointer(out)]).unwrap();
        assert_eq!(lints(&report.findings).len(), usize::from(arithmetic));
        results.push((device.read_ints(out, 64), report.counters));
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}
