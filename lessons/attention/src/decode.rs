//! What one new token of each sequence needs of a paged cache, by how many sequences there are and how long they are.

use fusion_course::paged::{PAGE, Paging};
use fusion_course::{Extent, Shape, day28};
use fusion_lesson::{grouped, new_table};

/// Heads of queries and of keys, and elements of a head: those of a model with 8 * 10^9 weights.
const HEADS: [usize; 2] = [32, 8];
const HEAD: usize = 128;
/// Tokens of a part, as the exercise has them.
const PART: usize = 256;
/// Sequences, and pages of each.
const SHAPES: [[usize; 2]; 4] = [[1, 2048], [4, 512], [16, 128], [128, 128]];

pub(crate) fn show() -> String {
    let exercise = &day28::decode_attention::EXERCISE;
    let [queries, keys] = HEADS;
    let mut table = new_table(&[
        "sequences",
        "tokens",
        "cache, MB",
        "of all bytes",
        "ops per byte",
        "chain's bytes",
        "blocks",
        "in parts",
    ]);
    for [sequences, pages] in SHAPES {
        let shape = Shape::paged(sequences, HEADS, HEAD, pages);
        let bytes = exercise.minimum_bytes(shape) as f64;
        let caches = exercise.inputs.iter().filter(|input| input.extent == Extent::Cache);
        let cache: f64 = caches.map(|input| input.moved(shape) as f64).sum();
        let parts = Paging::of(shape).sum(shape, |length| length.div_ceil(PART));
        table.add_row([
            grouped(sequences),
            grouped(PAGE * pages),
            format!("{:.1}", cache / 1e6),
            format!("{:.1}%", 100.0 * cache / bytes),
            format!("{:.1}", (exercise.flops)(shape) / bytes),
            format!("{:.2}x", exercise.ideal_speedup(shape)),
            grouped(sequences * keys),
            grouped(parts * keys),
        ]);
    }
    format!(
        "\n6. One new token of each sequence: {queries} heads of queries, {keys} of keys, {HEAD} elements in bf16\n\n\
         tokens: the largest number of tokens that a sequence may have. blocks: one block per sequence and head of\n\
         keys. in parts: one block per part of {PART} tokens.\n\n{table}"
    )
}
