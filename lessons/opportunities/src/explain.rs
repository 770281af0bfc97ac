//! All the arithmetic of one candidate.

use std::fmt::Write as _;

use fusion_lesson::{duration, grouped};
use fusion_machine::Profile;

use crate::candidate::Candidate;
use crate::cost::{THREADS, boundary};
use crate::error::GraphError;
use crate::graph::Graph;

/// # Errors
/// There is no candidate of that name.
pub(crate) fn candidate(
    graph: &Graph,
    profile: &Profile,
    candidates: &[Candidate],
    name: &str,
) -> Result<String, GraphError> {
    let Some(candidate) = candidates.iter().find(|candidate| candidate.name == name) else {
        let there = candidates.iter().map(|candidate| candidate.name.clone()).collect();
        return Err(GraphError::NoCandidate { name: name.to_owned(), there });
    };
    let Candidate { cost, needs, score, operations, .. } = candidate;
    let mut text = format!("{}: {}\n\nApart, each launch reads and writes:\n", name, candidate.form.text());
    for operation in operations.iter().filter_map(|&i| graph.operations.get(i)) {
        let tensors =
            operation.inputs.iter().map(|i| ("read", i)).chain(operation.outputs.iter().map(|i| ("write", i)));
        let _ = writeln!(text, "  {} ({})", operation.name, operation.operator.name);
        for (verb, tensor) in tensors.filter_map(|(verb, &i)| Some((verb, graph.tensors.get(i)?))) {
            let _ = writeln!(text, "    {verb:<5} {:<14} {:>15} B", tensor.name, grouped(tensor.bytes() as usize));
        }
    }
    let (reads, writes) = boundary(graph, operations);
    text += "Fused:\n";
    for (verb, indices) in [("read", &reads), ("write", &writes)] {
        for tensor in graph.tensors_of(indices) {
            let _ = writeln!(text, "    {verb:<5} {:<14} {:>15} B", tensor.name, grouped(tensor.bytes() as usize));
        }
    }
    let _ = writeln!(
        text,
        "\n{} B apart - {} B fused = {} B saved, {:.1}%; {} launches become {}.",
        grouped(cost.unfused_bytes as usize),
        grouped(cost.fused_bytes as usize),
        grouped(cost.saved_bytes() as usize),
        100.0 * cost.saved_share(),
        cost.unfused_launches,
        cost.fused_launches
    );
    let _ = writeln!(
        text,
        "Predicted: {} apart, {} fused, {:.2}x. Each launch takes {:.1} us and the longer of bytes / {:.2} TB/s and operations / peak.",
        duration(cost.predicted_unfused_ns),
        duration(cost.predicted_fused_ns),
        cost.ideal_speedup(),
        profile.launch_overhead_ns / 1e3,
        profile.dram_bandwidth / 1e12
    );
    let _ = writeln!(
        text,
        "Estimate: {} registers per thread, {} B of shared memory, blocks of {THREADS}: occupancy {:.0}%.",
        needs.registers,
        grouped(needs.shared as usize),
        100.0 * needs.occupancy
    );
    text += "\nScore:\n";
    for criterion in &score.criteria {
        let _ = writeln!(
            text,
            "  {:<18} {:.1} x {:.2} = {:.3}   {}",
            criterion.name,
            criterion.weight,
            criterion.value,
            criterion.weight * criterion.value,
            criterion.formula
        );
    }
    let _ = writeln!(text, "  {:<18}           {:.3}   each formula is held between 0 and 1", "sum", score.total);
    let _ = writeln!(text, "\nVerdict: {}.", candidate.verdict.text());
    for reason in &candidate.reasons {
        let _ = writeln!(text, "  - {reason}");
    }
    Ok(text.trim_end().to_owned())
}
