//! `decode_attention`: one new token of each sequence attends to keys and values in a paged cache.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
use half::bf16;

use crate::attention::{Form, Rounding, Sums, mistaken};
use crate::day27::gemm_tile::{ROUNDING, sum_error};
use crate::paged::{PAGE, Paging, make, reference, with_pages};
use crate::rounding::UNIT;
use crate::{
    Arguments, Case, DType, Each, Entry, Exercise, Mistaken, Param, Piece, Reference, Rung, Shape, Shapes,
    Source, Step, Tolerance,
};

/// The launch function that a submission provides: stream, module of the submission's own `.cu`, the inputs, the lent buffers
/// `partial` and `sums`, the output, and the sizes `sequences`, `q_heads`, `kv_heads`, `head_dim` and `pages`.
pub type Launch = fn(
    &Arc<CudaStream>,
    &Arc<CudaModule>,
    &CudaView<'_, bf16>,
    &CudaView<'_, bf16>,
    &CudaView<'_, bf16>,
    &CudaView<'_, i32>,
    &CudaView<'_, i32>,
    &mut CudaViewMut<'_, f32>,
    &mut CudaViewMut<'_, f32>,
    &mut CudaViewMut<'_, bf16>,
    usize,
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
            let [q, keys, values, table, lengths] = inputs else { unreachable!("as many inputs as specified") };
            let [out] = outputs else { unreachable!("as many outputs as specified") };
            let [partial, sums] = scratch else { unreachable!("as many buffers as specified") };
            let [q_heads, kv_heads] = shape.heads.unwrap_or_default();
            launch(
                stream,
                module,
                &q.view::<bf16>(),
                &keys.view::<bf16>(),
                &values.view::<bf16>(),
                &table.view::<i32>(),
                &lengths.view::<i32>(),
                &mut partial.view_mut::<f32>(),
                &mut sums.view_mut::<f32>(),
                &mut out.view_mut::<bf16>(),
                shape.rows,
                q_heads,
                kv_heads,
                shape.head(),
                shape.pages.unwrap_or(0),
            )
        }),
    }
}

/// Tokens of a part of a sequence, for which `partial` and `sums` have room.
const PART: usize = 256;

pub const EXERCISE: Exercise = Exercise {
    name: "decode_attention",
    day: 28,
    definition: "out = softmax(q K^T / sqrt(d)) V for one token of each sequence, K and V in pages of 16 tokens, in bf16 with sums in f32",
    inputs: &[
        Param::elements("q", DType::Bf16),
        Param::cache("k_cache", DType::Bf16),
        Param::cache("v_cache", DType::Bf16),
        Param::page_table("block_table"),
        Param::rows("lengths", DType::I32),
    ],
    outputs: &[Param::elements("out", DType::Bf16)],
    intermediates: &[
        Param::keys("keys", DType::Bf16),
        Param::keys("values", DType::Bf16),
        Param::scores("scores", DType::F32),
        Param::scores("weights", DType::F32),
    ],
    scratch: &[
        Param::parts("partial", DType::F32, PART, Each::Head),
        Param::parts("sums", DType::F32, PART, Each::Elements(2)),
    ],
    // What one does without a kernel that knows of pages. Heads of queries that share their keys read them once, also here.
    unfused: &[
        Step::by_piece("gather_pages", &["k_cache", "block_table", "lengths"], &["keys"], Piece::Page),
        Step::by_piece("gather_pages", &["v_cache", "block_table", "lengths"], &["values"], Piece::Page),
        Step::by_piece("decode_scores", &["q", "keys", "lengths"], &["scores"], Piece::Tokens(64)),
        Step::by_piece("decode_softmax", &["scores", "lengths"], &["weights"], Piece::Head),
        Step::by_piece("decode_values", &["weights", "values", "lengths"], &["out"], Piece::Elements(32)),
    ],
    // Many sequences, and few that are long: for these a block for each head of a sequence would leave most of a GPU idle.
    shapes: Shapes::Paged { elements: &[64, 128], timed: &[[128, 32, 8, 128, 128], [4, 32, 8, 128, 512]] },
    // Two sequences of 2,048 tokens, or one.
    surveyed: 1 << 17,
    make,
    reference: |case| close(case, Form::ATTENTION),
    mistaken: mistaken![
        close,
        Form::ATTENTION,
        16,
        Mistaken {
            outputs: |case| close(case, Form { keys: |_, length| length.min(PART), ..Form::ATTENTION }),
            what: "attention to the first 256 tokens alone",
            question: "Do the results of all parts of a sequence come together?",
        },
        Mistaken {
            outputs: |case| close(case, Form { keys: |_, length| length / 16 * 16, ..Form::ATTENTION }),
            what: "attention to the tokens of full pages alone",
            question: "Do the tokens on a sequence's last page count, where they do not fill it?",
        },
        Mistaken {
            outputs: |case| close(case, Form { zeros: |_, length| length.next_multiple_of(16), ..Form::ATTENTION }),
            what: "attention with keys of zeros in the rest of the last page",
            question: "Is the score of a token that the sequence does not have -infinity? A score of 0 has a weight",
        },
        Mistaken {
            outputs: |case| close(case, Form { sums: Sums::Parts(PART), ..Form::ATTENTION }),
            what: "adding the parts as they are",
            question: "Each part's sum and result are relative to its own largest score: are both multiplied by exp(that score - the \
                       largest of all parts) before they are added?",
        },
        Mistaken {
            outputs: |case| close(&with_pages(case, |_, index| index), Form::ATTENTION),
            what: "attention to the first pages of the cache, whichever the sequence",
            question: "Is the number of each page read from `block_table`?",
        },
        Mistaken {
            outputs: |case| {
                let pages = case.shape.pages.unwrap_or(0);
                close(&with_pages(case, |sequence, index| sequence * pages + index), Form::ATTENTION)
            },
            what: "attention to pages that follow each other, `pages` of them for each sequence",
            question: "Is the number of each page read from `block_table`?",
        },
        Mistaken {
            outputs: |case| {
                let paging = Paging::of(case.shape);
                close(&with_pages(case, |_, index| paging.page(0, index)), Form::ATTENTION)
            },
            what: "attention to the pages of the first sequence",
            question: "Does each sequence have its own row of `block_table`, `pages` numbers after the row before it?",
        },
        Mistaken {
            outputs: whole_pages,
            what: "NaN from the rest of a last page",
            question: "Are tokens from `lengths[sequence]` on left out, of the scores and of the values too? A weight of 0 times NaN is NaN",
        },
        Mistaken {
            outputs: |case| close(case, Form { keys_of: |head, [_, keys]| head % keys, ..Form::ATTENTION }),
            what: "attention of head h to head h % kv_heads of the keys",
            question: "Which heads share their keys? Those that follow each other: head h has head h / (q_heads / kv_heads) of the keys.",
        },
    ],
    tolerances: &[Tolerance { absolute: f32::MIN_POSITIVE as f64, relative: ROUNDING }],
    flops,
    launches: 2,
    // Where the chain moves its bytes at the rate of a copy, a kernel at 85% of that rate has 0.85 of the bytes' ratio. On an H200 that rate is
    // 4.25 TB/s: the larger problem's 1.107 GB then take 1.107e9 / (0.85 * 4.25e12) = 306 us, and the 3.349 GB of its chain 788 us.
    bar: 0.85,
    // The first is how vLLM's first kernel went about it: a block for each head of queries, which goes over the whole sequence.
    ladder: &[
        Rung::any("a block per query head", Step::by_piece("decode_attention_head", READ, OUT, Piece::Head)),
        Rung::any(
            "a block per key head",
            Step::by_piece("decode_attention_group", READ, OUT, Piece::Tokens(usize::MAX)),
        ),
    ],
    hints: include_str!("decode_attention.md"),
    ..Exercise::TEMPLATE
};

const READ: &[&str] = &["q", "k_cache", "v_cache", "block_table", "lengths"];
const OUT: &[&str] = &["out"];

/// A multiplication and an addition for each element of a key and of a value, for each head of queries. For each score a scaling, a
/// comparison, a subtraction, an exponential and an addition, and for each element of the result a division.
fn flops(shape: Shape) -> f64 {
    let tokens = Paging::of(shape).sum(shape, |length| length);
    let scores = (tokens * shape.heads.map_or(0, |[queries, _]| queries)) as f64;
    scores * (4.0 * shape.head() as f64 + 5.0) + shape.elements() as f64
}

/// As that of `flash_attention`, so that products may be made on tensor cores here, too.
const BF16: Rounding = Rounding { score: 64.0 * UNIT, weight: ROUNDING, sum: sum_error };

fn close(case: &Case, form: Form) -> Vec<Reference> {
    reference(case, form, BF16, ROUNDING)
}

/// The same where the rest of each sequence's last page counts too, which holds NaN.
fn whole_pages(case: &Case) -> Vec<Reference> {
    let paging = Paging::of(case.shape);
    let is_partial = |element: usize| !paging.length(element / case.shape.columns.max(1)).is_multiple_of(PAGE);
    let mut references = close(case, Form::ATTENTION);
    for reference in &mut references {
        if let Reference::Close { values, .. } = reference {
            values.iter_mut().enumerate().filter(|(at, _)| is_partial(*at)).for_each(|(_, value)| *value = f64::NAN);
        }
    }
    references
}
