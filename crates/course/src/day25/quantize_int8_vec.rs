//! `quantize_int8_vec`: Day 22's `quantize_int8` again, with wide accesses on both sides of a conversion.

use crate::day22::quantize_int8;
use crate::{Access, Exercise, Rival, ScalarArg, Step};

crate::signature! { inputs(x: f32) outputs(out: i8) scalars(scale: F32(f32), zero_point: F32(f32)) sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "quantize_int8_vec",
    day: 25,
    definition: "clamp(round_half_even(x / scale + zero_point), -128, 127) as i8, 16 bytes a load, 4 or more a store",
    // On an H200, at 50 million elements, the wide kernel is 1.06 times as fast as one with an element a thread.
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
    hints: &[
        "A thread that writes one signed char makes its warp write 32 bytes, a quarter of what one access can move; reading a float each, it needs 128 bytes for them. Give each thread four neighbouring elements: what does it then read, and what does it write?",
        "One float4 in, one char4 out, which needs an address that is a multiple of 4. To have more bytes under way, load several float4s into an array before any of them is used: neighbouring threads must still read neighbouring float4s. With sixteen neighbouring elements the store is 16 bytes wide, but neighbouring threads then read 64 bytes apart. Mind the rounding, as on Day 22, and the last n % 4 elements.",
        "bool aligned = (size_t)x % 16 == 0 && (size_t)out % 4 == 0; size_t vectors = aligned ? n / 4 : 0; for (size_t v = thread; v < vectors; v += threads) { float4 p = ((const float4*)x)[v]; ((char4*)out)[v] = make_char4(quantize(p.x, scale, zero_point), ...); } for (size_t i = 4 * vectors + thread; i < n; i += threads) out[i] = quantize(x[i], scale, zero_point); with quantize(x) = (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point))).",
    ],
    ..quantize_int8::EXERCISE
};
