// A thread for each pair of the whole problem, and each asks for everything: the token, the head, the pairing.
#include <cuda_bf16.h>

extern "C" __global__ void rope(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k, int pairing,
                                size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    size_t half = head_dim / 2;
    size_t index = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= tokens * (q_heads + k_heads) * half) {
        return;
    }
    size_t pair = index % half;
    size_t head = index / half % (q_heads + k_heads);
    size_t token = index / half / (q_heads + k_heads);
    __nv_bfloat16* x;
    if (head < q_heads) {
        x = &q[(token * q_heads + head) * head_dim];
    } else {
        x = &k[(token * k_heads + head - q_heads) * head_dim];
    }
    size_t one, other;
    if (pairing == 0) {
        one = pair;
        other = pair + half;
    } else {
        one = 2 * pair;
        other = 2 * pair + 1;
    }
    float cosine = table[positions[token] * head_dim + pair];
    float sine = table[positions[token] * head_dim + half + pair];
    float a = __bfloat162float(x[one]);
    float b = __bfloat162float(x[other]);
    x[one] = __float2bfloat16(a * cosine - b * sine);
    x[other] = __float2bfloat16(b * cosine + a * sine);
}
