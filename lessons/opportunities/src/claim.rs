//! What somebody said, beside what the arithmetic gives.

use fusion_lesson::new_table;
use fusion_machine::Profile;

use crate::candidate::{Candidate, Form, judge};
use crate::cost::bytes;
use crate::file::Claim;
use crate::graph::Graph;

/// A table for each claim of the graph; empty when it has none.
pub(crate) fn compare(graph: &Graph, profile: &Profile, candidates: &[Candidate]) -> String {
    let mut text = String::new();
    for claim in &graph.claims {
        text += &one(graph, profile, candidates, claim);
    }
    text
}

fn one(graph: &Graph, profile: &Profile, candidates: &[Candidate], claim: &Claim) -> String {
    let mut operations: Vec<usize> = claim.operations.iter().filter_map(|name| graph.find(name)).collect();
    operations.sort_unstable();
    let known = candidates.iter().find(|candidate| candidate.operations == operations).cloned();
    let here = known.unwrap_or_else(|| judge(graph, profile, Form::Pair, operations));
    let mut table = new_table(&["claim", "claimed", "arithmetic"]);
    let mut row = |what: &str, claimed: Option<String>, found: String| {
        if let Some(claimed) = claimed {
            table.add_row([what.to_owned(), claimed, found]);
        }
    };
    row("decision", claim.decision.clone(), here.verdict.text().to_owned());
    row("score", claim.score.map(|score| format!("{score:.2}")), format!("{:.2}", here.score.total));
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    row("bytes saved", claim.bytes_saved.map(|p| format!("{p:.0}%")), percent(here.cost.saved_share()));
    let launches = 1.0 - here.cost.fused_launches as f64 / here.cost.unfused_launches.max(1) as f64;
    let found = format!("{}, which is {} of the time", percent(launches), percent(here.cost.launch_share(profile)));
    row("launches saved", claim.launches_saved.map(|p| format!("{p:.0}%")), found);
    let registers = format!("{} (estimate)", here.needs.registers);
    row("registers", claim.registers.map(|registers| format!("~{registers}")), registers);
    for (name, claimed) in &claim.intensity {
        let Some(operation) = graph.find(name).and_then(|i| graph.operations.get(i)) else { continue };
        let moved: u64 =
            graph.tensors_of(&operation.inputs).chain(graph.tensors_of(&operation.outputs)).map(|t| t.elements()).sum();
        let found = format!(
            "{:.2}, or {:.2} a byte",
            operation.flops as f64 / moved.max(1) as f64,
            operation.flops as f64 / bytes(graph, operation).max(1) as f64
        );
        row(&format!("operations of {name} an element moved"), Some(format!("{claimed:.2}")), found);
    }
    let note = if claim.note.is_empty() { String::new() } else { format!("{}\n", claim.note) };
    format!("\nClaimed of {}:\n{table}\n{note}", here.name)
}
