//! A report as text: details of failures, then one table.
//!
//! Nothing here prints. The caller knows whether it writes to a terminal and says so in [`Look`].

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};
use fusion_diagnostic::{Diagnostic, Sources, Text, counted};
use fusion_machine::report::{Code, Severity, SourcePosition};

use crate::judgement::{
    Code as Finding, DeviceInfo, EMPTY, Failure, IDLE, Judgement, Line, Location, Parts, Report, SUSPECT, Side, Verdict,
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
    let views = || judgement.parts.views();
    let failures = views().filter_map(|part| part.failure);
    let mut parts: Vec<String> = failures.map(|found| failure(found, &judgement.lines, look)).collect();
    // The first note says why; those after it only that they come after. A failure needs none.
    let first = views().find_map(|part| Some(format!("{} {}: {}", part.name, part.verdict, part.note?)));
    if judgement.failure().is_none() {
        parts.extend(first);
    }
    parts.extend(views().flat_map(|part| part.remarks).map(|remark| format!("note: {remark}")));
    // A failure has said it.
    let bound = views().filter(|part| look.advice && part.failure.is_none()).filter_map(|part| part.bound);
    parts.extend(bound.map(|bound| format!("bound by {bound}")));
    parts.extend(advice(judgement, look).or_else(|| warned(judgement)));
    parts.extend(changed(&judgement.changed));
    if !parts.is_empty() {
        text += &format!("{}\n{}\n\n", title(judgement), parts.join("\n\n"));
    }
    text
}

/// Where a learner goes on with a submission that fails: the file, and the line where there is one.
pub fn next(judgement: &Judgement) -> Option<String> {
    let Some(failure) = judgement.failure() else {
        return judgement.elsewhere.clone();
    };
    let (folder, name) = (format!("exercises/day{}/src", judgement.day), &judgement.name);
    // As a starter is, in both of its files.
    let says = |what: &str| failure.notes.iter().any(|note| note == what);
    if says(IDLE) && says(EMPTY) {
        return Some(format!("fill in what is marked TODO in {folder}/{name}.cu and {name}.rs"));
    }
    // The time limit does not tell which of them takes so long.
    if failure.code == Finding::Timeout {
        return Some(format!("{folder}/{name}.cu and {name}.rs"));
    }
    let file = format!("{folder}/{name}.{}", if failure.side() == Side::Launch { "rs" } else { "cu" });
    let causes = failure.cause.iter().flat_map(|cause| &cause.source).map(|at| (&at.file, at.line));
    let callers = failure.diagnostic.iter().flat_map(|fault| &fault.source).map(|at| (&at.file, at.line));
    let here = || failure.location.iter().map(|at| (&at.file, at.line));
    // The learner's own line: where a header was called, if it went wrong there.
    let suits = |place: &str| place == file || (failure.side.is_none() && place.starts_with(&folder));
    let advised = advised(judgement, failure).flat_map(|advice| &advice.source).map(|at| (&at.file, at.line));
    let suspects = failure.also.iter().filter(|told| told.code == SUSPECT && failure.cause.is_none());
    let suspects = suspects.flat_map(|told| &told.source).map(|at| (&at.file, at.line));
    let launched = failure.launched.iter().map(|at| (&at.file, at.line));
    // What is told beside it may be why.
    let beside = shown_advice(judgement, Look::default());
    let beside = beside.iter().flat_map(|told| &told.source).map(|at| (&at.file, at.line));
    let places = causes.chain(callers).chain(here()).chain(advised).chain(suspects).chain(beside).chain(launched);
    let own = places.into_iter().find(|(place, _)| suits(place));
    let elsewhere = here().next().filter(|_| failure.side.is_none());
    Some(own.or(elsewhere).map_or(file.clone(), |(file, line)| format!("{file}:{line}")))
}

/// Advice that is about a failure itself: the round trip that is a launch or bytes too many, the accesses that are too narrow.
fn advised<'a>(judgement: &'a Judgement, failure: &Failure) -> impl Iterator<Item = &'a Diagnostic> {
    let about = match failure.code {
        Finding::Launches | Finding::Bytes => Some(Code::RoundTrip),
        Finding::Access => Some(Code::ScalarAccess),
        _ => None,
    };
    let advice = judgement.parts.views().flat_map(|part| part.advice);
    advice.filter(move |told| about.is_some() && told.code.parse::<Code>().ok() == about)
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
    match &judgement.sample {
        Some(sample) => format!("day {}, {} ({sample})", judgement.day, judgement.name),
        None => format!("day {}, {}", judgement.day, judgement.name),
    }
}

/// One failure as rustc shows an error: title, source lines with carets, notes.
///
/// `lines` are the judgement's, see [`Judgement::lines`].
pub fn failure(failure: &Failure, lines: &[Line], look: Look) -> String {
    if let Some(rendered) = &failure.rendered {
        return rendered.trim_end().to_owned();
    }
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
    // One mistake brings about many of a kind: the first is told, the others are counted.
    let mut also = failure.also.clone();
    also.retain(|other| other.code != fault.code);
    if failure.cause.is_none() {
        fault.notes.extend(more(failure, &fault.code));
    }
    let mut faults: Vec<Diagnostic> = match failure.cause.as_deref() {
        None => std::iter::once(fault).chain(also).collect(),
        // What follows from the cause is told as it is. What fixes it is the cause's matter.
        Some(cause) => {
            fault.help.clear();
            vec![cause.clone(), fault]
        }
    };
    if let Some(first) = faults.first_mut() {
        first.notes.splice(0..0, place);
    }
    fusion_diagnostic::all(&faults, &sources, look.into())
}

/// What was found, with the lines that were brought along.
pub fn findings(found: &[Diagnostic], lines: &[Line], look: Look) -> String {
    fusion_diagnostic::all(found, &Lines { lines, location: None }, look.into())
}

/// How many more of a kind there are, and where.
fn more(failure: &Failure, code: &str) -> Option<String> {
    let others: Vec<&Diagnostic> = failure.also.iter().filter(|other| other.code == code).collect();
    let mut places: Vec<String> = (others.iter().filter_map(|other| other.source.last()))
        .map(|at| match failure.location.as_ref().is_some_and(|here| here.file == at.file) {
            true => format!("line {}", at.line),
            false => format!("{}:{}", at.file, at.line),
        })
        .collect();
    places.dedup();
    let at = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
    (!others.is_empty()).then(|| format!("{} more of {code}{at}: fix this one first, and grade again", others.len()))
}

/// A failure that is the grader's own finding, in the form of the device's.
fn plain(failure: &Failure) -> Diagnostic {
    let code = failure.fault.clone().unwrap_or_else(|| failure.code.to_string());
    let mut fault = Diagnostic::new(code, failure.title.clone());
    fault.notes = failure.notes.clone();
    fault.help = failure.help.clone();
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

/// Advice that may explain why a part failed: lints beside wrong values, costs beside what is not lean or not fast.
/// All of it when it is asked for.
fn advice(judgement: &Judgement, look: Look) -> Option<String> {
    let faults = shown_advice(judgement, look);
    let sources = Lines { lines: &judgement.lines, location: None };
    (!faults.is_empty()).then(|| fusion_diagnostic::all(&faults, &sources, look.into()))
}

/// The same as data, in the order in which it is to be followed.
fn shown_advice(judgement: &Judgement, look: Look) -> Vec<Diagnostic> {
    // Where the cause is known, it is the advice.
    let open = |failure: &&Failure| failure.cause.is_none();
    let failures: Vec<&Failure> = judgement.parts.views().filter_map(|part| part.failure).filter(open).collect();
    let told = judgement.parts.views().filter(|part| look.advice || failures.iter().any(|it| part.explains(it)));
    let mut faults: Vec<Diagnostic> = told.flat_map(|part| part.advice.iter().cloned()).collect();
    if !look.advice {
        causes_only(&mut faults);
    }
    faults
}

/// Advice that is to be followed first, and other advice that has no point until it is: a round trip through memory is not made
/// better by wider accesses, and what a warp scatters is not made of vectors; where neighbouring threads are far apart in global
/// memory, so they mostly are in shared memory.
const FIRST: [(Code, Code); 3] = [
    (Code::RoundTrip, Code::ScalarAccess),
    (Code::Uncoalesced, Code::ScalarAccess),
    (Code::Uncoalesced, Code::BankConflict),
];

/// Leaves out what follows from other advice, and puts round trips first.
fn causes_only(advice: &mut Vec<Diagnostic>) {
    let code = |told: &Diagnostic| told.code.parse::<Code>().ok();
    let found: Vec<Code> = advice.iter().filter_map(code).collect();
    let waits =
        |told: &Diagnostic| FIRST.iter().any(|(first, later)| code(told) == Some(*later) && found.contains(first));
    advice.retain(|told| !waits(told));
    advice.sort_by_key(|told| code(told) != Some(Code::RoundTrip));
}

/// What the emulated device warned of in a submission that passes, or of which it is not known: a benign race, a conversion of what is no
/// number.
fn warnings(judgement: &Judgement) -> Vec<&Diagnostic> {
    let right = matches!(judgement.verdict, Verdict::Pass | Verdict::Inconclusive);
    let views = judgement.parts.views().filter(|_| right);
    views.flat_map(|part| part.advice).filter(|found| found.severity == Severity::Warning).collect()
}

/// The first lines of the warnings about a submission that does not fail.
fn warned(judgement: &Judgement) -> Option<String> {
    let warnings = warnings(judgement);
    let line = |found: &&Diagnostic| {
        let at = found.source.first().map(|at| format!(" ({}:{})", at.file, at.line)).unwrap_or_default();
        format!("\n  {}: {}{at}", found.code, found.title)
    };
    let lines: String = warnings.iter().map(line).collect();
    let (verdict, count) = (judgement.verdict, counted(warnings.len() as u64, "warning"));
    (!warnings.is_empty()).then(|| format!("{verdict}, {count}; `--advice` shows all of it:{lines}"))
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
    let mut table = blank(["exercise"].into_iter().chain(Parts::NAMES.iter().copied()).chain(["verdict"]), look);
    for judgement in judgements {
        let name = Cell::new(match &judgement.sample {
            Some(sample) => format!("{}/{sample}", judgement.name),
            None => judgement.name.clone(),
        });
        let verdict = match warnings(judgement)[..] {
            [] => judgement.verdict.to_string(),
            ref some => format!("{}, {}", judgement.verdict, counted(some.len() as u64, "warning")),
        };
        let verdict = bold(painted(verdict, judgement.verdict, look), look);
        let parts = judgement.parts.views().map(|part| painted(part.cell, part.verdict, look));
        table.add_row([name].into_iter().chain(parts).chain([verdict]));
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

#[cfg(test)]
mod tests;
