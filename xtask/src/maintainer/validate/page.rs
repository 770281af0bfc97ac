//! What the book shows of predictions and measurements: a picture of all points, how far off they are, and the worst.

use std::collections::BTreeMap;
use std::path::Path;

use fusion_chart::{Basis, Heading, Quantity, ScatterChart, Series};
use fusion_diagnostic::short_of_bound;
use fusion_grader::render;
use fusion_timings::{Compared, Role};

use super::by_role;
use crate::output;

/// Kernels in the list of the worst.
const WORST: usize = 10;

/// How far off the picture's dashed lines are.
const BAND: f64 = 0.25;

/// Writes the files into a folder.
pub(super) fn write(points: &[Compared], held_out: bool, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("predicted-measured.svg"), picture(points))?;
    std::fs::write(folder.join("predicted-errors.txt"), by_role(points))?;
    std::fs::write(folder.join("predicted-worst.txt"), worst(points, held_out))
}

fn picture(points: &[Compared]) -> String {
    let series = |name: &str, wanted: fn(Role) -> bool| Series {
        name: name.to_owned(),
        points: (points.iter().filter(|point| wanted(point.role)))
            .map(|point| (point.record.ns / 1e9, point.predicted_ns / 1e9))
            .collect(),
    };
    let chart = ScatterChart {
        heading: Heading {
            title: "Times of kernels: predicted over measured".to_owned(),
            basis: Basis::Predicted,
            source: "measured on one NVIDIA H200, predicted by `cargo xtask validate`".to_owned(),
        },
        x: Quantity::seconds("measured"),
        y: Quantity::seconds("predicted"),
        series: vec![
            series("nothing fitted to it", |role| role == Role::HeldOut),
            series("looked at, or calibrated by", |role| role != Role::HeldOut),
        ],
        band: BAND,
    };
    chart.render() + "\n"
}

/// Of each of the kernels that are furthest off the point that is: of those that may be looked at.
fn worst(points: &[Compared], held_out: bool) -> String {
    let mut kernels: BTreeMap<(&str, &str), &Compared> = BTreeMap::new();
    let last = if held_out { Role::HeldOut } else { Role::Fitted };
    let wanted = [Role::Fitted, Role::ByOthers, last];
    for point in points.iter().filter(|point| wanted.contains(&point.role)) {
        let known = kernels.entry((&point.record.case, &point.record.kernel)).or_insert(point);
        if off(point) > off(known) {
            *known = point;
        }
    }
    let mut worst: Vec<&Compared> = kernels.into_values().collect();
    worst.sort_by(|one, other| off(other).total_cmp(&off(one)));
    let header = ["kernel", "at", "L2", "measured us", "predicted us", "off", "bound, as predicted"];
    let mut table = render::blank(header, output::look());
    for point in worst.into_iter().take(WORST) {
        let record = &point.record;
        table.add_row([
            format!("{} {}", record.case, record.kernel),
            record.at.clone(),
            record.cache.to_string(),
            format!("{:.1}", record.ns / 1e3),
            format!("{:.1}", point.predicted_ns / 1e3),
            format!("{:+.0}%", 100.0 * point.error()),
            point.bound.map_or("-", short_of_bound).to_owned(),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

/// As a factor: half is as far off as twice.
fn off(point: &Compared) -> f64 {
    (point.predicted_ns / point.record.ns).ln().abs()
}

#[cfg(test)]
mod tests {
    use fusion_machine::report::account::{Bound, Cause};
    use fusion_timings::{Cache, Record};

    use super::*;

    fn point(kernel: &str, ns: f64, predicted_ns: f64, role: Role) -> Compared {
        let (case, at) = ("rows".to_owned(), "n=1".to_owned());
        let record = Record { case, kernel: kernel.to_owned(), at, cache: Cache::Cold, ns, low: ns, high: ns };
        Compared { record, predicted_ns, role, bound: Some(Bound::Warps(Cause::Memory, 0.5)) }
    }

    #[test]
    fn the_worst_are_kernels_that_may_be_looked_at() {
        let points = [
            point("near", 1e3, 1.1e3, Role::Fitted),
            point("far", 1e3, 1.2e3, Role::Fitted),
            point("far", 1e3, 0.5e3, Role::Fitted),
            point("secret", 1e3, 9e3, Role::HeldOut),
        ];
        let text = worst(&points, false);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("rows far") && lines[0].contains("-50%"), "{text}");
        assert!(lines[0].contains("waiting for memory"), "{text}");
        assert!(worst(&points, true).contains("secret"));
        assert!(picture(&points).contains("nothing fitted to it: 0 of 1 points within 25%"));
    }
}
