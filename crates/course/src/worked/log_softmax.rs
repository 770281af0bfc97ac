//! `log_softmax`: the logarithm of a softmax, which is what the loss of a classifier takes.

use crate::rounding::UNIT;
use crate::{Case, DType, Exercise, Param, Reference, Shapes, Step, Tolerance};

pub const OPERATION: Exercise = Exercise {
    name: "log_softmax",
    day: 23,
    definition: "x - max of row - log(sum over the row of exp(x - max))",
    inputs: &[Param::elements("x", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[
        Param::rows("largest", DType::F32),
        Param::elements("exponentials", DType::F32),
        Param::rows("sum", DType::F32),
    ],
    unfused: &[
        Step::by_row("row_max", &["x"], &["largest"]),
        Step::by_row("exp_of_difference", &["x", "largest"], &["exponentials"]),
        Step::by_row("row_sum", &["exponentials"], &["sum"]),
        Step::by_row("log_of_quotient", &["x", "largest", "sum"], &["out"]),
    ],
    shapes: Shapes::Rows { columns: &[1024, 4096, 16384], timed: &[1024, 4096, 16384] },
    make: |shape, inputs| Case::new(shape, vec![inputs.rows_of(DType::F32, shape)]),
    reference,
    // A sum of 16,384 terms is off by some 150 units if added as kernels do, and the logarithm takes that as an absolute
    // error. There is room for other orders. The two differences are rounded once each.
    tolerances: &[Tolerance { absolute: 4096.0 * UNIT, relative: 4.0 * UNIT }],
    // A maximum, a difference, an exponential, a sum, a difference.
    flops: |shape| 5.0 * shape.elements() as f64,
    ..Exercise::TEMPLATE
};

/// The same on rows that no block has room for.
pub const LONG: Exercise =
    Exercise { name: "log_softmax_long", shapes: Shapes::Rows { columns: &[131_072], timed: &[131_072] }, ..OPERATION };

fn reference(case: &Case) -> Vec<Reference> {
    let mut values = Vec::with_capacity(case.shape.elements());
    for row in case.f32s(0).chunks_exact(case.shape.columns.max(1)) {
        let top = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let sum: f64 = row.iter().map(|&x| (f64::from(x) - top).exp()).sum();
        values.extend(row.iter().map(|&x| f64::from(x) - top - sum.ln()));
    }
    vec![Reference::Close { values, magnitudes: None }]
}
