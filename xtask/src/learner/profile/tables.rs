//! A profile as tables.

use fusion_diagnostic::{bound, state, unit};
use fusion_grader::profile::Launch;
use fusion_grader::render::{self, Look};
use fusion_machine::report::account::{Account, Line};
use fusion_machine::report::{Move, Moved, State};

use super::Report;

/// Shares below this are not shown.
const LITTLE: f64 = 0.005;

/// Columns of the source's text.
const TEXT: usize = 88;

pub(super) fn text(report: &Report, look: Look) -> String {
    let Report { exercise, device, profiled, .. } = report;
    let us = profiled.predicted.ns / 1e3;
    let mut text = format!("{exercise}, {} at {}, on {}: {us:.1} us\n", profiled.variant, profiled.shape, device.name);
    text += "PREDICTED by the emulated device's clock: no time here is a measurement\n";
    for launch in &profiled.predicted.launches {
        text += &format!("\n{}", launch_text(report, launch, look));
    }
    for Move { what, bytes, when } in &profiled.predicted.moves {
        let (mb, us) = (*bytes as f64 / 1e6, (when.to - when.from) / 1e3);
        text += &format!("\n{}: {mb:.1} MB, {us:.1} us\n", moved(*what));
    }
    if let Some(Err(why)) = &report.ncu {
        text += &format!("\nncu says nothing: {why}\n");
    }
    text
}

/// What a copy or a memset is called.
pub(super) fn moved(what: Moved) -> &'static str {
    match what {
        Moved::ToDevice => "copy to the device",
        Moved::ToHost => "copy to the host",
        Moved::WithinDevice => "copy within the device",
        Moved::WithinHost => "copy within the host",
        Moved::Memset => "memset",
    }
}

fn launch_text(report: &Report, launch: &Launch, look: Look) -> String {
    let Launch { kernel, grid, block, ns, account, .. } = launch;
    let dimensions = |[x, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => format!("{x}"),
        _ => format!("{x}x{y}x{z}"),
    };
    let us = ns / 1e3;
    let mut text = format!("{kernel}: {} blocks of {} threads, {us:.1} us\n", dimensions(*grid), dimensions(*block));
    let Some(account) = account else { return text + "its time is not from a simulation, and has no account\n" };
    text += &format!("bound by {}\n", bound(account, &report.device.name));
    text += &format!(
        "{}\n\n{}\n\n{}\n",
        facts(account),
        states(report, kernel, account, look),
        lines(report, account, look)
    );
    text
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// A line of each matter but the warps.
fn facts(account: &Account) -> String {
    let Account { overhead, dispatch, tail, busy, flight, warps, .. } = account;
    let mut busy: Vec<_> = busy.iter().filter(|(_, share)| **share >= LITTLE).collect();
    busy.sort_by(|one, other| other.1.total_cmp(one.1));
    let busy: Vec<String> =
        busy.into_iter().map(|(busy, share)| format!("{} {}", unit(*busy), percent(*share))).collect();
    let kib = |bytes: f64| bytes / 1024.0;
    format!(
        "time:      {} launching; of the rest an SM's places are empty {} before blocks are handed out, {} after the last\n\
         at work:   {}\n\
         in flight: {:.1} KiB per SM on average; {:.1} KiB keep memory busy\n\
         warps:     {:.1} on an SM on average; room for {} of {}",
        percent(*overhead),
        percent(*dispatch),
        percent(*tail),
        busy.join(", "),
        kib(flight.bytes),
        kib(flight.needed),
        warps.resident,
        warps.fit,
        warps.most,
    )
}

/// What warps do, with the profiler's shares beside where it was asked.
fn states(report: &Report, kernel: &str, account: &Account, look: Look) -> String {
    let measured = report.ncu.as_ref().and_then(|asked| asked.as_ref().ok()?.get(kernel));
    let mut header = vec!["a warp is", "ncu's name", "PREDICTED"];
    header.extend(measured.map(|_| "ncu"));
    let mut table = render::blank(header, look);
    let mut states: Vec<(State, f64)> = State::ALL.into_iter().map(|state| (state, account.share(state))).collect();
    states.sort_by(|one, other| other.1.total_cmp(&one.1));
    for (known, share) in states {
        let other = measured.map(|shares| shares.get(known.name()).copied().unwrap_or_default());
        if share >= LITTLE || other.is_some_and(|other| other >= LITTLE) {
            let mut row = vec![state(known).to_owned(), known.name().to_owned(), percent(share)];
            row.extend(other.map(percent));
            table.add_row(row);
        }
    }
    // What the simulation knows nothing of.
    let known = |name: &str| State::ALL.iter().any(|state| state.name() == name);
    for (name, share) in measured.into_iter().flatten().filter(|(name, share)| !known(name) && **share >= LITTLE) {
        table.add_row(vec!["not modelled".to_owned(), name.clone(), "-".to_owned(), percent(*share)]);
    }
    table.trim_fmt()
}

pub(super) fn lines(report: &Report, account: &Account, look: Look) -> String {
    let header = ["line", "share", "mostly", "sectors each", "MB", "source"];
    let mut table = render::blank(header, look);
    for line in &account.lines {
        let accesses = [line.loads, line.stores];
        if line.share() < LITTLE && accesses.iter().all(fusion_machine::report::account::Accesses::is_none) {
            continue;
        }
        let requests: f64 = accesses.iter().map(|it| it.requests).sum();
        let sectors: f64 = accesses.iter().map(|it| it.sectors).sum();
        let (each, moved) = match requests > 0.0 {
            true => (format!("{:.1}", sectors / requests), format!("{:.1}", 32.0 * sectors / 1e6)),
            false => Default::default(),
        };
        table.add_row([place(line), percent(line.share()), mostly(account, line), each, moved, source(report, line)]);
    }
    let file = account.lines.iter().find_map(|line| line.source.as_ref()).map(|source| format!("{}\n", source.file));
    file.unwrap_or_default() + &table.trim_fmt()
}

/// The line's number. All lines are the kernel's own file's.
fn place(line: &Line) -> String {
    match (&line.source, &line.ptx) {
        (Some(source), _) => source.line.to_string(),
        (None, Some(ptx)) => format!("PTX {}", ptx.line),
        (None, None) => "-".to_owned(),
    }
}

/// What warps mostly do at a line, and whom they wait for there.
fn mostly(account: &Account, line: &Line) -> String {
    let Some(most) = line.state() else { return String::new() };
    let waits = matches!(most, State::LongScoreboard | State::ShortScoreboard);
    let awaited = line.awaited.filter(|_| waits).and_then(|at| account.lines.get(at));
    let of = awaited.and_then(|other| other.source.as_ref());
    match (of, &line.source) {
        (Some(other), Some(own)) if other.line != own.line => format!("{} (line {})", most.name(), other.line),
        _ => most.name().to_owned(),
    }
}

fn source(report: &Report, line: &Line) -> String {
    let text = match (&line.source, &line.ptx) {
        (Some(source), _) => {
            let lines = report.sources.get(&source.file);
            lines.and_then(|lines| lines.get((source.line as usize).checked_sub(1)?)).cloned().unwrap_or_default()
        }
        (None, Some(ptx)) => ptx.text.clone(),
        (None, None) => String::new(),
    };
    let text = text.trim();
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
