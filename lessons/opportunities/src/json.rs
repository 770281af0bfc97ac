//! The report as one JSON object.

use fusion_machine::Profile;
use serde_json::json;

use crate::candidate::{Candidate, choose};
use crate::cost::{bytes, intensity, waits_for_memory};
use crate::graph::Graph;

/// `graph`, `profile`, `operations`, `candidates` best first, and `chosen`, the names of those to take. Times are
/// predicted and called so.
pub(crate) fn report(graph: &Graph, profile: &Profile, candidates: &[Candidate]) -> String {
    let operations: Vec<_> = (graph.operations.iter())
        .map(|operation| {
            json!({
                "name": operation.name,
                "op": operation.operator.name,
                "bytes": bytes(graph, operation),
                "flops": operation.flops,
                "operations_per_byte": intensity(graph, operation),
                "waits_for_memory": waits_for_memory(graph, profile, operation),
            })
        })
        .collect();
    let chosen: Vec<&str> = choose(candidates).iter().map(|candidate| candidate.name.as_str()).collect();
    let report = json!({
        "graph": graph.name,
        "profile": profile.id,
        "operations": operations,
        "candidates": candidates,
        "chosen": chosen,
        "claims": graph.claims,
    });
    format!("{report:#}")
}
