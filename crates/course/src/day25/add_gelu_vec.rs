//! `add_gelu_vec`: Day 22's `add_gelu` again, sixteen bytes at a time.

use crate::day22::add_gelu;
use crate::{Access, Exercise, Rival, Step};

crate::signature! { inputs(a: f32, b: f32) outputs(out: f32) scalars() sizes() }

pub const EXERCISE: Exercise = Exercise {
    name: "add_gelu_vec",
    day: 25,
    definition: "gelu(a + b), tanh form, 16 bytes an access",
    // On an H200, at 100 million elements, a kernel with float4 is 1.32 times as fast as one with float.
    rival: Some(Rival {
        name: "the scalar fused kernel",
        step: Step::elementwise("add_gelu_scalar", &["a", "b"], &["out"]),
        bar: 1.15,
    }),
    access: Access { load: 16, store: 16 },
    hints: &[
        "A warp that reads a float a lane asks for 128 bytes at a time; with a float4 a lane it asks for 512, and a quarter as many instructions do the same work. Memory is as far away as before, so more of it should be under way. What is left to do when n is not a multiple of 4?",
        "Treat a, b and out as arrays of n / 4 float4: ((const float4*)a)[v]. A float4 needs an address that is a multiple of 16: whole buffers have one, and a view may not, so check ((size_t)a | (size_t)b | (size_t)out) % 16 == 0. The last n % 4 elements, or all of them where an address is not aligned, go one at a time.",
        "size_t thread = blockIdx.x * (size_t)blockDim.x + threadIdx.x, threads = (size_t)gridDim.x * blockDim.x, vectors = aligned ? n / 4 : 0; for (size_t v = thread; v < vectors; v += threads) { float4 p = ((const float4*)a)[v], q = ((const float4*)b)[v]; ((float4*)out)[v] = make_float4(gelu_tanh(p.x + q.x), ...); } for (size_t i = 4 * vectors + thread; i < n; i += threads) out[i] = gelu_tanh(a[i] + b[i]); with `#include \"activation.cuh\"`, launched with n.div_ceil(1024) blocks of 256 threads, and not at all when n is 0.",
    ],
    ..add_gelu::EXERCISE
};
