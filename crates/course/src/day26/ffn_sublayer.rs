//! `ffn_sublayer`: half of a transformer's layer, where one kernel for everything is the wrong answer.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
use half::f16;

use crate::day22::add_gelu::{BEND, gelu, slope};
use crate::{
    Arguments, Case, DType, Data, Entry, Exercise, Gemm, Inputs, Param, Reference, ScalarArg, Shape, Shapes, Source,
    Step, Tolerance,
};

/// The launch function that a submission provides: stream, module of the submission's own `.cu`, what multiplies
/// matrices, the inputs, the lent buffers `normed` and `product`, the output, and the sizes.
pub type Launch = fn(
    &Arc<CudaStream>,
    &Arc<CudaModule>,
    &dyn Gemm,
    &CudaView<'_, f16>,
    &CudaView<'_, f16>,
    &CudaView<'_, f16>,
    &CudaView<'_, f16>,
    &CudaView<'_, f16>,
    &mut CudaViewMut<'_, f16>,
    &mut CudaViewMut<'_, f16>,
    &mut CudaViewMut<'_, f16>,
    usize,
    usize,
) -> Result<(), DriverError>;

/// A submission to this exercise.
pub fn entry(launch: Launch, source: Source) -> Entry {
    Entry {
        exercise: &EXERCISE,
        source,
        rust: None,
        launch: Arc::new(move |stream, module, arguments| {
            let Arguments { inputs, outputs, scratch, gemm, rows, columns, .. } = arguments;
            let [x, gamma, beta, w, bias] = inputs else { unreachable!("as many inputs as specified") };
            let [out] = outputs else { unreachable!("as many outputs as specified") };
            let [normed, product] = scratch else { unreachable!("as many buffers as specified") };
            let [x, gamma, beta, w, bias] = [x, gamma, beta, w, bias].map(|buffer| buffer.view::<f16>());
            let [mut normed, mut product, mut out] = [normed, product, out].map(|buffer| buffer.view_mut::<f16>());
            launch(
                stream,
                module,
                gemm,
                &x,
                &gamma,
                &beta,
                &w,
                &bias,
                &mut normed,
                &mut product,
                &mut out,
                rows,
                columns,
            )
        }),
    }
}

/// A rounding to f16, 2^-11, and what sums of 1024 terms in f32 add.
const RELATIVE: f64 = 5.5e-4;

/// Added to the variance, so that a constant row can be divided.
const EPSILON: f32 = 1e-5;

const LAYERNORM: Step = Step::by_row("layernorm_f16", &["x", "gamma", "beta"], &["normed"])
    .with(&[ScalarArg::Constant(EPSILON)])
    .threads(128);
const PRODUCT: Step = Step::gemm(&["normed", "w"], &["product"]);

pub const EXERCISE: Exercise = Exercise {
    name: "ffn_sublayer",
    day: 26,
    definition: "x + gelu(layernorm(x) W + bias), W square",
    inputs: &[
        Param::elements("x", DType::F16),
        Param::columns("gamma", DType::F16),
        Param::columns("beta", DType::F16),
        Param::square("w", DType::F16),
        Param::columns("bias", DType::F16),
    ],
    outputs: &[Param::elements("out", DType::F16)],
    intermediates: &[Param::elements("biased", DType::F16), Param::elements("activated", DType::F16)],
    scratch: &[Param::elements("normed", DType::F16), Param::elements("product", DType::F16)],
    unfused: &[
        LAYERNORM,
        PRODUCT,
        Step::by_row("add_columns_f16", &["product", "bias"], &["biased"]),
        Step::elementwise("gelu_f16", &["biased"], &["activated"]),
        Step::elementwise("add_f16", &["x", "activated"], &["out"]),
    ],
    plan: &[LAYERNORM, PRODUCT, Step::by_row("bias_gelu_add_f16", &["product", "bias", "x"], &["out"])],
    // 24 and 1096 are multiples of 8 by which a mean is not divided without a rounding; 1096 is also more packs of 8 than a
    // block of 128 threads does at once.
    shapes: Shapes::Rows { columns: &[1, 24, 31, 32, 33, 63, 64, 128, 161, 256, 1096], timed: &[1024] },
    // 257 rows of 1096 columns would take as long as everything else.
    most_work: 1 << 27,
    // A product of matrices takes the emulated device a thousand times as long as anything else of this size.
    surveyed: 1 << 16,
    make,
    reference,
    // `reference` says how large the roundings to f16 may grow; 2^-11 is one of them. Sums of 1024 terms in f32 add
    // less than a tenth to it. The absolute part is for rows that are constant: the mean's own rounding, 2^-24 of up to
    // 3, is divided by sqrt(1e-5).
    tolerances: &[Tolerance { absolute: 1e-4, relative: RELATIVE }],
    launches: 3,
    // The product is bound by arithmetic where it is large, which the bytes do not know: at 1024 columns it takes an
    // H200 three times as long as its bytes do, and that time is the same on both sides of the ratio.
    bar: 0.75,
    // Seven for the normalisation, a product and a sum for each element of a column of W, a sum, GELU's nine, a sum.
    flops: |shape| (18 + 2 * shape.columns) as f64 * shape.elements() as f64,
    hints: include_str!("ffn_sublayer.md"),
    ..Exercise::TEMPLATE
};

/// Weights of about 1 / sqrt(D), so that sums of D products stay near 1 whatever D is. Some rows of x vary so little that
/// epsilon counts, and some of these are so far from 0 that only distances from the mean may be squared.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let d = shape.columns;
    let mut x = inputs.rows(shape);
    for row in x.chunks_exact_mut(d.max(1)) {
        let offset = match inputs.below(6) {
            0 => 0.0,
            1 => 2.75,
            _ => continue,
        };
        row.iter_mut().for_each(|value| *value = *value * 2e-3 + offset);
    }
    let x = Data::rounded(DType::F16, x);
    let (gamma, beta) = (inputs.gains(DType::F16, d), inputs.offsets(DType::F16, d));
    let largest = (3.0 / d.max(1) as f32).sqrt();
    let w = (0..d * d).map(|_| inputs.uniform(-largest, largest)).collect();
    let bias = inputs.offsets(DType::F16, d);
    Case::new(shape, vec![x, gamma, beta, Data::rounded(DType::F16, w), bias])
}

/// With each value, what a rounding to f16 of `normed`, of the product and of the result scales with.
///
/// The first is made D times for an element of the product, each time with another sign: such errors add up as the root
/// of their squares does, four times which they hardly ever pass, and never to more than their sum. GELU passes an error
/// on as its slope says: next to nothing far below 0, where only that tells its two forms apart.
fn reference(case: &Case) -> Vec<Reference> {
    let columns = case.shape.columns.max(1);
    let inputs: Vec<Vec<f64>> = (0..5).map(|input| case.f64s(input)).collect();
    let [x, gamma, beta, w, bias] = &inputs[..] else { return Vec::new() };
    let (mut values, mut magnitudes) = (Vec::with_capacity(x.len()), Vec::with_capacity(x.len()));
    for row in x.chunks(columns) {
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / columns as f64;
        let factor = 1.0 / (variance + f64::from(EPSILON)).sqrt();
        let mut sums = vec![[0.0_f64; 3]; columns];
        for ((x, (gamma, beta)), weights) in row.iter().zip(gamma.iter().zip(beta)).zip(w.chunks(columns)) {
            let normed = (x - mean) * factor * gamma + beta;
            for (sum, weight) in sums.iter_mut().zip(weights) {
                let term = normed * weight;
                *sum = [sum[0] + term, sum[1] + term.abs(), sum[2] + term * term];
            }
        }
        for ((x, bias), [product, absolute, squares]) in row.iter().zip(bias).zip(sums) {
            let argument = product + bias;
            let value = x + gelu(argument);
            values.push(value);
            let scale = product.abs() + absolute.min(4.0 * squares.sqrt());
            let steepest = slope(argument).abs() + BEND * RELATIVE * scale;
            magnitudes.push(value.abs() + steepest * scale);
        }
    }
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}
