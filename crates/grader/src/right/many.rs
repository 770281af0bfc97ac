//! So many rows that it is the grid that is looked at: a part of its blocks will do, where each row has one.
//!
//! The rows are as short as can be, and what the kernel does with a row was judged at other shapes, block by block. What so many of them add is
//! that the grid has more blocks than 65,535, and an index more than 15 or 16 bits. So the first and the last blocks are executed, and
//! one in so many between them. Whatever leaves a doubt is executed whole, which also says what is wrong.

use fusion_course::Case;
use fusion_machine::LaunchReport;

use super::bench::Bench;
use super::dry::blocks::{Blocks, Output};
use crate::trouble::Trouble;

/// Blocks from which on a part will do.
const MANY: u64 = 1 << 12;

/// Blocks that are executed at either end.
const ENDS: u64 = 64;

/// One in so many of the others: a prime, so that no size of a tile goes with it.
const ONE_IN: usize = 61;

/// Warp instructions that a block may take.
const BUDGET: u64 = 1 << 17;

/// Whether a part of the blocks shows that the submission is right with so many rows.
pub(super) fn is_right(bench: &mut Bench<'_>, case: &Case) -> Result<bool, Trouble> {
    if bench.trial.session.judges_as_gpu() {
        return Ok(false);
    }
    let Some(first) = bench.launch_blocks(case, vec![0], BUDGET)? else { return Ok(false) };
    let count = count(&first);
    if count < MANY {
        return Ok(false);
    }
    let Some(launch) = bench.launch_blocks(case, some(count), BUDGET)? else { return Ok(false) };
    let stopped = launch.dry.iter().any(|block| block.fault.is_some() || !block.complete);
    if stopped || bench.damage(case)?.is_some() {
        return Ok(false);
    }
    let places = bench.places();
    let blocks = Blocks::new(&launch, &places);
    Ok(blocks.too_few().is_none() && blocks.left_out().is_none() && are_right(bench, case, &blocks, &places)?)
}

fn count(launch: &LaunchReport) -> u64 {
    launch.grid.iter().map(|&blocks| u64::from(blocks)).product()
}

/// The blocks of so many that are executed.
fn some(count: u64) -> Vec<u64> {
    let last = count.saturating_sub(ENDS);
    (0..ENDS.min(count)).chain((ENDS..last).step_by(ONE_IN)).chain(last.max(ENDS)..count).collect()
}

/// Whether what the blocks wrote is right, and the last element of each output is among it.
fn are_right(bench: &Bench<'_>, case: &Case, blocks: &Blocks, places: &[Output]) -> Result<bool, Trouble> {
    let exercise = bench.trial.exercise();
    let references = (exercise.reference)(case);
    let outputs = bench.read_outputs()?;
    let all = outputs.iter().zip(&references).zip(exercise.tolerances).zip(places);
    for (at, (((actual, reference), tolerance), place)) in all.enumerate() {
        let mut last = false;
        for (element, index) in blocks.written_once(at, reference.len().max(1)) {
            if reference.refuses_at(actual, index, index, *tolerance) {
                return Ok(false);
            }
            last |= element + 1 == place.len;
        }
        if !last && place.len > 0 {
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
