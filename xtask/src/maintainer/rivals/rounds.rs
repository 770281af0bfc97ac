//! What one process does not decide, decided by three.
//!
//! Where a process finds its memory decides over some percent of a kernel's time, and nothing that it repeats changes that. So
//! where a ratio misses its bar or is near it, both sides are timed again in new processes, and the middle counts.

use std::time::Duration;

use fusion_course::{Exercise, Shape};
use fusion_grader::bench::{Role, Size};
use fusion_grader::judgement::Kind;
use serde::Serialize;

use super::python::{self, Python, Rival};
use super::{Report, Row, bars};
use crate::interrupt::Interrupt;
use crate::judge::Stop;
use crate::programs::{self, Programs};
use crate::progress::Progress;

/// Rounds after the first.
const MORE: usize = 2;

/// Medians of one more round, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Round {
    pub(super) solution_ns: f64,
    pub(super) best_ns: f64,
}

impl Round {
    /// What both sides said at one shape; none where one of them has no time.
    pub(super) fn new(size: Option<&Size>, rivals: &[Rival]) -> Option<Self> {
        let solution = super::time(size?, Role::Submission)?;
        Some(Self { solution_ns: solution.median, best_ns: python::best(rivals)? })
    }

    pub(super) fn ratio(&self) -> f64 {
        self.solution_ns / self.best_ns
    }
}

/// Times what is open in `report` in more rounds, and judges it anew after each.
pub(super) fn again(
    report: &mut Report,
    python: &Python,
    programs: &Programs,
    limit: Duration,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<(), Stop> {
    let open = open(&report.rows);
    if open.is_empty() {
        return Ok(());
    }
    for round in 2..2 + MORE {
        progress.say(format!("round {round} of what is near its bar: PyTorch and others"));
        let wanted: Vec<(&str, Vec<Shape>)> =
            open.iter().map(|(exercise, shapes)| (exercise.name, shapes.clone())).collect();
        let theirs = python.time(&wanted, limit, interrupt, progress)?;
        report.notes.extend(theirs.notes.iter().cloned());
        for (exercise, shapes) in &open {
            // It was there for the first round.
            let Some(program) = programs.paths.get(&programs::package(Kind::Solution, exercise.day)) else { continue };
            let ours = super::sweep(exercise, shapes, programs, program, limit, interrupt, progress)?;
            report.notes.extend(ours.notes.iter().map(|note| format!("{}: {note}", exercise.name)));
            for &Shape { rows, columns, .. } in shapes {
                let size = ours.sizes.iter().find(|size| (size.rows, size.columns) == (rows, columns));
                match Round::new(size, &theirs.at(exercise.name, rows, columns)) {
                    Some(more) => add(&mut report.rows, exercise, (rows, columns), more),
                    None => {
                        let text = format!("{} at {rows}x{columns}: round {round} was not timed", exercise.name);
                        report.notes.push(text);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The operations that are open, each with its shapes.
pub(super) fn open(rows: &[Row]) -> Vec<(&'static Exercise, Vec<Shape>)> {
    let mut open: Vec<(&'static Exercise, Vec<Shape>)> = Vec::new();
    for row in rows.iter().filter(|row| row.bars.iter().any(bars::Bar::is_open)) {
        let (depth, heads, experts, pages) = (row.depth, row.heads, row.experts, row.pages);
        let shape = Shape { depth, heads, experts, pages, ..Shape::of(row.rows, row.columns) };
        match open.last_mut() {
            Some((exercise, shapes)) if exercise.name == row.exercise => shapes.push(shape),
            _ => open.extend(fusion_course::find(&row.exercise).map(|exercise| (exercise, vec![shape]))),
        }
    }
    open
}

/// Adds a round to its row, and judges the row anew: an interrupt leaves nothing that is half done.
pub(super) fn add(rows: &mut [Row], exercise: &Exercise, at: (usize, usize), round: Round) {
    let here = |row: &&mut Row| row.exercise == exercise.name && (row.rows, row.columns) == at;
    if let Some(row) = rows.iter_mut().find(here) {
        row.rounds.push(round);
        row.bars = bars::judge(exercise, row);
    }
}
