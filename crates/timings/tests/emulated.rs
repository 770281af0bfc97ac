//! Every kernel of the suite on the emulated device, at its smallest size: it stays within its buffers, reads what was written, and
//! none of its threads is in another's way.

#![allow(clippy::unwrap_used)]

use fusion_device::Choice;
use fusion_machine::report::{Class, Severity};
use fusion_timings::{Cache, Stopwatch, cases};

#[test]
fn every_kernel_is_sound() {
    let mut stopwatch = Stopwatch::open(Choice::Emulated).unwrap();
    let mut wrong = Vec::new();
    for mut case in cases().unwrap() {
        let mut smallest: Vec<fusion_timings::Point> = Vec::new();
        for point in case.points.drain(..).filter(|point| point.cache == Cache::Cold) {
            let work = |point: &fusion_timings::Point| {
                let buffers = point.launch.bytes();
                buffers.saturating_mul(u64::from(point.launch.block.0))
            };
            match smallest.iter_mut().find(|known| known.launch.kernel == point.launch.kernel) {
                Some(known) if work(known) > work(&point) => *known = point,
                Some(_) => {}
                None => smallest.push(point),
            }
        }
        case.points = smallest;
        let timed = stopwatch.time(&case, |record| {
            if let Err(why) = record {
                wrong.push(format!("{}: {why}", case.name));
            }
        });
        if let Err(failure) = timed {
            wrong.push(format!("{}: {failure}", case.name));
            continue;
        }
        let report = stopwatch.device().emulator().unwrap().take_report().unwrap();
        let findings = report.launches.iter().flat_map(|launch| &launch.findings).chain(&report.faults);
        let meant = |class| case.races && class == Class::Race;
        let errors = findings.filter(|it| it.severity() == Severity::Error && !meant(it.code().class()));
        wrong.extend(errors.map(|fault| format!("{}: {} {:?}", case.name, fault.code().as_str(), fault.source)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
