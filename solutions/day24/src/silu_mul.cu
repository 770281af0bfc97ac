// silu_mul: out[i] = silu(gate[i]) * up[i], all bf16:
//     silu(t) = t / (1 + exp(-t))
// Computed in f32 and rounded to bf16 once, at the end, to nearest even.
//
// Unfused, this is two launches:                  bytes per element
//     silu_bf16   activated = silu(gate)                 4
//     mul_bf16    out = activated * up                   6
// 10 bytes per element, and activated is rounded to bf16 on its way through memory. One kernel can do it with 6, and
// is more accurate: read gate and up, write out.
//
// Grade it with: cargo xtask grade silu_mul

#include "activation.cuh"
#include "pack.cuh"

// ANCHOR: kernel
__device__ __forceinline__ float silu_mul_one(float gate, float up) {
    return silu(gate) * up;
}

extern "C" __global__ void silu_mul(const __nv_bfloat16* __restrict__ gate, const __nv_bfloat16* __restrict__ up, __nv_bfloat16* __restrict__ out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;

    // Eight elements at once: 16 bytes.
    const size_t packs = aligned16(gate, up, out) ? n / 8 : 0;
    for (size_t p = thread; p < packs; p += threads) {
        store_pack(out, p, map(silu_mul_one, load_pack(gate, p), load_pack(up, p)));
    }

    // Elements that fill no pack: at most seven, or all of them where an address is not aligned.
    for (size_t i = 8 * packs + thread; i < n; i += threads) {
        out[i] = from_float<__nv_bfloat16>(silu_mul_one(to_float(gate[i]), to_float(up[i])));
    }
}
// ANCHOR_END: kernel
