//! `adamw_multi`: one launch updates all parameters of a model, in tensors of very different sizes.

use crate::rounding::UNIT;
use crate::{Case, DType, Data, Exercise, Inputs, Param, Reference, Rival, Rung, Scalar, ScalarArg, Shape, Shapes, Step, Tolerance};

crate::signature! {
    inputs(tensors: u64, chunks: i32) outputs()
    scalars(
        lr: F32(f32), beta1: F32(f32), beta2: F32(f32), epsilon: F32(f32), weight_decay: F32(f32), correction1: F32(f32),
        correction2: F32(f32)
    )
    sizes()
}

/// Elements of a chunk, at most.
const CHUNK: usize = 4096;

const LR: ScalarArg = ScalarArg::Named("lr");
const BETA1: ScalarArg = ScalarArg::Named("beta1");
const BETA2: ScalarArg = ScalarArg::Named("beta2");
const EPSILON: ScalarArg = ScalarArg::Named("epsilon");
const WEIGHT_DECAY: ScalarArg = ScalarArg::Named("weight_decay");
const CORRECTION1: ScalarArg = ScalarArg::Named("correction1");
const CORRECTION2: ScalarArg = ScalarArg::Named("correction2");

pub const EXERCISE: Exercise = Exercise {
    name: "adamw_multi",
    day: 26,
    definition: "AdamW of many tensors in one launch, in place, through a table of pointers and a table of chunks",
    inputs: &[
        Param::tensors("tensors", &["p", "g", "m", "v"]),
        Param::chunks("chunks", CHUNK),
        Param::elements("g", DType::F32).behind(),
    ],
    outputs: &[
        Param::elements("p", DType::F32).updated().behind(),
        Param::elements("m", DType::F32).updated().behind(),
        Param::elements("v", DType::F32).updated().behind(),
    ],
    intermediates: &[Param::elements("denominator", DType::F32)],
    scalars: &["lr", "beta1", "beta2", "epsilon", "weight_decay", "correction1", "correction2"],
    unfused: &[
        Step::elementwise("decay", &["p"], &["p"]).with(&[LR, WEIGHT_DECAY]),
        Step::elementwise("lerp", &["m", "g"], &["m"]).with(&[BETA1]),
        Step::elementwise("scale", &["v"], &["v"]).with(&[BETA2]),
        Step::elementwise("add_square", &["v", "g"], &["v"]).with(&[BETA2]),
        Step::elementwise("root", &["v"], &["denominator"]),
        Step::elementwise("div_root", &["denominator"], &["denominator"]).with(&[CORRECTION2]),
        Step::elementwise("add_scalar", &["denominator"], &["denominator"]).with(&[EPSILON]),
        Step::elementwise("sub_quotient", &["p", "m", "denominator"], &["p"]).with(&[LR, CORRECTION1]),
    ],
    shapes: Shapes::Tensors { timed: &[200] },
    make,
    reference,
    // All of it is in the reference's magnitudes.
    tolerances: &[Tolerance { absolute: 0.0, relative: UNIT }; 3],
    // p: a product; m: two products, a sum; v: three products, a sum; the step: a root, two quotients, a sum, a product, a difference.
    flops: |shape| 14.0 * shape.elements() as f64,
    // An H200 gives the plain solution 2.32 of 2.86: it loads one element at a time, and has four streams of them to load.
    bar: 0.75,
    rival: Some(Rival {
        name: "one fused launch for each tensor",
        step: Step::elementwise("adamw_scalar", &["p", "g", "m", "v"], &["p", "m", "v"])
            .with(&[LR, BETA1, BETA2, EPSILON, WEIGHT_DECAY, CORRECTION1, CORRECTION2])
            .for_each_tensor(),
        bar: 1.1,
    }),
    ladder: &[rung("a chunk a block", "adamw_chunk"), rung("four at once", "adamw_four")],
    hints: include_str!("adamw_multi.md"),
    ..Exercise::TEMPLATE
};

/// A block a chunk.
const fn rung(name: &'static str, kernel: &'static str) -> Rung {
    let step = Step::by_chunk(kernel, &["tensors", "chunks", "p", "g", "m", "v"], &["p", "m", "v"], CHUNK);
    Rung::any(name, step.with(&[LR, BETA1, BETA2, EPSILON, WEIGHT_DECAY, CORRECTION1, CORRECTION2]))
}

/// Beside ordinary elements there are quiet ones, whose gradients have always been about as small as epsilon. Epsilon and the step
/// number differ from call to call, so that each correction is now far from 1 and now next to it.
fn make(shape: Shape, inputs: &mut Inputs) -> Case {
    let elements = shape.elements();
    let (p, mut g, mut m) = (inputs.mixed(elements), inputs.mixed(elements), inputs.mixed(elements));
    let mut v: Vec<f32> = inputs.mixed(elements).into_iter().map(|root| root * root).collect();
    for ((g, m), v) in g.iter_mut().zip(&mut m).zip(&mut v) {
        *m *= 0.25;
        if inputs.below(8) == 0 {
            let quiet = |inputs: &mut Inputs| inputs.uniform(1e-8, 1e-6);
            *g = quiet(inputs) * if inputs.below(2) == 0 { -1.0 } else { 1.0 };
            (*m, *v) = (0.5 * quiet(inputs), quiet(inputs).powi(2));
        }
    }
    let [beta1, beta2] = [[0.9_f32, 0.999], [0.8, 0.99], [0.95, 0.98]][inputs.below(3)];
    let step = [1, 2, 10, 1000][inputs.below(4)];
    // As the host computes them, once: in f64, since the difference from 1 may be small.
    let correction = |beta: f32| (1.0 - f64::from(beta).powi(step)) as f32;
    let epsilon = [1e-8, 1e-7, 1e-6, 1e-3][inputs.below(4)];
    let scalars = [
        inputs.uniform(1e-3, 1e-1),
        beta1,
        beta2,
        epsilon,
        inputs.uniform(0.05, 0.5),
        correction(beta1),
        correction(beta2),
    ];
    let [g, p, m, v] = [g, p, m, v].map(Data::F32);
    Case {
        scalars: scalars.map(Scalar::F32).into(),
        initial: vec![Some(p), Some(m), Some(v)],
        // Where the tensors are, only the grader knows.
        ..Case::new(shape, vec![Data::U64(Vec::new()), Data::I32(Vec::new()), g])
    }
}

/// In f64, with the errors of f32 as magnitudes.
fn reference(case: &Case) -> Vec<Reference> {
    let before = |output: usize| case.initial.get(output).and_then(Option::as_ref).map_or_else(Vec::new, Data::to_f64);
    let (p, m, v) = (before(0), before(1), before(2));
    let elements = case.f64s(2).into_iter().zip(p).zip(m).zip(v);
    let updates: Vec<_> = elements.map(|(((g, p), m), v)| update(case, [p, g, m, v])).collect();
    let output = |of: usize| {
        let (values, magnitudes) = updates.iter().map(|update| (update[of].0, update[of].1 / UNIT)).unzip();
        Reference::Close { values, magnitudes: Some(magnitudes) }
    };
    vec![output(0), output(1), output(2)]
}

/// An element's new p, m and v, each with what f32 may be off by.
///
/// A moment is the sum of two products, or the old one and a share of a difference: in either form there are three roundings, each
/// of no more than the terms of the second form are. A square makes four of v.
/// The root halves the relative error of v; root, correction and quotient add up to four units, and an approximate one of two ulps
/// four more. Epsilon is exact. The step's two quotients and products have as many. The decay is a product, a difference and a product,
/// and in the last difference everything is rounded once more.
fn update(case: &Case, [p, g, m, v]: [f64; 4]) -> [(f64, f64); 3] {
    let [lr, beta1, beta2, epsilon, weight_decay, correction1, correction2] =
        std::array::from_fn(|index| case.scalar(index));
    let m_new = beta1 * m + (1.0 - beta1) * g;
    let of_m = 3.0 * UNIT * (m.abs() + (1.0 - beta1) * (g.abs() + m.abs()));
    let v_new = beta2 * v + (1.0 - beta2) * g * g;
    let of_v = 4.0 * UNIT * (v + (1.0 - beta2) * (g * g + v));

    let root = (v_new / correction2).sqrt();
    let of_root = if v_new > 0.0 { root * (0.5 * of_v / v_new + 8.0 * UNIT) } else { 0.0 };
    let denominator = root + epsilon;
    let size = lr / correction1 / denominator;
    let step = size * m_new;
    let of_step = size * of_m + step.abs() * (of_root / denominator + 8.0 * UNIT);
    let kept = p * (1.0 - lr * weight_decay);
    let p_new = kept - step;
    let of_p = of_step + UNIT * (3.0 * kept.abs() + p_new.abs());
    [(p_new, of_p), (m_new, of_m), (v_new, of_v)]
}
