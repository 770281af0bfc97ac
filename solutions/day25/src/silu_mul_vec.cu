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

#include "activation.cuh"

// ANCHOR: kernel
// Two elements, which are the two halves of a register: the first in the lower one. One instruction rounds both.
__device__ __forceinline__ unsigned silu_mul_pair(unsigned gate, unsigned up) {
    const float2 g = __bfloat1622float2(*(const __nv_bfloat162*)&gate);
    const float2 u = __bfloat1622float2(*(const __nv_bfloat162*)&up);
    const __nv_bfloat162 pair = __floats2bfloat162_rn(silu(g.x) * u.x, silu(g.y) * u.y);
    return *(const unsigned*)&pair;
}

extern "C" __global__ void silu_mul_vec(const __nv_bfloat16* __restrict__ gate,
                                        const __nv_bfloat16* __restrict__ up,
                                        __nv_bfloat16* __restrict__ out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;

    // A uint4 is one 16-byte access, of eight elements. Its address must be a multiple of 16, which a view into a larger
    // buffer need not have.
    const bool aligned = ((size_t)gate | (size_t)up | (size_t)out) % 16 == 0;
    const size_t vectors = aligned ? n / 8 : 0;
    for (size_t v = thread; v < vectors; v += threads) {
        const uint4 g = ((const uint4*)gate)[v];
        const uint4 u = ((const uint4*)up)[v];
        ((uint4*)out)[v] = make_uint4(silu_mul_pair(g.x, u.x), silu_mul_pair(g.y, u.y),
                                      silu_mul_pair(g.z, u.z), silu_mul_pair(g.w, u.w));
    }

    // The tail: at most seven elements that fill no uint4, or all of them where an address is not aligned.
    for (size_t i = 8 * vectors + thread; i < n; i += threads) {
        out[i] = __float2bfloat16_rn(silu(__bfloat162float(gate[i])) * __bfloat162float(up[i]));
    }
}
// ANCHOR_END: kernel
