// silu_mul_vec: out[i] = silu(gate[i]) * up[i], all bf16, as on Day 24:
//     silu(t) = t / (1 + exp(-t))       which "activation.cuh" has
// Computed in f32 and rounded to bf16 once, at the end, to nearest even.
//
// Unfused, this is two launches:                  bytes per element
//     silu_bf16   activated = silu(gate)                 4
//     mul_bf16    out = activated * up                   6
// 10 bytes per element. One kernel can do it with 6, and so does the scalar fused kernel: one element per thread, 2 bytes per
// access (kernels/rivals/scalar.cu). This one must be faster than that, with 16 bytes per access.
//
// Grade it with: cargo xtask grade silu_mul_vec

#include <cuda_bf16.h>

// TODO(kernel): eight elements at once, through uint4: two loads of 16 bytes, one store of 16 bytes. A register of 32 bits holds a
// pair of elements, __nv_bfloat162, which __bfloat1622float2 and __floats2bfloat162_rn convert. ("pack.cuh" does all this. Write it
// once yourself.) Mind
//   - the last n % 8 elements, which fill no uint4;
//   - views that begin anywhere: a uint4 needs an address that is a multiple of 16.
extern "C" __global__ void silu_mul_vec(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
}
// END TODO
