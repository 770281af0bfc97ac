//! Close comparisons, decided by more than one process.
//!
//! Where a process finds its memory and its code decides over some percent of a short kernel's time, and nothing that it repeats
//! changes that. So where a ratio is near its bar or misses it, both sides are timed again in new processes, and the middle counts.

use std::time::Duration;

use fusion_course::Shape;
use fusion_grader::bench::Role;
use fusion_grader::judgement::Kind;
use serde::Serialize;

use super::python::Python;
use super::{Report, Row, bars};
use crate::interrupt::Interrupt;
use crate::judge::Stop;
use crate::programs::{self, Programs};
use crate::progress::Progress;

/// Rounds after the first.
pub(super) const MORE: usize = 2;

/// Medians of one more round, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Round {
    pub(super) solution_ns: f64,
    pub(super) best_ns: f64,
}

impl Round {
    pub(super) fn ratio(&self) -> f64 {
        self.solution_ns / self.best_ns
    }
}

/// Times what was close in `report` in more rounds, and judges it anew.
pub(super) fn again(
    report: &mut Report,
    python: &Python,
    programs: &Programs,
    limit: Duration,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<(), Stop> {
    let close: Vec<Close> = report.rows.iter().filter_map(Close::of).collect();
    if close.is_empty() {
        return Ok(());
    }
    for round in 0..MORE {
        progress.say(format!("round {} of what is close: PyTorch and others", round + 2));
        let wanted: Vec<(String, Vec<Shape>)> =
            close.iter().map(|it| (format!("{}:{}", it.exercise, it.variant), vec![it.shape])).collect();
        let theirs = python.time(&wanted, limit, interrupt, progress)?;
        report.notes.extend(theirs.notes.iter().cloned());
        let mut rounds = Vec::new();
        for group in close.chunk_by(|a, b| a.exercise == b.exercise) {
            let Some(exercise) = fusion_course::find(&group[0].exercise) else { continue };
            let Some(program) = programs.paths.get(&programs::package(Kind::Solution, exercise.day)) else { continue };
            let shapes: Vec<Shape> = group.iter().map(|it| it.shape).collect();
            let ours = super::sweep(exercise, &shapes, (program, programs), limit, interrupt, progress)?;
            report.notes.extend(ours.notes.iter().map(|note| format!("{}: {note}", exercise.name)));
            for it in group {
                let Shape { rows, columns } = it.shape;
                let size = ours.sizes.iter().find(|size| (size.rows, size.columns) == (rows, columns));
                let solution = size.into_iter().flat_map(|size| &size.variants);
                let solution =
                    solution.filter(|variant| variant.role == Role::Submission).find_map(|it| it.measured_ns);
                let best = theirs.at(&it.exercise, rows, columns).into_iter().find_map(|rival| rival.time_ns);
                rounds.push((it, solution.zip(best)));
            }
        }
        for (it, times) in rounds {
            let Some(row) = report.rows.iter_mut().find(|row| it.is(row)) else { continue };
            match times {
                Some((solution, best)) => {
                    row.rounds.push(Round { solution_ns: solution.median, best_ns: best.median });
                }
                None => {
                    let Shape { rows, columns } = it.shape;
                    let text = format!("{} at {rows}x{columns}: round {} was not timed", it.exercise, round + 2);
                    report.notes.push(text);
                }
            }
        }
    }
    for row in &mut report.rows {
        if let Some(exercise) = fusion_course::find(&row.exercise) {
            row.bars = bars::judge(exercise, row);
        }
    }
    Ok(())
}

/// A row that is close, and the variant that it is close to.
struct Close {
    exercise: String,
    shape: Shape,
    variant: String,
}

impl Close {
    fn of(row: &Row) -> Option<Self> {
        let (best, _) = row.best()?;
        row.bars.iter().any(bars::Bar::close).then(|| Self {
            exercise: row.exercise.clone(),
            shape: Shape { rows: row.rows, columns: row.columns },
            variant: best.variant.clone(),
        })
    }

    fn is(&self, row: &Row) -> bool {
        row.exercise == self.exercise && (row.rows, row.columns) == (self.shape.rows, self.shape.columns)
    }
}
