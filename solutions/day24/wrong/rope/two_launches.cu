// One launch for the queries, and one for the keys.
#include <cuda_bf16.h>

extern "C" __global__ void turn(const int* positions, const float* table, __nv_bfloat16* x, int pairing, size_t heads,
                                size_t head_dim) {
    const float* row = table + positions[blockIdx.x] * head_dim;
    x += blockIdx.x * heads * head_dim;
    const unsigned half = head_dim / 2, pairs = heads * half;
    for (unsigned p = threadIdx.x; p < pairs; p += blockDim.x) {
        const unsigned i = p % half;
        __nv_bfloat16* first = x + p / half * head_dim + (pairing == 0 ? i : 2 * i);
        __nv_bfloat16* second = first + (pairing == 0 ? half : 1);
        const float cos = row[i], sin = row[half + i];
        const float a = __bfloat162float(*first), b = __bfloat162float(*second);
        *first = __float2bfloat16_rn(a * cos - b * sin);
        *second = __float2bfloat16_rn(b * cos + a * sin);
    }
}
