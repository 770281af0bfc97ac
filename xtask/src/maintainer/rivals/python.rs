//! The Python process that times PyTorch and what builds on it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fusion_course::Shape;
use fusion_grader::judgement::{Interval, RunError};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::interrupt::Interrupt;
use crate::judge::Stop;
use crate::process::{self, End, Said, Watch};
use crate::progress::Progress;

const SCRIPT: &str = include_str!("../../../rivals/rivals.py");

/// Importing PyTorch and its first launch.
const START: Duration = Duration::from_secs(180);

/// A Python, and the script in a file: Triton reads the source of its kernels from where they stand.
#[derive(Debug)]
pub(super) struct Python {
    program: PathBuf,
    script: NamedTempFile,
}

/// One of the others at one shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Rival {
    #[serde(skip_serializing)]
    pub(super) operation: String,
    /// `eager`, `torch.compile`, `triton`, `liger`.
    pub(super) variant: String,
    #[serde(skip_serializing)]
    pub(super) rows: usize,
    #[serde(skip_serializing)]
    pub(super) columns: usize,
    /// None where it failed or was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time_ns: Option<Interval>,
    #[serde(default)]
    pub(super) runs: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wrong: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<String>,
}

/// What one run of the script said.
#[derive(Debug, Default)]
pub(super) struct Theirs {
    rivals: Vec<Rival>,
    /// A copy of 2 GiB within the device, in GB/s, both directions counted.
    pub(super) copy_gb_per_s: Option<f64>,
    pub(super) notes: Vec<String>,
    versions: BTreeMap<String, String>,
    unable: Option<String>,
}

/// A line of the script's.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Timed(Rival),
    Ceiling {
        ceiling: Copy,
    },
    Ready {
        versions: BTreeMap<String, String>,
        #[serde(default)]
        notes: Vec<String>,
    },
    Missing {
        missing: String,
    },
    Unable {
        unable: String,
    },
}

#[derive(Debug, Deserialize)]
struct Copy {
    gb_per_s: f64,
}

/// The shortest time of those that are right, in nanoseconds.
pub(super) fn best(rivals: &[Rival]) -> Option<f64> {
    rivals.iter().filter_map(|rival| Some(rival.time_ns?.median)).min_by(f64::total_cmp)
}

impl Theirs {
    fn hear(&mut self, line: &str) -> bool {
        match serde_json::from_str(line) {
            Ok(Line::Timed(rival)) => {
                let problem = rival.wrong.as_ref().map(|what| format!("is wrong, and not timed: {what}"));
                let problem = problem.or_else(|| rival.failed.as_ref().map(|what| format!("failed: {what}")));
                self.notes.extend(problem.map(|text| {
                    format!("{}: {} at {}x{} {text}", rival.operation, rival.variant, rival.rows, rival.columns)
                }));
                self.rivals.push(rival);
            }
            Ok(Line::Ceiling { ceiling }) => self.copy_gb_per_s = Some(ceiling.gb_per_s),
            Ok(Line::Ready { versions, notes }) => {
                self.versions = versions;
                self.notes.extend(notes);
            }
            Ok(Line::Missing { missing }) => self.notes.push(format!("the script has no `{missing}` to compare with")),
            Ok(Line::Unable { unable }) => self.unable = Some(unable),
            Err(_) => return false,
        }
        true
    }

    pub(super) fn at(&self, operation: &str, rows: usize, columns: usize) -> Vec<Rival> {
        let here = |rival: &&Rival| rival.operation == operation && (rival.rows, rival.columns) == (rows, columns);
        self.rivals.iter().filter(here).cloned().collect()
    }
}

impl Python {
    pub(super) fn new(program: &Path) -> Result<Self, RunError> {
        let written = tempfile::Builder::new().prefix("rivals").suffix(".py").tempfile().and_then(|mut file| {
            file.write_all(SCRIPT.as_bytes())?;
            file.flush()?;
            Ok(file)
        });
        let script =
            written.map_err(|error| RunError::new("no-python", format!("cannot write the script: {error}")))?;
        Ok(Self { program: program.to_path_buf(), script })
    }

    /// The versions of what can be imported, and notes on what cannot although it is installed.
    pub(super) fn probe(&self, interrupt: &Interrupt) -> Result<(BTreeMap<String, String>, Vec<String>), Stop> {
        let theirs = self.run(&["--probe".to_owned()], START, interrupt, &mut |_| {})?;
        Ok((theirs.versions, theirs.notes))
    }

    /// Times operations, each at its shapes, in one process. `limit` is for one shape.
    pub(super) fn time(
        &self,
        operations: &[(&str, Vec<Shape>)],
        limit: Duration,
        interrupt: &Interrupt,
        progress: &Progress,
    ) -> Result<Theirs, Stop> {
        let arguments = operations.iter().map(|(operation, shapes)| {
            let size = |shape: &Shape| {
                let terms = shape.depth.map_or(String::new(), |depth| format!("x{depth}"));
                let heads = shape.heads.map_or(String::new(), |[_, keys]| format!("x{keys}x{}", shape.head()));
                let last = shape.experts.or(shape.pages).map_or(String::new(), |last| format!("x{last}"));
                format!("{}x{}{terms}{heads}{last}", shape.rows, shape.columns)
            };
            let shapes: Vec<String> = shapes.iter().map(size).collect();
            format!("{operation}={}", shapes.join(","))
        });
        let count: usize = operations.iter().map(|(_, shapes)| shapes.len()).sum();
        let limit = START.saturating_add(limit.saturating_mul(count as u32));
        self.run(&arguments.collect::<Vec<_>>(), limit, interrupt, &mut |line| progress.note(line))
    }

    fn run(
        &self,
        arguments: &[String],
        limit: Duration,
        interrupt: &Interrupt,
        other: &mut dyn FnMut(&str),
    ) -> Result<Theirs, Stop> {
        let mut theirs = Theirs::default();
        let mut complaints: Vec<String> = Vec::new();
        let mut command = Command::new(&self.program);
        command.arg(self.script.path()).args(arguments);
        let end = process::run(&mut command, &Watch { limit, interrupt }, |said| match said {
            Said::Printed(line) if theirs.hear(&line) => {}
            Said::Printed(line) => other(&line),
            Said::Complained(line) => complaints.push(line),
            Said::Message(_) => {}
        });
        let unable = |text: String| Stop::Error(RunError::new("no-python", text));
        let program = self.program.display();
        let end = end.map_err(|error| unable(format!("cannot run {program}: {error}; --python names another one")))?;
        if let Some(why) = theirs.unable {
            return Err(unable(format!(
                "{why} ({program}); this command needs a GPU and a Python with PyTorch, and --python names another one"
            )));
        }
        let last = complaints.last().map(|line| format!(": {line}")).unwrap_or_default();
        match end {
            End::Interrupted => return Err(Stop::Interrupted),
            End::Exited(0) => {}
            End::TimedOut => theirs.notes.push(format!("{program} was stopped after {} s", limit.as_secs())),
            End::Stopped(_) => theirs.notes.push(format!("{program} was stopped")),
            End::Exited(code) => theirs.notes.push(format!("{program} ended with exit code {code}{last}")),
            End::Killed(signal) => {
                theirs.notes.push(format!("{program} died: {}{last}", process::signal_name(signal)));
            }
        }
        if theirs.versions.is_empty() {
            return Err(unable(format!("{program} said nothing about PyTorch{last}")));
        }
        Ok(theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_script_are_understood_and_others_are_not() {
        let mut theirs = Theirs::default();
        for line in [
            r#"{"device": "GPU", "versions": {"torch": "2.11"}, "notes": ["liger-kernel is left out"]}"#,
            r#"{"ceiling": {"gb_per_s": 4250.5, "runs": 40}}"#,
            r#"{"operation": "x", "rows": 2, "columns": 3, "variant": "eager", "time_ns": {"median": 5.0, "low": 4.0, "high": 6.0}, "runs": 31}"#,
            r#"{"operation": "x", "rows": 2, "columns": 3, "variant": "liger", "failed": "ImportError: no"}"#,
            r#"{"operation": "x", "rows": 2, "columns": 3, "variant": "triton", "wrong": "output 0"}"#,
            r#"{"operation": "y", "rows": 2, "columns": 3, "variant": "eager", "time_ns": {"median": 7.0, "low": 7.0, "high": 7.0}, "runs": 31}"#,
            r#"{"missing": "y"}"#,
        ] {
            assert!(theirs.hear(line), "{line}");
        }
        assert!(!theirs.hear("hello") && !theirs.hear("{}"));
        assert_eq!((theirs.copy_gb_per_s, theirs.versions["torch"].as_str()), (Some(4250.5), "2.11"));
        let times: Vec<Option<f64>> =
            theirs.at("x", 2, 3).iter().map(|rival| rival.time_ns.map(|time| time.median)).collect();
        assert_eq!((times, theirs.at("x", 3, 2).len()), (vec![Some(5.0), None, None], 0));
        assert_eq!(theirs.notes.len(), 4, "{:?}", theirs.notes);
        assert!(theirs.hear(r#"{"unable": "no GPU"}"#) && theirs.unable.is_some());
    }

    #[test]
    fn every_exercise_has_its_operation_in_the_script() {
        for exercise in fusion_course::days().iter().flat_map(|day| day.exercises) {
            assert!(SCRIPT.contains(&format!("\n    \"{}\": (", exercise.name)), "{} has no rival", exercise.name);
        }
    }
}
