#include "reduce.cuh"

const int HELD = 16;

extern "C" __global__ void __launch_bounds__(1024) layernorm_quant(const float* x, const float* gamma, const float* beta,
                                                                      signed char* q, float* scale, size_t rows,
                                                                      size_t columns) {
    __shared__ float sums[32], squares[32], tops[32];
    const size_t first = blockIdx.x * columns;
    float held[HELD];
    float sum = 0.0f, square = 0.0f, top = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) {
            held[j] = x[first + c];
            sum += held[j];
        }
    }
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) square += (held[j] - mean) * (held[j] - mean);
    }
    square = reduce_block(square, squares, 0.0f, Sum());
    const float factor = rsqrtf(square / columns + 1e-5f);
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) {
            held[j] = (held[j] - mean) * factor * gamma[c] + beta[c];
            top = fmaxf(top, fabsf(held[j]));
        }
    }
    top = reduce_block(top, tops, 0.0f, Max());
    const float s = top / 128.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = s;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) q[first + c] = s > 0.0f ? (signed char)__float2int_rn(held[j] / s) : 0;
    }
}
