//! The front end: positions lie in the text, indices in their tables.

use fusion_ptx::ast::{Function, ParamPlace, Span};
use fusion_ptx::{Severity, parse_bytes, position};

use crate::coverage::{Feature, form, shape};
use crate::finding::{Finding, Kind};
use crate::input::Input;

/// Parses, and says what was reached.
pub(super) fn check(input: &Input, text: &str) -> Result<Vec<Feature>, Finding> {
    let wrong = |what: String| Err(Finding::new(Kind::Syntax, what));
    let parsed = parse_bytes(&input.ptx);
    let lines = text.lines().count().max(1) as u32 + 1;
    let inside = |span: Span| span.start <= span.end && span.end as usize <= text.len().max(span.start as usize);
    for diagnostic in &parsed.diagnostics {
        let place = position(text, diagnostic.span);
        if !inside(diagnostic.span) || diagnostic.span.start as usize > text.len() {
            return wrong(format!("a diagnostic outside of the text: {diagnostic:?}"));
        }
        if place.line == 0 || place.line > lines || place.column == 0 {
            return wrong(format!("a position outside of the text: {place:?} of {lines} lines"));
        }
        if diagnostic.message.is_empty() || diagnostic.message.contains('\n') {
            return wrong(format!("a diagnostic that is not one line: {diagnostic:?}"));
        }
    }
    let module = &parsed.module;
    for function in &module.functions {
        self::function(function, text)?;
    }
    for (i, location) in module.locations.iter().enumerate() {
        let caller = location.inlined_at.is_none_or(|at| at.index() < i);
        if !caller || location.file.index() >= module.files.len() {
            return wrong(format!("location {i} points nowhere: {location:?}"));
        }
    }
    let mut features: Vec<Feature> =
        parsed.diagnostics.iter().map(|d| Feature::Diagnostic(shape(&d.message))).collect();
    if parsed.diagnostics.iter().all(|d| d.severity != Severity::Error) {
        let bodies = module.functions.iter().flat_map(|f| &f.body).take(400);
        let texts = bodies.filter_map(|i| text.get(i.span.start as usize..i.span.end as usize));
        features.extend(texts.map(|t| Feature::Parsed(form(t))));
    }
    Ok(features)
}

fn function(function: &Function, text: &str) -> Result<(), Finding> {
    let wrong = |what: String| Err(Finding::new(Kind::Syntax, format!("{what} of `{}`", function.name)));
    for instruction in &function.body {
        let Span { start, end } = instruction.span;
        if text.get(start as usize..end as usize).is_none() {
            return wrong(format!("an instruction's span {start}..{end}"));
        }
    }
    if let Some(label) = function.labels.iter().find(|label| label.target as usize > function.body.len()) {
        return wrong(format!("the target of label `{}`", label.name));
    }
    for param in function.params.iter().chain(&function.returns) {
        let there = match param.place {
            ParamPlace::Memory(id) => id.index() < function.variables.len(),
            ParamPlace::Register(id) => id.index() < function.registers.len(),
        };
        if !there || !param.align.is_power_of_two() {
            return wrong(format!("the place of parameter `{}`", param.name));
        }
    }
    Ok(())
}
