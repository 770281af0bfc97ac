//! `attention_row`: attention without tensor cores, some queries for a warp, by an online softmax.

use crate::attention::{Form, Rounding, attention, inputs, mistaken};
use crate::rounding::UNIT;
use crate::{Case, DType, Exercise, Mistaken, Param, Reference, Rung, Shape, Shapes, Step, Tolerance};

crate::signature! { inputs(q: f32, k: f32, v: f32) outputs(out: f32) scalars() sizes(heads, length, head_dim) }

pub const EXERCISE: Exercise = Exercise {
    name: "attention_row",
    day: 28,
    definition: "out = softmax(q k^T / sqrt(d)) v for each head, in f32",
    inputs: &[Param::elements("q", DType::F32), Param::keys("k", DType::F32), Param::keys("v", DType::F32)],
    outputs: &[Param::elements("out", DType::F32)],
    intermediates: &[Param::scores("scores", DType::F32), Param::scores("weights", DType::F32)],
    // One sum a thread, from tiles of 32 x 32 elements in shared memory.
    unfused: &[
        Step::by_head("scores_f32", &["q", "k"], &["scores"], 32).threads(1024),
        Step::by_head("softmax_scores_f32", &["scores"], &["weights"], 1),
        Step::by_head("weighted_values_f32", &["weights", "v"], &["out"], 32).threads(1024),
    ],
    shapes: Shapes::Attention {
        elements: &[64, 128],
        grouped: false,
        timed: &[[64, 64, 1024, 64], [64, 64, 1024, 128]],
    },
    // Four heads of 64 tokens or two: attention takes the emulated device as long as its multiply-adds do.
    surveyed: 1 << 15,
    make: |shape, random| Case::new(shape, inputs(DType::F32, shape, random)),
    reference: |case| close(case, Form::ATTENTION),
    mistaken: mistaken![
        close,
        Form::ATTENTION,
        32,
        Mistaken {
            outputs: |case| close(case, Form { keys: |_, length| length / 32 * 32, ..Form::ATTENTION }),
            what: "attention to the keys of whole tiles of 32 alone",
            question: "Does the loop go over the last keys too, where they are fewer than 32?",
        },
        Mistaken {
            outputs: |case| close(case, Form { zeros: |_, length| length.next_multiple_of(32), ..Form::ATTENTION }),
            what: "attention with keys of zeros in the rest of the last tile of 32",
            question: "Is the score of a key that the head does not have -infinity? A score of 0 has a weight",
        },
    ],
    tolerances: &[Tolerance { absolute: f32::MIN_POSITIVE as f64, relative: RELATIVE }],
    flops,
    speedup: Some(BAR),
    ladder: &[
        Rung::any("from memory", Step::by_head("attention_row_memory", READ, OUT, 8)),
        Rung::any("tiles", Step::by_head("attention_row_tiles", READ, OUT, 8)),
        Rung::any("four queries a warp", Step::by_head("attention_row_four", READ, OUT, 16).threads(128)),
    ],
    hints: include_str!("attention_row.md"),
    ..Exercise::TEMPLATE
};

const READ: &[&str] = &["q", "k", "v"];
const OUT: &[&str] = &["out"];

/// Both sides are bound by what they read of shared memory, which gives a warp 128 bytes per clock, and each multiply-add
/// of the chain's products takes two reads of it. Where a key serves four queries, sixteen of them take eight clocks: a
/// quarter. Shuffles, exponentials and copies take about as much again, which leaves half of the time. What is asked for
/// is less, so that one who does otherwise passes.
const BAR: f64 = 1.5;

/// What the result may be off by in any case: the division at the end, and a rounding or two.
const RELATIVE: f64 = 4.0 * UNIT;

/// A multiplication and an addition for each element of both products. For each score a scaling, a comparison, a
/// subtraction, an exponential and an addition, and for each element of the result a division.
pub(crate) fn flops(shape: Shape) -> f64 {
    let scores = (shape.rows * shape.terms()) as f64;
    scores * (4.0 * shape.head() as f64 + 5.0) + shape.elements() as f64
}

/// A score is a sum of up to 128 terms, in whatever order: a random walk of roundings, see [`crate::rounding`], of which
/// twice the root of 128 is admitted. `expf` is off by two units of its result. The sums over keys are corrected once
/// for each tile, by a factor that is off by as much.
const F32: Rounding =
    Rounding { score: 24.0 * UNIT, weight: 4.0 * UNIT, sum: |terms| UNIT * (4.0 * (terms as f64).sqrt() + 8.0) };

fn close(case: &Case, form: Form) -> Vec<Reference> {
    attention(case, form, F32, RELATIVE)
}
