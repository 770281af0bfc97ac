//! So many rows that it is the grid that is looked at: a part of its blocks will do, where they share the rows out in
//! order.
//!
//! The rows are as short as can be, and what a block does with one was judged at other shapes, with all checks. What so
//! many of them add is that the grid has more blocks than 65,535, and an index more than 15 or 16 bits. So the first and
//! the last blocks are executed, and one in so many between them. Whatever leaves a doubt is executed whole, which also
//! says what is wrong: blocks that go on with other rows, that have more of them than at any other shape, or that write
//! anything but the elements that are theirs.

use fusion_course::Case;

use super::bench::Bench;
use super::dry::blocks::{self, Blocks};
use crate::trouble::Trouble;

/// For so many blocks a part will do: fewer are executed whole in no time, and more are no block for each row.
const MANY: std::ops::Range<u64> = 1 << 12..1 << 17;

/// Blocks that are executed at either end.
const ENDS: u64 = 64;

/// One in so many of the others: a prime, so that no size of a tile goes with it.
const ONE_IN: usize = 61;

/// Whether a part of the blocks shows that the submission is right with so many rows.
pub(super) fn is_right(bench: &mut Bench<'_>, case: &Case) -> Result<bool, Trouble> {
    // What another process launches is asked for once: it may take its time.
    if bench.trial.session.judges_as_gpu() || bench.trial.session.is_remote() {
        return Ok(false);
    }
    let Some(first) = bench.launch_blocks(case, vec![0])? else { return Ok(false) };
    let count = blocks::count(&first);
    if !MANY.contains(&count) {
        return Ok(false);
    }
    let Some(launch) = bench.launch_blocks(case, some(count))? else { return Ok(false) };
    let stopped = launch.dry.iter().any(|block| block.fault.is_some() || !block.complete);
    if stopped || bench.damage(case)?.is_some() {
        return Ok(false);
    }
    are_right(bench, case, &Blocks::new(&launch, &bench.places()))
}

/// The blocks of so many that are executed.
fn some(count: u64) -> Vec<u64> {
    let last = count.saturating_sub(ENDS);
    (0..ENDS.min(count)).chain((ENDS..last).step_by(ONE_IN)).chain(last.max(ENDS)..count).collect()
}

/// Whether each block wrote the elements that are its own and no others, and all of these are right.
fn are_right(bench: &Bench<'_>, case: &Case, blocks: &Blocks) -> Result<bool, Trouble> {
    let exercise = bench.trial.exercise();
    let references = (exercise.reference)(case);
    let outputs = bench.read_outputs()?;
    let all = outputs.iter().zip(&references).zip(exercise.tolerances);
    for (at, ((actual, reference), tolerance)) in all.enumerate() {
        let Some(each) = blocks.shared_out(at) else { return Ok(false) };
        let rows = (each as usize * case.shape.rows).div_ceil(actual.len().max(1));
        if rows > bench.rows_of_block || actual.len() != reference.len() {
            return Ok(false);
        }
        let mut written = blocks.written(at).map(|element| element as usize);
        if written.any(|element| reference.refuses_at(actual, element, element, *tolerance)) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_and_some_between_are_executed() {
        let blocks = some(65_539);
        assert!(blocks.is_sorted() && blocks.windows(2).all(|two| two[0] < two[1]));
        assert!((0..64).chain(65_539 - 64..65_539).all(|block| blocks.contains(&block)));
        assert!(blocks.windows(2).all(|two| two[1] - two[0] <= 61) && blocks.len() < 1300);
        assert_eq!(some(100).len(), 100);
        assert_eq!(some(10), (0..10).collect::<Vec<_>>());
    }
}
