// flash_attention for sm_90a. What it does is in attention_groups.cuh; here is who does what.
//
// What copies of boxes cannot do, and what other architectures have, is `flash_attention_any`'s.
#include <cuda_bf16.h>
#include "attention_any.cuh"

typedef __nv_bfloat16 bf16;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#include "attention_groups.cuh"

// ANCHOR: kernel
// The blocks of a head follow each other, so that those that run at the same time read the same
// keys.
template <int GROUPS>
__device__ __forceinline__ Task task_of_block(unsigned length) {
    const unsigned queries = 64 * GROUPS, blocks = (length + queries - 1) / queries;
    const unsigned head = blockIdx.x / blocks, first = blockIdx.x % blocks * queries;
    return {head, head, first, length, (length + KEYS - 1) / KEYS};
}

// A thread has registers for 128 results and scores. With d = 64 there are fewer, and so there
// is room for a third group.
extern "C" __global__ void __launch_bounds__(512, 1)
    flash_attention_64(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k,
                       const __grid_constant__ TensorMap v,
                       const __grid_constant__ TensorMap out, size_t length) {
    attend<false, 64, 3>(q, k, v, out, task_of_block<3>(length));
}
extern "C" __global__ void __launch_bounds__(384, 1)
    flash_attention_128(const __grid_constant__ TensorMap q,
                        const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v,
                        const __grid_constant__ TensorMap out, size_t length) {
    attend<false, 128, 2>(q, k, v, out, task_of_block<2>(length));
}
// ANCHOR_END: kernel
#endif

extern "C" __global__ void __launch_bounds__(128)
    flash_attention_any(const bf16* q, const bf16* k, const bf16* v, bf16* out, size_t heads,
                        size_t length, size_t head_dim) {
    const size_t query = query_of_warp(), head = query / length;
    if (query >= heads * length) return;
    const size_t own = query * head_dim, keys = head * length * head_dim;
    attend_by_warp(q + own, k + keys, v + keys, out + own, length, head_dim);
}
