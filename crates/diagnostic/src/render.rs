//! Faults as text.

use std::collections::BTreeMap;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use fusion_machine::report::{Code, SourcePosition};

use crate::diagnostic::Diagnostic;
use crate::excerpt::Excerpt;
use crate::places::{self, Mark};
use crate::sources::{Sources, Text};
use crate::wrap::{clean, width, wrap};
use crate::{Look, say, title};

/// Sites that [`all`] shows; of more it says only how many.
const SITES: usize = 10;

/// Other parties and callers that one report marks. A recursion can have thousands.
const MARKS: usize = 12;

/// One fault: title, source lines, thread, notes, help.
///
/// ```text
/// error[E-OOB-GLOBAL]: read of 4 bytes past the end of `x`
///  --> add.cu:3:14
///   |
/// 3 |     out[i] = x[i];
///   |              ^^^^ read of 4 bytes here
///   |
///   = note: block 1, thread 44 of `add`, with 19 more lanes of its warp
///   = help: compare `i` with the number of elements before the access
/// ```
pub fn render(fault: &Diagnostic, sources: &(impl Sources + ?Sized), look: Look) -> String {
    let (mut marks, insides) = places::marks(fault, sources);
    let left_out = marks.len().saturating_sub(MARKS);
    marks.truncate(MARKS);

    let mut notes: Vec<String> = Vec::new();
    notes.extend(title::disclaimer(fault).map(str::to_owned));
    let columns = look.columns();
    let mut snippets = snippets(marks, sources, columns, &mut notes);
    if let (true, Some(ptx)) = (fault.source.is_empty(), &fault.ptx) {
        snippets.insert(0, Shown::ptx(fault, ptx.line, clean(&places::one_line(&ptx.text)).into_owned()));
        notes.push(places::no_line(ptx).to_owned());
    }
    if left_out > 0 {
        notes.push(format!("{left_out} more {} left out", if left_out == 1 { "place is" } else { "places are" }));
    }
    notes.extend(insides);
    notes.extend(places::culprit(fault));
    notes.extend(fault.notes.iter().filter(|note| !note.trim().is_empty()).cloned());
    notes.extend(places::unplaced(fault));
    let help = say::help(fault, sources);
    let messages = notes.iter().map(|text| ("note", text)).chain(help.iter().map(|text| ("help", text)));

    // The title's further lines would stand below its first word. Where that leaves little room, the terminal wraps.
    let room = columns.saturating_sub(title::name(fault).len() + width(&clean(&fault.code)) + 4);
    let text = if room < 24 { clean(&fault.title).into_owned() } else { wrap(&fault.title, room) };
    let first = title::level(fault).primary_title(text);
    let first = if fault.code.is_empty() { first } else { first.id(clean(&fault.code)) };
    let mut group = Group::with_title(first);
    for shown in &snippets {
        group = group.element(shown.element());
    }
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() }.term_width(columns);
    if snippets.is_empty() {
        // Without a source line there is no margin for the notes to hang from.
        let text = renderer.render(&[group]);
        return messages.fold(text, |text, (name, message)| text + &hanging(name, message, columns));
    }
    // The margin, and `= note: `.
    let margin = snippets.iter().map(Shown::last_line).max().unwrap_or(0).to_string().len() + 9;
    for (name, message) in messages {
        let level = if name == "help" { Level::HELP } else { Level::NOTE };
        group = group.element(level.message(wrap(message, columns.saturating_sub(margin))));
    }
    renderer.render(&[group])
}

/// A note without a margin, its lines below each other.
fn hanging(name: &str, message: &str, columns: usize) -> String {
    let start = format!("  = {name}: ");
    let indent = format!("\n{}", " ".repeat(start.len()));
    format!("\n{start}{}", wrap(message, columns.saturating_sub(start.len())).replace('\n', &indent))
}

/// Several faults: the gravest first, those of one place as one, and only so many. The last lines name the command that
/// explains them.
pub fn all(faults: &[Diagnostic], sources: &(impl Sources + ?Sized), look: Look) -> String {
    let mut sites = sites(faults, sources);
    sites.sort_by_key(|fault| std::cmp::Reverse(fault.severity));
    let mut parts: Vec<String> = sites.iter().take(SITES).map(|fault| render(fault, sources, look)).collect();
    if sites.len() > SITES {
        let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
        for fault in &sites[SITES..] {
            *codes.entry(&fault.code).or_default() += 1;
        }
        let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{count} {}", clean(code))).collect();
        let text = format!("and {} more sites: {}", sites.len() - SITES, codes.join(", "));
        parts.push(wrap(&text, look.columns()));
    }
    parts.extend(more(sites.iter().take(SITES).map(|fault| fault.code.as_str())));
    parts.join("\n\n")
}

/// The command that explains these codes, where there is something to explain.
pub fn more<'a>(codes: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut explained: Vec<&str> = Vec::new();
    for code in codes.filter(|code| code.parse::<Code>().is_ok()) {
        if !explained.contains(&code) {
            explained.push(code);
        }
    }
    let lines: Vec<String> = explained.iter().map(|code| format!("for more: cargo xtask explain {code}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Faults of one code at one place as one, with what they have in common counted together. What two kernels do at one
/// place is two mistakes to a reader, unless they are of one template.
pub fn sites(faults: &[Diagnostic], sources: &(impl Sources + ?Sized)) -> Vec<Diagnostic> {
    let mut sites: Vec<Diagnostic> = Vec::new();
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    // What was found before a launch stopped comes after what stopped it.
    for fault in faults.iter().flat_map(|fault| std::iter::once(fault).chain(&fault.earlier)) {
        let own = places::own(&fault.source, sources);
        let place: Vec<_> = own.iter().map(|at| (at.file.as_str(), at.line, at.column)).collect();
        let ptx = fault.ptx.as_ref().filter(|_| place.is_empty()).map(|ptx| ptx.line);
        let placed = place.first().is_some_and(|place| *place != ("", 0, 0)) || ptx.is_some();
        let key = (fault.code.as_str(), place, ptx, fault.title.as_str(), places::kernel(&fault.kernel));
        match known.get(&key).and_then(|&site| sites.get_mut(site)) {
            Some(site) if placed => site.count = times(site).saturating_add(times(fault)),
            _ => {
                known.insert(key, sites.len());
                sites.push(fault.clone());
            }
        }
    }
    sites
}

fn times(fault: &Diagnostic) -> u64 {
    fault.count.max(u64::from(fault.lanes)).max(1)
}

/// One file of a report.
struct Shown {
    path: String,
    /// The excerpt and the marks in it; without it only the positions are told.
    excerpt: Option<(u32, String)>,
    marks: Vec<(std::ops::Range<usize>, bool, String)>,
    line: u32,
    column: u32,
}

impl Shown {
    fn ptx(fault: &Diagnostic, line: u32, text: String) -> Self {
        let marks = vec![(0..text.trim_end_matches(';').len(), true, clean(&fault.label).into_owned())];
        let path = match fault.kernel.as_str() {
            "" => "PTX".to_owned(),
            kernel => format!("PTX of {}", clean(kernel)),
        };
        Self { path, excerpt: Some((line, text)), marks, line, column: 0 }
    }

    fn last_line(&self) -> usize {
        match &self.excerpt {
            Some((first, text)) => *first as usize + text.lines().count().saturating_sub(1),
            None => 0,
        }
    }

    fn element(&self) -> Element<'_> {
        let Some((first, text)) = &self.excerpt else {
            let origin = Origin::path(self.path.as_str());
            return match (self.line, self.column) {
                (0, _) => origin.into(),
                (line, 0) => origin.line(line as usize).into(),
                (line, column) => origin.line(line as usize).char_column(column as usize).into(),
            };
        };
        let mut snippet = Snippet::source(text.as_str()).line_start(*first as usize).path(self.path.as_str());
        for (span, primary, label) in &self.marks {
            let kind = if *primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let label = (!label.is_empty()).then_some(label.as_str());
            snippet = snippet.annotation(kind.span(span.clone()).label(label));
        }
        snippet.into()
    }
}

/// The marks by file. What cannot be shown in its text is said in the notes.
fn snippets(
    marks: Vec<Mark<'_>>,
    sources: &(impl Sources + ?Sized),
    columns: usize,
    notes: &mut Vec<String>,
) -> Vec<Shown> {
    let mut files: Vec<(&str, Vec<Mark<'_>>)> = Vec::new();
    for mark in marks {
        match files.iter_mut().find(|(path, _)| *path == mark.position.file) {
            Some((_, marks)) => marks.push(mark),
            None => files.push((&mark.position.file, vec![mark])),
        }
    }
    let mut shown = Vec::new();
    for (path, marks) in files {
        let text = sources.text(path);
        let positions: Vec<_> =
            marks.iter().map(|mark| (mark.position.line, mark.position.column, mark.what)).collect();
        let excerpt = Excerpt::new(&text, &positions, columns);
        let changed = match &text {
            Text::Changed => true,
            // A line that the file does not have: it is not the file that was compiled.
            Text::Lines { .. } => excerpt.as_ref().is_none_or(|excerpt| excerpt.spans.contains(&None)),
            Text::Missing => false,
        };
        let path = match path {
            "" => "(unknown file)".to_owned(),
            path => clean(path).into_owned(),
        };
        if changed {
            notes.push(format!("{path} has changed since it was compiled, so its lines are not shown"));
        }
        if let (false, Some(excerpt)) = (changed, excerpt) {
            let mut placed = Vec::new();
            for (mark, span) in marks.into_iter().zip(excerpt.spans) {
                let Some(span) = span else { continue };
                let label = clean(&mark.label).into_owned();
                // A label for which there is no room beside its place is told below.
                let margin = mark.position.line.to_string().len() + 4;
                let before = excerpt.text.get(..span.end).and_then(|text| text.rsplit('\n').next()).map_or(0, width);
                if margin + before.min(columns / 2) + width(&label) > columns {
                    notes.push(format!("at line {}: {label}", mark.position.line));
                    placed.push((span, mark.primary, String::new()));
                } else {
                    placed.push((span, mark.primary, label));
                }
            }
            shown.push(Shown { path, excerpt: Some((excerpt.first, excerpt.text)), marks: placed, line: 0, column: 0 });
            continue;
        }
        for mark in marks {
            if !mark.label.is_empty() {
                notes.push(format!("at {path}:{}: {}", mark.position.line, mark.label));
            } else if !mark.primary {
                notes.push(format!("at {path}:{}", mark.position.line));
            }
            // A column of bare positions would say nothing that the notes do not.
            if !mark.primary {
                continue;
            }
            let SourcePosition { line, column, .. } = *mark.position;
            shown.push(Shown { path: path.clone(), excerpt: None, marks: Vec::new(), line, column });
        }
    }
    shown
}
