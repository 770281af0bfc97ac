//! Day 24, vLLM-style patterns.

crate::day! { day24, answers_to_day24, 24, "vLLM-style patterns", [
    silu_mul, add_residual_act, add_rmsnorm, layernorm_quant, rmsnorm_fp8, rope,
] }
