//! What might be fused in a program that has run: from a trace of its launches (`cargo xtask run --trace FILE -- PROGRAM`).
//!
//! A graph says what each operation is. A trace says less, and it is true of any program: which bytes a launch wrote, and which launches read them.

mod candidate;
mod flow;
mod json;
mod memory;
mod reason;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;

use fusion_machine::Profile;
use fusion_machine::report::Trace;

use crate::error::GraphError;
use flow::Flow;

/// The report on each process of a file.
///
/// # Errors
/// The file cannot be read, is no trace, or has no launch.
pub(crate) fn report(path: &Path, profile: &Profile, as_json: bool) -> Result<String, GraphError> {
    let flows: Vec<Flow> = read(path)?.iter().map(Flow::new).filter(|flow| flow.launches() > 0).collect();
    if flows.is_empty() {
        return Err(GraphError::NoLaunch { path: path.display().to_string() });
    }
    let found = flows.iter().map(|flow| (flow, candidate::find(flow, profile)));
    Ok(match as_json {
        true => json::report(found, profile),
        false => {
            found.map(|(flow, candidates)| text::report(flow, &candidates, profile)).collect::<Vec<_>>().join("\n")
        }
    })
}

fn read(path: &Path) -> Result<Vec<Trace>, GraphError> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| GraphError::Read { path: shown.clone(), error })?;
    serde_json::from_str(&text).map_err(|error| GraphError::Trace { path: shown, message: error.to_string() })
}
