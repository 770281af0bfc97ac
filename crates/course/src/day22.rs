//! Day 22, fusion fundamentals: elementwise operations in f32, and a quantizer.

crate::day! { day22, answers_to_day22, 22, "Fusion fundamentals", [add_gelu] }
