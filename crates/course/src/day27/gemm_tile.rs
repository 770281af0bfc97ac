//! `gemm_tile`: a product of matrices on tensor cores.

use half::bf16;

use crate::rounding::UNIT;
use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Rung, Shape, Shapes, Step, Tolerance};

crate::signature! { inputs(a: bf16, b: bf16) outputs(c: bf16) scalars() sizes(m, n, k) }

pub const EXERCISE: Exercise = Exercise {
    name: "gemm_tile",
    day: 27,
    definition: "c = a b, in bf16 with sums in f32",
    inputs: &[Param::left("a", DType::Bf16), Param::right("b", DType::Bf16)],
    outputs: &[Param::elements("c", DType::Bf16)],
    unfused: &[Step::product("gemm_bf16", A_B, C, [64, 64])],
    shapes: Shapes::Product { timed: &[[4096, 4096, 4096]] },
    // 256 x 256 x 256: a product takes the emulated device as long as its multiply-adds do.
    surveyed: 1 << 16,
    make,
    reference,
    tolerances: &[Tolerance { absolute: f32::MIN_POSITIVE as f64, relative: ROUNDING }],
    flops,
    // On an H200 this is 30% of what cuBLAS reaches at 4096 x 4096 x 4096: 589 us of the chain's 6.2 ms.
    speedup: Some(10.5),
    reuse: 32,
    ladder: &[
        Rung::any("naive", Step::product("gemm_tile_naive", A_B, C, [1, 256])),
        Rung::any("tiles", Step::product("gemm_tile_shared", A_B, C, [32, 32]).threads(1024)),
        Rung::any("tensor cores", Step::product("gemm_tile_tensor", A_B, C, [128, 128])).multiple_of(8),
        Rung::any("padded", Step::product("gemm_tile_padded", A_B, C, [128, 128])).multiple_of(8),
        // Three stages of 128 rows of 32 + 8 elements, and 32 of 128 + 8.
        Rung::any(
            "pipeline",
            Step::product("gemm_tile_pipeline", A_B, C, [128, 128]).shared_of_block(3 * (128 * 40 + 32 * 136) * 2),
        )
        .multiple_of(8),
        // Four stages of 128 x 32 and 32 x 128.
        Rung::any(
            "swizzled",
            Step::product("gemm_tile_swizzled", A_B, C, [128, 128]).threads(128).shared_of_block(4 * 2 * 128 * 32 * 2),
        )
        .multiple_of(8),
    ],
    hints: include_str!("gemm_tile.md"),
    ..Exercise::TEMPLATE
};

const A_B: &[&str] = &["a", "b"];
const C: &[&str] = &["c"];

/// A rounding to bf16, relative to the value: half the distance between neighbours, of which there are 128 from a power of two to the next.
pub(crate) const ROUNDING: f64 = 1.0 / 256.0;

/// A multiplication and an addition for each term.
pub(crate) fn flops(shape: Shape) -> f64 {
    2.0 * shape.elements() as f64 * shape.terms() as f64
}

fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let (a, b) = factors(shape, inputs);
    Case::new(shape, vec![a, b])
}

/// Values of mixed signs that differ by place. Their mean is not 0, so that sums grow with the number of terms. One row in eight is
/// large, and one small: an error that does not go with the values of its row shows.
pub(crate) fn factors(shape: Shape, inputs: &mut Inputs) -> (Data, Data) {
    let mut a = inputs.moderate(shape.rows * shape.terms(), 2.0);
    for row in a.chunks_mut(shape.terms().max(1)) {
        let scale = match inputs.below(8) {
            0 => 300.0,
            1 => 1e-3,
            _ => 1.0,
        };
        row.iter_mut().for_each(|value| *value *= scale);
    }
    let b = inputs.moderate(shape.terms() * shape.columns, 1.0);
    (Data::rounded(DType::Bf16, a), Data::rounded(DType::Bf16, b))
}

fn reference(case: &Case) -> Vec<Reference> {
    let (values, errors) = product(case);
    // What the sum may be off by counts as much more as the rounding after it is larger.
    let magnitudes = values.iter().zip(errors).map(|(value, error)| value.abs() + error / ROUNDING).collect();
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}

/// What an f32 sum of so many terms may be off by, as a share of their magnitude.
///
/// Roundings to nearest add up like a random walk, see [`crate::rounding`]. Tensor cores cut off instead, always towards 0: once
/// for each 8 terms or more, by less than two roundings ("Numerical behavior of NVIDIA tensor cores", Fasi, Higham, Mikaitis and
/// Pranesh, PeerJ Computer Science 7, 2021).
pub(crate) fn sum_error(terms: usize) -> f64 {
    UNIT * (2.0 * (terms as f64).sqrt() + terms as f64 / 4.0)
}

/// The product of a case's first two inputs, and what f32 sums of its terms may be off by, in whatever order they are added.
///
/// The magnitude of the terms is at most the product of two lengths.
pub(crate) fn product(case: &Case) -> (Vec<f64>, Vec<f64>) {
    let (terms, columns) = (case.shape.terms(), case.shape.columns);
    let (a, b) = (case.f64s(0), case.f64s(1));
    let relative = sum_error(terms);
    let mut lengths = vec![0.0_f64; columns];
    for row in b.chunks_exact(columns.max(1)) {
        lengths.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * value);
    }
    let mut values = vec![0.0_f64; case.shape.elements()];
    let mut errors = vec![0.0_f64; values.len()];
    if terms > 0 && columns > 0 {
        let out = values.chunks_exact_mut(columns).zip(errors.chunks_exact_mut(columns));
        for (row, (sums, errors)) in a.chunks_exact(terms).zip(out) {
            for (value, others) in row.iter().zip(b.chunks_exact(columns)) {
                sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += value * other);
            }
            let squares: f64 = row.iter().map(|value| value * value).sum();
            errors.iter_mut().zip(&lengths).for_each(|(error, length)| *error = relative * (squares * length).sqrt());
        }
    }
    (values, errors)
}
