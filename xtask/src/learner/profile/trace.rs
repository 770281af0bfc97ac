//! A profile as a Chrome trace: launches in their stream, and below them the warps of one multiprocessor.

use fusion_diagnostic::{bound, state};
use fusion_machine::report::account::Account;
use fusion_machine::timing::EVENT_NS;
use serde_json::{Value, json};

use super::Report;

/// The process that has the stream; those of multiprocessors follow.
const STREAM: usize = 0;

/// The trace's JSON. Its times are in microseconds.
pub(super) fn text(report: &Report) -> String {
    let device = &report.device.name;
    let mut events = vec![named("process_name", STREAM, None, &format!("{device} (PREDICTED)"))];
    events.push(named("thread_name", STREAM, Some(0), "the stream"));
    let mut begun = 0.0;
    for (index, launch) in report.profiled.predicted.launches.iter().enumerate() {
        let took = (launch.ns - EVENT_NS).max(0.0);
        let bound = launch.account.as_ref().map(|account| bound(account, device).to_string());
        events.push(span(&launch.kernel, (STREAM, 0), (begun, begun + took), &json!({ "bound by": bound })));
        if let Some(account) = &launch.account {
            let process = index + 1;
            let name = format!("one multiprocessor, first blocks of {}", launch.kernel);
            events.push(named("process_name", process, None, &name));
            // Blocks begin when the launch is there.
            let blocks = begun + (account.overhead * launch.ns - EVENT_NS).max(0.0);
            events.extend(warps(account, process, blocks));
        }
        begun += took;
    }
    json!({ "traceEvents": events, "displayTimeUnit": "ns" }).to_string()
}

fn warps(account: &Account, process: usize, begun: f64) -> Vec<Value> {
    let Some(trace) = &account.trace else { return Vec::new() };
    let mut events = Vec::new();
    let most = trace.spans.iter().map(|span| span.warp).max().map_or(0, |most| most + 1);
    events.extend((0..most).map(|warp| named("thread_name", process, Some(warp), &format!("warp {warp}"))));
    events.extend(trace.spans.iter().map(|known| {
        let line = account.lines.get(known.line).and_then(|line| line.source.as_ref()).map(|source| source.line);
        let arguments = json!({ "line": line, "ncu": known.state.name() });
        span(state(known.state), (process, known.warp), (begun + known.from, begun + known.to), &arguments)
    }));
    events
}

fn span(name: &str, (process, thread): (usize, u32), (from, to): (f64, f64), arguments: &Value) -> Value {
    json!({
        "name": name, "ph": "X", "pid": process, "tid": thread, "ts": from / 1e3, "dur": (to - from) / 1e3, "args": arguments,
    })
}

fn named(what: &str, process: usize, thread: Option<u32>, name: &str) -> Value {
    json!({ "name": what, "ph": "M", "pid": process, "tid": thread.unwrap_or(0), "args": { "name": name } })
}
