//! Day 25, vectorization.

crate::day! { day25, answers_to_day25, 25, "Vectorization", [
    add_gelu_vec, quantize_int8_vec, silu_mul_vec, scale_shift_offset,
] }
