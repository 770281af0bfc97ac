//! Day 22, fusion fundamentals: elementwise operations in f32, and a quantizer.

crate::day! { day22, answers_to_day22, 22, "Fusion fundamentals", [
    mul_add, add_mul_relu, add_mul_exp, add_gelu, quantize_int8,
] }
