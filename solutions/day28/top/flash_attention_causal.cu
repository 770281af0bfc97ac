// flash_attention_causal for sm_90a. What it does is in attention_groups.cuh; here is who does what.
//
// What copies of boxes cannot do, and what other architectures have, is `flash_attention_causal_any`'s.
#include <cuda_bf16.h>
#include "attention_any.cuh"

typedef __nv_bfloat16 bf16;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#include "attention_groups.cuh"

// ANCHOR: kernel
// Two groups have as many queries as a tile has keys. So one tile, the last, has keys to hide.
// Blocks with the most keys come first, of all heads, and at the end short ones fill what the
// others leave. Heads that share keys follow each other.
__device__ __forceinline__ Task task_of_block(unsigned heads, unsigned kv_heads,
                                              unsigned length) {
    const unsigned tiles = (length + KEYS - 1) / KEYS, tile = tiles - 1 - blockIdx.x / heads;
    const unsigned head = blockIdx.x % heads;
    return {head, head / (heads / kv_heads), tile * KEYS, length, tile + 1};
}

extern "C" __global__ void __launch_bounds__(384, 1)
    flash_attention_causal_64(const __grid_constant__ TensorMap q,
                              const __grid_constant__ TensorMap k,
                              const __grid_constant__ TensorMap v,
                              const __grid_constant__ TensorMap out, size_t heads,
                              size_t kv_heads, size_t length) {
    attend<true, 64, 2>(q, k, v, out, task_of_block(heads, kv_heads, length));
}
extern "C" __global__ void __launch_bounds__(384, 1)
    flash_attention_causal_128(const __grid_constant__ TensorMap q,
                               const __grid_constant__ TensorMap k,
                               const __grid_constant__ TensorMap v,
                               const __grid_constant__ TensorMap out, size_t heads,
                               size_t kv_heads, size_t length) {
    attend<true, 128, 2>(q, k, v, out, task_of_block(heads, kv_heads, length));
}
// ANCHOR_END: kernel
#endif

extern "C" __global__ void __launch_bounds__(128)
    flash_attention_causal_any(const bf16* q, const bf16* k, const bf16* v, bf16* out,
                               size_t heads, size_t kv_heads, size_t length, size_t head_dim) {
    const size_t query = query_of_warp(), head = query / length;
    if (query >= heads * length) return;
    const size_t own = query * head_dim;
    const size_t keys = head / (heads / kv_heads) * length * head_dim;
    attend_by_warp(q + own, k + keys, v + keys, out + own, query % length + 1, head_dim);
}
