//! `moe_expert`: a layer of a mixture of experts, whose matrices are many and meet few tokens each.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
use half::bf16;

use super::gemm_tile::{ROUNDING, sum_error};
use crate::{
    Arguments, CHOICES, Case, DType, Data, Entry, Exercise, Inputs, Mistaken, Param, Reference, Routing, Shape, Shapes,
    Source, Step, Tolerance, Width,
};

/// The launch function that a submission provides: stream, module of the submission's own `.cu`, the inputs, the lent buffers
/// `activated` and `parts`, the output, and the sizes.
pub type Launch = fn(
    &Arc<CudaStream>,
    &Arc<CudaModule>,
    &CudaView<'_, bf16>,
    &CudaView<'_, bf16>,
    &CudaView<'_, bf16>,
    &CudaView<'_, i32>,
    &CudaView<'_, i32>,
    &CudaView<'_, f32>,
    &mut CudaViewMut<'_, bf16>,
    &mut CudaViewMut<'_, f32>,
    &mut CudaViewMut<'_, bf16>,
    usize,
    usize,
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
            let shape = arguments.shape();
            let Arguments { inputs, outputs, scratch, .. } = arguments;
            let [x, w1, w2, order, offsets, weights] = inputs else { unreachable!("as many inputs as specified") };
            let [out] = outputs else { unreachable!("as many outputs as specified") };
            let [activated, parts] = scratch else { unreachable!("as many buffers as specified") };
            launch(
                stream,
                module,
                &x.view(),
                &w1.view(),
                &w2.view(),
                &order.view(),
                &offsets.view(),
                &weights.view(),
                &mut activated.view_mut(),
                &mut parts.view_mut(),
                &mut out.view_mut(),
                shape.rows,
                shape.experts.unwrap_or_default(),
                shape.columns,
                shape.terms(),
            )
        }),
    }
}

/// A product for one expert, by the kernel that the chain of `gemm_dequant` has: it is made for few rows.
const fn product(reads: &'static [&'static str], writes: &'static [&'static str]) -> Step {
    Step::product("gemm_few_rows_bf16", reads, writes, [16, 32]).threads(512).for_each_expert()
}

pub const EXERCISE: Exercise = Exercise {
    name: "moe_expert",
    day: 27,
    definition: "each token's two experts, swiglu(x w1) w2, weighted and added, in bf16 with sums in f32",
    inputs: &[
        Param::elements("x", DType::Bf16),
        Param::experts("w1", DType::Bf16, Width::Hidden, Width::GateUp),
        Param::experts("w2", DType::Bf16, Width::Inter, Width::Hidden),
        Param::order("order"),
        Param::offsets("offsets"),
        Param::slots("weights", DType::F32, Width::One),
    ],
    outputs: &[Param::elements("out", DType::Bf16)],
    intermediates: &[
        Param::elements("sums", DType::F32),
        Param::slots("gathered", DType::Bf16, Width::Hidden),
        Param::slots("gate_up", DType::Bf16, Width::GateUp),
        Param::slots("down", DType::Bf16, Width::Hidden),
    ],
    scratch: &[Param::slots("activated", DType::Bf16, Width::Inter), Param::slots("parts", DType::F32, Width::Hidden)],
    unfused: &[
        Step::elementwise("fill_zeros", &[], &["sums"]),
        Step::by_row("gather_rows", &["x", "order"], &["gathered"]).for_each_expert(),
        product(&["gathered", "w1"], &["gate_up"]),
        Step::by_row("swiglu_bf16", &["gate_up"], &["activated"]).for_each_expert(),
        product(&["activated", "w2"], &["down"]),
        Step::by_row("scatter_add", &["down", "order", "weights", "sums"], &["sums"]).for_each_expert(),
        Step::elementwise("to_bf16", &["sums"], &["out"]),
    ],
    // What is between the matrices must be whole before the second one is multiplied with it, and a token's two experts before
    // they are added.
    plan: &[
        Step::own("experts_up", &["x", "w1", "order", "offsets"], &["activated"]),
        Step::own("experts_down", &["activated", "w2", "order", "offsets"], &["parts"]),
        Step::own("combine", &["parts", "weights"], &["out"]),
    ],
    // As when a model answers hundreds of requests at once: 16 tokens for each expert on average, so that the weights' bytes are
    // nearly all that is moved.
    shapes: Shapes::Routing { timed: &[[512, 64, 1024, 512]] },
    // 128 tokens, 16 experts, 256 x 128: a product takes the emulated device as long as its multiply-adds do.
    surveyed: 1 << 15,
    make,
    reference: |case| mixed(case, Form::RIGHT),
    mistaken: MISTAKEN,
    // All of it is in the reference's magnitudes.
    tolerances: &[Tolerance { absolute: f32::MIN_POSITIVE as f64, relative: ROUNDING }],
    // Three products of hidden x inter for each slot, SwiGLU's five operations, and a weight and an addition for each element of the result.
    flops: |shape| {
        let (slots, products) = (shape.slots() as f64, 6.0 * (shape.columns * shape.terms()) as f64);
        slots * (products + 5.0 * shape.terms() as f64 + 2.0 * shape.columns as f64)
    },
    launches: 3,
    // By arithmetic, for an H200: a launch takes 2 us there and more, so the chain's 322 take 644 us or more. The 214 MB of the plan take
    // 50 us at a copy's 4,250 GB/s. A kernel that moves them at 40% of that is 644 / 125 = 5.2 times as fast.
    speedup: Some(5.0),
    hints: include_str!("moe_expert.md"),
    ..Exercise::TEMPLATE
};

/// Values of mixed signs that differ by place; one token in eight is small, one large, and half of these so large that f32 has no room for
/// the exponential of their gates. Weights are so large that the sums of their products stay near the tokens' size whatever the sizes are.
/// No two experts have the same weights. Those of a large problem are the same ones again and again, as many numbers take long to draw; but
/// their number is a prime, so that a wrong index still shows.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    const DRAWN: usize = 1_000_003;
    let (hidden, inter) = (shape.columns, shape.terms());
    let mut x = inputs.moderate(shape.elements(), 2.0);
    for row in x.chunks_mut(hidden.max(1)) {
        let scale = match inputs.below(16) {
            0 => 64.0,
            1 => 8.0,
            2 | 3 => 1e-2,
            _ => 1.0,
        };
        row.iter_mut().for_each(|value| *value *= scale);
    }
    let mut matrices = |terms: usize, columns: usize| {
        let len = shape.experts.unwrap_or_default() * terms * columns;
        let largest = (3.0 / terms.max(1) as f32).sqrt();
        let drawn: Vec<bf16> =
            (0..len.min(DRAWN)).map(|_| bf16::from_f32(inputs.uniform(-0.75 * largest, largest))).collect();
        Data::Bf16(drawn.into_iter().cycle().take(len).collect())
    };
    let (w1, w2) = (matrices(hidden, 2 * inter), matrices(inter, hidden));
    let weights = (0..shape.slots()).map(|_| inputs.uniform(0.05, 1.0)).collect();
    let tables = || Data::I32(Vec::new());
    Case::new(shape, vec![Data::rounded(DType::Bf16, x), w1, w2, tables(), tables(), Data::F32(weights)])
}

/// silu(gate) * up, with what it may be off by for each of the two.
fn swiglu(gate: f64, up: f64) -> [f64; 3] {
    let open = 1.0 / (1.0 + (-gate).exp());
    let silu = gate * open;
    [silu * up, (open + silu * (1.0 - open)) * up, silu]
}

/// What is done otherwise in another operation than the layer.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Of a gate and what it lets through: the value, and its slopes.
    activation: fn(f64, f64) -> [f64; 3],
    /// Which slot's weight a slot has; none where its result is added as it is.
    weight_of: fn(usize) -> Option<usize>,
    /// The experts whose first and whose second matrix an expert takes.
    matrices_of: fn(usize) -> [usize; 2],
    /// To which slot's row the result of a slot goes that has a place in the order.
    row_of: fn(usize, usize) -> usize,
}

impl Form {
    const RIGHT: Self =
        Self { activation: swiglu, weight_of: Some, matrices_of: |expert| [expert; 2], row_of: |slot, _| slot };
}

/// The layer in a form.
///
/// Sums in f32 may be off as those of `gemm_tile`. Beside these the results of both products and of the activation may be rounded to bf16, as the chain
/// does. The second product adds such errors up, each times a weight of its own: as the root of their squares does, and a sum of
/// many is hardly ever off by twice that.
fn mixed(case: &Case, form: Form) -> Vec<Reference> {
    let shape = case.shape;
    let (hidden, inter) = (shape.columns, shape.terms());
    let (x, weights) = (case.f64s(0), case.f32s(5));
    let mut values = vec![0.0_f64; shape.elements()];
    let mut errors = vec![0.0_f64; values.len()];
    for (expert, (begin, slots)) in Routing::of(shape).experts().enumerate().filter(|(_, (_, slots))| !slots.is_empty())
    {
        let [of_first, of_second] = (form.matrices_of)(expert);
        let (first, second) = (matrix(case, 1, of_first), matrix(case, 2, of_second));
        let (lengths, downs) = (lengths(&first, 2 * inter), lengths(&second, hidden));
        for (place, &slot) in (begin..).zip(slots) {
            let token = slot / CHOICES * hidden..(slot / CHOICES + 1) * hidden;
            let row = &x[token];
            let gate_up = times(row, &first, 2 * inter);
            let off =
                |column: usize| sum_error(hidden) * length(row) * lengths[column] + ROUNDING * gate_up[column].abs();
            let between: Vec<(f64, f64)> = (0..inter)
                .map(|column| {
                    let [value, by_gate, by_up] = (form.activation)(gate_up[column], gate_up[inter + column]);
                    let error = by_gate.abs() * off(column) + by_up.abs() * off(inter + column);
                    (value, error + ROUNDING * value.abs())
                })
                .collect();
            let (activated, off): (Vec<f64>, Vec<f64>) = between.into_iter().unzip();
            let down = times(&activated, &second, hidden);
            let mut squares = vec![0.0_f64; hidden];
            for (off, row) in off.iter().zip(second.chunks_exact(hidden.max(1))) {
                let off = off * off;
                squares.iter_mut().zip(row).for_each(|(sum, &w)| *sum += off * f64::from(w * w));
            }
            let to = (form.row_of)(slot, place);
            let share = (form.weight_of)(to).map_or(1.0, |slot| f64::from(weights[slot]));
            let token = to / CHOICES * hidden..(to / CHOICES + 1) * hidden;
            let results = values[token.clone()].iter_mut().zip(&mut errors[token]);
            for (column, (value, error)) in results.enumerate() {
                let sums = sum_error(inter) * length(&activated) * downs[column];
                *value += share * down[column];
                *error += share * (2.0 * squares[column].sqrt() + sums + ROUNDING * down[column].abs());
            }
        }
    }
    // What a value may be off by counts as much more as the rounding after it is larger.
    let magnitudes = values.iter().zip(errors).map(|(value, error)| value.abs() + error / ROUNDING).collect();
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}

/// An expert's part of a matrix.
fn matrix(case: &Case, input: usize, expert: usize) -> Vec<f32> {
    let (Some(Data::Bf16(all)), experts) = (case.inputs.get(input), case.shape.experts.unwrap_or_default()) else {
        return Vec::new();
    };
    let len = all.len() / experts.max(1);
    all[expert * len..(expert + 1) * len].iter().map(|value| value.to_f32()).collect()
}

/// A row times a matrix of so many columns.
fn times(row: &[f64], matrix: &[f32], columns: usize) -> Vec<f64> {
    let mut sums = vec![0.0_f64; columns];
    for (value, others) in row.iter().zip(matrix.chunks_exact(columns.max(1))) {
        sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum += value * f64::from(other));
    }
    sums
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The length of each column.
fn lengths(matrix: &[f32], columns: usize) -> Vec<f64> {
    let mut squares = vec![0.0_f64; columns];
    for row in matrix.chunks_exact(columns.max(1)) {
        squares.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value * value));
    }
    squares.into_iter().map(f64::sqrt).collect()
}

const MISTAKEN: &[Mistaken] = &[
    Mistaken {
        outputs: |case| mixed(case, Form { activation: |gate, up| swiglu(up, gate), ..Form::RIGHT }),
        what: "gate * silu(up)",
        question: "Are the gates the first `inter` columns of w1, and is SiLU of these?",
    },
    Mistaken {
        outputs: |case| mixed(case, Form { activation: |gate, up| [gate * up, up, gate], ..Form::RIGHT }),
        what: "gate * up, without SiLU",
        question: "Is SiLU of the gate multiplied with what it lets through?",
    },
    Mistaken {
        outputs: |case| mixed(case, Form { weight_of: |slot| Some(slot ^ 1), ..Form::RIGHT }),
        what: "the two experts, each with the other's weight",
        question: "Is the weight read with the number of the slot, 2 t + i?",
    },
    Mistaken {
        outputs: |case| mixed(case, Form { weight_of: |_| None, ..Form::RIGHT }),
        what: "the two experts, without their weights",
        question: "Is each expert's result multiplied with its slot's weight?",
    },
    Mistaken {
        outputs: |case| mixed(case, Form { matrices_of: |expert| [0, expert], ..Form::RIGHT }),
        what: "taking the first expert's w1, whichever the expert,",
        question: "Does w1 begin at the matrix of the block's own expert?",
    },
    Mistaken {
        outputs: |case| mixed(case, Form { matrices_of: |expert| [expert, 0], ..Form::RIGHT }),
        what: "taking the first expert's w2, whichever the expert,",
        question: "Does w2 begin at the matrix of the block's own expert?",
    },
    Mistaken {
        outputs: |case| mixed(case, Form { matrices_of: |_| [0; 2], ..Form::RIGHT }),
        what: "taking the first expert's matrices, whichever the expert,",
        question: "Do w1 and w2 begin at the matrices of the block's own expert?",
    },
    Mistaken {
        outputs: |case| mixed(case, Form { row_of: |_, place| place, ..Form::RIGHT }),
        what: "taking a slot's place in `order` for its number",
        question: "Does the result of the slot at place p go to row order[p]?",
    },
];
