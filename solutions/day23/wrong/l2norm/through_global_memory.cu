#include "reduce.cuh"

template <int THREADS>
__device__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];
    const size_t number = (size_t)blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS;
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;
    const int first = threadIdx.x % THREADS;

    float sum = 0.0f;
    volatile float* squares = out;
    for (size_t c = first; c < columns; c += THREADS) squares[c] = x[c] * x[c];
    for (size_t c = first; c < columns; c += THREADS) sum += squares[c];
    sum = reduce_row<THREADS>(sum, sums, Sum());
    const float length = sqrtf(sum) + 1e-12f;
    for (size_t c = first; c < columns; c += THREADS) out[c] = x[c] / length;
}

#define KERNEL(THREADS)                                                                          \
    extern "C" __global__ void l2norm_##THREADS(const float* x, float* out, size_t rows, size_t columns) { \
        l2norm<THREADS>(x, out, rows, columns);                                                              \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
