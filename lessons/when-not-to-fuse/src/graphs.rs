//! The cases as data: an operation, and ways to split it into kernels.

use fusion_course::day22::add_gelu::gelu;
use fusion_course::day26::ffn_sublayer;
use fusion_course::{Case as Problem, DType, Exercise, Inputs, Param, Reference, Shape, Step, Tolerance};

use crate::compare::{Case, Variant};

/// Rows of a block of the kernel that does all of it.
pub(crate) const ROWS_A_BLOCK: usize = 32;

pub(crate) const FFN: &[Variant] = &[
    Variant { name: "a kernel a step", steps: ffn_sublayer::EXERCISE.unfused },
    Variant { name: "epilogue fused", steps: ffn_sublayer::EXERCISE.plan },
    Variant {
        name: "all in one kernel",
        steps: &[Step::by_row("ffn_in_one", &["x", "gamma", "beta", "w", "bias"], &["out"]).rows_a_block(ROWS_A_BLOCK)],
    },
];

/// t = gelu(a + b) is read by two kernels: p = t * c and q = max(t, d).
pub(crate) const TWO_CONSUMERS: Case<'static> = Case {
    title: "2. A result that two kernels read: t = gelu(a + b), p = t * c, q = max(t, d), f32",
    exercise: &Exercise {
        name: "two_consumers",
        inputs: &[
            Param::elements("a", DType::F32),
            Param::elements("b", DType::F32),
            Param::elements("c", DType::F32),
            Param::elements("d", DType::F32),
        ],
        outputs: &[Param::elements("p", DType::F32), Param::elements("q", DType::F32)],
        intermediates: &[Param::elements("t", DType::F32)],
        make: |shape, inputs| {
            let n = shape.elements();
            Problem::new(shape, (0..4).map(|_| inputs.mixed_f32(n)).collect())
        },
        reference: |problem| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|input| problem.f64s(input));
            let t: Vec<f64> = a.iter().zip(&b).map(|(a, b)| gelu(a + b)).collect();
            vec![
                close(t.iter().zip(&c).map(|(t, c)| t * c).collect()),
                close(t.iter().zip(&d).map(|(t, d)| t.max(*d)).collect()),
            ]
        },
        // GELU's own error, where it is near 0, times up to 10,000.
        tolerances: &[Tolerance { absolute: 2e-2, relative: 1e-5 }, Tolerance { absolute: 2e-6, relative: 1e-5 }],
        ..Exercise::TEMPLATE
    },
    variants: &[
        Variant {
            name: "t goes through memory",
            steps: &[
                Step::elementwise("add_gelu_to", &["a", "b"], &["t"]),
                Step::elementwise("times", &["t", "c"], &["p"]),
                Step::elementwise("at_least", &["t", "d"], &["q"]),
            ],
        },
        Variant {
            name: "t in each consumer",
            steps: &[
                Step::elementwise("add_gelu_times", &["a", "b", "c"], &["p"]),
                Step::elementwise("add_gelu_at_least", &["a", "b", "d"], &["q"]),
            ],
        },
        Variant {
            name: "both in one kernel",
            steps: &[Step::elementwise("add_gelu_both", &["a", "b", "c", "d"], &["p", "q"])],
        },
    ],
    lesson: "A producer that is fused into each of its consumers runs once for each: its inputs are read again and its \
             arithmetic is done again. With one input it saves bytes, with three it saves none. Where the consumers can share \
             a kernel, nothing is done twice.",
};

/// s = x + r is half of a residual connection: the next layer reads it, whatever becomes of y.
pub(crate) const KEPT: Case<'static> = Case {
    title: "3. A result that another layer needs: s = x + r, y = gelu(s), f32, and the next layer reads s",
    exercise: &Exercise {
        name: "kept",
        inputs: &[Param::elements("x", DType::F32), Param::elements("r", DType::F32)],
        outputs: &[Param::elements("y", DType::F32), Param::elements("s", DType::F32)],
        make: |shape: Shape, inputs: &mut Inputs| {
            let n = shape.elements();
            Problem::new(shape, vec![inputs.mixed_f32(n), inputs.mixed_f32(n)])
        },
        reference: |problem| {
            let s: Vec<f64> = problem.f64s(0).iter().zip(problem.f64s(1)).map(|(x, r)| x + r).collect();
            vec![close(s.iter().copied().map(gelu).collect()), close(s)]
        },
        tolerances: &[Tolerance { absolute: 2e-6, relative: 1e-5 }; 2],
        ..Exercise::TEMPLATE
    },
    variants: &[
        Variant {
            name: "a kernel a step",
            steps: &[Step::elementwise("add", &["x", "r"], &["s"]), Step::elementwise("gelu", &["s"], &["y"])],
        },
        Variant { name: "fused, s is written", steps: &[Step::elementwise("add_gelu_keep", &["x", "r"], &["y", "s"])] },
        Variant { name: "fused, s is lost", steps: &[Step::elementwise("add_gelu_to", &["x", "r"], &["y"])] },
    ],
    lesson: "Fusing saves reading s back, not writing it: 20 bytes per element become 16. The 12 of the last row are those of \
             another operation, in which s is not needed: a speedup computed from them cannot be reached here.",
};

fn close(values: Vec<f64>) -> Reference {
    Reference::Close { values, magnitudes: None }
}
