// Attention for elements that begin anywhere, on GPUs of any architecture: a warp for each query, whose
// lanes share its elements, one key after the other. It is what the tops have beside their own means.
#pragma once
#include <cuda_bf16.h>
#include <math_constants.h>

#include "reduce.cuh"

// The query that a warp has, of blocks of 128 threads.
__device__ __forceinline__ size_t query_of_warp() {
    return (size_t)blockIdx.x * 4 + threadIdx.x / 32;
}

// out = softmax(q k^T / sqrt(d)) v for one query. q and out begin where it does, k and v where the
// head of its keys does, of which it sees `keys`.
__device__ __forceinline__ void attend_by_warp(const __nv_bfloat16* q, const __nv_bfloat16* k,
                                               const __nv_bfloat16* v, __nv_bfloat16* out,
                                               size_t keys, size_t head_dim) {
    const int lane = threadIdx.x % 32, each = head_dim / 32;
    float own[4], result[4] = {}, largest = -CUDART_INF_F, sum = 0;
    for (int i = 0; i < each; i++) own[i] = __bfloat162float(q[lane + 32 * i]);
    for (size_t key = 0; key < keys; key++) {
        const size_t row = key * head_dim + lane;
        float score = 0;
        for (int i = 0; i < each; i++) score += own[i] * __bfloat162float(k[row + 32 * i]);
        score = reduce_lanes<32>(score, Sum()) * rsqrtf(head_dim);
        const float before = largest;
        largest = fmaxf(before, score);
        const float correction = expf(before - largest), weight = expf(score - largest);
        sum = sum * correction + weight;
        for (int i = 0; i < each; i++)
            result[i] = result[i] * correction + weight * __bfloat162float(v[row + 32 * i]);
    }
    for (int i = 0; i < each; i++) out[lane + 32 * i] = __float2bfloat16(result[i] / sum);
}
