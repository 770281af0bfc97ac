//! What Nsight Compute says of the same launches on a GPU: the shares of warps' time by state.

use std::collections::BTreeMap;
use std::process::Command;

use crate::process::{self, End, Said, Watch};

/// By the state's name.
pub(super) type Shares = BTreeMap<String, f64>;

/// What the metrics of warp states begin and end with.
const BEFORE: &str = "smsp__average_warps_issue_stalled_";
const BEHIND: &str = "_per_issue_active.ratio";

pub(super) fn is_there() -> bool {
    Command::new("ncu").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Has the profiler run a worker that launches kernels of these names: their shares, or why there are none.
pub(super) fn ask(worker: &Command, kernels: &[&str], watch: &Watch<'_>) -> Result<BTreeMap<String, Shares>, String> {
    let mut command = Command::new("ncu");
    let named = format!("regex:^({})$", kernels.join("|"));
    command.args(["--csv", "--page", "raw", "--section", "WarpStateStats", "--kernel-name-base", "function"]);
    command.args(["--kernel-name", &named]).arg(worker.get_program()).args(worker.get_args());
    if let Some(folder) = worker.get_current_dir() {
        command.current_dir(folder);
    }
    let (mut text, mut complaints) = (String::new(), String::new());
    let end = process::run(&mut command, watch, |said| match said {
        Said::Printed(line) => text += &format!("{line}\n"),
        Said::Complained(line) => complaints += &format!("{line}\n"),
        Said::Message(_) => {}
    });
    match end {
        Err(error) => return Err(error.to_string()),
        Ok(End::Interrupted) => return Err("interrupted".to_owned()),
        Ok(End::TimedOut) => return Err(format!("it took more than {} s", watch.limit.as_secs())),
        Ok(_) => {}
    }
    let found = parse(&text);
    if found.is_empty() { Err(why(&format!("{text}{complaints}"))) } else { Ok(found) }
}

/// Why there is no table.
fn why(text: &str) -> String {
    if text.contains("ERR_NVGPUCTRPERM") {
        return "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM); \
                an administrator can allow it: developer.nvidia.com/ERR_NVGPUCTRPERM"
            .to_owned();
    }
    let error = text.lines().find(|line| line.contains("==ERROR==")).map(|line| line.replace("==ERROR==", ""));
    error.map_or_else(|| "it printed no warp states".to_owned(), |error| error.trim().to_owned())
}

/// The shares of each kernel from `--csv --page raw`: a line of names, one of units, and one a launch. Of several launches of a kernel the
/// first counts.
fn parse(text: &str) -> BTreeMap<String, Shares> {
    let mut rows = text.lines().filter(|line| line.starts_with('"')).map(cells);
    let Some(header) = rows.next() else { return BTreeMap::new() };
    let Some(kernel) = header.iter().position(|name| name == "Kernel Name") else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for row in rows {
        let name = row.get(kernel).map(|name| name.split(['(', '<']).next().unwrap_or_default().to_owned());
        let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
        let ratio = |(title, value): (&String, &String)| {
            let state = title.strip_prefix(BEFORE)?.strip_suffix(BEHIND)?;
            // Others say how much of it lies where nothing is issued.
            let value: f64 = value.replace(',', "").parse().ok().filter(|_| !state.ends_with("_not_issued"))?;
            Some((state.to_owned(), value))
        };
        let ratios: Shares = header.iter().zip(&row).filter_map(ratio).collect();
        let all: f64 = ratios.values().sum();
        if all > 0.0 {
            let shares = ratios.into_iter().map(|(state, ratio)| (state, ratio / all)).collect();
            found.entry(name).or_insert(shares);
        }
    }
    found
}

/// The cells of a line of comma-separated values, each in quotation marks.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = r#"==PROF== Connected to process 12
"ID","Kernel Name","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_barrier_not_issued_per_issue_active.ratio"
"","","inst","inst","inst"
"0","softmax_naive(const float *, float *, int)","2.5","1,007.5","9"
"1","softmax_naive(const float *, float *, int)","1","1","9"
"#;

    #[test]
    fn shares_come_from_the_first_launch_of_a_kernel() {
        let found = parse(RAW);
        assert_eq!(found.len(), 1);
        let shares = &found["softmax_naive"];
        assert_eq!(shares.len(), 2);
        assert!((shares["barrier"] - 2.5 / 1010.0).abs() < 1e-9, "{shares:?}");
        assert_eq!(parse("==ERROR== no"), BTreeMap::new());
    }

    #[test]
    fn a_reader_learns_why_there_are_none() {
        let denied = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission";
        assert!(why(denied).starts_with("this user may not read"));
        assert_eq!(why("==ERROR== No kernels were profiled."), "No kernels were profiled.");
        assert_eq!(why(""), "it printed no warp states");
    }
}
