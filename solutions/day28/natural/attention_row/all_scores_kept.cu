// A block of 128 threads for each query, which keeps all its scores in shared memory: first the scores, then their softmax, then the values.
#include <math_constants.h>
#include "reduce.cuh"

extern "C" __global__ void attention_row(const float* q, const float* k, const float* v, float* out, size_t heads, size_t length,
                                         size_t head_dim) {
    extern __shared__ float scores[];
    __shared__ float maxima[32], sums[32];
    const size_t head = blockIdx.x / length;
    q += blockIdx.x * head_dim;
    out += blockIdx.x * head_dim;
    k += head * length * head_dim;
    v += head * length * head_dim;
    float largest = -CUDART_INF_F;
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) {
        float score = 0.0f;
        for (size_t i = 0; i < head_dim; i++) score += q[i] * k[key * head_dim + i];
        scores[key] = score / sqrtf(head_dim);
        largest = fmaxf(largest, scores[key]);
    }
    largest = reduce_block(largest, maxima, -CUDART_INF_F, Max());
    float sum = 0.0f;
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) {
        scores[key] = expf(scores[key] - largest);
        sum += scores[key];
    }
    // The barrier in it is also that between writing the weights and reading those of other threads.
    sum = reduce_block(sum, sums, 0.0f, Sum());
    for (size_t i = threadIdx.x; i < head_dim; i += blockDim.x) {
        float result = 0.0f;
        for (size_t key = 0; key < length; key++) result += scores[key] * v[key * head_dim + i];
        out[i] = result / sum;
    }
}
