//! The counters as a table.

use fusion_grader::render::{self, Look};

use super::{Counters, Report, Variant};

const LEGEND: &str = "\
Measured by Nsight Compute: each launch alone, with empty caches before it, clocks as they are
in real use. Times are the kernels' own, without what a launch costs. What is read and written is
DRAM's: bytes that a kernel leaves in the L2 are not written while it runs.
";

pub(super) fn text(report: &Report, look: Look) -> String {
    let Report { exercise, shape, device, variants } = report;
    let header = ["", "kernel", "us", "read, MB", "written, MB", "L2 hits", "occupancy", "registers"];
    let mut table = render::blank(header, look);
    for variant in variants {
        for (index, launch) in variant.launches.iter().enumerate() {
            table.add_row(row(if index == 0 { &variant.name } else { "" }, launch));
        }
        if variant.launches.len() > 1 {
            table.add_row(row("", &all(variant)));
        }
    }
    format!("{exercise} at {shape}, on {}\n\n{}\n\n{LEGEND}", device.name, table.trim_fmt())
}

/// What adds up over the launches of a chain.
fn all(variant: &Variant) -> Counters {
    let sum = |of: fn(&Counters) -> Option<f64>| variant.launches.iter().map(of).sum::<Option<f64>>();
    Counters {
        kernel: format!("all {}", variant.launches.len()),
        ns: sum(|it| it.ns),
        dram_read: sum(|it| it.dram_read),
        dram_written: sum(|it| it.dram_written),
        ..Counters::default()
    }
}

fn row(name: &str, counters: &Counters) -> [String; 8] {
    let Counters { kernel, ns, dram_read, dram_written, l2_hit_percent, occupancy_percent, registers } = counters;
    let told = |value: &Option<f64>, unit: f64, digits: usize, behind: &str| {
        value.map_or_else(String::new, |value| format!("{:.digits$}{behind}", value / unit))
    };
    [
        name.to_owned(),
        kernel.clone(),
        told(ns, 1e3, 1, ""),
        told(dram_read, 1e6, 1, ""),
        told(dram_written, 1e6, 1, ""),
        told(l2_hit_percent, 1.0, 0, "%"),
        told(occupancy_percent, 1.0, 0, "%"),
        told(registers, 1.0, 0, ""),
    ]
}
