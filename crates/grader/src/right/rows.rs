//! What wrong results have in common, in a problem that has rows of all kinds: that all of them would be right for another operation,
//! or which rows are wrong.

use fusion_course::{Case, Data, Exercise, Inputs, Mistaken, Reference, Shape, Suspect};

use super::bench::Bench;
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
    if exercise.suspects.is_empty() && exercise.mistaken.is_empty() {
        return None;
    }
    // A sequence of a paged cache has its tokens beside its rows.
    let large = |shape: &Shape| (shape.rows >= ROWS || shape.pages.is_some()) && shape.columns >= COLUMNS;
    let mut problems: Vec<Shape> = exercise.problems(seed).into_iter().filter(large).collect();
    problems.sort_by_key(|shape| shape.elements());
    // A product of no terms is zeros, of which a step after it makes the same as another operation would.
    if problems.iter().any(|shape| shape.terms() > 0) {
        problems.retain(|shape| shape.terms() > 0);
    }
    // With one head, or one sequence, two operations may be the same. What a kernel makes of a tile's part that is past the end hides what
    // else it does: in one problem all tiles are full, and two or more. And one problem is known to go wrong.
    let is_full = |shape: &&Shape| shape.terms() > TILE && shape.terms().is_multiple_of(TILE);
    let more = [problems.iter().find(is_full).copied(), Some(failed)];
    let several = problems.first().is_some_and(|shape| shape.terms() > 0);
    problems.truncate(if several { SMALL } else { 1 });
    for shape in more.into_iter().flatten().filter(|_| several) {
        if !problems.contains(&shape) {
            problems.push(shape);
        }
    }
    let mut launch = |shape: Shape| {
        bench.prepare(shape).ok()?;
        let mut case = (exercise.make)(shape, &mut Inputs::new(seed));
        bench.fill_tables(&mut case);
        let outputs = bench.launch(&case).ok()?.outputs;
        Some((case, outputs))
    };
    let ran: Vec<(Case, Vec<Data>)> = problems.into_iter().filter_map(&mut launch).collect();
    another_operation(exercise, &ran).or_else(|| ran.iter().find_map(|(case, outputs)| rows(exercise, case, outputs)))
}

/// That the outputs are those of another operation: of all problems that are wrong, or else of one of them.
fn another_operation(exercise: &Exercise, ran: &[(Case, Vec<Data>)]) -> Option<String> {
    let all_right = |outputs: &[Data], references: &[Reference]| {
        let mut each = outputs.iter().zip(references).zip(exercise.tolerances);
        each.all(|((output, reference), tolerance)| reference.check(output, *tolerance).is_ok())
    };
    // Where nothing is a number, many operations give the same.
    let says_something = |references: &[Reference]| {
        references.iter().any(|of| (0..of.len()).any(|index| of.expected(index).iter().all(|value| !value.is_nan())))
    };
    let is_wrong = |(case, outputs): &&(Case, Vec<Data>)| !all_right(outputs, &(exercise.reference)(case));
    let wrong: Vec<&(Case, Vec<Data>)> = match exercise.mistaken {
        [] => return None,
        _ => ran.iter().filter(is_wrong).collect(),
    };
    let matches = |other: &Mistaken| {
        let matches = |(case, outputs): &&(Case, Vec<Data>)| {
            let references = (other.outputs)(case);
            all_right(outputs, &references) && says_something(&references)
        };
        wrong.iter().copied().filter(matches).collect::<Vec<_>>()
    };
    let each: Vec<_> = exercise.mistaken.iter().map(|other| (other, matches(other))).collect();
    let of_all = each.iter().find(|(_, found)| found.len() == wrong.len() && !found.is_empty());
    let (Mistaken { what, question, .. }, found) =
        of_all.or_else(|| each.iter().find(|(_, found)| !found.is_empty()))?;
    let problem = exercise.shapes.describe(found.first()?.0.shape);
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
