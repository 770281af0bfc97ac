#include "activation.cuh"
#include "reduce.cuh"

extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, size_t columns) {
    __shared__ float sums[WARPS<256>], squares[WARPS<256>];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    const float mean = reduce_row<256>(sum, sums, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[c] - mean) * (x[c] - mean);
    const float factor = rsqrtf(reduce_row<256>(square, squares, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}

extern "C" __global__ void bias_gelu(const float* bias, float* out, size_t columns) {
    out += blockIdx.x * columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = gelu_tanh(out[c] + bias[c]);
}
