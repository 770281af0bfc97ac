//! `gemm_dequant`: a product with a factor in int8, which is made floating-point numbers on its way to the tensor cores.

use half::bf16;

use super::gemm_tile::{self, ROUNDING, factors, product, sum_error};
use crate::rounding::UNIT;
use crate::{Case, DType, Data, Exercise, Inputs, Mistaken, Param, Reference, Rung, Shape, Shapes, Step};

crate::signature! { inputs(a: bf16, q: i8, scale: f32) outputs(d: bf16) scalars() sizes(m, n, k) }

pub const EXERCISE: Exercise = Exercise {
    name: "gemm_dequant",
    day: 27,
    definition: "d = a (q scale), q in int8 with a scale per column, in bf16 with sums in f32, rounded once",
    inputs: &[Param::left("a", DType::Bf16), Param::right("q", DType::I8), Param::columns("scale", DType::F32)],
    outputs: &[Param::elements("d", DType::Bf16)],
    intermediates: &[Param::right("weights", DType::Bf16)],
    // The product is as plain as the solution's, and made for few rows like it.
    unfused: &[
        Step::by_row_of_right("dequantize_bf16", &["q", "scale"], &["weights"]),
        Step::product("gemm_few_rows_bf16", &["a", "weights"], D, [16, 32]).threads(512),
    ],
    // One sequence that is continued, some of them, and many: the weights' bytes are nearly all that is moved.
    shapes: Shapes::Product { timed: &[[1, 4096, 4096], [16, 4096, 4096], [64, 4096, 4096]] },
    // 1 x 2048 x 2048: tiles of 16 rows and more multiply by zeros there, which takes the emulated device as long.
    surveyed: 1 << 11,
    make,
    reference: |case| scaled(case, |product, [scale, _]| product * f64::from(scale)),
    mistaken: MISTAKEN,
    tolerances: gemm_tile::EXERCISE.tolerances,
    // Each weight is multiplied with its scale.
    flops: |shape| gemm_tile::flops(shape) + (shape.terms() * shape.columns) as f64,
    // By bytes 4.8 to 5.0 are possible. A chain of so few bytes does not take as many times as long: each launch has its beginning and end.
    speedup: Some(1.8),
    ladder: &[
        Rung::any("naive", Step::product("gemm_dequant_naive", READ, D, [1, 256])),
        Rung::any("tiles of 128", Step::product("gemm_dequant_tiles", READ, D, [128, 128])).multiple_of(16),
        Rung::any("narrow tiles", Step::product("gemm_dequant_narrow", READ, D, [16, 32]).threads(32)).multiple_of(8),
        Rung::any("split K", Step::product("gemm_dequant_split", READ, D, [16, 32]).threads(512)).multiple_of(8),
    ],
    hints: include_str!("gemm_dequant.md"),
    ..Exercise::TEMPLATE
};

const READ: &[&str] = &["a", "q", "scale"];
const D: &[&str] = &["d"];

/// A left factor as that of `gemm_tile`. Weights have both ends of int8, and their mean is not 0, so that sums grow with the number of
/// terms. Scales differ as those of columns with larger and smaller weights do; that of a column without weights is 0.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let (a, _) = factors(Shape { columns: 0, ..shape }, inputs);
    let weights = (0..shape.terms() * shape.columns).map(|_| match inputs.below(16) {
        0 => i8::MIN,
        _ => (inputs.below(240) as i32 - 100).min(i32::from(i8::MAX)) as i8,
    });
    let q = Data::I8(weights.collect());
    let scales = (0..shape.columns).map(|_| match inputs.below(16) {
        0 => 0.0,
        1 => inputs.uniform(1e-6, 1e-5),
        _ => inputs.uniform(0.002, 0.05),
    });
    let scale = Data::F32(scales.collect());
    Case::new(shape, vec![a, q, scale])
}

/// The product of a and q, each element of which `finish` makes something of with the scales of its column and of its row's number.
///
/// A sum may be off as that of `gemm_tile`. Where each weight is multiplied with its scale in f32, that rounds once more; so does the
/// multiplication of a sum with it.
fn scaled(case: &Case, finish: fn(f64, [f32; 2]) -> f64) -> Vec<Reference> {
    let (products, errors) = product(case);
    let scales = case.f32s(2);
    let columns = case.shape.columns.max(1);
    let (mut values, mut magnitudes) = (Vec::with_capacity(products.len()), Vec::with_capacity(products.len()));
    let share = sum_error(case.shape.terms());
    for (index, (product, error)) in products.into_iter().zip(errors).enumerate() {
        let of_row = scales.get(index / columns).copied().unwrap_or(f32::NAN);
        let scale = scales[index % columns];
        let value = finish(product, [scale, of_row]);
        let error = error * (1.0 + 2.0 * UNIT / share) * f64::from(scale) + 2.0 * UNIT * value.abs();
        values.push(value);
        // What the result may be off by counts as much more as the rounding after it is larger.
        magnitudes.push(value.abs() + error / ROUNDING);
    }
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}

/// The same case with other weights.
fn with_weights(case: &Case, weight: fn(i8, f32) -> f64) -> Vec<Reference> {
    let (Some(Data::I8(q)), scales) = (case.inputs.get(1), case.f32s(2)) else { return Vec::new() };
    let columns = case.shape.columns.max(1);
    let weights = q.iter().enumerate().map(|(index, &q)| weight(q, scales[index % columns]) as f32).collect();
    let mut other = case.clone();
    other.inputs[1] = Data::F32(weights);
    // They have their scales already.
    other.inputs[2] = Data::F32(vec![1.0; scales.len()]);
    scaled(&other, |product, _| product)
}

const MISTAKEN: &[Mistaken] = &[
    Mistaken {
        outputs: |case| with_weights(case, |q, scale| bf16::from_f32(f32::from(q) * scale).to_f64()),
        what: "weights that are rounded to bf16 after they were multiplied with their scale",
        question: "Are the numbers that the tensor cores get those of q, which bf16 holds exactly, and is the scale applied to the sums?",
    },
    Mistaken {
        outputs: |case| scaled(case, |product, [scale, _]| bf16::from_f64(product).to_f64() * f64::from(scale)),
        what: "sums that are rounded to bf16 before they are multiplied with the scale",
        question: "Is a sum kept in f32 until it has its scale, and rounded once?",
    },
    Mistaken {
        outputs: |case| with_weights(case, |q, scale| f64::from(q as u8) * f64::from(scale)),
        what: "weights from 0 to 255",
        question: "Is a byte of q taken as a `signed char`?",
    },
    Mistaken {
        outputs: |case| scaled(case, |product, [_, of_row]| product * f64::from(of_row)),
        what: "the scale of the row's number",
        question: "Is the scale read with the number of the column?",
    },
    Mistaken {
        outputs: |case| scaled(case, |product, [scale, _]| product * f64::from(scale) * f64::from(scale)),
        what: "the scale applied twice",
        question: "Is the scale applied either to each weight or to the sum?",
    },
    Mistaken {
        outputs: |case| scaled(case, |product, _| product),
        what: "a q",
        question: "Is the scale applied?",
    },
];
