//! The report on a trace as tables.

use std::fmt::Write as _;

use fusion_lesson::{duration, new_table};
use fusion_machine::Profile;

use super::candidate::Candidate;
use super::flow::{Flow, Launch, Step};
use crate::candidate::{Form, Verdict};
use crate::text::megabytes;

pub(super) fn report(flow: &Flow, candidates: &[Candidate], profile: &Profile) -> String {
    let mut text = format!("{}: {} launches on {}\n", flow.command, flow.launches(), flow.device);
    let _ = writeln!(
        text,
        "Bytes are counted, in sectors of 32; times are PREDICTED, not measured: of launches by the\nclock of {}; of what is fused, these less the saved launches and bytes, by the figures of {}.\n",
        flow.device,
        profile.product()
    );
    text += &launches(flow);
    if candidates.is_empty() {
        return text
            + "\nNo launch reads what another one wrote, and no two neighbours read the same: there is nothing to fuse.\n";
    }
    text += "\nCandidates; what saves the program most comes first:\n";
    text += &table(candidates);
    text += "\nReasons against:\n";
    for candidate in candidates {
        let _ = writeln!(text, "  {} [{}]", candidate.name(), candidate.verdict.text());
        for reason in &candidate.reasons {
            let _ = writeln!(text, "    - {reason}");
        }
        if candidate.reasons.is_empty() {
            text += "    - none that a trace shows\n";
        }
    }
    text += &chosen(flow, candidates);
    text + "\nA trace shows who reads which bytes. It does not show whether a block needs only what the same block has made:\nask that of each candidate before you write it.\n"
}

/// The program before and after what should be fused. A launch is in one group at most, and groups and neighbours are not counted twice.
fn chosen(flow: &Flow, candidates: &[Candidate]) -> String {
    let taken =
        candidates.iter().filter(|candidate| candidate.verdict == Verdict::Fuse && candidate.form == Form::Chain);
    let (mut launches, mut bytes, mut ns) = (0, 0_u64, 0.0);
    for candidate in taken {
        launches += candidate.times * (candidate.kernels.len() as u64 - 1);
        bytes = bytes.saturating_add(candidate.times.saturating_mul(candidate.bytes_apart - candidate.bytes_fused));
        ns += candidate.saved_ns();
    }
    if launches == 0 {
        return String::new();
    }
    let before = flow.launches() as u64;
    let all: u64 =
        flow.steps.iter().filter(|step| step.launch().is_some()).fold(0, |sum, step| sum.saturating_add(step.bytes()));
    let time: f64 = flow.steps.iter().filter_map(|step| step.launch()).map(|launch| launch.ns).sum();
    format!(
        "\nFusing every chain that says fuse: {before} launches become {}, {} MB become {}, {} become {} (predicted, {:.2}x).\n",
        before - launches,
        megabytes(all),
        megabytes(all.saturating_sub(bytes)),
        duration(time),
        duration(time - ns),
        time / (time - ns)
    )
}

/// Launches that are alike, once.
struct Row<'a> {
    launch: &'a Launch,
    step: &'a Step,
    times: u64,
}

fn launches(flow: &Flow) -> String {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for step in &flow.steps {
        let Some(launch) = step.launch() else { continue };
        let same = |row: &&mut Row<'_>| {
            row.launch.kernel == launch.kernel
                && (row.launch.blocks, row.launch.threads) == (launch.blocks, launch.threads)
                && (row.step.read, row.step.written) == (step.read, step.written)
        };
        match rows.iter_mut().find(same) {
            Some(row) => row.times += 1,
            None => rows.push(Row { launch, step, times: 1 }),
        }
    }
    let mut table = new_table(&[
        "kernel",
        "launches",
        "blocks x threads",
        "MB read",
        "MB written",
        "each byte asked for",
        "predicted",
    ]);
    for Row { launch, step, times } in rows {
        table.add_row([
            launch.kernel.clone(),
            times.to_string(),
            format!("{} x {}", launch.blocks, launch.threads),
            megabytes(step.read),
            megabytes(step.written),
            format!("{:.1} times", launch.reuse),
            duration(launch.ns),
        ]);
    }
    format!("{table}\n")
}

fn table(candidates: &[Candidate]) -> String {
    let header = ["candidate", "form", "times", "MB apart", "MB fused", "saved", "launches", "predicted", "verdict"];
    let mut table = new_table(&header);
    for candidate in candidates {
        let saved = candidate.bytes_apart - candidate.bytes_fused;
        table.add_row([
            candidate.name(),
            candidate.form.text().to_owned(),
            candidate.times.to_string(),
            megabytes(candidate.bytes_apart),
            megabytes(candidate.bytes_fused),
            format!("{:.0}%", 100.0 * saved as f64 / candidate.bytes_apart.max(1) as f64),
            format!("{} -> 1", candidate.kernels.len()),
            format!("{:.2}x", candidate.speedup()),
            candidate.verdict.text().to_owned(),
        ]);
    }
    format!("{table}\n")
}
