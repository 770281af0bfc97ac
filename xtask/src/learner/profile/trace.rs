//! A profile as a Chrome trace: launches, copies and memsets in their streams, and below them the warps of one multiprocessor.

use std::collections::BTreeSet;

use fusion_diagnostic::{bound, state};
use fusion_grader::profile::Launch;
use fusion_machine::report::When;
use fusion_machine::report::account::Account;
use serde_json::{Value, json};

use super::{Report, tables};

/// The process whose threads are streams; those of multiprocessors follow. Numbers begin at 1: Perfetto takes 0 for its own.
const STREAMS: usize = 1;

/// The trace's JSON. Its times are in microseconds.
pub(super) fn text(report: &Report) -> String {
    let predicted = &report.profiled.predicted;
    let whens = || {
        let launches = predicted.launches.iter().map(|launch| launch.when);
        launches.chain(predicted.moves.iter().map(|moved| moved.when))
    };
    let begin = whens().map(|when| when.from).fold(f64::INFINITY, f64::min);
    let device = &report.device.name;
    let mut events = vec![named("process_name", (STREAMS, 1), &format!("{device} (PREDICTED)"))];
    let streams: BTreeSet<u32> = whens().map(|when| when.stream).collect();
    let (numbers, several) = (streams.clone(), streams.len() > 1);
    let thread = |stream: u32| 1 + numbers.iter().take_while(|known| **known != stream).count();
    for stream in streams {
        let name = match stream {
            _ if !several => "stream".to_owned(),
            0 => "default stream".to_owned(),
            number => format!("stream {number}"),
        };
        events.push(named("thread_name", (STREAMS, thread(stream)), &name));
    }
    let in_stream = |name: &str, When { stream, from, to }: When, arguments: &Value| {
        span(name, (STREAMS, thread(stream)), (from - begin, to - begin), arguments)
    };
    for moved in &predicted.moves {
        events.push(in_stream(tables::moved(moved.what), moved.when, &json!({ "bytes": moved.bytes })));
    }
    for (index, launch) in predicted.launches.iter().enumerate() {
        let bound = launch.account.as_ref().map(|account| bound(account, device).to_string());
        let arguments = json!({ "grid": launch.grid, "block": launch.block, "bound by": bound });
        events.push(in_stream(&launch.kernel, launch.when, &arguments));
        if let Some(account) = &launch.account {
            events.extend(multiprocessor(launch, account, STREAMS + 1 + index, begin));
        }
    }
    json!({ "traceEvents": events, "displayTimeUnit": "ns" }).to_string()
}

/// A thread for each warp.
fn multiprocessor(launch: &Launch, account: &Account, process: usize, begin: f64) -> Vec<Value> {
    let Some(trace) = &account.trace else { return Vec::new() };
    let name = format!("one multiprocessor, first blocks of {}", launch.kernel);
    let mut events = vec![named("process_name", (process, 1), &name)];
    let most = trace.spans.iter().map(|span| span.warp).max().map_or(0, |most| most + 1);
    let thread = |warp: u32| warp as usize + 1;
    events.extend((0..most).map(|warp| named("thread_name", (process, thread(warp)), &format!("warp {warp}"))));
    // Blocks begin when what a launch costs is over.
    let When { from, to, .. } = launch.when;
    let blocks = from - begin + account.overhead * (to - from);
    events.extend(trace.spans.iter().map(|known| {
        let line = account.lines.get(known.line).and_then(|line| line.source.as_ref()).map(|source| source.line);
        let arguments = json!({ "line": line, "ncu": known.state.name() });
        span(state(known.state), (process, thread(known.warp)), (blocks + known.from, blocks + known.to), &arguments)
    }));
    events
}

fn span(name: &str, (process, thread): (usize, usize), (from, to): (f64, f64), arguments: &Value) -> Value {
    // In hundredths of a nanosecond, so that what follows begins where this ends.
    let [from, to] = [from, to].map(|ns| (100.0 * ns).round());
    json!({
        "name": name, "ph": "X", "pid": process, "tid": thread, "ts": from / 1e5, "dur": (to - from) / 1e5, "args": arguments,
    })
}

fn named(what: &str, (process, thread): (usize, usize), name: &str) -> Value {
    json!({ "name": what, "ph": "M", "pid": process, "tid": thread, "args": { "name": name } })
}
