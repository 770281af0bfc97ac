//! `silu_mul_vec`: Day 24's `silu_mul` again, eight elements of 2 bytes at a time.

use half::bf16;

use crate::day24::silu_mul;
use crate::{Access, Exercise, Rival, Step};

crate::signature! { inputs(gate: bf16, up: bf16) outputs(out: bf16) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "silu_mul_vec",
    day: 25,
    definition: "silu(gate) * up, rounded once, 16 bytes an access",
    // On an H200, at 67 million elements, a kernel with eight elements per thread is 1.76 times as fast as one with one.
    rival: Some(Rival {
        name: "the scalar fused kernel",
        step: Step::elementwise("silu_mul_bf16_scalar", &["gate", "up"], &["out"]),
        bar: 1.15,
    }),
    access: Access { load: 16, store: 16 },
    hints: include_str!("silu_mul_vec.md"),
    ..silu_mul::EXERCISE
};
