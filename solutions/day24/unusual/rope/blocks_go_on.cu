// A number of blocks that does not depend on the tokens: each goes on to the token that lies as many further. Products of complex numbers, one component each.
#include <cuda_bf16.h>

extern "C" __global__ void rope(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k, int pairing,
                                size_t tokens, size_t q_heads, size_t k_heads, size_t head_dim) {
    const unsigned half = head_dim / 2, pairs = (q_heads + k_heads) * half;
    for (size_t token = blockIdx.x; token < tokens; token += gridDim.x) {
        const float* row = table + positions[token] * head_dim;
        for (unsigned p = threadIdx.x; p < pairs; p += blockDim.x) {
            const unsigned head = p / half, i = p % half;
            __nv_bfloat16* x =
                head < q_heads ? q + (token * q_heads + head) * head_dim : k + (token * k_heads + head - q_heads) * head_dim;
            __nv_bfloat16* re = x + (pairing == 0 ? i : 2 * i);
            __nv_bfloat16* im = re + (pairing == 0 ? half : 1);
            const float2 z = make_float2(__bfloat162float(*re), __bfloat162float(*im));
            const float2 w = make_float2(row[i], row[half + i]);
            *re = __float2bfloat16_rn(fmaf(z.x, w.x, -z.y * w.y));
            *im = __float2bfloat16_rn(fmaf(z.x, w.y, z.y * w.x));
        }
    }
}
