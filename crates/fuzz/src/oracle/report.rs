//! Faults and reports: well formed, and the same after a trip through JSON.

use fusion_diagnostic::say;
use fusion_machine::report::{Code, Severity, SourcePosition};
use fusion_machine::{Fault, LaunchReport};

use super::Launched;
use crate::finding::{Finding, Kind};

/// Looks at what a launch answered.
pub(super) fn check(launched: &Launched, text: &str) -> Result<(), Finding> {
    match launched {
        Ok(report) => {
            trip(report)?;
            if !report.predicted_ns.is_finite() || report.predicted_ns < 0.0 {
                return wrong(format!("a predicted time of {}", report.predicted_ns));
            }
            report.findings.iter().try_for_each(|finding| fault(finding, text))
        }
        Err(stopped) => {
            if stopped.severity() != Severity::Error {
                return wrong(format!("{} stopped the launch and is no error", stopped.code()));
            }
            stopped.earlier.iter().try_for_each(|finding| fault(finding, text))?;
            fault(stopped, text)
        }
    }
}

fn wrong(what: String) -> Result<(), Finding> {
    Err(Finding::new(Kind::Report, what))
}

fn fault(fault: &Fault, text: &str) -> Result<(), Finding> {
    let code = fault.code();
    let told = say(fault);
    // What an assertion says may be anything.
    if told.title.is_empty() || told.title.contains('\n') && code != Code::Assert {
        return wrong(format!("{code} has no title of one line: {:?}", told.title));
    }
    if fault.lanes > 32 {
        return wrong(format!("{code} in {} lanes of a warp", fault.lanes));
    }
    if let Some(empty) = told.notes.iter().chain(&told.help).find(|sentence| sentence.trim().is_empty()) {
        return wrong(format!("{code} has an empty note {empty:?}"));
    }
    positions(code, &fault.source)?;
    let lines = text.lines().count() as u32;
    for related in &fault.related {
        positions(code, &related.source)?;
    }
    if told.related.iter().any(|related| related.label.is_empty()) {
        return wrong(format!("{code} has another party without a label"));
    }
    let ptx = fault.related.iter().filter_map(|related| related.ptx.as_ref()).chain(&fault.ptx);
    for ptx in ptx {
        if ptx.line == 0 || ptx.line > lines.max(1) {
            return wrong(format!("{code} at line {} of {lines} of the PTX", ptx.line));
        }
    }
    match serde_json::to_string(fault).ok().and_then(|json| serde_json::from_str::<Fault>(&json).ok()) {
        Some(back) if back == *fault => Ok(()),
        back => wrong(format!("{code} changes in JSON\n{fault:?}\n{back:?}")),
    }
}

/// No more than anybody reads.
fn positions(code: Code, positions: &[SourcePosition]) -> Result<(), Finding> {
    match positions.len() {
        0..=64 => Ok(()),
        n => wrong(format!("{code} has {n} positions")),
    }
}

fn trip(report: &LaunchReport) -> Result<(), Finding> {
    let json = serde_json::to_string(report).unwrap_or_default();
    let back = serde_json::from_str::<LaunchReport>(&json).ok().and_then(|back| serde_json::to_string(&back).ok());
    match back == Some(json) {
        true => Ok(()),
        false => wrong("a launch's report changes in JSON".to_owned()),
    }
}
