//! On few multiprocessors: where a grid has a block for each, a block of a small problem has several tiles there, as one of a large problem
//! has anywhere.

use fusion_course::{Exercise, Shape};

use super::bench::Bench;
use super::{Found, judge_shape};
use crate::trouble::Trouble;

/// Multiprocessors that the device says it has.
const FEW: u32 = 2;

/// M, N and K of a product, one of those that are judged anyway. It has three tiles of any usual size or more, one below the other; and no whole
/// number of rounds through the stages of a usual pipeline, so that the second tile begins in the middle of one.
const PRODUCT: [usize; 3] = [257, 8, 136];

/// Judges a problem of an exercise whose problems are otherwise too small for it: products, and what is made of them.
pub(super) fn judge(bench: &mut Bench<'_>, found: &mut Found) -> Result<(), Trouble> {
    let trial = bench.trial;
    let shape = problem(trial.exercise(), trial.seed).filter(|&shape| trial.scope.has(shape));
    let Some(shape) = shape.filter(|_| !trial.session.judges_as_gpu()) else { return Ok(()) };
    trial.tell(format!("right: {}, on {FEW} multiprocessors", trial.name(shape)));
    trial.session.set_multiprocessors(FEW)?;
    let judged = judge_shape(bench, shape, found);
    trial.session.set_multiprocessors(0)?;
    judged.map_err(|trouble| match trouble {
        Trouble::Failure(failure) => failure.note(NOTE).into(),
        trouble => trouble,
    })
}

fn problem(exercise: &Exercise, seed: u64) -> Option<Shape> {
    match exercise {
        exercise if exercise.is_product() => Some(Shape::product(PRODUCT[0], PRODUCT[1], PRODUCT[2])),
        exercise if exercise.is_arithmetic() => exercise.problems(seed).first().copied(),
        _ => None,
    }
}

/// The note of a submission that is wrong there alone.
const NOTE: &str = "the device says that it has 2 multiprocessors here, so that a block may have several tiles: look at what it keeps from \
                    one tile to the next";
