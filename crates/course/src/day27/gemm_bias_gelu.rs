//! `gemm_bias_gelu`: a product of matrices and the three operations after it, in the product's epilogue.

use half::bf16;

use super::gemm_tile::{self, ROUNDING, factors, product, sum_error};
use crate::day22::add_gelu::{BEND, gelu, slope};
use crate::rounding::UNIT;
use crate::{Case, DType, Data, Exercise, Inputs, Mistaken, Param, Reference, Rival, Rung, Shape, Shapes, Step};

crate::signature! { inputs(a: bf16, b: bf16, bias: bf16, residual: bf16) outputs(d: bf16) scalars() sizes(m, n, k) }

pub const EXERCISE: Exercise = Exercise {
    name: "gemm_bias_gelu",
    day: 27,
    definition: "d = gelu(a b + bias) + residual, in bf16 with sums in f32, rounded once",
    inputs: &[
        Param::left("a", DType::Bf16),
        Param::right("b", DType::Bf16),
        Param::columns("bias", DType::Bf16),
        Param::elements("residual", DType::Bf16),
    ],
    outputs: &[Param::elements("d", DType::Bf16)],
    intermediates: &[
        Param::elements("product", DType::Bf16),
        Param::elements("biased", DType::Bf16),
        Param::elements("activated", DType::Bf16),
    ],
    unfused: &[
        bare_product(&["product"]),
        Step::by_row("add_columns_bf16", &["product", "bias"], &["biased"]),
        Step::elementwise("gelu_bf16", &["biased"], &["activated"]),
        Step::elementwise("add_bf16", &["activated", "residual"], &["d"]),
    ],
    // As many multiply-adds each, with four times the elements in the first: there the epilogue has the most to do beside the product.
    shapes: Shapes::Product { timed: &[[16384, 4096, 1024], [16384, 1024, 4096]] },
    surveyed: gemm_tile::EXERCISE.surveyed,
    make,
    reference: |case| finished(case, gelu, |terms| [terms.product + terms.bias, terms.residual]),
    mistaken: MISTAKEN,
    tolerances: gemm_tile::EXERCISE.tolerances,
    // A sum, GELU's nine, a sum.
    flops: |shape| gemm_tile::flops(shape) + 11.0 * shape.elements() as f64,
    // What the chain's other launches take depends on K: the kernel to beat says how much an epilogue may cost.
    speedup: Some(1.0),
    rival: Some(Rival { name: "the bare product", step: bare_product(&["d"]), bar: 1.0 / 1.05 }),
    reuse: gemm_tile::EXERCISE.reuse,
    ladder: &[
        Rung::any("by element", Step::product("gemm_bias_gelu_elements", READ, D, [128, 128])).multiple_of(8),
        Rung::any("by pair", Step::product("gemm_bias_gelu_pairs", READ, D, [128, 128])).multiple_of(8),
        Rung::any("one exponential", Step::product("gemm_bias_gelu_fast", READ, D, [128, 128])).multiple_of(8),
        // Three stages, as those of `gemm_tile`'s.
        Rung::any(
            "pipeline",
            Step::product("gemm_bias_gelu_pipeline", READ, D, [128, 128])
                .shared_of_block(3 * (128 * 40 + 32 * 136) * 2),
        )
        .multiple_of(8),
        // Four stages of 128 x 32 and 32 x 128.
        Rung::any(
            "packs",
            Step::product("gemm_bias_gelu_packs", READ, D, [128, 128])
                .threads(128)
                .shared_of_block(4 * 2 * 128 * 32 * 2),
        )
        .multiple_of(8),
    ],
    hints: include_str!("gemm_bias_gelu.md"),
    ..Exercise::TEMPLATE
};

const READ: &[&str] = &["a", "b", "bias", "residual"];
const D: &[&str] = &["d"];

/// The product alone, by a kernel as plain as the solution of `gemm_tile`.
const fn bare_product(writes: &'static [&'static str]) -> Step {
    Step::product("gemm_tensor_bf16", &["a", "b"], writes, [128, 128])
}

/// Factors as those of `gemm_tile`. The bias is as large as a product's small sums, where GELU bends. One row in three has next to
/// no residual: what GELU makes of numbers below 0 is as small, and shows there alone.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let (a, b) = factors(shape, inputs);
    let bias = inputs.moderate(shape.columns, 3.0);
    let mut residual = inputs.moderate(shape.elements(), 4.0);
    for row in residual.chunks_mut(shape.columns.max(1)) {
        if inputs.below(3) == 0 {
            row.iter_mut().for_each(|value| *value *= 1e-4);
        }
    }
    let [bias, residual] = [bias, residual].map(|values| Data::rounded(DType::Bf16, values));
    Case::new(shape, vec![a, b, bias, residual])
}

/// Beyond 8 below 0 the tanh of f32 is -1, and nothing is left to be off.
const SATURATED: f64 = 8.0;

/// What is at hand for an element at the end of its sum.
struct Terms {
    product: f64,
    bias: f64,
    /// The element of the bias with the row's number; none where it has no such.
    bias_of_row: f64,
    residual: f64,
}

/// The product, and after it a form of GELU: `parts` says what that is applied to, and what is added to it.
///
/// A sum may be off as that of `gemm_tile`; the bias may have been its first term, or have been added last. GELU passes an error on as
/// its slope says. Its own is absolute in the form with tanh, whose error of four units counts beside 1, and relative in the form with
/// an exponential, whose argument is off by some units of itself. The sum at the end adds a unit.
fn finished(case: &Case, gelu: fn(f64) -> f64, parts: fn(&Terms) -> [f64; 2]) -> Vec<Reference> {
    let (products, errors) = product(case);
    let relative = sum_error(case.shape.terms()) + 2.0 * UNIT;
    let (biases, residuals) = (case.f64s(2), case.f64s(3));
    let columns = case.shape.columns.max(1);
    let (mut values, mut magnitudes) = (Vec::with_capacity(products.len()), Vec::with_capacity(products.len()));
    for (index, ((product, error), residual)) in products.into_iter().zip(errors).zip(residuals).enumerate() {
        let (bias, of_row) = (biases[index % columns], biases.get(index / columns));
        let terms = Terms { product, bias, bias_of_row: of_row.copied().unwrap_or(f64::NAN), residual };
        let [argument, rest] = parts(&terms);
        let activated = gelu(argument);
        let value = activated + rest;
        let before = error + relative * (bias.abs() + product.abs());
        let steepest = slope(argument).abs() + BEND * before;
        let near = argument.abs().min(SATURATED);
        let of_gelu = UNIT * (4.0 * near + activated.abs() * (8.0 + 8.0 * near * near));
        let error = steepest * before + of_gelu + UNIT * value.abs();
        values.push(value);
        // What the result may be off by counts as much more as the rounding after it is larger.
        magnitudes.push(value.abs() + error / ROUNDING);
    }
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}

const MISTAKEN: &[Mistaken] = &[
    Mistaken {
        outputs: |case| finished(case, gelu, |terms| [terms.product, terms.bias + terms.residual]),
        what: "gelu(a b) + bias + residual",
        question: "Is the bias added before GELU is applied?",
    },
    Mistaken {
        outputs: |case| finished(case, gelu, |terms| [terms.product + terms.bias + terms.residual, 0.0]),
        what: "gelu(a b + bias + residual)",
        question: "Is the residual added to what GELU gives, and not to what it gets?",
    },
    Mistaken {
        outputs: |case| finished(case, gelu_by_erf, |terms| [terms.product + terms.bias, terms.residual]),
        what: "GELU by the error function",
        question: "Is it the tanh form, as `gelu_tanh` and `gelu_fast` of activation.cuh have it?",
    },
    Mistaken {
        outputs: |case| finished(case, gelu, |terms| [terms.product + terms.bias_of_row, terms.residual]),
        what: "the bias of the row's number",
        question: "Is the bias read with the number of the column?",
    },
    Mistaken {
        outputs: |case| finished(case, gelu, |terms| [terms.product, terms.residual]),
        what: "gelu(a b) + residual",
        question: "Is the bias added?",
    },
    Mistaken {
        outputs: |case| finished(case, gelu, |terms| [terms.product + terms.bias, 0.0]),
        what: "gelu(a b + bias)",
        question: "Is the residual added?",
    },
    Mistaken {
        outputs: |case| finished(case, |argument| argument, |terms| [terms.product + terms.bias, terms.residual]),
        what: "a b + bias + residual",
        question: "Is GELU applied?",
    },
];

/// The other form of GELU, t / 2 (1 + erf(t / sqrt(2))), to within 10^-6: erf by formula 7.1.26 of Abramowitz and Stegun,
/// "Handbook of Mathematical Functions", 1964.
fn gelu_by_erf(t: f64) -> f64 {
    let x = t.abs() / 2.0_f64.sqrt();
    let u = 1.0 / (1.0 + 0.3275911 * x);
    let series = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
    let erf = 1.0 - series.iter().fold(0.0, |sum, factor| (sum + factor) * u) * (-x * x).exp();
    0.5 * t * (1.0 + erf.copysign(t))
}
