// The first elements of 16 pairs are in the lower half of a warp's lanes and the second ones in the upper half: a lane has one element, and gets the other by a shuffle.
#include <cuda_bf16.h>

extern "C" __global__ void rope(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k, int pairing,
                                size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    const size_t token = blockIdx.x;
    const float* row = table + positions[token] * head_dim;
    const unsigned half = head_dim / 2, pairs = (q_heads + k_heads) * half;
    const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const bool upper = lane >= 16;
    for (unsigned from = 16 * (threadIdx.x / 32); from < pairs; from += 16 * warps) {
        const unsigned p = from + lane % 16, head = p / half, i = p % half;
        __nv_bfloat16* x = head < q_heads ? q + (token * q_heads + head) * head_dim : k + (token * k_heads + head - q_heads) * head_dim;
        __nv_bfloat16* at = x + (pairing == 0 ? i + upper * half : 2 * i + upper);
        // Lanes past the last pair take part in the shuffle, and touch nothing.
        const float own = p < pairs ? __bfloat162float(*at) : 0.0f, other = __shfl_xor_sync(~0u, own, 16);
        if (p < pairs) *at = __float2bfloat16_rn(own * row[i] + (upper ? other : -other) * row[half + i]);
    }
}
