// flash_attention for sm_90a. What it does is in attention_groups.cuh; here is who does what.
//
// What copies of boxes cannot do, and what other architectures have, is `flash_attention_any`'s.
#include <cuda_bf16.h>
#include <math_constants.h>
#include "reduce.cuh"

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

// For elements that begin anywhere: a warp for each query, whose lanes share the elements, one key after the other.
extern "C" __global__ void __launch_bounds__(128) flash_attention_any(const bf16* q, const bf16* k, const bf16* v, bf16* out, size_t heads,
                                                                      size_t length, size_t head_dim) {
    const int lane = threadIdx.x % 32, each = head_dim / 32;
    const size_t query = (size_t)blockIdx.x * 4 + threadIdx.x / 32, begin = query / length * length * head_dim;
    if (query >= heads * length) return;
    float own[4], result[4] = {}, largest = -CUDART_INF_F, sum = 0;
    for (int i = 0; i < each; i++) own[i] = __bfloat162float(q[query * head_dim + lane + 32 * i]);
    for (size_t key = 0; key < length; key++) {
        const size_t row = begin + key * head_dim + lane;
        float score = 0;
        for (int i = 0; i < each; i++) score += own[i] * __bfloat162float(k[row + 32 * i]);
        score = reduce_lanes<32>(score, Sum()) * rsqrtf(head_dim);
        const float before = largest;
        largest = fmaxf(before, score);
        const float correction = expf(before - largest), weight = expf(score - largest);
        sum = sum * correction + weight;
        for (int i = 0; i < each; i++) result[i] = result[i] * correction + weight * __bfloat162float(v[row + 32 * i]);
    }
    for (int i = 0; i < each; i++) out[query * head_dim + lane + 32 * i] = __float2bfloat16(result[i] / sum);
}
