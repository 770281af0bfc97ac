#include "reduce.cuh"

extern "C" __global__ void layernorm_quant(const float* x, const float* gamma, const float* beta, signed char* q,
                                           float* scale, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32], tops[32];
    const size_t first = blockIdx.x * columns;
    float sum = 0.0f, square = 0.0f, top = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[first + c];
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[first + c] - mean) * (x[first + c] - mean);
    const float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        top = fmaxf(top, fabsf((x[first + c] - mean) * factor * gamma[c] + beta[c]));
    }
    const float s = reduce_block(top, tops, 0.0f, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = s;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float y = (x[first + c] - mean) * factor * gamma[c] + beta[c];
        q[first + c] = s > 0.0f ? (signed char)__float2int_rn(y / s) : 0;
    }
}
