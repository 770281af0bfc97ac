#include <cuda_bf16.h>
#include "activation.cuh"

// The expert of a place in the order.
__device__ size_t expert_of(const int* offsets, int place) {
    size_t expert = 0;
    while (offsets[expert + 1] <= place) expert++;
    return expert;
}

extern "C" __global__ void experts_up(const __nv_bfloat16* x, const __nv_bfloat16* w1, const int* order, const int* offsets,
                                      __nv_bfloat16* activated, size_t hidden, size_t inter) {
    const size_t place = blockIdx.x, column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= inter) return;
    const __nv_bfloat16* row = x + order[place] / 2 * hidden;
    const __nv_bfloat16* weights = w1 + expert_of(offsets, place) * hidden * 2 * inter;
    float gate = 0.0f, up = 0.0f;
    for (size_t i = 0; i < hidden; i++) {
        gate += __bfloat162float(row[i]) * __bfloat162float(weights[i * 2 * inter + column]);
        up += __bfloat162float(row[i]) * __bfloat162float(weights[i * 2 * inter + inter + column]);
    }
    activated[place * inter + column] = __float2bfloat16(silu(gate) * up);
}

extern "C" __global__ void experts_down(const __nv_bfloat16* activated, const __nv_bfloat16* w2, const int* order, const int* offsets,
                                        float* parts, size_t hidden, size_t inter) {
    const size_t place = blockIdx.x, column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= hidden) return;
    const __nv_bfloat16* weights = w2 + expert_of(offsets, place) * inter * hidden;
    float sum = 0.0f;
    for (size_t i = 0; i < inter; i++) {
        sum += __bfloat162float(activated[place * inter + i]) * __bfloat162float(weights[i * hidden + column]);
    }
    parts[order[place] * hidden + column] = sum;
}

extern "C" __global__ void combine(const float* parts, const float* weights, __nv_bfloat16* out, size_t hidden) {
    const size_t token = blockIdx.x;
    for (size_t column = threadIdx.x; column < hidden; column += blockDim.x) {
        const float one = parts[2 * token * hidden + column], other = parts[(2 * token + 1) * hidden + column];
        out[token * hidden + column] = __float2bfloat16(weights[2 * token] * one + weights[2 * token + 1] * other);
    }
}
