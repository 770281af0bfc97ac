//! Nsight Compute: a worker's launches on a GPU, with the metrics that are asked for.

use std::collections::BTreeMap;
use std::process::Command;

use crate::process::{self, End, Said, Watch};

/// One launch: its kernel, and each metric that is a number by its name, in the metric's base unit: bytes, nanoseconds, percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Launch {
    pub(super) kernel: String,
    pub(super) metrics: BTreeMap<String, f64>,
}

pub(super) fn is_there() -> bool {
    Command::new("ncu").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Has the profiler run a worker that launches kernels of these names: what it says of each launch in their order, or why it says
/// nothing. `asked` is what the profiler collects, as its own options. Clocks are left as they are in real use.
pub(super) fn ask(
    worker: &Command,
    kernels: &[&str],
    asked: &[&str],
    watch: &Watch<'_>,
) -> Result<Vec<Launch>, String> {
    let mut command = Command::new("ncu");
    let named = format!("regex:^({})$", kernels.join("|"));
    command.args(["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]);
    command.args(asked).args(["--kernel-name-base", "function", "--kernel-name", &named]);
    command.arg(worker.get_program()).args(worker.get_args());
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

/// Why there is no launch.
fn why(text: &str) -> String {
    if text.contains("ERR_NVGPUCTRPERM") {
        return "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM); \
                an administrator can allow it: developer.nvidia.com/ERR_NVGPUCTRPERM"
            .to_owned();
    }
    let error = text.lines().find(|line| line.contains("==ERROR==")).map(|line| line.replace("==ERROR==", ""));
    error.map_or_else(|| "it printed no launch".to_owned(), |error| error.trim().to_owned())
}

/// The launches of `--csv --page raw`: a line of names, one of units, and one for each launch.
fn parse(text: &str) -> Vec<Launch> {
    let mut rows = text.lines().filter(|line| line.starts_with('"')).map(cells);
    let Some(header) = rows.next() else { return Vec::new() };
    let Some(kernel) = header.iter().position(|name| name == "Kernel Name") else { return Vec::new() };
    let launch = |row: Vec<String>| {
        let name = row.get(kernel)?.split(['(', '<']).next()?.to_owned();
        let number = |(title, value): (&String, &String)| Some((title.clone(), value.replace(',', "").parse().ok()?));
        let metrics = header.iter().zip(&row).filter_map(number).collect();
        (!name.is_empty()).then_some(Launch { kernel: name, metrics })
    };
    rows.filter_map(launch).collect()
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
"ID","Kernel Name","dram__bytes_read.sum","launch__registers_per_thread"
"","","byte","register/thread"
"0","softmax_naive(const float *, float *, int)","1,007","32"
"1","scale<int>(int *)","5","n/a"
"#;

    #[test]
    fn launches_come_in_their_order() {
        let found = parse(RAW);
        let names: Vec<&str> = found.iter().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!(names, ["softmax_naive", "scale"]);
        assert_approx_eq::assert_approx_eq!(found[0].metrics["dram__bytes_read.sum"], 1007.0);
        assert!(!found[1].metrics.contains_key("launch__registers_per_thread"), "{found:?}");
        assert_eq!(parse("==ERROR== no"), []);
    }

    #[test]
    fn a_reader_learns_why_there_are_none() {
        let denied = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission";
        assert!(why(denied).starts_with("this user may not read"));
        assert_eq!(why("==ERROR== No kernels were profiled."), "No kernels were profiled.");
        assert_eq!(why(""), "it printed no launch");
    }
}
