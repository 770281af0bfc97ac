//! What a chain and a fused kernel must move, by the length of the sequence.

use fusion_course::{Exercise, Shape, day28};
use fusion_lesson::{grouped, new_table};

/// The exercises, and the type of their elements.
const OPERATIONS: [(&Exercise, &str); 2] =
    [(&day28::attention_row::EXERCISE, "f32"), (&day28::flash_attention::EXERCISE, "bf16")];

pub(crate) fn show(lengths: &[usize], heads: usize, head: usize) -> String {
    let mut text = format!("\n1. Launches and bytes of {heads} heads with {head} elements, by their specifications\n");
    for (exercise, ty) in OPERATIONS {
        let mut table = new_table(&["tokens", "chain, MB", "one kernel, MB", "times as many", "scores in memory, MB"]);
        for &length in lengths {
            let shape = Shape::attention([heads; 2], length, head);
            let scores: usize = exercise.intermediates.iter().map(|param| param.bytes(shape)).sum();
            let megabytes = |bytes: f64| format!("{:.1}", bytes / 1e6);
            table.add_row([
                grouped(length),
                megabytes(exercise.unfused_bytes(shape) as f64),
                megabytes(exercise.minimum_bytes(shape) as f64),
                format!("{:.1}", exercise.ideal_speedup(shape)),
                megabytes(scores as f64),
            ]);
        }
        text += &format!("\n{}, {ty}: {} launches instead of 1\n{table}\n", exercise.name, exercise.unfused.len());
    }
    text
}
