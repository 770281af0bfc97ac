#include "reduce.cuh"

template <int THREADS>
__device__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float maxima[WARPS<THREADS>], sums[WARPS<THREADS>];
    const size_t number = (size_t)blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS;
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;
    const int first = threadIdx.x % THREADS;

    float top = __int_as_float(0xff800000);
    for (size_t c = first; c < columns; c += THREADS) top = fmaxf(top, x[c]);
    top = reduce_row<THREADS>(top, maxima, Max());
    float sum = 0.0f;
    for (size_t c = first; c < columns; c += THREADS) sum += expf(x[c] - top);
    sum = reduce_row<THREADS>(sum, sums, Sum());
    for (size_t c = first; c < columns && c < 2 * THREADS; c += THREADS) out[c] = expf(x[c] - top) / sum;
}

#define KERNEL(THREADS)                                                                          \
    extern "C" __global__ void softmax_##THREADS(const float* x, float* out, size_t rows, size_t columns) { \
        softmax<THREADS>(x, out, rows, columns);                                                              \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
