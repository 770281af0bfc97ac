// A warp for each query, without tensor cores, which goes over the keys that the query sees one by one.
#include <cuda_bf16.h>
#include <math_constants.h>

#include "reduce.cuh"

typedef __nv_bfloat16 bf16;

extern "C" __global__ void flash_attention_causal(const bf16* q, const bf16* k, const bf16* v, bf16* out, size_t heads,
                                                  size_t kv_heads, size_t length, size_t head_dim) {
    const int lane = threadIdx.x % 32, each = head_dim / 32;
    const size_t query = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (query >= heads * length) return;
    const size_t head = query / length / (heads / kv_heads), place = query % length;
    float own[4], result[4] = {}, largest = -CUDART_INF_F, sum = 0.0f;
    for (int j = 0; j < each; j++) own[j] = __bfloat162float(q[query * head_dim + lane + 32 * j]);
    for (size_t key = 0; key <= place; key++) {
        const size_t row = (head * length + key) * head_dim + lane;
        float score = 0.0f;
        for (int j = 0; j < each; j++) score += own[j] * __bfloat162float(k[row + 32 * j]);
        score = reduce_lanes<32>(score, Sum()) / sqrtf(head_dim);
        const float before = largest;
        largest = fmaxf(before, score);
        const float correction = expf(before - largest), weight = expf(score - largest);
        sum = sum * correction + weight;
        for (int j = 0; j < each; j++) result[j] = result[j] * correction + weight * __bfloat162float(v[row + 32 * j]);
    }
    for (int j = 0; j < each; j++) out[query * head_dim + lane + 32 * j] = __float2bfloat16(result[j] / sum);
}
