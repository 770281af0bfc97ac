//! A report as text: details of failures, then one table.
//!
//! Nothing here prints. The caller knows whether it writes to a terminal and says so in [`Look`].

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};

use crate::judgement::{DeviceInfo, Failure, Fast, Judgement, Lean, Report, Right, Verdict};

/// How the text may look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// ANSI colours and drawn table borders; plain ASCII otherwise.
    pub terminal: bool,
    pub color: bool,
    /// Columns to wrap the table to, where known.
    pub width: Option<u16>,
}

/// Failures and notes of all exercises, each under its name, and the table.
pub fn report(report: &Report, look: Look) -> String {
    let mut text = String::new();
    for judgement in &report.exercises {
        text += &details(judgement, look);
    }
    if !report.exercises.is_empty() {
        text += &devices(report);
        text += &table(&report.exercises, look);
        text.push('\n');
    }
    text
}

/// What is to be said about one exercise beyond its row: nothing when it passed.
pub fn details(judgement: &Judgement, look: Look) -> String {
    let mut text = String::new();
    let mut parts: Vec<String> = [&judgement.right.failure, &judgement.lean.failure, &judgement.fast.failure]
        .into_iter()
        .flatten()
        .map(|found| failure(found, look))
        .collect();
    let notes = [
        ("right", judgement.right.verdict, &judgement.right.note),
        ("lean", judgement.lean.verdict, &judgement.lean.note),
        ("fast", judgement.fast.verdict, &judgement.fast.note),
    ];
    // The first note says why; those after it only that they come after. A failure needs none.
    let first = notes.into_iter().find_map(|(part, verdict, note)| Some((part, verdict, note.as_ref()?)));
    if let (Some((part, verdict, note)), None) = (first, judgement.failure()) {
        parts.push(format!("{part} {verdict}: {note}"));
    }
    if !parts.is_empty() {
        text += &format!("{}\n{}\n\n", title(judgement), parts.join("\n\n"));
    }
    text
}

fn title(judgement: &Judgement) -> String {
    match &judgement.wrong {
        Some(wrong) => format!("day {}, {} (wrong/{wrong})", judgement.day, judgement.name),
        None => format!("day {}, {}", judgement.day, judgement.name),
    }
}

/// One failure as rustc shows an error: title, source line with a caret, notes.
pub fn failure(failure: &Failure, look: Look) -> String {
    let id = failure.fault.clone().unwrap_or_else(|| failure.code.to_string());
    let title = Level::ERROR.primary_title(&failure.title).id(id);
    let mut group = Group::with_title(title);
    let located = failure.location.is_some();
    if let Some(location) = &failure.location {
        if location.text.is_empty() {
            let origin = Origin::path(&location.file).line(location.line as usize);
            group = group.element(match location.column {
                0 => origin,
                column => origin.char_column(column as usize),
            });
        } else {
            let text = &location.text;
            let start = match location.column as usize {
                0 => text.len() - text.trim_start().len(),
                column => text.char_indices().nth(column - 1).map_or(text.len(), |(at, _)| at),
            };
            let end = start + word(&text[start..]);
            group = group.element(
                Snippet::source(text)
                    .line_start(location.line as usize)
                    .path(&location.file)
                    .annotation(AnnotationKind::Primary.span(start..end)),
            );
        }
    }
    let place = match (&failure.shape, &failure.device) {
        (Some(shape), Some(device)) => Some(format!("{shape}, on {device}")),
        (Some(shape), None) => Some(shape.clone()),
        (None, Some(device)) => Some(format!("on {device}")),
        (None, None) => None,
    };
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    let notes = place.iter().chain(&failure.notes);
    if located {
        return renderer.render(&[notes.fold(group, |group, note| group.element(Level::NOTE.message(note)))]);
    }
    // Without a source line there is no margin for the notes to hang from.
    notes.fold(renderer.render(&[group]), |text, note| format!("{text}\n  = note: {note}"))
}

/// Bytes of the identifier or number that the text begins with, at least one character.
fn word(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if end > 0 { end } else { text.chars().next().map_or(0, char::len_utf8) }
}

fn devices(report: &Report) -> String {
    let line = |info: &DeviceInfo| {
        format!(
            "{}: compute capability {}, {} multiprocessors, {:.0} MiB L2, {:.0} GiB, driver for CUDA {}\n",
            info.name,
            info.compute_capability,
            info.multiprocessors,
            info.l2_bytes as f64 / f64::from(1 << 20),
            info.memory_bytes as f64 / f64::from(1 << 30),
            info.driver
        )
    };
    report.device.iter().chain(&report.emulated).map(line).collect()
}

/// One row an exercise.
pub fn table(judgements: &[Judgement], look: Look) -> String {
    let mut table = Table::new();
    table.load_style(if look.terminal { presets::UTF8_FULL_CONDENSED } else { presets::ASCII_MARKDOWN });
    if let (true, Some(width)) = (look.terminal, look.width) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    if look.color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(["exercise", "right", "lean", "fast", "verdict"].map(|name| bold(Cell::new(name), look)));
    for judgement in judgements {
        table.add_row([
            Cell::new(match &judgement.wrong {
                Some(wrong) => format!("{}/{wrong}", judgement.name),
                None => judgement.name.clone(),
            }),
            painted(right(&judgement.right), judgement.right.verdict, look),
            painted(lean(&judgement.lean), judgement.lean.verdict, look),
            painted(fast(&judgement.fast), judgement.fast.verdict, look),
            bold(painted(judgement.verdict.to_string(), judgement.verdict, look), look),
        ]);
    }
    table.trim_fmt()
}

fn bold(cell: Cell, look: Look) -> Cell {
    if look.color { cell.add_attribute(Attribute::Bold) } else { cell }
}

fn painted(text: String, verdict: Verdict, look: Look) -> Cell {
    let cell = Cell::new(text);
    match (look.color, verdict) {
        (false, _) | (_, Verdict::Ungraded) => cell,
        (_, Verdict::Pass) => cell.fg(Color::Green),
        (_, Verdict::Fail) => cell.fg(Color::Red),
        (_, Verdict::Inconclusive) => cell.fg(Color::Yellow),
    }
}

fn right(right: &Right) -> String {
    match (&right.failure, right.verdict) {
        (Some(failure), _) => failure.reason(),
        (None, Verdict::Pass) => format!("{} launches", right.launches),
        (None, Verdict::Ungraded) => "-".to_owned(),
        (None, verdict) => verdict.to_string(),
    }
}

fn lean(lean: &Lean) -> String {
    let Some(launches) = lean.launches else { return "-".to_owned() };
    let plural = if launches.yours == 1 { "" } else { "es" };
    let summary = lean.summary.as_deref().unwrap_or_default();
    format!("{} launch{plural}, {summary}", launches.yours)
}

fn fast(fast: &Fast) -> String {
    let Some(ratio) = fast.ratio else {
        return if fast.verdict == Verdict::Ungraded { "-".to_owned() } else { fast.verdict.to_string() };
    };
    let how = if fast.measured { "measured" } else { "predicted" };
    let mut text = format!("{:.2}x {how}, bar {:.2}x", ratio.median, fast.bar);
    if let (true, Some(share)) = (fast.measured, fast.share) {
        text += &format!(", {:.0}% of ceiling", 100.0 * share);
    }
    text
}

/// The measured figures of one exercise, in the detail that a note or a chapter quotes.
pub fn measurement(fast: &Fast) -> Option<String> {
    let ratio = fast.ratio?;
    let mut text = format!("{:.3}x [{:.3}, {:.3}]", ratio.median, ratio.low, ratio.high);
    if let Some(shape) = &fast.shape {
        text += &format!(" at {shape}");
    }
    if let (Some(yours), Some(unfused)) = (fast.time_ns, fast.unfused_time_ns) {
        text += &format!(": {:.1} us against {:.1} us", yours / 1e3, unfused / 1e3);
    }
    if let (Some(speed), Some(ceiling), Some(share)) = (fast.gb_per_s, fast.ceiling_gb_per_s, fast.share) {
        text += &format!(", {speed:.0} GB/s of {ceiling:.0} ({:.0}%)", 100.0 * share);
    }
    text += if fast.cold { ", cold" } else { ", warm" };
    if fast.measured {
        text += &format!(", {} pairs ({} dropped)", fast.pairs, fast.dropped);
    }
    if let Some(clocks) = fast.sm_clock_mhz {
        text += &format!(", SM clock {}-{} MHz", clocks.min, clocks.max);
    }
    if let Some(own) = fast.self_test {
        text += &format!(", A/A {:.3}", own.median);
    }
    Some(text)
}

#[cfg(test)]
mod tests;
