//! A report as text: details of failures, then one table.
//!
//! Nothing here prints. The caller knows whether it writes to a terminal and says so in [`Look`].

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};
use fusion_diagnostic::{Diagnostic, Sources, Text};
use fusion_machine::report::SourcePosition;

use crate::judgement::{
    Code, Contest, DeviceInfo, Failure, Fast, Judgement, Lean, Line, Location, Report, Right, Verdict,
};

/// How the text may look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// ANSI colours and drawn table borders; plain ASCII otherwise.
    pub terminal: bool,
    pub color: bool,
    /// Columns to wrap to, where known.
    pub width: Option<u16>,
    /// Show all advice, also where nothing failed that it could explain.
    pub advice: bool,
}

impl From<Look> for fusion_diagnostic::Look {
    fn from(look: Look) -> Self {
        Self { color: look.color, width: look.width }
    }
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
        .map(|found| failure(found, &judgement.lines, look))
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
    parts.extend(judgement.fast.products.as_ref().map(|products| format!("note: {products}")));
    parts.extend(advice(judgement, look));
    parts.extend(changed(&judgement.changed));
    if !parts.is_empty() {
        text += &format!("{}\n{}\n\n", title(judgement), parts.join("\n\n"));
    }
    text
}

/// What was judged is not what the reader has before their eyes.
fn changed(files: &[String]) -> Option<String> {
    let have = if files.len() == 1 { "has" } else { "have" };
    (!files.is_empty()).then(|| {
        format!(
            "note: {} {have} changed since this was built; what was judged is what it was then. \
             Grade again, without --prebuilt, to judge what is there now",
            files.join(", ")
        )
    })
}

fn title(judgement: &Judgement) -> String {
    match &judgement.wrong {
        Some(wrong) => format!("day {}, {} (wrong/{wrong})", judgement.day, judgement.name),
        None => format!("day {}, {}", judgement.day, judgement.name),
    }
}

/// One failure as rustc shows an error: title, source lines with carets, notes.
///
/// `lines` are the judgement's, see [`Judgement::lines`].
pub fn failure(failure: &Failure, lines: &[Line], look: Look) -> String {
    let place = match (&failure.shape, &failure.device) {
        (Some(shape), Some(device)) => Some(format!("{shape}, on {device}")),
        (Some(shape), None) => Some(shape.clone()),
        (None, Some(device)) => Some(format!("on {device}")),
        (None, None) => None,
    };
    let sources = Lines { lines, location: failure.location.as_ref() };
    let mut fault = match &failure.diagnostic {
        Some(fault) => fault.as_ref().clone(),
        None => plain(failure),
    };
    fault.notes.splice(0..0, place);
    let faults: Vec<Diagnostic> = std::iter::once(fault).chain(failure.also.iter().cloned()).collect();
    fusion_diagnostic::all(&faults, &sources, look.into())
}

/// A failure that is the grader's own finding, in the form of the device's.
fn plain(failure: &Failure) -> Diagnostic {
    let code = failure.fault.clone().unwrap_or_else(|| failure.code.to_string());
    let mut fault = Diagnostic::new(code, failure.title.clone());
    fault.notes = failure.notes.clone();
    fault.source = (failure.location.iter())
        .map(|at| SourcePosition { file: at.file.clone(), line: at.line, column: at.column, function: None })
        .collect();
    fault
}

/// The lines that a judgement has brought along.
struct Lines<'a> {
    lines: &'a [Line],
    location: Option<&'a Location>,
}

impl Sources for Lines<'_> {
    fn text(&self, path: &str) -> Text<'_> {
        let known = self.lines.iter().filter(|line| line.file == path).map(|line| (line.line, line.text.as_str()));
        let location = self.location.filter(|at| at.file == path && !at.text.is_empty());
        Text::lines(known.chain(location.map(|at| (at.line, at.text.as_str()))))
    }
}

/// Advice that may explain why the parts failed: lints beside wrong values, costs beside what is not lean or not fast.
/// All of it when it is asked for.
fn advice(judgement: &Judgement, look: Look) -> Option<String> {
    let Judgement { right, lean, fast, .. } = judgement;
    let wrong_values = |failure: &Failure| matches!(failure.code, Code::Values | Code::Unwritten | Code::Tail);
    let mut faults: Vec<Diagnostic> = Vec::new();
    if look.advice || right.failure.as_ref().is_some_and(wrong_values) {
        faults.extend(right.advice.iter().cloned());
    }
    if look.advice || lean.failure.is_some() || fast.failure.is_some() {
        faults.extend(lean.advice.iter().cloned());
    }
    let sources = Lines { lines: &judgement.lines, location: None };
    (!faults.is_empty()).then(|| fusion_diagnostic::all(&faults, &sources, look.into()))
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
    let mut table = blank(["exercise", "right", "lean", "fast", "verdict"], look);
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

/// A table without rows yet.
pub fn blank<'a>(header: impl IntoIterator<Item = &'a str>, look: Look) -> Table {
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
    table.set_header(header.into_iter().map(|name| bold(Cell::new(name), look)));
    table
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
    let shapes = if lean.shapes.is_empty() { String::new() } else { format!(", {} shapes", 1 + lean.shapes.len()) };
    format!("{} launch{plural}, {summary}{shapes}", launches.yours)
}

fn fast(fast: &Fast) -> String {
    let Some(ratio) = fast.ratio else {
        return if fast.verdict == Verdict::Ungraded { "-".to_owned() } else { fast.verdict.to_string() };
    };
    let how = if fast.measured { "measured" } else { "predicted" };
    let mut text = format!("{:.2}x {how}", ratio.median);
    if let Some(bar) = fast.bar {
        text += &format!(", bar {bar:.2}x");
    }
    if let (true, Some(share)) = (fast.measured, fast.share) {
        text += &format!(", {:.0}% of ceiling", 100.0 * share);
    }
    match &fast.rival {
        Some(Contest { name, ratio: Some(ratio), bar, .. }) => {
            text += &format!("; {:.2}x {name}, bar {bar:.2}x", ratio.median);
        }
        Some(Contest { name, .. }) => text += &format!("; {name}: judged on a GPU only"),
        None => {}
    }
    let others: Vec<String> =
        fast.shapes.iter().filter_map(|shape| Some(format!("{:.2}x", shape.ratio?.median))).collect();
    if !others.is_empty() {
        text += &format!("; other shapes {}", others.join(", "));
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
