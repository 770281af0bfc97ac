//! The cases under NVIDIA's compute-sanitizer, on a real GPU.
//!
//! Each case runs under each of the four tools in a process of its own, for a kernel that never ends or breaks its
//! context must not touch the next one.

mod comparison;
mod output;
mod process;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use fusion_machine::report::Code;
use serde::{Deserialize, Serialize};

pub use comparison::{Agreement, Row, compare, markdown, summary, table};
pub use output::parse;

use crate::case::{Case, Checks, Expected};

/// compute-sanitizer's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    Memcheck,
    Initcheck,
    Racecheck,
    Synccheck,
}

/// One kind of error of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub tool: Tool,
    /// The tool's own words, without what differs from run to run: `Invalid __global__ read of size 4 bytes`.
    pub kind: String,
    /// The kernel, where the tool names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    pub count: u64,
}

/// What all tools say about one case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub case: String,
    /// The codes that the emulated device must give, pending ones among them; empty for a passing case.
    pub ours: Vec<Code>,
    pub findings: Vec<Finding>,
    /// Tools that were stopped because the kernel did not end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Tool>,
    /// Tools that could not be run, with the end of what they printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<(Tool, String)>,
}

/// What is kept of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub device: String,
    /// compute-sanitizer's version.
    pub sanitizer: String,
    pub verdicts: Vec<Verdict>,
}

impl Record {
    /// As JSON with a line for each case.
    ///
    /// # Errors
    /// None that values like these can cause.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let verdicts: Vec<String> = self.verdicts.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        Ok(format!(
            "{{\"device\":{},\"sanitizer\":{},\"verdicts\":[\n{}\n]}}\n",
            serde_json::to_string(&self.device)?,
            serde_json::to_string(&self.sanitizer)?,
            verdicts.join(",\n")
        ))
    }
}

/// How to run the tools.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program `compute-sanitizer`.
    pub sanitizer: PathBuf,
    /// This program.
    pub program: PathBuf,
    pub jobs: usize,
    /// For one tool on one case.
    pub limit: Duration,
}

impl Tool {
    pub const ALL: [Self; 4] = [Self::Memcheck, Self::Initcheck, Self::Racecheck, Self::Synccheck];

    pub fn name(self) -> &'static str {
        match self {
            Self::Memcheck => "memcheck",
            Self::Initcheck => "initcheck",
            Self::Racecheck => "racecheck",
            Self::Synccheck => "synccheck",
        }
    }
}

/// Runs all tools on all cases, several at a time, and calls `told` after each with how many are done.
pub fn run(cases: &[Case], options: &Options, told: impl Fn(usize, usize) + Sync) -> Vec<Verdict> {
    let verdicts: Vec<Mutex<Verdict>> = cases.iter().map(|case| Mutex::new(Verdict::of(case))).collect();
    let (next, done, total) = (AtomicUsize::new(0), AtomicUsize::new(0), cases.len() * Tool::ALL.len());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let job = next.fetch_add(1, Relaxed);
                    let (Some(case), tool) = (cases.get(job / 4), Tool::ALL[job % 4]) else { break };
                    let ended =
                        process::run(&options.sanitizer, &arguments(tool, &options.program, case), options.limit);
                    if let Ok(mut verdict) = verdicts[job / 4].lock() {
                        verdict.add(tool, ended);
                    }
                    told(done.fetch_add(1, Relaxed) + 1, total);
                }
            });
        }
    });
    verdicts.into_iter().filter_map(|verdict| verdict.into_inner().ok()).collect()
}

/// Whether compute-sanitizer can have an opinion: it knows no lints and gives no advice.
pub fn concerns(case: &Case) -> bool {
    case.checks == Checks::default()
}

/// What compute-sanitizer calls itself, or why it cannot be started.
pub fn version(sanitizer: &Path) -> String {
    let printed = process::run(sanitizer, &["--version".to_owned()], Duration::from_secs(60)).output;
    printed.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

fn arguments(tool: Tool, program: &Path, case: &Case) -> Vec<String> {
    let program = program.to_string_lossy();
    let words = ["--tool", tool.name()].into_iter();
    words.chain([&*program, "run", "--device", "gpu", "--exact", &case.name]).map(str::to_owned).collect()
}

impl Verdict {
    fn of(case: &Case) -> Self {
        let ours = match &case.expected {
            Expected::Pass => Vec::new(),
            Expected::Fail(codes) => codes.clone(),
        };
        Self { case: case.name.clone(), ours, ..Self::default() }
    }

    fn add(&mut self, tool: Tool, ended: process::Ended) {
        let found = parse(tool, &ended.output);
        // The tool always counts in its last line, unless it was stopped before.
        match (ended.in_time, found.is_complete) {
            (false, _) => self.stopped.push(tool),
            (true, false) => {
                let tail: Vec<&str> = ended.output.lines().rev().take(6).collect();
                self.broken.push((tool, tail.into_iter().rev().collect::<Vec<_>>().join("\n")));
            }
            (true, true) => {}
        }
        self.findings.extend(found.findings);
        // Jobs end in any order.
        self.findings.sort_by_key(|finding| finding.tool as u8);
        self.stopped.sort_by_key(|tool| *tool as u8);
    }
}
