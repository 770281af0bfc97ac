//! `quantize_int8_vec`: Day 22's `quantize_int8` again, with wide accesses on both sides of a conversion.

use crate::day22::quantize_int8;
use crate::{Access, Exercise, Rival, ScalarArg, Step};

crate::signature! { inputs(x: f32) outputs(out: i8) scalars(scale: F32(f32), zero_point: F32(f32)) sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "quantize_int8_vec",
    day: 25,
    definition: "clamp(round_half_even(x / scale + zero_point), -128, 127) as i8, 16 bytes a load, 4 or more a store",
    // On an H200, at 50 million elements, the wide kernel is 1.06 times as fast as one with one element per thread.
    rival: Some(Rival {
        name: "the scalar fused kernel",
        step: Step::elementwise("quantize_int8_scalar", &["x"], &["out"])
            .with(&[ScalarArg::Named("scale"), ScalarArg::Named("zero_point")]),
        bar: 1.02,
    }),
    access: Access { load: 16, store: 4 },
    // Less than elsewhere: a thread that reads sixteen neighbours to write them at once reads pieces of sectors, which a GPU
    // finds in its L1 cache, and the emulated device counts again.
    bar: 0.7,
    hints: include_str!("quantize_int8_vec.md"),
    ..quantize_int8::EXERCISE
};
