//! Day 26, occupancy, and when not to fuse.

crate::day! { day26, answers_to_day26, 26, "Occupancy, and when not to fuse", [
    rmsnorm_short_rows, layernorm_wide_rows, ffn_sublayer, adamw_multi,
] }
