//! Predictions that are stored. To make all of them takes minutes, so `--spot-check` makes some anew and takes the
//! others as they are.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fusion_grader::judgement::RunError;
use fusion_timings::{Cache, Compared, Record, prediction};

use super::failed;
use crate::output;
use crate::programs::workspace_root;

/// A spot check predicts one of so many points, or of exercises what belongs to one of so many shapes.
pub(super) const ONE_IN: usize = 8;

/// Where predictions and verdicts are stored, in the workspace.
const FOLDER: &str = "crates/timings/predicted";

/// How far apart two predictions are that are taken to be the same: where buffers lie depends on what was made before
/// them, and the time a little on that.
const ALIKE: f64 = 0.01;

/// One in so many may be further off: a simulation in which blocks are nearly in step may go one way or another by that
/// little.
const MAY_DIFFER: usize = 50;

/// Of the differences between what is stored and what is predicted, so many are told.
const TOLD: usize = 10;

/// Predictions that are stored, and how many of them were found to be others now, where these are too many.
pub(super) struct Stored {
    records: Vec<Record>,
    pub(super) differ: usize,
}

impl Stored {
    pub(super) fn new(profile: &str) -> Result<Self, RunError> {
        Ok(Self { records: fusion_timings::predicted(profile).map_err(failed)?, differ: 0 })
    }

    /// Holds what was predicted just now against what is stored, and tells what differs. Returns what is stored of the
    /// cases that are asked for.
    pub(super) fn check(&mut self, anew: &[Compared], of: impl Fn(&Record) -> bool) -> Vec<Record> {
        let name = |record: &Record| -> (String, String, String, Cache) {
            (record.case.clone(), record.kernel.clone(), record.at.clone(), record.cache)
        };
        let known: HashMap<_, &Record> = self.records.iter().map(|record| (name(record), record)).collect();
        let differ = |point: &Compared| difference(&predicted(point), known.get(&name(&point.record)).copied());
        let differ: Vec<String> = anew.iter().filter_map(differ).collect();
        for difference in differ.iter().take(TOLD) {
            output::note(difference);
        }
        if differ.len() > anew.len() / MAY_DIFFER {
            output::note(&format!(
                "error: {} of {} predictions are not those that are stored. If they should be others now, \
                 `cargo xtask validate --store` makes and stores all of them.",
                differ.len(),
                anew.len()
            ));
            self.differ += differ.len();
        }
        self.records.iter().filter(|record| of(record)).cloned().collect()
    }
}

/// How a prediction differs from the stored one.
fn difference(record: &Record, stored: Option<&Record>) -> Option<String> {
    let Record { case, kernel, at, cache, ns, .. } = record;
    let point = format!("{case} {kernel} at {at}, {cache} L2: {ns:.0} ns are predicted");
    match stored {
        None => Some(format!("{point}, none are stored")),
        Some(stored) if (ns / stored.ns - 1.0).abs() <= ALIKE => None,
        Some(stored) => Some(format!("{point}, {:.0} ns are stored", stored.ns)),
    }
}

/// What was predicted of a point.
fn predicted(point: &Compared) -> Record {
    let ns = point.predicted_ns;
    Record { ns, low: ns, high: ns, ..point.record.clone() }
}

/// Stores predictions of a profile in place of those that are there.
pub(super) fn store(profile: &str, points: &[Compared]) -> Result<(), RunError> {
    let mut text = "# cargo xtask validate --store\n# file,kernel,at,L2 before the launch,predicted ns\n".to_owned();
    for point in points {
        let _infallible = writeln!(text, "{}", prediction(&predicted(point)));
    }
    write(&format!("{profile}.csv"), &text)
}

/// Writes a file of stored predictions. Programs have those that were there when they were built.
pub(super) fn write(name: &str, text: &str) -> Result<(), RunError> {
    let root = workspace_root().ok_or_else(|| failed("this is not run inside the course's folder".to_owned()))?;
    let path = root.join(FOLDER).join(name);
    fs::write(&path, text).map_err(|error| failed(format!("cannot write {}: {error}", path.display())))?;
    output::note(&format!("stored in {}", Path::new(FOLDER).join(name).display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use fusion_timings::Role;

    use super::*;

    #[test]
    fn what_is_not_as_stored_is_told() {
        let record = |line: &str| line.parse::<Record>().expect("it is a prediction");
        let point = |line: &str| {
            let record = record(line);
            Compared { predicted_ns: record.ns, record, role: Role::Fitted, bound: None }
        };
        let records = vec![record("day22/mul_add,top,n=16384,cold,2000"), record("rows/sum,sum,n=1,warm,7")];
        let mut stored = Stored { records, differ: 0 };
        let anew = [
            point("day22/mul_add,top,n=16384,cold,2000"),
            point("day22/mul_add,top,n=65536,cold,2001"),
            point("rows/sum,sum,n=1,warm,8"),
        ];
        let kept = stored.check(&anew, |record| record.case == "rows/sum");
        assert_eq!((kept.len(), stored.differ), (1, 2));
        let told = difference(&predicted(&anew[2]), stored.records.last());
        assert_eq!(told.as_deref(), Some("rows/sum sum at n=1, warm L2: 8 ns are predicted, 7 ns are stored"));
    }
}
