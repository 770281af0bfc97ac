//! `flash_attention`: attention on tensor cores, whose scores never leave the chip.

use half::bf16;

use super::attention_row::flops;
use crate::attention::{Form, Rounding, attention, inputs, mistaken};
use crate::day27::gemm_tile::{ROUNDING, sum_error};
use crate::rounding::UNIT;
use crate::{Case, DType, Exercise, Mistaken, Param, Reference, Shapes, Step, Tolerance};

crate::signature! { inputs(q: bf16, k: bf16, v: bf16) outputs(out: bf16) scalars() sizes(heads, length, head_dim) }

pub const EXERCISE: Exercise = Exercise {
    name: "flash_attention",
    day: 28,
    definition: "out = softmax(q k^T / sqrt(d)) v for each head, in bf16 with sums in f32",
    inputs: &[Param::elements("q", DType::Bf16), Param::keys("k", DType::Bf16), Param::keys("v", DType::Bf16)],
    outputs: &[Param::elements("out", DType::Bf16)],
    intermediates: &[
        Param::scores("scores", DType::Bf16),
        Param::scores("scaled", DType::Bf16),
        Param::scores("weights", DType::Bf16),
    ],
    unfused: &[
        Step::by_head("scores_bf16", &["q", "k"], &["scores"], 64).threads(128),
        Step::by_head("scale_scores_bf16", &["scores"], &["scaled"], 1),
        Step::by_head("softmax_scores_bf16", &["scaled"], &["weights"], 1),
        Step::by_head("weighted_values_bf16", &["weights", "v"], &["out"], 64).threads(128),
    ],
    shapes: Shapes::Attention {
        elements: &[64, 128],
        grouped: false,
        timed: &[[64, 64, 4096, 64], [64, 64, 4096, 128]],
    },
    // Four heads of 256 tokens, or two of 128: attention takes the emulated device as long as its multiply-adds do.
    surveyed: 1 << 16,
    make: |shape, random| Case::new(shape, inputs(DType::Bf16, shape, random)),
    reference: |case| close(case, Form::ATTENTION),
    mistaken: mistaken![
        close,
        Form::ATTENTION,
        64,
        Mistaken {
            outputs: |case| close(case, Form { keys: |_, length| length / 64 * 64, ..Form::ATTENTION }),
            what: "attention to the keys of whole tiles of 64 alone",
            question: "Does the loop go over the last keys too, where they are fewer than 64?",
        },
        Mistaken {
            outputs: |case| close(case, Form { zeros: |_, length| length.next_multiple_of(64), ..Form::ATTENTION }),
            what: "attention with keys of zeros in the rest of the last tile of 64",
            question: "Is the score of a key that the head does not have -infinity? A score of 0 has a weight",
        },
    ],
    tolerances: &[Tolerance { absolute: f32::MIN_POSITIVE as f64, relative: ROUNDING }],
    flops,
    speedup: Some(BAR),
    hints: include_str!("flash_attention.md"),
    ..Exercise::TEMPLATE
};

/// For 64 heads of 4,096 tokens the chain moves 12 bytes for each of 64 * 4096^2 scores, which takes 3.0 ms at the copy's
/// 4.25 TB/s, and then come its products. With d = 128 these are 550 * 10^9 operations: 2.7 ms at 200 TFLOP/s, a fifth
/// of the tensor cores' peak. A kernel that makes them at that rate and moves nothing is twice as fast. With d = 64 it is more.
const BAR: f64 = 2.0;

/// A score is the sum of a fragment's products, over and over, as that of `gemm_tile`: for 128 terms that is less than
/// 64 units. Weights are rounded to bf16 before they are multiplied.
const BF16: Rounding = Rounding { score: 64.0 * UNIT, weight: ROUNDING, sum: sum_error };

pub(super) fn close(case: &Case, form: Form) -> Vec<Reference> {
    attention(case, form, BF16, ROUNDING)
}
