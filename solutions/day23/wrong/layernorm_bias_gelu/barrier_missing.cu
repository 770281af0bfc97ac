#include "activation.cuh"
#include "reduce.cuh"

// Without a barrier: a warp reads what other warps may not have written yet.
template <int THREADS, typename Op>
__device__ float reduce_hastily(float value, float (&partial)[WARPS<THREADS>], Op op) {
    value = reduce_lanes<32>(value, op);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32 % WARPS<THREADS>] = value;
    return reduce_lanes<WARPS<THREADS>>(partial[threadIdx.x % 32 % WARPS<THREADS>], op);
}

template <int THREADS>
__device__ void layernorm_bias_gelu(const float* x, const float* gamma, const float* beta, const float* bias, float* out,
                                    size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>];
    const size_t number = (size_t)blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS;
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;
    const int first = threadIdx.x % THREADS;

    float sum = 0.0f;
    for (size_t c = first; c < columns; c += THREADS) sum += x[c];
    const float mean = reduce_hastily<THREADS>(sum, sums, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = first; c < columns; c += THREADS) square += (x[c] - mean) * (x[c] - mean);
    const float variance = reduce_hastily<THREADS>(square, squares, Sum()) / columns;
    const float factor = rsqrtf(variance + 1e-5f);
    for (size_t c = first; c < columns; c += THREADS) {
        out[c] = gelu_tanh((x[c] - mean) * factor * gamma[c] + beta[c] + bias[c]);
    }
}

#define KERNEL(THREADS)                                                                          \
    extern "C" __global__ void layernorm_bias_gelu_##THREADS(const float* x, const float* gamma, const float* beta, const float* bias, float* out, size_t rows, size_t columns) { \
        layernorm_bias_gelu<THREADS>(x, gamma, beta, bias, out, rows, columns);                                                              \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
