//! A profile as a picture: what a warp's accesses reach, and what the warps of one multiprocessor do.

use fusion_chart::{AccessRow, Basis, Heading, WarpChart, WarpSpan};
use fusion_machine::report::State;
use fusion_machine::report::account::{Access, Account, Cause, Trace};

use super::Report;

/// What the colours mean, in their order.
const CAUSES: [(Cause, &str); 6] = [
    (Cause::Instructions, "instructions"),
    (Cause::Memory, "waiting for memory"),
    (Cause::Shared, "shared memory, shuffles, special functions"),
    (Cause::Barriers, "barriers"),
    (Cause::Starting, "starting"),
    (Cause::Fences, "fences"),
];

/// Of the launch that takes longest.
pub(super) fn text(report: &Report) -> String {
    let launches = report.profiled.predicted.launches.iter().filter(|launch| launch.account.is_some());
    let longest = launches.max_by(|one, other| one.ns.total_cmp(&other.ns));
    let (kernel, account) = longest.map_or(("", None), |launch| (launch.kernel.as_str(), launch.account.as_deref()));
    let empty = Account::default();
    let account = account.unwrap_or(&empty);
    let trace = account.trace.clone().unwrap_or_default();
    let used = |cause: Cause| trace.spans.iter().any(|span| span.state.cause() == cause);
    let causes: Vec<(Cause, &str)> = CAUSES.into_iter().filter(|(cause, _)| used(*cause)).collect();
    let kind = |state: State| causes.iter().position(|(cause, _)| *cause == state.cause()).unwrap_or_default();
    let chart = WarpChart {
        heading: Heading {
            title: format!("{kernel}: what warps reach, and what they do"),
            basis: Basis::Predicted,
            source: format!(
                "{}, {}, {}, `cargo xtask {}`",
                report.device.name, report.exercise, report.profiled.shape, report.command
            ),
        },
        accesses: rows(account, &trace),
        kinds: causes.iter().map(|(_, name)| (*name).to_owned()).collect(),
        spans: (trace.spans.iter())
            .map(|span| WarpSpan { warp: span.warp as usize, kind: kind(span.state), from: span.from, to: span.to })
            .collect(),
    };
    chart.render() + "\n"
}

/// Accesses of one line that look the same are one row.
fn rows(account: &Account, trace: &Trace) -> Vec<AccessRow> {
    let mut rows: Vec<(AccessRow, usize)> = Vec::new();
    for new in trace.accesses.iter().map(|access| row(account, access)) {
        let same = |(known, _): &&mut (AccessRow, usize)| *known == new;
        match rows.iter_mut().find(same) {
            Some((_, times)) => *times += 1,
            None => rows.push((new, 1)),
        }
    }
    let label = |(row, times): (AccessRow, usize)| match times {
        1 => row,
        _ => AccessRow { label: format!("{}, {times} of them", row.label), ..row },
    };
    rows.into_iter().map(label).collect()
}

fn row(account: &Account, access: &Access) -> AccessRow {
    let line = account.lines.get(access.line).and_then(|line| line.source.as_ref()).map(|source| source.line);
    let at = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let what = if access.write { "store" } else { "load" };
    let width = access.width;
    let (sectors, label) = match access.sectors.is_empty() {
        true => (Vec::new(), format!("{at}{what} of {width} bytes, shared memory")),
        false => (access.sectors.clone(), format!("{at}{what} of {width} bytes a thread")),
    };
    AccessRow { label, sectors, passes: usize::from(access.passes) }
}
