//! Day 23, on-chip memory: rows and reductions.

crate::day! { day23, answers_to_day23, 23, "On-chip memory: rows and reductions", [
    l2norm, softmax, layernorm_bias_gelu, transpose_scale, cross_entropy,
] }
