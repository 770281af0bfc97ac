//! What the solutions are held to: a share of the device's copy where memory is the limit, and the best of the others.

use fusion_course::{DType, Exercise, Extent, Shapes};
use serde::Serialize;

use super::Row;

/// Bytes moved from which on memory alone is the limit.
const LARGE: u64 = 256_000_000;

/// Elements up to which launches count as much as bytes.
const SMALL: usize = 1_000_000;

/// How far below its bar one process decides a ratio. In a run on an H200 the first of three was up to 0.010 from the middle.
const MARGIN: f64 = 0.015;

const OVER_BEST: &str = "time over the best other's";

/// One thing that a solution is held to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Bar {
    /// `share of the copy`, `time over the best other's`.
    pub(super) what: &'static str,
    pub(super) value: f64,
    pub(super) limit: f64,
    pub(super) met: bool,
}

impl Bar {
    /// Whether it takes more processes to decide: see [`super::rounds`].
    pub(super) fn is_open(&self) -> bool {
        self.what == OVER_BEST && self.value > self.limit - MARGIN
    }
}

/// The bars of one row; none where the solution was not timed.
pub(super) fn judge(exercise: &Exercise, row: &Row) -> Vec<Bar> {
    let Some(time) = row.solution_ns else { return Vec::new() };
    let mut bars = Vec::new();
    if let Some(limit) =
        share(exercise, row.columns).filter(|_| row.needed_bytes >= LARGE && row.ceiling_gb_per_s > 0.0)
    {
        let value = row.share(time.median);
        bars.push(Bar { what: "share of the copy", value, limit, met: value >= limit });
    }
    if let Some(value) = row.over_best() {
        let limit = if row.rows * row.columns <= SMALL { 1.05 } else { 1.02 };
        bars.push(Bar { what: OVER_BEST, value, limit, met: value <= limit });
    }
    bars
}

/// The share of the copy's speed that a large problem is to reach; none where it is, or has in its plan, a product of matrices.
fn share(exercise: &Exercise, columns: usize) -> Option<f64> {
    if !exercise.plan.is_empty() || exercise.is_arithmetic() {
        return None;
    }
    let one_byte = exercise.outputs.iter().any(|output| output.dtype.bytes() == 1);
    let single = exercise.inputs.iter().all(|input| input.dtype == DType::F32);
    let kept = exercise.outputs.iter().any(|output| output.extent != Extent::Rows);
    Some(match exercise.shapes {
        Shapes::Elementwise if single => 0.98,
        Shapes::Elementwise => 0.93,
        // Small tensors are part of it.
        Shapes::Tensors { .. } => 0.92,
        Shapes::Heads { .. } => 0.95,
        // What the contract of Day 28 asks of it.
        Shapes::Paged { .. } => 0.85,
        Shapes::Rows { .. } if one_byte => 0.92,
        // No row needs a place on the chip, however long it is.
        Shapes::Rows { .. } if !kept => 0.93,
        Shapes::Rows { .. } if columns <= 512 || columns >= 32768 => 0.88,
        Shapes::Rows { .. } if single => 0.95,
        Shapes::Rows { .. }
        | Shapes::Matrix { .. }
        | Shapes::Product { .. }
        | Shapes::Attention { .. }
        | Shapes::Routing { .. } => 0.93,
    })
}
