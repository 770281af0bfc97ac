//! What came of a file, as text.

use std::path::Path;

use fusion_diagnostic::counted;
use fusion_grader::judgement::{Basis, Timing};
use fusion_grader::play::{NOT_WRITTEN, Played, Ran, Shown};
use fusion_grader::render::{self, Look};
use fusion_grader::takes::Takes;

use super::super::microseconds;
use super::Report;
use crate::command::program;
use crate::plain;

pub(super) fn text(report: &Report, look: Look) -> String {
    let Report { file, device, played, printed, .. } = report;
    let mut parts = Vec::new();
    if let Some(template) = &played.template {
        parts.push(format!("{file} does not say what to launch. Paste this at its top, change what you like, and play it again:\n\n{template}"));
    }
    if !played.mistakes.is_empty() {
        parts.push(render::findings(&played.mistakes, &played.lines, look));
    }
    if !printed.is_empty() {
        parts.push(printout(printed));
    }
    if !played.buffers.is_empty() {
        let mut lines: Vec<String> = played.buffers.iter().map(buffer).collect();
        let has_holes = played.buffers.iter().any(|shown| shown.elements.iter().any(|element| element == NOT_WRITTEN));
        lines.extend(has_holes.then(not_written));
        parts.push(lines.join("\n"));
    }
    if !played.findings.is_empty() {
        parts.push(render::findings(&played.findings, &played.lines, look));
    }
    parts.extend(played.failure.as_ref().map(|failure| render::failure(failure, &played.lines, look)));
    if played.has_run() && !played.launches.is_empty() {
        parts.push(format!("{}\n{}", device.name, played.launches.iter().map(launch).collect::<Vec<_>>().join("\n")));
    }
    // The time of a wrong kernel says nothing.
    if let Some(timing) = played.timing.as_ref().filter(|_| played.is_clean()) {
        parts.extend([time(played, timing), next(report)]);
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    parts.join("\n\n") + "\n"
}

/// What the kernels printed, as far as it is shown.
pub(super) fn printout(printed: &[String]) -> String {
    let mut printout = plain::Printout::default();
    let shown: Vec<&String> = printed.iter().filter(|_| printout.shows()).collect();
    let cut: Vec<Option<String>> = shown.iter().map(|line| plain::cut(line)).collect();
    let mut lines: Vec<&str> = shown.iter().zip(&cut).map(|(line, cut)| cut.as_deref().unwrap_or(line)).collect();
    if cut.iter().any(Option::is_some) {
        lines.push(plain::LINE_ENDS);
    }
    let left_out = printout.left_out();
    lines.extend(left_out.as_deref());
    lines.join("\n")
}

/// `y = 0, 3, 6, ... (f32[1000])`
fn buffer(shown: &Shown) -> String {
    let Shown { name, element, count, elements } = shown;
    let more = if elements.len() < *count { ", ..." } else { "" };
    format!("{name} = {}{more}  ({element}[{count}])", elements.join(", "))
}

/// What the mark of an element means that was never written.
fn not_written() -> String {
    format!("`{NOT_WRITTEN}`: this element was never written, and on a GPU anything may be there.")
}

fn launch(ran: &Ran) -> String {
    let Ran { kernel, grid, block, takes, counters } = ran;
    let dimensions = |[x, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => format!("{x}"),
        (_, 1) => format!("{x}x{y}"),
        _ => format!("{x}x{y}x{z}"),
    };
    let (blocks, threads) = (dimensions(*grid), dimensions(*block));
    let mut text = format!("{kernel}<<<{blocks}, {threads}>>>\n");
    if let Some(counters) = counters {
        let (read, written) = (counters.dram_read_bytes, counters.dram_write_bytes);
        let instructions = counted(counters.warp_instructions, "warp instruction");
        text += &format!("  memory     must read {} and write {}; {instructions}\n", bytes(read), bytes(written));
    }
    text + &resources(takes)
}

fn resources(takes: &Takes) -> String {
    let Takes { registers, local_bytes, shared_bytes, warps, most_warps, limited_by } = takes;
    let mut of_thread = vec![counted(u64::from(*registers), "register")];
    if *local_bytes > 0 {
        of_thread.push(format!("{} of local memory", bytes(u64::from(*local_bytes))));
    }
    let shared = match shared_bytes {
        0 => "no shared memory".to_owned(),
        some => format!("{} of shared memory per block", bytes(u64::from(*some))),
    };
    let share = 100.0 * f64::from(*warps) / f64::from((*most_warps).max(1));
    let limits = match (warps, limited_by.is_empty()) {
        (0, _) => "; not one block fits".to_owned(),
        (_, true) => String::new(),
        _ => format!("; limited by {}", limited_by.join(", ")),
    };
    format!(
        "  resources  {} per thread, {shared}\n  occupancy  {share:.0}%: {warps} of {most_warps} warps fit on a multiprocessor{limits}",
        of_thread.join(" and ")
    )
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_000 => counted(bytes, "byte"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn time(played: &Played, timing: &Timing) -> String {
    let figures = timing.figures();
    let (low, high) = figures.range_ns;
    let (time, low, high) = (microseconds(figures.time_ns), microseconds(low), microseconds(high));
    let all = match played.launches.len() {
        1 => String::new(),
        many => format!(" for {many} launches"),
    };
    let mut text = match figures.basis {
        Basis::Predicted => format!("time: {time} us{all}, PREDICTED; a GPU takes between {low} and {high} us"),
        Basis::Measured => format!("time: {time} us{all}, measured with a cold cache (between {low} and {high} us)"),
    };
    if let Some(bound) = &played.bound {
        text += &format!("\nbound by {bound}");
    }
    text
}

/// What to do with it next.
fn next(report: &Report) -> String {
    let name = Path::new(&report.file).display();
    if report.played.predicted.is_none() {
        return format!("A GPU looks for no mistakes: {} play {name} --device emulated does.", program());
    }
    match report.played.buffers.is_empty() {
        true => "To see what is in a buffer, add `, print 8` to its line.".to_owned(),
        false => format!("A picture of it: {} play {name} --svg picture.svg", program()),
    }
}
