//! The comparison as a table.

use fusion_grader::judgement::Interval;
use fusion_grader::render::{self, Look};

use super::python::Rival;
use super::{Report, Row};

pub(super) fn text(report: &Report, look: Look) -> String {
    let mut text = String::new();
    if let Some(device) = &report.device {
        let versions: Vec<String> = report.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        text += &format!(
            "{}, driver for CUDA {}; {}; measured on {}\n",
            device.name,
            device.driver,
            versions.join(", "),
            report.date
        );
    }
    let speeds = |pick: fn(&Row) -> f64| {
        let all = report.rows.iter().map(pick);
        let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), speed| (low.min(speed), high.max(speed)));
        format!("{low:.0}-{high:.0} GB/s")
    };
    text += &format!(
        "ceiling: a copy within the device, {}; kernels that only move bytes, {}\n\n",
        speeds(|row| row.ceiling_gb_per_s),
        speeds(|row| row.mix_gb_per_s)
    );
    text += &table(report, look);
    let bars = report.rows.iter().flat_map(|row| &row.bars);
    let (met, all) = bars.fold((0, 0), |(met, all), bar| (met + usize::from(bar.met), all + 1));
    text += "\n\nTimes are microseconds, in brackets the share of the ceiling for the bytes that must be moved.";
    if report.rows.iter().any(|row| !row.rounds.is_empty()) {
        text += " Where a ratio has others in brackets behind it, it missed its bar or was near it, and both sides were timed again \
                 in new processes: the middle one counts.";
    }
    text + &format!(" {met} of {all} bars are met.\n")
}

fn table(report: &Report, look: Look) -> String {
    let header =
        ["operation", "shape", "eager", "torch.compile", "best other", "unfused", "solution", "over best", "bars"];
    let mut table = render::blank(header, look);
    for row in &report.rows {
        let of = |name: &str| row.rivals.iter().find(|rival| rival.variant == name);
        let others = row.rivals.iter().filter(|rival| !["eager", "torch.compile"].contains(&rival.variant.as_str()));
        let other = others
            .filter_map(|rival| Some((rival, rival.time_ns?)))
            .min_by(|a, b| a.1.median.total_cmp(&b.1.median))
            .map(|(rival, time)| format!("{} {}", rival.variant, with_share(row, time)));
        let ratios: Vec<String> = row.ratios().iter().map(|ratio| format!("{ratio:.3}")).collect();
        let rounds = if row.rounds.is_empty() { String::new() } else { format!(" ({})", ratios.join(", ")) };
        let over = row.over_best().map(|middle| format!("{middle:.3}{rounds}"));
        let bars: Vec<String> = row
            .bars
            .iter()
            .map(|bar| {
                let mark = if bar.met { "met" } else { "MISSED" };
                format!("{mark}: {} {:.3}, bar {:.2}", bar.what, bar.value, bar.limit)
            })
            .collect();
        table.add_row([
            row.exercise.clone(),
            row.shape.clone(),
            theirs(row, of("eager")),
            theirs(row, of("torch.compile")),
            other.unwrap_or_else(|| "-".to_owned()),
            row.unfused_ns.map_or_else(|| "-".to_owned(), us),
            row.solution_ns.map_or_else(|| "-".to_owned(), |time| with_share(row, time)),
            over.unwrap_or_else(|| "-".to_owned()),
            bars.join("; "),
        ]);
    }
    table.trim_fmt()
}

fn theirs(row: &Row, rival: Option<&Rival>) -> String {
    match rival {
        Some(Rival { time_ns: Some(time), .. }) => with_share(row, *time),
        Some(Rival { wrong: Some(_), .. }) => "wrong".to_owned(),
        Some(_) => "failed".to_owned(),
        None => "-".to_owned(),
    }
}

fn with_share(row: &Row, time: Interval) -> String {
    format!("{} ({:.0}%)", us(time), 100.0 * row.share(time.median))
}

fn us(time: Interval) -> String {
    format!("{:.1}", time.median / 1e3)
}
