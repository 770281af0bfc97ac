#include "reduce.cuh"

__device__ float2 statistics(const float* row, size_t columns) {
    __shared__ float sums[32], squares[32];
    float sum = 0.0f, square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c];
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (row[c] - mean) * (row[c] - mean);
    return make_float2(mean, rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f));
}

extern "C" __global__ void scales(const float* x, const float* gamma, const float* beta, float* scale, size_t rows, size_t columns) {
    __shared__ float tops[32];
    const float* row = x + blockIdx.x * columns;
    const float2 mean_factor = statistics(row, columns);
    float top = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        top = fmaxf(top, fabsf((row[c] - mean_factor.x) * mean_factor.y * gamma[c] + beta[c]));
    }
    top = reduce_block(top, tops, 0.0f, Max());
    if (threadIdx.x == 0) scale[blockIdx.x] = top / 127.0f;
}

extern "C" __global__ void quantize(const float* x, const float* gamma, const float* beta, const float* scale, signed char* q, size_t rows, size_t columns) {
    const float* row = x + blockIdx.x * columns;
    const float2 mean_factor = statistics(row, columns);
    const float s = scale[blockIdx.x];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float y = (row[c] - mean_factor.x) * mean_factor.y * gamma[c] + beta[c];
        q[blockIdx.x * columns + c] = s > 0.0f ? (signed char)__float2int_rn(y / s) : 0;
    }
}
