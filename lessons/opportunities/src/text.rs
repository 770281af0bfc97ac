//! The report as tables and a picture.

use std::fmt::Write as _;

use fusion_lesson::{duration, new_table};
use fusion_machine::Profile;

use crate::candidate::{Candidate, choose};
use crate::claim;
use crate::cost::{Cost, bytes, intensity, waits_for_memory};
use crate::graph::Graph;

pub(crate) fn report(graph: &Graph, profile: &Profile, candidates: &[Candidate]) -> String {
    let mut text = format!("{}\n", graph.name);
    if !graph.about.is_empty() {
        let _ = writeln!(text, "{}", graph.about);
    }
    let _ = writeln!(
        text,
        "Bytes and launches are counted; times are PREDICTED for {} by a roofline, not measured.\n",
        profile.product()
    );
    text += &operations(graph, profile);
    if candidates.is_empty() {
        return text
            + "\nNo operation here takes what another makes, and none share an input: there is nothing to fuse.";
    }
    text += "\nCandidates, best score first:\n";
    text += &table(candidates);
    text += "\nBytes apart (#) and fused (=):\n";
    text += &bars(candidates);
    text += "\nReasons against, and hints:\n";
    for candidate in candidates {
        let _ = writeln!(text, "  {} [{}]", candidate.name, candidate.verdict.text());
        for reason in &candidate.reasons {
            let _ = writeln!(text, "    - {reason}");
        }
        if candidate.reasons.is_empty() {
            text += "    - none\n";
        }
    }
    text += &chosen(graph, profile, candidates);
    text += &claim::compare(graph, profile, candidates);
    text + "\n--explain NAME shows the arithmetic of a candidate."
}

/// One row a launch.
fn operations(graph: &Graph, profile: &Profile) -> String {
    let mut table = new_table(&["operation", "operator", "shape", "MB", "operations/byte", "waits for"]);
    for operation in &graph.operations {
        let shape = graph.tensors_of(&operation.outputs).next().map(|out| format!("{:?} {:?}", out.shape, out.dtype));
        table.add_row([
            operation.name.clone(),
            format!("{} ({})", operation.operator.name, operation.kind().name()),
            shape.unwrap_or_default().to_lowercase(),
            megabytes(bytes(graph, operation)),
            format!("{:.2}", intensity(graph, operation)),
            if waits_for_memory(graph, profile, operation) { "memory" } else { "arithmetic" }.to_owned(),
        ]);
    }
    format!("{table}\n")
}

fn table(candidates: &[Candidate]) -> String {
    let mut table = new_table(&[
        "candidate",
        "form",
        "MB apart",
        "MB fused",
        "MB saved",
        "saved",
        "launches",
        "by bytes",
        "ideal, predicted",
        "score",
        "verdict",
    ]);
    for candidate in candidates {
        let Candidate { cost, .. } = candidate;
        table.add_row([
            candidate.name.clone(),
            candidate.form.text().to_owned(),
            megabytes(cost.unfused_bytes),
            megabytes(cost.fused_bytes),
            megabytes(cost.saved_bytes()),
            format!("{:.0}%", 100.0 * cost.saved_share()),
            format!("{} -> {}", cost.unfused_launches, cost.fused_launches),
            format!("{:.2}x", cost.unfused_bytes as f64 / cost.fused_bytes.max(1) as f64),
            format!("{:.2}x", cost.ideal_speedup()),
            format!("{:.2}", candidate.score.total),
            candidate.verdict.text().to_owned(),
        ]);
    }
    format!("{table}\n")
}

fn bars(candidates: &[Candidate]) -> String {
    const WIDTH: f64 = 48.0;
    let most = candidates.iter().map(|candidate| candidate.cost.unfused_bytes).max().unwrap_or(1).max(1) as f64;
    let names = candidates.iter().map(|candidate| candidate.name.len()).max().unwrap_or(0);
    let bar = |bytes: u64, mark: &str| mark.repeat(((WIDTH * bytes as f64 / most).round() as usize).max(1));
    let mut text = String::new();
    for Candidate { name, cost, .. } in candidates {
        let _ =
            writeln!(text, "  {name:<names$} {:>9} {}", megabytes(cost.unfused_bytes), bar(cost.unfused_bytes, "#"));
        let _ = writeln!(text, "  {:<names$} {:>9} {}", "", megabytes(cost.fused_bytes), bar(cost.fused_bytes, "="));
    }
    text
}

/// The graph before and after what should be fused.
fn chosen(graph: &Graph, profile: &Profile, candidates: &[Candidate]) -> String {
    let taken = choose(candidates);
    let single = |index: usize| Cost::of(graph, profile, &[index]);
    let before: Vec<Cost> = (0..graph.operations.len()).map(single).collect();
    let alone = (0..graph.operations.len()).filter(|i| taken.iter().all(|candidate| !candidate.operations.contains(i)));
    let after: Vec<Cost> = alone.map(single).chain(taken.iter().map(|candidate| candidate.cost)).collect();
    let bytes = |costs: &[Cost]| costs.iter().map(|cost| cost.fused_bytes).sum::<u64>();
    let time = |costs: &[Cost]| costs.iter().map(|cost| cost.predicted_fused_ns).sum::<f64>();
    let names: Vec<&str> = taken.iter().map(|candidate| candidate.name.as_str()).collect();
    match names.is_empty() {
        true => "\nNothing here should be fused without measuring first.\n".to_owned(),
        false => format!(
            "\nTaking {}: {} launches become {}, {} MB become {}, {} become {} (predicted, {:.2}x).\n",
            names.join(", "),
            before.len(),
            after.len(),
            megabytes(bytes(&before)),
            megabytes(bytes(&after)),
            duration(time(&before)),
            duration(time(&after)),
            time(&before) / time(&after)
        ),
    }
}

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}
