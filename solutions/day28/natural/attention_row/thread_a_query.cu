// A thread for each query of a head, which goes over the keys one by one and keeps the query and its result in local arrays.
#include <math_constants.h>

template <int HEAD>
__device__ void attend(const float* q, const float* k, const float* v, float* out, size_t length) {
    float query[HEAD], result[HEAD], largest = -CUDART_INF_F, sum = 0.0f;
    for (int i = 0; i < HEAD; i++) {
        query[i] = q[i];
        result[i] = 0.0f;
    }
    for (size_t key = 0; key < length; key++) {
        float score = 0.0f;
        for (int i = 0; i < HEAD; i++) score += query[i] * k[key * HEAD + i];
        score /= sqrtf(HEAD);
        const float before = largest;
        largest = fmaxf(largest, score);
        const float correction = expf(before - largest), weight = expf(score - largest);
        sum = sum * correction + weight;
        for (int i = 0; i < HEAD; i++) result[i] = result[i] * correction + weight * v[key * HEAD + i];
    }
    for (int i = 0; i < HEAD; i++) out[i] = result[i] / sum;
}

extern "C" __global__ void attention_row(const float* q, const float* k, const float* v, float* out, size_t heads, size_t length,
                                         size_t head_dim) {
    const size_t query = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= heads * length) return;
    const size_t row = query * head_dim, begin = query / length * length * head_dim;
    if (head_dim == 64) {
        attend<64>(q + row, k + begin, v + begin, out + row, length);
    } else {
        attend<128>(q + row, k + begin, v + begin, out + row, length);
    }
}
