//! What wrong results have in common, in a problem that has rows of all kinds: that all of them would be right for another operation,
//! or which rows are wrong.

use fusion_course::{Case, Data, Exercise, Inputs, Mistaken, Reference, Shape, Suspect};

use super::bench::Bench;
use super::values;
use crate::judgement::Code;
use crate::trouble::Trouble;

/// The least rows and columns of such a problem.
const ROWS: usize = 32;
const COLUMNS: usize = 32;

/// The edge of a tile of a product or of attention, and how many small problems of these are looked at.
const TILE: usize = 64;
const SMALL: usize = 8;

/// A failure of values at a shape, with what tells wrong rows from right ones, if anything does.
pub(super) fn compare(mut trouble: Trouble, bench: &mut Bench<'_>, shape: Shape) -> Trouble {
    if let Trouble::Failure(failure) = &mut trouble
        && failure.code == Code::Values
        && failure.cause.is_none()
        && let Some(note) = find(bench, shape)
    {
        failure.notes.push(note);
    }
    trouble
}

fn find(bench: &mut Bench<'_>, failed: Shape) -> Option<String> {
    let (exercise, seed) = (bench.trial.exercise(), bench.trial.seed);
    // Of a mutant the reason is asked alone.
    if bench.trial.scope.alone || exercise.suspects.is_empty() && exercise.mistaken.is_empty() {
        return None;
    }
    bench.trial.tell("right: what wrong values have in common");
    let ran: Vec<(Case, Vec<Data>)> = problems(exercise, seed, failed)
        .into_iter()
        .filter_map(|shape| {
            bench.prepare(shape).ok()?;
            let mut inputs = if shape == failed { values(seed, shape) } else { Inputs::new(seed) };
            let mut case = (exercise.make)(shape, &mut inputs);
            bench.fill_tables(&mut case);
            let outputs = bench.launch(&case).ok()?.outputs;
            Some((case, outputs))
        })
        .collect();
    another_operation(exercise, &ran).or_else(|| ran.iter().find_map(|(case, outputs)| rows(exercise, case, outputs)))
}

/// The problems that are looked at: the smallest one with rows of all kinds. Products, attention and experts have more than rows and columns, so
/// there are several.
fn problems(exercise: &Exercise, seed: u64, failed: Shape) -> Vec<Shape> {
    // With one sequence alone, other pages or another length may be right as well.
    let rows = |shape: &Shape| if shape.pages.is_some() { 2 } else { ROWS };
    let large = |shape: &Shape| shape.rows >= rows(shape) && shape.columns >= COLUMNS;
    let mut problems: Vec<Shape> = exercise.problems(seed).into_iter().filter(large).collect();
    problems.sort_by_key(|&shape| exercise.work(shape));
    // A product of no terms is zeros, of which a step after it makes the same as another operation would.
    let has_terms = |shape: &Shape| shape.terms() > 0;
    if !problems.iter().any(has_terms) {
        problems.truncate(1);
        return problems;
    }
    problems.retain(has_terms);
    // What a kernel makes of a tile's part that is past the end hides what else it does: of attention's problems, one has full tiles alone, and
    // more than one of them.
    let is_full = |shape: &&Shape| shape.terms() > TILE && shape.terms().is_multiple_of(TILE);
    let more = [Some(failed).filter(has_terms), problems.iter().find(is_full).copied()];
    problems.truncate(SMALL);
    for shape in more.into_iter().flatten() {
        problems.retain(|other| *other != shape);
        problems.insert(0, shape);
    }
    problems
}

/// That the outputs are those of another operation: of the one that is right for the most of the problems that went wrong.
fn another_operation(exercise: &Exercise, ran: &[(Case, Vec<Data>)]) -> Option<String> {
    if exercise.mistaken.is_empty() {
        return None;
    }
    let all_right = |outputs: &[Data], references: &[Reference]| {
        let mut each = outputs.iter().zip(references).zip(exercise.tolerances);
        each.all(|((output, reference), tolerance)| reference.check(output, *tolerance).is_ok())
    };
    // Where nothing is a number, many operations give the same.
    let says_something = |references: &[Reference]| {
        references.iter().any(|of| (0..of.len()).any(|index| of.expected(index).iter().all(|value| !value.is_nan())))
    };
    let wrong: Vec<_> = ran.iter().filter(|(case, outputs)| !all_right(outputs, &(exercise.reference)(case))).collect();
    let matching = |other: &Mistaken| {
        let (mut shapes, mut says) = (Vec::new(), false);
        for (case, outputs) in &wrong {
            let references = (other.outputs)(case);
            if all_right(outputs, &references) {
                says |= says_something(&references);
                shapes.push(case.shape);
            }
        }
        if says { shapes } else { Vec::new() }
    };
    // Of several with as many, the first that is listed.
    let each = exercise.mistaken.iter().map(|other| (other, matching(other))).rev();
    let (Mistaken { what, question, .. }, shapes) = each.max_by_key(|(_, shapes)| shapes.len())?;
    let problem = exercise.shapes.describe(*shapes.first()?);
    Some(format!("all elements of a problem of {problem} are what {what} gives. {question}"))
}

/// What tells wrong rows from right ones.
fn rows(exercise: &Exercise, case: &Case, outputs: &[Data]) -> Option<String> {
    let shape = case.shape;
    if exercise.suspects.is_empty() {
        return None;
    }
    // A row that may be one number alone, such as that of a row that is left out, says nothing either way.
    let (mut wrong, mut is_free) = (vec![false; shape.rows], vec![false; shape.rows]);
    let references = (exercise.reference)(case);
    for ((output, reference), tolerance) in outputs.iter().zip(&references).zip(exercise.tolerances) {
        let each = (reference.len() / shape.rows.max(1)).max(1);
        for index in 0..reference.len() {
            if let (Some(wrong), Some(is_free)) = (wrong.get_mut(index / each), is_free.get_mut(index / each)) {
                *wrong |= reference.refuses(output, index, *tolerance);
                *is_free |= reference.allowed(index, *tolerance) > 0.0;
            }
        }
    }
    let x = case.f64s(0);
    let free = x.chunks(shape.columns).zip(wrong).zip(is_free).filter(|(_, is_free)| *is_free);
    let (rows, wrong): (Vec<&[f64]>, Vec<bool>) = free.map(|(row, _)| row).unzip();
    exercise.suspects.iter().find(|suspect| tells(suspect, &rows, &wrong)).map(|Suspect { rows, question, .. }| {
        let count = wrong.iter().filter(|wrong| **wrong).count();
        let all = exercise.shapes.describe(shape);
        let are = if count == 1 { "is" } else { "are" };
        format!("of the rows of a problem of {all}, {count} {are} wrong: {rows}. {question}")
    })
}

/// Whether every wrong row has a higher score than any right one.
fn tells(suspect: &Suspect, rows: &[&[f64]], wrong: &[bool]) -> bool {
    let scores = |of: bool| {
        let chosen = rows.iter().zip(wrong).filter(move |(_, wrong)| **wrong == of);
        chosen.map(|(row, _)| (suspect.score)(row)).filter(|score| !score.is_nan())
    };
    let least = scores(true).fold(f64::INFINITY, f64::min);
    let most = scores(false).fold(f64::NEG_INFINITY, f64::max);
    least.is_finite() && most.is_finite() && least >= suspect.least && least > most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspect_tells_wrong_rows_from_right_ones_or_is_not_asked() {
        let rows: [&[f64]; 4] = [&[1.0, -1.0], &[1000.0, 1001.0], &[3.0, 2.0], &[-900.0, -902.0]];
        let tells = |wrong: [bool; 4]| tells(&Suspect::CANCELLATION, &rows, &wrong);
        assert!(tells([false, true, false, true]) && tells([false, true, false, false]));
        // Another row is wrong too; one that should be is right; or there is nothing to compare with.
        assert!(!tells([true, true, false, true]) && !tells([false, false, false, true]));
        assert!(!tells([true; 4]) && !tells([false; 4]));
    }
}
