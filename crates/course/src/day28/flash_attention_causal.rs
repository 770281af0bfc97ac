//! `flash_attention_causal`: the same under a mask, which skips half of the tiles, and with heads that have keys in common.

use half::bf16;

use super::flash_attention::{self, close};
use crate::attention::{Form, inputs, mistaken};
use crate::{Case, DType, Exercise, Mistaken, Param, Rival, Shape, Shapes, Step};

crate::signature! { inputs(q: bf16, k: bf16, v: bf16) outputs(out: bf16) scalars() sizes(heads, kv_heads, length, head_dim) }

pub const EXERCISE: Exercise = Exercise {
    name: "flash_attention_causal",
    day: 28,
    definition: "out = softmax(mask(q k^T / sqrt(d))) v for each head, query i sees keys 0 to i, in bf16 with sums in f32",
    inputs: flash_attention::EXERCISE.inputs,
    outputs: flash_attention::EXERCISE.outputs,
    intermediates: &[
        Param::scores("scores", DType::Bf16),
        Param::scores("scaled", DType::Bf16),
        Param::scores("masked", DType::Bf16),
        Param::scores("weights", DType::Bf16),
    ],
    unfused: &[
        Step::by_head("scores_bf16", &["q", "k"], &["scores"], 64).threads(128),
        Step::by_head("scale_scores_bf16", &["scores"], &["scaled"], 1),
        Step::by_head("mask_scores_bf16", &["scaled"], &["masked"], 1),
        Step::by_head("softmax_scores_bf16", &["masked"], &["weights"], 1),
        Step::by_head("weighted_values_bf16", &["weights", "v"], &["out"], 64).threads(128),
    ],
    // Four sequences of 16 heads of queries and four of keys.
    shapes: Shapes::Attention {
        elements: &[64, 128],
        grouped: true,
        timed: &[[64, 16, 4096, 64], [64, 16, 4096, 128]],
    },
    causal: true,
    surveyed: flash_attention::EXERCISE.surveyed,
    make: |shape, random| Case::new(shape, inputs(DType::Bf16, shape, random)),
    reference: |case| close(case, Form::CAUSAL),
    mistaken: mistaken![
        close,
        Form::CAUSAL,
        64,
        Mistaken {
            outputs: |case| close(case, Form::ATTENTION),
            what: "attention without a mask",
            question: "Is the score of key j for query i -infinity where j > i?",
        },
        Mistaken {
            outputs: |case| close(case, Form { keys: |place, _| place, ..Form::CAUSAL }),
            what: "attention to the keys before the query's own",
            question: "Does a query see its own key, that of j = i?",
        },
        Mistaken {
            outputs: |case| close(case, Form { keys: |place, _| place + 2, ..Form::CAUSAL }),
            what: "attention to one key more than a query may see",
            question: "Is the score of key j for query i -infinity where j > i, also for j = i + 1?",
        },
        Mistaken {
            outputs: |case| close(
                case,
                Form { keys: |place, _| (place + 2).min((place / 64 + 1) * 64), ..Form::CAUSAL }
            ),
            what: "attention to one key more than a query may see, if it is in the same tile of 64",
            question: "Is the score of key j for query i -infinity where j > i, also for j = i + 1?",
        },
        Mistaken {
            outputs: |case| close(case, Form { keys: |place, _| (place / 64 + 1) * 64, ..Form::CAUSAL }),
            what: "attention to all keys of tiles of 64 that begin before the query",
            question: "In the last tile of a block, is each score's key compared with its query?",
        },
        Mistaken {
            outputs: |case| close(case, Form { keys: |place, _| place / 64 * 64, ..Form::CAUSAL }),
            what: "attention to the keys of whole tiles of 64 before the query's",
            question: "Does the loop over the keys reach the tile that the block's last query is in?",
        },
        Mistaken {
            outputs: |case| close(case, Form { keys_of: |head, [_, keys]| head % keys, ..Form::CAUSAL }),
            what: "attention with the keys of head h % kv_heads",
            question: "Does head h have the keys of head h / (heads / kv_heads)?",
        },
        Mistaken {
            outputs: |case| close(case, Form { zeros: |place, _| (place / 64 + 1) * 64, ..Form::CAUSAL }),
            what: "attention in which the keys after the query's own have the score 0",
            question: "Is the score of a key that a query does not see -infinity? A score of 0 has a weight",
        },
    ],
    tolerances: flash_attention::EXERCISE.tolerances,
    flops,
    speedup: Some(BAR),
    rival: Some(Rival {
        name: "the kernel without a mask",
        step: Step::by_head("attention_unmasked", &["q", "k", "v"], &["out"], 64).threads(128),
        bar: UNMASKED,
    }),
    hints: include_str!("flash_attention_causal.md"),
    ..Exercise::TEMPLATE
};

/// For 64 heads of 4,096 tokens the chain moves 16 bytes for each of 64 * 4096^2 scores, which takes 4.0 ms at the copy's 4.25 TB/s, and
/// then come its products: with d = 128 another 2.7 ms at 200 TFLOP/s, as for `flash_attention`. A kernel that makes at that rate
/// those which the mask leaves takes 1.4 ms: a fifth. With d = 64 it is less.
const BAR: f64 = 4.0;

/// Of 64 x 64 tiles of 64 queries and 64 keys each, 64 * 65 / 2 have a score that counts: a kernel that skips the others does
/// 1.97 times less. What each block does once, and long blocks at the end, may cost a seventh of that. One that reads all tiles and only
/// multiplies fewer is told by what its blocks read, which *lean* looks at.
const UNMASKED: f64 = 1.7;

/// A multiplication and an addition for each element of both products, for each score that counts; and for these and the results what
/// there is without a mask.
fn flops(shape: Shape) -> f64 {
    let length = shape.terms() as f64;
    let scores = shape.rows as f64 * (length + 1.0) / 2.0;
    scores * (4.0 * shape.head() as f64 + 5.0) + shape.elements() as f64
}
