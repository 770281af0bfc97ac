//! Day 28, fused attention: scores that never reach memory.

crate::day! { day28, answers_to_day28, 28, "Fused attention", [
    attention_row,
    flash_attention,
    flash_attention_causal,
    decode_attention,
] }
