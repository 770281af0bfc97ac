// A block does both products of a slot, a thread for each column, and reads all of the expert's weights for it.
#include <cuda_bf16.h>
#include "activation.cuh"

extern "C" __global__ void slots(const __nv_bfloat16* x, const __nv_bfloat16* w1, const __nv_bfloat16* w2, const int* order,
                                 const int* offsets, const float* weights, __nv_bfloat16* activated, float* parts, size_t experts,
                                 size_t hidden, size_t inter) {
    const int place = blockIdx.x, slot = order[place];
    size_t expert = 0;
    while (expert + 1 < experts && offsets[expert + 1] <= place) expert++;
    const __nv_bfloat16* row = x + slot / 2 * hidden;
    __nv_bfloat16* between = activated + place * inter;
    for (size_t column = threadIdx.x; column < inter; column += blockDim.x) {
        const __nv_bfloat16* weight = w1 + expert * hidden * 2 * inter + column;
        float gate = 0.0f, up = 0.0f;
        for (size_t i = 0; i < hidden; i++, weight += 2 * inter) {
            gate += __bfloat162float(row[i]) * __bfloat162float(weight[0]);
            up += __bfloat162float(row[i]) * __bfloat162float(weight[inter]);
        }
        between[column] = __float2bfloat16(silu(gate) * up);
    }
    __syncthreads();
    for (size_t column = threadIdx.x; column < hidden; column += blockDim.x) {
        const __nv_bfloat16* weight = w2 + expert * inter * hidden + column;
        float sum = 0.0f;
        for (size_t i = 0; i < inter; i++) sum += __bfloat162float(between[i]) * __bfloat162float(weight[i * hidden]);
        parts[slot * hidden + column] = weights[slot] * sum;
    }
}

extern "C" __global__ void add(const float* parts, __nv_bfloat16* out, size_t hidden) {
    const float* one = parts + 2 * (size_t)blockIdx.x * hidden;
    for (size_t column = threadIdx.x; column < hidden; column += blockDim.x) {
        out[blockIdx.x * hidden + column] = __float2bfloat16(one[column] + one[hidden + column]);
    }
}
