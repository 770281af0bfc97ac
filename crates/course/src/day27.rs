//! Day 27, tensor cores: a matrix product and what follows it.

crate::day! { day27, answers_to_day27, 27, "Tensor cores", [
    gemm_tile,
    gemm_bias_gelu,
    gemm_dequant,
    moe_expert,
] }
