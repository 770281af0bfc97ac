//! What a program had the GPU do, as a file.

use std::path::Path;

use fusion_machine::report::Trace;

use super::journal::Process;
use crate::output;

/// Writes a trace for each process that opened the driver, as a list in JSON.
///
/// # Errors
/// The file cannot be written, in words.
pub(super) fn write(path: &Path, processes: &[Process]) -> Result<(), String> {
    let traces: Vec<Trace> = processes.iter().filter_map(trace).collect();
    let launches: u64 = processes.iter().flat_map(|process| process.launches.values()).sum();
    let json = serde_json::to_string(&traces).map_err(|error| error.to_string())?;
    std::fs::write(path, json + "\n").map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let shown = path.display();
    output::note(&format!(
        "{launches} launches are in {shown}. What might be fused: cargo run -p lesson-opportunities -- --trace {shown}"
    ));
    Ok(())
}

fn trace(process: &Process) -> Option<Trace> {
    let device = process.device.clone()?;
    Some(Trace { command: process.command.clone(), device, work: process.work.clone() })
}
