//! The report on a trace as JSON.

use fusion_machine::Profile;
use serde_json::json;

use super::candidate::Candidate;
use super::flow::Flow;

/// A list with an object per process: `command`, `device`, `launches`, and `candidates`, best first. Times are predicted and called so.
pub(super) fn report<'a>(found: impl Iterator<Item = (&'a Flow, Vec<Candidate>)>, profile: &Profile) -> String {
    let process = |(flow, candidates): (&Flow, Vec<Candidate>)| {
        json!({
            "command": flow.command,
            "device": flow.device,
            "profile": profile.id,
            "launches": flow.launches(),
            "candidates": candidates,
        })
    };
    format!("{:#}", serde_json::Value::from(found.map(process).collect::<Vec<_>>()))
}
