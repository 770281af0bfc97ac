// Nothing of a row is held: it is read three times, from the L1 the second and third time.
#include "activation.cuh"
#include "reduce.cuh"

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
    const float mean = reduce_row<THREADS>(sum, sums, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = first; c < columns; c += THREADS) square += (x[c] - mean) * (x[c] - mean);
    const float variance = reduce_row<THREADS>(square, squares, Sum()) / columns;
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
