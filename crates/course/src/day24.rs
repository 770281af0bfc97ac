//! Day 24, vLLM-style patterns.

crate::day! { day24, answers_to_day24, 24, "vLLM-style patterns", [
    add_residual_act, silu_mul, add_rmsnorm, layernorm_quant,
] }
