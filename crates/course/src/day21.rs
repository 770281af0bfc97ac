//! Day 21, warm-up: a first kernel and its launch, before the course begins.

crate::day! { day21, answers_to_day21, 21, "Warm-up", [
    average,
] }
